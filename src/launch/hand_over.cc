#include "launch/hand_over.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/suggest.h"
#include "base/text.h"
#include "launch/hand_over_facts.h"
#include "plan/layouts.h"
#include "plan/stored_data.h"

namespace rightsize::launch {
namespace {

using hand_over::Facts;
using model::Stack;

// The upper end of the estimate plus 10 %, as days-hours:minutes:seconds; a service gets a month.
std::string slurm_time(const Request& request, const Plan& plan) {
  constexpr double kMargin = 1.1, kLeastMinutes = 15;
  if (is_served(request)) return "30-00:00:00";
  const double minutes = in_hours(plan.time.total()) * 60 * std::max(1.0, plan.speed.high) * kMargin;
  const auto whole = static_cast<long>(std::ceil(std::max(kLeastMinutes, minutes)));
  return fmt::format("{}-{:02}:{:02}:00", whole / 1440, whole / 60 % 24, whole % 60);
}

Result<std::string> slurm(const Request& request, const Plan& plan) {
  Facts facts = facts_of(request, plan, kSlurmStorage);
  facts.set("time_limit", slurm_time(request, plan));
  if (!request.partition.empty()) facts.set("partition", request.partition);
  if (!request.account.empty()) facts.set("account", request.account);
  add_work(facts, request, plan,
           machines_per_replica(request, plan) == 1
               ? Launcher{work_apart(request, plan) ? "$SLURM_ARRAY_TASK_ID" : "$SLURM_NODEID", "$HEAD",
                          engines_per_machine(plan)}
               : Launcher{"\"$MEMBER\"", "\"$LEADER\"", 1});
  return hand_over::fill_in("slurm.sh", facts);
}

// GPU feature discovery labels a node with the driver's name of the GPU, the first alias in the catalogue.
std::string product_label(const catalog::Gpu& gpu) {
  if (gpu.vendor != "NVIDIA" || gpu.aliases.empty()) return {};
  std::string label = gpu.aliases.front();
  std::replace(label.begin(), label.end(), ' ', '-');
  return label;
}

// How a cluster of this provider marks its spot nodes.
std::pair<std::string_view, std::string_view> spot_label(std::string_view provider) {
  if (provider == "gcp") return {"cloud.google.com/gke-spot", "true"};
  if (provider == "azure") return {"kubernetes.azure.com/scalesetpriority", "spot"};
  if (provider == "aws") return {"karpenter.sh/capacity-type", "spot"};
  return {};
}

// Pods in each hour of a day or a week: the minimum always, more in the hours that need them.
void add_schedule(Facts& facts, const Plan& plan) {
  constexpr std::size_t kDay = 24;
  const std::vector<int>& machines = plan.machines_by_hour;
  const int each = engines_per_machine(plan), fewest = *std::ranges::min_element(machines);
  const auto at = [&](std::size_t hour) {
    return machines.size() > kDay ? fmt::format("0 {} * * {}", hour % kDay, (hour / kDay + 1) % 7)
                                  : fmt::format("0 {} * * *", hour % kDay);
  };
  std::vector<Facts> hours;
  for (std::size_t begin = 0, end = 0; begin < machines.size(); begin = end) {
    while (end < machines.size() && machines[end] == machines[begin]) ++end;
    if (machines[begin] > fewest)
      hours.push_back(Facts().set("start", at(begin)).set("end", at(end)).set("replicas", machines[begin] * each));
  }
  facts.set("scheduled", true)
      .set("follows_hours", false)
      .set("min_replicas", fewest * each)
      .set("max_replicas", *std::ranges::max_element(machines) * each)
      .set("hours", hours);
}

// Training and offline work as an indexed Job, a service as a Deployment, or as a LeaderWorkerSet if an engine spans
// machines: a group of pods that start, end and are replaced together, with the first one as the server. Prefill and
// decode workers are a StatefulSet each, because routers need fixed pod names.
Result<std::string> kubernetes(const Request& request, const Plan& plan) {
  constexpr int kRestarts = 10;  // of every pod, before the job is given up
  Facts facts = facts_of(request, plan, kStorage);
  const auto [label, value] = is_spot(plan) ? spot_label(plan.offer.machine->provider) : spot_label("");
  const std::string product = product_label(*plan.offer.gpu), name = hand_over::object_name(request.name);
  facts.set("product_label", product)
      .set("spot_label", label)
      .set("spot_value", value)
      .set("spot_unlabelled", is_spot(plan) && label.empty())
      .set("node_selector", !product.empty() || !label.empty());
  if (machines_per_replica(request, plan) > 1) {
    facts.set("pod_gpus", gpus_used_per_machine(plan));
    add_work(facts, request, plan, {"\"$LWS_WORKER_INDEX\"", "\"$LWS_LEADER_ADDRESS\"", 1});
    facts.set("leader_answers", true);
    return hand_over::fill_in("kubernetes/leader_worker_set.yaml", facts);
  }
  if (plan.job.serve.disaggregated && is_served(request)) {
    add_pools(facts, request, plan, name);
    return hand_over::fill_in("kubernetes/worker_pools.yaml", facts);
  }
  if (is_served(request)) {
    facts.set("pod_gpus", plan::replica_gpus(plan.job)).set("answers", true).set("spread", plan.replicas > 1);
    if (!plan.machines_by_hour.empty()) add_schedule(facts, plan);
    add_work(facts, request, plan, {"0", "localhost", 1});
    return hand_over::fill_in("kubernetes/plan_deployment.yaml", facts);
  }
  const bool training = is_training(request);
  const int pods = training ? plan.machines : std::max(1, plan.replicas);
  facts.set("pods", pods)
      .set("pods_talk", training && pods > 1)
      .set("restarts", kRestarts * pods)
      .set("storage_gb", storage_gb(request, plan))
      .set("pod_gpus", training ? gpus_used_per_machine(plan) : plan::replica_gpus(plan.job));
  add_work(facts, request, plan, {"$JOB_COMPLETION_INDEX", name + "-0." + name, 1});
  return hand_over::fill_in("kubernetes/job.yaml", facts);
}

std::string skypilot_accelerator(const catalog::Machine& machine) {
  static const Csv kNames = *Csv::parse("data/skypilot_gpus.csv", std::string(embedded_file("skypilot_gpus.csv")));
  if (machine.instance.find("megagpu-8g") != std::string::npos) return "H100-MEGA";
  for (std::string_view provider : {std::string_view(machine.provider), std::string_view()}) {
    for (const CsvRow& row : kNames.rows()) {
      if (kNames.cell(row, "gpu") == machine.gpu && kNames.cell(row, "provider") == provider)
        return std::string(kNames.cell(row, "name"));
    }
  }
  std::string upper = machine.gpu;  // t4, a10g, l40s, gb200, mi300x
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper.find('-') == std::string::npos ? upper : machine.gpu;
}

bool takes_best_network(const plan::SkyPilotCloud& cloud, const std::string& accelerator, const std::string& instance) {
  return std::any_of(cloud.network.begin(), cloud.network.end(), [&](const std::string& word) {
    return word == "any" || word == accelerator || (word.ends_with('.') && instance.starts_with(word));
  });
}

Result<std::string> skypilot(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  const plan::SkyPilotCloud cloud = plan::skypilot_cloud(machine.provider);
  const plan::SkyPilotNeeds needs{.nodes = plan.machines > 1 && is_training(request),
                                  .spot = is_spot(plan),
                                  .ports = is_served(request),
                                  .docker = is_amd(plan)};
  if (Result<> possible = plan::check_skypilot(machine.provider, needs); !possible) return fail(possible.error());
  const bool rents = !cloud.infra.empty();
  const std::string& region = plan.offer.price->region;
  // "n1-standard-8+1xT4" is a host and the GPU attached to it.
  const std::string host = machine.instance.substr(0, machine.instance.find('+'));
  const std::string accelerator = fmt::format("{}:{}", skypilot_accelerator(machine), machine.gpus);
  const bool keeps_results = !is_served(request);
  const bool best_network = work_together(request, plan) && takes_best_network(cloud, accelerator, machine.instance);
  Facts facts = facts_of(request, plan, kStorage);
  const std::string install = hand_over::fill_in_text("{{install}}", facts);
  facts.set("infra", !rents            ? "k8s"
                     : region == "any" ? cloud.infra
                                       : cloud.infra + "/" + region)
      .set("on_kubernetes", !rents)
      .set("accelerators", accelerator)
      .set("instance_type", rents && machine.provider != "runpod" ? host : "")
      .set("use_spot", is_spot(plan) ? "true" : "false")
      .set("max_hourly_cost", rents && !is_committed(plan) ? max_price(plan) : "")
      .set("best_network", best_network)
      .set("slow_network", work_together(request, plan) && !best_network)
      .set("mounts_bucket", keeps_results && cloud.buckets)
      .set("mounts_volume", keeps_results && !cloud.buckets && cloud.volumes)
      .set("copies_results", keeps_results && !cloud.buckets && !cloud.volumes)
      .set("storage_gb", storage_gb(request, plan))
      .set("disk_gb", disk_gb(request, plan, keeps_results && !cloud.buckets && !cloud.volumes))
      .set("autodown", cloud.autodown)
      .set("needs_setup", !install.empty());
  add_work(facts, request, plan,
           {work_apart(request, plan) ? "$WORKER" : "$SKYPILOT_NODE_RANK", "$(echo \"$SKYPILOT_NODE_IPS\" | head -n1)",
            engines_per_machine(plan)});
  return hand_over::fill_in("skypilot.yaml", facts);
}

Result<std::string> karpenter(const Request& request, const Plan& plan) {
  if (plan.offer.machine->provider != "aws") {
    return fail(bad_input(fmt::format("Karpenter files are written for AWS only; this plan uses {}",
                                      plan.offer.machine->provider))
                    .with_hint("--providers aws restricts the plan to AWS")
                    .with_hint("--emit kubernetes and slurm work with every provider"));
  }
  return hand_over::fill_in("karpenter.yaml", facts_of(request, plan, kStorage));
}

// Compute Engine, "Disk types by machine series" 2026: A4, A3 Ultra and G4 boot only from Hyperdisk, A3 and G2 from no
// standard disk.
std::string_view gcp_boot_disk(const std::string& instance) {
  for (std::string_view series : {"a4", "a3-ultra", "g4"}) {
    if (instance.starts_with(series)) return "hyperdisk-balanced";
  }
  return "pd-balanced";
}

Facts variable(std::string_view name, std::string_view meaning, std::string_view type = "string") {
  return Facts().set("name", name).set("meaning", meaning).set("type", type);
}

std::vector<Facts> terraform_variables(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  if (machine.provider == "aws") {
    std::vector<Facts> all = {
        variable("image", "AMI with the GPU driver (and EFA, for several machines): a Deep Learning AMI of the region"),
        variable("key_name", "EC2 key pair to log in with"),
        variable("subnet_id", "subnet in a zone that has the instance type")};
    if (work_together(request, plan) && machine.fabric == "efa")
      all.push_back(variable("security_group_id", "security group that allows SSH and all traffic within itself"));
    return all;
  }
  if (machine.provider == "azure")
    return {variable("resource_group", "resource group the machines go into"),
            variable("image", "ID of an image with the GPU driver (and InfiniBand's, for several machines)"),
            variable("subnet_id", "subnet the machines are in"),
            variable("public_key", "SSH public key to log in with")};
  return {variable("project", "Google Cloud project"), variable("zone", "zone of the region that has the machine type"),
          variable("image", "image with the GPU driver, for example of the family common-cu128-ubuntu-2204"),
          variable("subnet", "subnetwork of the region"), variable("ssh_key", "USER:PUBLIC_KEY to log in with")};
}

Result<std::string> terraform(const Request& request, const Plan& plan) {
  static const std::map<std::string, std::pair<std::string, std::string>, std::less<>> kClouds = {
      {"aws", {"aws", "mount-s3 YOUR-BUCKET {} --allow-overwrite --allow-delete"}},
      {"gcp", {"google", "gcsfuse YOUR-BUCKET {}"}},
      {"azure", {"azurerm", "blobfuse2 mount {} --container-name=YOUR-CONTAINER"}}};
  const catalog::Machine& machine = *plan.offer.machine;
  const auto cloud = kClouds.find(machine.provider);
  if (cloud == kClouds.end())
    return fail(bad_input(fmt::format("Terraform files are written for AWS, Google Cloud and Azure; this plan uses {}",
                                      machine.provider))
                    .with_hint("--providers aws,gcp,azure restricts the plan to those")
                    .with_hint("--emit kubernetes and slurm work with every provider"));
  const auto& [name, mount] = cloud->second;
  Facts facts = facts_of(request, plan, kStorage);
  add_work(facts, request, plan, {"$RANK", "$HEAD", engines_per_machine(plan)});
  std::vector<Facts> variables = terraform_variables(request, plan);
  const bool rdma = work_together(request, plan) && machine.fabric == "roce";
  const std::size_t attached = machine.instance.find('+');
  const std::string subnets = hand_over::fill_in_text(
      "{{#gpu_nics}}{{gpu_nics}} subnetworks, one for each {{#rdma}}RDMA card (of a network with the RoCE profile)"
      "{{/rdma}}{{^rdma}}network card{{/rdma}} of the GPUs{{/gpu_nics}}",
      facts);
  if (!subnets.empty()) variables.push_back(variable("gpu_subnets", subnets, "list(string)"));
  facts.set("tf_provider", name)
      .set("mount", fmt::format(fmt::runtime(mount), kStorage))
      .set("variables", variables)
      .set("machine_type", machine.instance.substr(0, attached))
      // N1 machines get their GPUs by name; other machine types include them.
      .set("guest_accelerator", attached == std::string::npos ? "" : machine.gpu.substr(0, machine.gpu.find('-')))
      .set("placed", work_together(request, plan) && !rdma)  // machines with RDMA are placed by their reservation
      .set("boot_disk", gcp_boot_disk(machine.instance))
      .set("region", plan.offer.price->region);
  facts.set("steps", hand_over::indented(hand_over::fill_in("terraform/steps", facts), "#   "));
  return hand_over::fill_in(fmt::format("terraform/{}.tf", machine.provider), facts);
}

Result<std::string> triton(const Request& request, const Plan& plan) {
  if (!is_served(request) || plan.replicas == 0 || !in_batches(request)) {
    return fail(
        bad_input("Triton files are written for models that answer in one pass: encoders and image models")
            .with_hint("--emit skypilot, kubernetes and slurm start an engine for models that generate tokens"));
  }
  const std::int64_t batch = std::max<std::int64_t>(1, plan.job.batch);
  Facts facts = facts_of(request, plan, kStorage);
  facts.set("max_batch", batch)
      .set("executors", 1)
      .set("batches", batch > 1)
      .set("max_delay_us", std::llround(in_seconds(plan.delay) * 1e6));
  return hand_over::fill_in("triton_plan", facts);
}

// Targets that cannot start an engine over several machines.
Result<> check_span(Target target, const Request& request, const Plan& plan) {
  const int machines = machines_per_replica(request, plan);
  if (machines == 1) return {};
  if (plan.job.stack == Stack::kTrtLlm && target != Target::kTerraform && target != Target::kKarpenter)
    return fail(
        bad_input(fmt::format("TensorRT-LLM over {} machines needs MPI, which these files do not start", machines))
            .with_hint("use --stack vllm or --stack sglang, or --emit terraform for the machines"));
  if (target == Target::kSkyPilot)
    return fail(bad_input(fmt::format("a replica of {} spans {} machines, which SkyPilot services do not support",
                                      request.model.name, machines))
                    .with_hint("use --emit kubernetes (a LeaderWorkerSet) or --emit slurm"));
  return {};
}

constexpr std::string_view kTargets[] = {"skypilot", "kubernetes", "karpenter", "slurm", "terraform", "triton"};

}  // namespace

std::string_view name_of(Target target) { return kTargets[static_cast<int>(target)]; }

Result<Target> parse_target(std::string_view name) {
  const std::string lower = to_lower(trim(name));
  const auto found = std::find(std::begin(kTargets), std::end(kTargets), lower);
  if (found != std::end(kTargets)) return static_cast<Target>(found - std::begin(kTargets));
  if (lower == "k8s") return Target::kKubernetes;
  return fail(bad_input(fmt::format("unknown tool '{}'", name))
                  .with_hint(did_you_mean(lower, std::vector<std::string>(std::begin(kTargets), std::end(kTargets))))
                  .with_hint(fmt::format("use {}", fmt::join(kTargets, ", "))));
}

Result<std::string> hand_over(Target target, const Request& request, const Plan& plan) {
  if (Result<> span = check_span(target, request, plan); !span) return fail(span.error());
  const bool machines_only = target == Target::kTerraform || target == Target::kKarpenter;
  if (plan.job.train.preference && plan.job.stack != Stack::kHf && !machines_only)
    return fail(bad_input(fmt::format("there is no launch command for preference training (DPO) with {}",
                                      model::name_of(plan.job.stack)))
                    .with_hint("--stack hf writes one for TRL; --emit terraform writes the machines"));
  if (is_training(request) && request.model.image_size > 0 && plan.job.stack != Stack::kHf && !machines_only)
    return fail(bad_input(fmt::format("there is no launch command for training on images with {}",
                                      model::name_of(plan.job.stack)))
                    .with_hint("--stack hf writes one; --emit terraform writes the machines"));
  if (is_training(request) && plan.job.train.method != model::Method::kFull && plan.job.stack != Stack::kHf &&
      !machines_only)
    return fail(bad_input(fmt::format("there is no launch command for {} with {}: the one we write trains all weights",
                                      model::name_of(plan.job.train.method), model::name_of(plan.job.stack)))
                    .with_hint("--stack hf writes one for PEFT; --emit terraform writes the machines"));
  using Write = Result<std::string> (*)(const Request&, const Plan&);
  static constexpr Write kWriters[] = {skypilot, kubernetes, karpenter, slurm, terraform, triton};
  return kWriters[static_cast<int>(target)](request, plan);
}

}  // namespace rightsize::launch
