#include "plan/hand_over/parts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "families/presets.h"
#include "perf/perf.h"
#include "plan/candidates.h"
#include "plan/layouts.h"

namespace rightsize::plan {
namespace {

// A name of the user's must not end a comment.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

std::string cost_sentence(const Request& request, const Plan& plan) {
  const std::string cost = format_usd(plan.cost);
  const std::string between =
      fmt::format("80 % between {} and {}", format_usd(plan.cost_low), format_usd(plan.cost_high));
  const std::string rate = format_usd_per_hour(plan.rate());
  if (request.work.kind == WorkKind::kServing)
    return fmt::format("Expected: {}/month ({}), at {}/h.", cost, between, rate);
  return fmt::format("Expected: {} and {} ({}), at {}/h.", format_duration(plan.time.total()), cost, between, rate);
}

std::string settings_sentence(const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  if (job.kind == model::JobKind::kTrain) {
    std::string text =
        fmt::format("Settings: {} training in {}, micro-batch {}, accumulation {}, recompute {}, ZeRO {}",
                    model::name_of(job.train.method), model::name_of(job.precision), job.batch, job.train.accumulation,
                    model::name_of(job.train.recompute), job.parallel.zero);
    if (!has_bf16(*plan.offer.gpu)) text += ", fp16 where others use bf16";
    if (job.parallel.tensor > 1) text += fmt::format(", tp {}", job.parallel.tensor);
    if (job.parallel.pipeline > 1) text += fmt::format(", pp {}", job.parallel.pipeline);
    return text + ".";
  }
  if (request.work.is_measured()) return "Settings: one worker a GPU.";
  const std::string layout =
      (job.parallel.pipeline > 1 ? fmt::format(" x pipeline {}", job.parallel.pipeline) : std::string()) +
      layout_words(job);
  return fmt::format("Settings: {}, {} x tensor parallel {}{}.", model::name_of(job.precision),
                     std::max(1, plan.replicas), job.parallel.tensor, layout);
}

}  // namespace

std::string object_name(const Request& request) {
  constexpr std::size_t kLongest = 50;  // of 63: controllers add endings
  std::string name;
  for (char c : to_lower(request.name)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min(name.size(), kLongest));
  while (!name.empty() && name.back() == '-') name.pop_back();
  // A Service's name must begin with a letter.
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "work-");
  while (name.back() == '-') name.pop_back();
  return name;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : one_line(std::string(text))) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string indented(const std::string& text, std::string_view by) {
  std::string out;
  bool begins = true;
  for (char c : text) {
    if (begins && c != '\n') out += by;
    out += c;
    begins = c == '\n';
  }
  return out;
}

std::string header(const Request& request, const Plan& plan, const std::string& what,
                   const std::vector<std::string>& fill_in) {
  const market::Offer& offer = plan.offer;
  const std::string region = offer.price->region == "any" ? "" : " " + offer.price->region;
  std::string date = offer.price->provenance.date ? ", read " + format_date(*offer.price->provenance.date) : "";
  std::vector<std::string> lines = {
      what,
      fmt::format("Plan of rightsize for {}: {} x {} on {} x {} at {}{}, {}.", one_line(request.name), plan.gpus,
                  offer.gpu->name, plan.machines, offer.machine->instance, offer.machine->provider, region,
                  catalog::name_of(offer.price->purchase)),
      cost_sentence(request, plan), fmt::format("Price: {}{}.", fmt::join(offer.price->provenance.sources, ", "), date),
      settings_sentence(request, plan)};
  if (is_committed(plan)) lines.emplace_back("The price is that of a commitment: buy it first, or pay more.");
  lines.emplace_back("Fill in:");
  for (const std::string& line : fill_in) lines.push_back("  " + line);
  std::string out;
  for (const std::string& line : lines) out += "# " + one_line(line) + "\n";
  return out;
}

std::vector<std::string> inputs_and(const Request& request, const Plan& plan, std::vector<std::string> more,
                                    std::string_view storage) {
  std::vector<std::string> lines;
  for (const Input& input : inputs_of(request, plan, storage))
    lines.push_back(fmt::format("{}: {}", input.name, input.meaning));
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return lines;
}

bool is_spot(const Plan& plan) { return plan.offer.price->purchase == catalog::Purchase::kSpot; }

bool is_committed(const Plan& plan) {
  const catalog::Purchase purchase = plan.offer.price->purchase;
  return purchase == catalog::Purchase::kOneYear || purchase == catalog::Purchase::kThreeYears;
}

bool is_served(const Request& request) { return request.work.kind == WorkKind::kServing; }

int working_gpus(const Plan& plan) { return std::max(1, (plan.gpus + plan.machines - 1) / plan.machines); }

int machine_replicas(const Plan& plan) { return std::max(1, plan.replicas / plan.machines); }

int replica_machines(const Request& request, const Plan& plan) {
  if (!is_served(request)) return 1;
  const int copy = plan.job.parallel.tensor * plan.job.parallel.pipeline, gpus = plan.offer.machine->gpus;
  return std::max(1, (copy + gpus - 1) / gpus);
}

bool is_amd(const Plan& plan) { return plan.offer.gpu->vendor == "AMD"; }

std::string_view resource(const Plan& plan) { return is_amd(plan) ? "amd.com/gpu" : "nvidia.com/gpu"; }

bool keeps_results(const Request& request) { return !is_served(request); }

bool has_bf16(const catalog::Gpu& gpu) { return gpu.peak(catalog::NumberFormat::kBf16).supported; }

std::string hub_id(const Request& request) {
  for (const model::Preset& preset : model::presets()) {
    if (preset.name != request.model.name) continue;
    // Hub ids are "owner/name" and keep their capitals; other aliases have no owner.
    for (const std::string& alias : preset.aliases) {
      if (alias.find('/') != std::string::npos) return alias;
    }
  }
  return {};
}

bool work_together(const Request& request, const Plan& plan) {
  return (plan.machines > 1 && request.work.kind == WorkKind::kTraining) || replica_machines(request, plan) > 1;
}

int disk_gb(const Request& request, const Plan& plan) {
  constexpr double kSystemAndImage = 100, kStep = 50;
  if (request.work.is_measured()) return static_cast<int>(2 * kSystemAndImage);
  const perf::ModelWork work = perf::work_of(request.model);
  // As downloaded: 16 bits a parameter, or the whole checkpoint of a format that comes with its own.
  const double weights = 2e-9 * static_cast<double>(request.model.parameters());
  const double saved = 1e-9 * in_bytes(checkpoint_bytes(work, plan.job)) / std::max(1, plan.machines);
  return static_cast<int>(std::ceil((kSystemAndImage + 1.1 * weights + 2.2 * saved) / kStep) * kStep);
}

// How interfaces are laid out on AWS follows the EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances
// with multiple network cards"; cards of P5, P5e, P5en, P6-B200 and P6-B300 are those AWS's training examples request
// (vpc.amazonaws.com/efa: 32, 32, 16, 8, 16). Google: one RoCE card a GPU on A3 Ultra, A4 and A4X (NVIDIA AICR, "GKE
// GB200 networking": rdma-0 to rdma-3), eight on A3 Mega, four on A3 High. All read 2026-11-15. Not found in a public
// source: P4d's four (of the same guide's older text) and G6e's.
Fabric fabric_of(const Request& request, const Plan& plan) {
  const catalog::Machine& machine = *plan.offer.machine;
  Fabric fabric;
  if (!work_together(request, plan)) return fabric;
  fabric.infiniband = machine.fabric == "infiniband";
  if (machine.fabric == "efa") {
    static const std::map<std::string, int, std::less<>> kCards = {
        {"p4d.24xlarge", 4},   {"p4de.24xlarge", 4},    {"p5.48xlarge", 32},      {"p5e.48xlarge", 32},
        {"p5en.48xlarge", 16}, {"p6-b200.48xlarge", 8}, {"p6-b300.48xlarge", 16}, {"g6e.48xlarge", 4}};
    const auto found = kCards.find(machine.instance);
    fabric.efa = found == kCards.end() ? 1 : found->second;
  }
  fabric.rdma = machine.fabric == "roce";
  if (machine.provider == "gcp" && machine.instance == "a3-highgpu-8g") fabric.gpu_nics = 4;
  if (machine.provider == "gcp" && (fabric.rdma || machine.instance == "a3-megagpu-8g")) fabric.gpu_nics = machine.gpus;
  return fabric;
}

}  // namespace rightsize::plan
