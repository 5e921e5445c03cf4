// SkyPilot: a task, or a service (docs.skypilot.co, YAML reference of 2026).
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "plan/hand_over/parts.h"

namespace rightsize::plan {
namespace {

// SkyPilot's own names, as its catalogues have them (2026-08).
std::string accelerator(const Plan& plan) {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"t4", "T4"},
      {"v100-16gb-sxm", "V100"},
      {"v100-16gb-pcie", "V100"},
      {"v100-32gb-sxm", "V100-32GB"},
      {"p100-pcie", "P100"},
      {"a10", "A10"},
      {"a10g", "A10G"},
      {"a30", "A30"},
      {"a40", "A40"},
      {"a100-40gb-sxm", "A100"},
      {"a100-40gb-pcie", "A100"},
      {"a100-80gb-sxm", "A100-80GB"},
      {"a100-80gb-pcie", "A100-80GB"},
      {"l4", "L4"},
      {"l40", "L40"},
      {"l40s", "L40S"},
      {"rtx-3090", "RTX3090"},
      {"rtx-4090", "RTX4090"},
      {"rtx-5090", "RTX5090"},
      {"rtx-6000-ada", "RTX6000-Ada"},
      {"rtx-pro-6000", "RTXPRO6000"},
      {"h100-sxm", "H100"},
      {"h100-pcie", "H100"},
      {"h100-nvl", "H100"},
      {"h200-sxm", "H200"},
      {"h200-nvl", "H200"},
      {"gh200-96gb", "GH200"},
      {"gh200-144gb", "GH200"},
      {"b200-sxm", "B200"},
      {"b300-sxm", "B300"},
      {"gb200", "GB200"},
      {"gb300", "GB300"},
      {"mi250x", "MI250X"},
      {"mi300x", "MI300X"},
      {"mi325x", "MI325X"},
      {"mi355x", "MI355X"},
  };
  const catalog::Machine& machine = *plan.offer.machine;
  if (machine.instance.find("megagpu-8g") != std::string::npos) return "H100-MEGA";
  // RunPod tells its H100s and A100s apart by their form.
  if (machine.provider == "runpod" && (machine.gpu == "h100-sxm" || machine.gpu == "h200-sxm"))
    return machine.gpu == "h100-sxm" ? "H100-SXM" : "H200-SXM";
  if (machine.provider == "runpod" && machine.gpu == "a100-80gb-sxm") return "A100-80GB-SXM";
  if (machine.provider == "aws" && machine.gpu == "rtx-pro-6000") return "RTX PRO Server 6000";
  if (machine.provider == "nebius" && machine.gpu == "rtx-pro-6000") return "RTX6000";
  const auto found = kNames.find(machine.gpu);
  return found == kNames.end() ? machine.gpu : found->second;
}

bool is_cloud_of_skypilot(std::string_view provider) {
  for (std::string_view known : {"aws", "gcp", "azure", "lambda", "nebius", "runpod"}) {
    if (provider == known) return true;
  }
  return false;
}

// Clouds SkyPilot has no instances of, and machines of one's own, are Kubernetes clusters to it.
std::string infra(const Plan& plan) {
  const std::string& provider = plan.offer.machine->provider;
  if (!is_cloud_of_skypilot(provider)) return "k8s";
  const std::string& region = plan.offer.price->region;
  return region == "any" ? provider : provider + "/" + region;
}

std::string resources(const Request& request, const Plan& plan) {
  constexpr double kPriceMargin = 1.2;
  const catalog::Machine& machine = *plan.offer.machine;
  std::string out = "resources:\n";
  out += fmt::format("  infra: {}\n", infra(plan));
  out += fmt::format("  accelerators: {}\n", quoted(fmt::format("{}:{}", accelerator(plan), machine.gpus)));
  // "n1-standard-8+1xT4" is a host and what hangs on it.
  if (is_cloud_of_skypilot(machine.provider) && machine.provider != "runpod")
    out += fmt::format("  instance_type: {}\n", machine.instance.substr(0, machine.instance.find('+')));
  out += fmt::format("  use_spot: {}\n", is_spot(plan));
  if (is_cloud_of_skypilot(machine.provider) && !is_committed(plan)) {
    const double dollars =
        std::ceil(in_usd_per_machine_hour(std::max(plan.price.listed, plan.price.likely)) * kPriceMargin * 100) / 100;
    out += fmt::format("  max_hourly_cost: {:.2f}  # of one machine: a fifth above the plan's price\n", dollars);
  }
  out += fmt::format("  disk_size: {}  # system, image{}\n", disk_gb(request, plan),
                     keeps_results(request) ? ", weights, checkpoints on their way to storage" : " and weights");
  if (is_amd(plan)) out += fmt::format("  image_id: docker:{}\n", software_of(request, plan).image);
  // SkyPilot sets GPUDirect or InfiniBand up where it knows how to; on AWS machines it has Ethernet.
  const bool knows =
      machine.provider == "gcp" || machine.provider == "nebius" || !is_cloud_of_skypilot(machine.provider);
  if (work_together(request, plan) && knows) out += "  network_tier: best\n";
  if (is_served(request)) out += fmt::format("  ports: {}\n", kPort);
  return out;
}

// A bucket, mounted: it outlives the machines, and writes go through the disk so that saving does not wait for it.
std::string mounts() {
  return fmt::format(
      "file_mounts:\n  {}:\n    source: s3://REPLACE-BY-YOUR-BUCKET  # or gs://, https://...blob.core.windows.net/\n"
      "    mode: MOUNT_CACHED\n",
      kStorage);
}

std::vector<std::string> fill_in(const Request& request, const Plan& plan) {
  std::vector<std::string> more;
  if (needs_code(request, plan)) more.emplace_back("workdir: the folder with your code; it is uploaded");
  if (keeps_results(request)) more.emplace_back("file_mounts: a bucket that outlives the machines");
  more.emplace_back("setup: what your command needs installed");
  if (fabric_of(request, plan).efa > 0)
    more.emplace_back(
        "the plan counts on EFA between machines, which SkyPilot does not set up on AWS: use an image and "
        "a cluster that have it, or expect a slower job");
  return inputs_and(request, plan, std::move(more));
}

std::string service(const Plan& plan) {
  return fmt::format(
      "service:\n  replicas: {}  # machines\n  readiness_probe:\n    path: /health\n"
      "    initial_delay_seconds: 1200  # weights are loaded first\n",
      plan.machines);
}

}  // namespace

std::string to_skypilot(const Request& request, const Plan& plan) {
  const bool served = is_served(request);
  const std::string name = object_name(request);
  const std::string start = served          ? "sky serve up -n " + name + " THIS_FILE"
                            : is_spot(plan) ? "sky jobs launch THIS_FILE (it comes back after an interruption)"
                                            : "sky launch -c " + name + " --down THIS_FILE";
  std::string out =
      header(request, plan, "A SkyPilot " + std::string(served ? "service" : "task") + ". Start: " + start,
             fill_in(request, plan));
  out += fmt::format("name: {}\n", name);
  if (needs_code(request, plan)) out += "workdir: .\n";
  if (!served) out += fmt::format("num_nodes: {}\n", plan.machines);
  out += resources(request, plan);
  if (served) out += service(plan);
  out += "envs:\n";
  for (const Input& input : inputs_of(request, plan)) out += fmt::format("  {}: {}\n", input.name, quoted(input.value));
  if (keeps_results(request)) out += mounts();
  // An image brings the engine with it; what a script of the user's needs is installed on either.
  if (!is_amd(plan) || needs_code(request, plan))
    out += fmt::format("setup: |\n  {}\n", software_of(request, plan).install);
  const Launcher launcher{"$SKYPILOT_NODE_RANK", "$(echo \"$SKYPILOT_NODE_IPS\" | head -n1)", machine_replicas(plan)};
  out += "run: |\n" + indented("set -eu\n" + work_command(request, plan, launcher), "  ");
  return out;
}

}  // namespace rightsize::plan
