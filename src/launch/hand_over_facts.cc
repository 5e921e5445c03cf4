#include "launch/hand_over_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/format.h"
#include "base/text.h"
#include "launch/item_parts.h"
#include "perf/perf.h"
#include "plan/candidates.h"
#include "plan/layouts.h"
#include "plan/limit_risk.h"
#include "plan/startup.h"
#include "plan/stored_data.h"
#include "presets/hub_names.h"
#include "presets/presets.h"

namespace rightsize::launch {
namespace {

using hand_over::Facts;
using model::Precision;
using model::Stack;

constexpr int kPort = 8000;  // the port of the server in front of the replicas

bool is_vllm(const Plan& plan) { return plan.job.stack == Stack::kVllm; }

// ---- Environment variables that the user has to provide. ----

Facts input(std::string_view name, std::string_view value, std::string_view meaning) {
  return Facts().set("name", name).set("value", value).set("meaning", meaning);
}

// Megatron and MPT models of llm-foundry train from a configuration; their weights are converted, or random.
Facts checkpoint_input(const Request& request, const Plan& plan) {
  const Precision p = plan.job.precision;
  const std::string id = checkpoint_of(request, plan),
                    given = request.model_given.empty() ? request.model.name : request.model_given;
  const std::string named = id.empty() ? given : id;
  const bool own_format =
      p == Precision::kInt4 || p == Precision::kInt8 || p == Precision::kFp4 || needs_fp8_checkpoint(request, plan);
  const bool published = request.model.checkpoint == p ||  // gpt-oss is published in 4 bits
                         (p == Precision::kFp8 && id != hub_id_of(request) && model::format_in_name(id) == p);
  if (plan.job.kind == model::JobKind::kServe && own_format && !published)
    return input("MODEL", fmt::format("REPLACE-BY-{}-CHECKPOINT-OF-{}", model::name_of(p), named),
                 fmt::format("a checkpoint of {} quantized to {}: its Hub ID or its folder", named, model::name_of(p)));
  if (plan.job.stack == Stack::kMegatron)
    return input("MODEL", fmt::format("./{}-megatron", hand_over::object_name(request.name)),
                 fmt::format("the weights of {} in Megatron's format, in a folder every machine sees", named));
  if (id.empty())
    return input("MODEL", fmt::format("REPLACE-BY-A-CHECKPOINT-OF-{}", named),
                 "the checkpoint: its Hub ID or its folder");
  return input("MODEL", id,
               fmt::format("the checkpoint's Hub ID; for a gated model, HF_TOKEN must be set{}",
                           plan.job.kind == model::JobKind::kServe && runs_remote_code(id)
                               ? "; --trust-remote-code runs code of its repository"
                               : ""));
}

// The name of a model in torchtitan, if it has one: data/torchtitan_models.csv.
std::pair<std::string, std::string> torchtitan_names(const std::string& model) {
  static const Csv kNames =
      *Csv::parse("data/torchtitan_models.csv", std::string(embedded_file("torchtitan_models.csv")));
  for (const CsvRow& row : kNames.rows()) {
    if (kNames.cell(row, "model") == model)
      return {std::string(kNames.cell(row, "module")), std::string(kNames.cell(row, "config"))};
  }
  return {"REPLACE-BY-YOUR-MODULE", "REPLACE-BY-YOUR-CONFIG"};
}

void add_trainer_inputs(std::vector<Facts>& inputs, const Request& request, const Plan& plan) {
  if (plan.job.stack == Stack::kTorchTitan) {
    const auto [module, config] = torchtitan_names(request.model.name);
    if (!has_checkpoint(request, plan))
      inputs.push_back(input("TOKENIZER", "./tokenizer", "a folder with the tokenizer's files"));
    const bool narrow = plan.job.precision == Precision::kFp8 || plan.job.precision == Precision::kFp4;
    inputs.push_back(
        input("TRAIN_MODULE", module, "the torchtitan module with the configuration in its config_registry"));
    inputs.push_back(input("TRAIN_CONFIG", config,
                           narrow ? fmt::format("its function, with a converter of linear layers to {}",
                                                model::name_of(plan.job.precision))
                                  : "its function for this model"));
    return;
  }
  if (plan.job.stack == Stack::kLlmFoundry) {
    const bool mpt = request.model.family == "mpt", random = !has_checkpoint(request, plan);
    inputs.push_back(input("TRAIN_SCRIPT", mpt ? "yamls/pretrain/mpt-7b.yaml" : "train.yaml",
                           random
                               ? "the configuration of llm-foundry, with the sizes of this model; weights start random"
                               : "the configuration of llm-foundry for this model"));
    return;
  }
  if (plan.job.stack == Stack::kMegatron) {
    const std::string id = hub_id_of(request);
    const bool random = !has_checkpoint(request, plan);
    inputs.push_back(
        input("LEARNING_RATE", "REPLACE-BY-A-LEARNING-RATE", "the peak; add its schedule (--lr-decay-style)"));
    inputs.push_back(input("TOKENIZER", id.empty() ? "REPLACE-BY-A-TOKENIZER" : id,
                           "the tokenizer that the data was prepared with"));
    inputs.push_back(input("TRAIN_SCRIPT", "pretrain_gpt.py",
                           random
                               ? "of Megatron-LM; compare the sizes below with your configuration (rotary base, norms)"
                               : "your training script, such as pretrain_gpt.py"));
    return;
  }
  inputs.push_back(input(
      "TRAIN_SCRIPT", plan.job.train.preference ? "dpo.py" : "train.py",
      plan.job.train.preference ? "your DPO script, such as trl/scripts/dpo.py; it passes --resume_from_checkpoint to "
                                  "DPOTrainer.train()"
      : has_checkpoint(request, plan)
          ? "your training script; it passes --resume_from_checkpoint to Trainer.train()"
          : "your training script; it makes the model from its configuration with random weights, and passes "
            "--resume_from_checkpoint to Trainer.train()"));
}

// The published draft model, if one is known.
std::string draft_model(const std::string& hub_id, std::string_view method) {
  static const Csv kDrafts = *Csv::parse("data/draft_models.csv", std::string(embedded_file("draft_models.csv")));
  for (const CsvRow& row : kDrafts.rows()) {
    const bool same = to_lower(kDrafts.cell(row, "model")) == to_lower(hub_id);
    if (same && kDrafts.cell(row, "method") == method) return std::string(kDrafts.cell(row, "draft"));
  }
  return {};
}

// vLLM reads the settings of speculative decoding as JSON. MTP and DSpark draft with heads of the model itself.
Facts speculation_input(const Request& request, const model::Speculation& speculation) {
  const bool own_heads = speculation.method == "mtp" || speculation.method == "dspark";
  const std::string method = speculation.method.empty() ? "REPLACE-BY-A-METHOD" : speculation.method;
  const std::string known = draft_model(hub_id_of(request), method);
  const std::string draft =
      own_heads ? "" : fmt::format("\"model\": \"{}\", ", known.empty() ? "REPLACE-BY-A-DRAFT-MODEL" : known);
  return input(
      "SPECULATION",
      fmt::format("{{\"method\": \"{}\", {}\"num_speculative_tokens\": {}}}", method, draft, speculation.tokens),
      own_heads ? "speculative decoding with the model's own heads"
      : known.empty()
          ? "speculative decoding: its draft model"
          : "speculative decoding with a published draft model: measure how many of its tokens are accepted");
}

void add_offline_inputs(std::vector<Facts>& inputs, const Request& request, const Plan& plan,
                        const std::string& folder) {
  const Parts parts = parts_of(request, plan);
  const std::string items = format_count(static_cast<double>(parts.items)),
                    count = format_count(static_cast<double>(parts.count)), length = format_duration(parts.length);
  if (needs_code(request))
    inputs.push_back(input("WORK_SCRIPT", "work.py",
                           "your script: reads names of parts from standard input, one per line; writes the results of "
                           "INPUT/NAME to the file OUTPUT/NAME.tmp, then prints NAME"));
  const std::string split =
      fmt::format("split -d -a 6 -l {} --additional-suffix=.jsonl requests.jsonl INPUT/part-", parts.items);
  inputs.push_back(input(
      "INPUT", folder + "/input",
      !request.work.profiled_gpu.empty() ? fmt::format("a folder with the work in {} parts of {} each", count, length)
      : needs_code(request)              ? fmt::format("a folder of {} part{}, {} item{} each ({} of work)", count,
                                          parts.count == 1 ? "" : "s", items, parts.items == 1 ? "" : "s", length)
                            : fmt::format("a folder of {} files, {} requests each ({} of work), one per line in the "
                                          "format of the Batch API: {}",
                                          count, items, length, split)));
  inputs.push_back(input("OUTPUT", folder + "/output", "where results go, a file for each part"));
}

std::vector<Facts> inputs_of(const Request& request, const Plan& plan, std::string_view storage) {
  std::vector<Facts> inputs;
  if (!request.model.name.empty() && has_checkpoint(request, plan)) inputs.push_back(checkpoint_input(request, plan));
  if (plan.job.kind == model::JobKind::kServe && plan.job.serve.speculation.tokens > 0 && is_vllm(plan))
    inputs.push_back(speculation_input(request, plan.job.serve.speculation));
  const std::string folder = fmt::format("{}/{}", storage, hand_over::object_name(request.name));
  if (is_training(request)) {
    add_trainer_inputs(inputs, request, plan);
    inputs.push_back(input(
        "DATA", "./data",
        plan.job.train.preference
            ? "pairs with the columns prompt, chosen and rejected: a folder next to the script, or a mounted folder"
            : "the training data: a folder next to the script, or a mounted folder"));
    inputs.push_back(input("OUTPUT", folder, "where checkpoints go, and where a restarted run finds the newest"));
  } else if (request.work.kind == WorkKind::kOffline) {
    add_offline_inputs(inputs, request, plan, folder);
  } else if (needs_code(request)) {
    const int gpus = plan.job.parallel.tensor;
    const std::string splits = gpus > 1 ? fmt::format(", splits each item over {} GPUs (xDiT)", gpus) : "";
    inputs.push_back(
        input("SERVE_SCRIPT", "serve.py", "your server: gathers requests into batches" + splits + ", answers /health"));
  }
  return inputs;
}

// ---- The header's comments. ----

void add_header(Facts& facts, const Request& request, const Plan& plan) {
  const catalog::Price& price = *plan.offer.price;
  const Software& used = software(plan::runs_with(request, plan));
  facts.set("workload", request.name)
      .set("gpus", plan.gpus)
      .set("gpu", plan.offer.gpu->name)
      .set("machines", plan.machines)
      .set("instance", plan.offer.machine->instance)
      .set("provider", plan.offer.machine->provider)
      .set("region", price.region == "any" ? "" : price.region)
      .set("purchase", catalog::name_of(price.purchase))
      .set("owned", plan.offer.machine->provider == market::kOwn)
      .set("cost", format_usd(plan.cost))
      .set("cost_low", format_usd(plan.cost_low))
      .set("cost_high", format_usd(plan.cost_high))
      .set("rate", format_usd_per_hour(plan.rate()))
      .set("risk", plan::limit_risk(request, plan))
      .set("follows_hours", !plan.machines_by_hour.empty())
      .set("all_hours_cost", format_usd(plan.rate() * kMonth))
      .set("duration", format_duration(plan.elapsed()))
      .set("price_sources", fmt::format("{}", fmt::join(price.provenance.sources, ", ")))
      .set("price_date", price.provenance.date ? format_date(*price.provenance.date) : "")
      .set("settings", request.work.is_measured() ? "one worker per GPU" : settings_words(request, plan))
      .set("software", needs_own_script(request) ? "" : used.name)
      .set("software_commit", used.commit)
      .set("software_date", used.date)
      .set("data", plan::describe_data(request, plan))
      .set("committed", is_committed(plan))
      .set("arm", plan::has_arm_host(plan.offer));
}

// ---- The machines. ----

// Network cards per machine. AWS: the counts that AWS's training examples request (vpc.amazonaws.com/efa), with the
// layout of the EC2 user guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards".
// Google: one RoCE card per GPU on A3 Ultra, A4 and A4X (NVIDIA AICR, "GKE GB200 networking"), eight on A3 Mega, four
// on A3 High. Read 2026-11-15. No public source was found for P4d's four cards and for G6e's.
void add_network(Facts& facts, const Request& request, const Plan& plan) {
  static const std::map<std::string, int, std::less<>> kEfaCards = {
      {"p4d.24xlarge", 4},   {"p4de.24xlarge", 4},    {"p5.48xlarge", 32},      {"p5e.48xlarge", 32},
      {"p5en.48xlarge", 16}, {"p6-b200.48xlarge", 8}, {"p6-b300.48xlarge", 16}, {"g6e.48xlarge", 4}};
  const catalog::Machine& machine = *plan.offer.machine;
  const bool together = work_together(request, plan), rdma = together && machine.fabric == "roce";
  int efa = 0, gpu_nics = 0;
  if (together && machine.fabric == "efa") {
    const auto found = kEfaCards.find(machine.instance);
    efa = found == kEfaCards.end() ? 1 : found->second;
  }
  if (together && machine.provider == "gcp") {
    if (machine.instance == "a3-highgpu-8g") gpu_nics = 4;
    if (rdma || machine.instance == "a3-megagpu-8g") gpu_nics = machine.gpus;
  }
  const int first_card = machine.instance.starts_with("p6-b300") ? 1 : 0;
  facts.set("together", together)
      .set("efa", efa)
      .set("first_card", first_card)
      .set("last_card", first_card + efa)
      .set("gpu_nics", gpu_nics)
      .set("rdma", rdma)
      .set("nic_type", rdma ? "MRDMA" : "GVNIC")
      .set("infiniband", together && machine.fabric == "infiniband");
}

// The pinned commit is that of data/software.csv.
std::string install_command(const Request& request, const Plan& plan) {
  const Stack stack = plan.job.stack;
  const bool apart = plan.job.serve.disaggregated.has_value();
  if (is_training(request) && stack == Stack::kTorchTitan)
    return fmt::format("pip install -r requirements.txt \"torchtitan @ git+https://github.com/pytorch/torchtitan@{}\"",
                       software(stack).commit);
  if (needs_code(request)) return "pip install -r requirements.txt";
  std::string engine = is_amd(plan)              ? ""  // part of the image
                       : stack == Stack::kSglang ? " \"sglang[all]\""
                       : stack == Stack::kTrtLlm ? " tensorrt_llm"
                                                 : " vllm";
  const bool several = is_served(request) && has_router(request, plan, engines_per_machine(plan));
  if (several || (apart && stack != Stack::kTrtLlm))
    engine += stack == Stack::kSglang ? " sglang-router" : " vllm-router";
  if (apart && stack != Stack::kTrtLlm && !is_amd(plan)) engine += " nixl";
  return engine.empty() ? "" : "pip install" + engine;
}

// Processors next to the GPUs in use of a machine; 0: unknown. Slurm gives a task one by default, with which images are
// decoded far too slowly, so their training asks for as many as it needs: for each GPU up to the 12 of Google's A100
// machines, the fewest of any machine with eight GPUs.
int cpus_of(const Request& request, const Plan& plan) {
  constexpr double kMostPerGpu = 12;
  const catalog::Machine& machine = *plan.offer.machine;
  const int used = gpus_used_per_machine(plan);
  if (machine.vcpus) return std::max(1, static_cast<int>(*machine.vcpus * used / std::max(1, machine.gpus)));
  const auto input = plan::image_input(request, plan);
  return input ? used * static_cast<int>(std::ceil(std::min(input->cpus / plan.gpus + 1, kMostPerGpu))) : 0;
}

void add_machines(Facts& facts, const Request& request, const Plan& plan, std::string_view storage) {
  const catalog::Machine& machine = *plan.offer.machine;
  const int used = gpus_used_per_machine(plan), span = machines_per_replica(request, plan);
  const int cpus = cpus_of(request, plan);
  // A server gets twice the modelled start-up time before it counts as broken.
  constexpr Seconds kLeastPatience = hours(0.5);
  constexpr std::int64_t kProbeSeconds = 10;
  const plan::Startup modelled = plan::startup_on(request, perf::work_of(request.model), *plan.offer.gpu);
  const std::int64_t patience = std::llround(in_seconds(std::max(kLeastPatience, modelled.total() * 2.0)));
  // Large weights are kept on a shared volume; otherwise every pod would download them for minutes.
  constexpr std::int64_t kCachedGb = 100;
  const std::int64_t weights_gb = std::llround(std::ceil(1.1e-9 * in_bytes(modelled.weights_size)));
  facts.set("name", hand_over::object_name(request.name))
      .set("served", is_served(request))
      .set("patience", patience)
      .set("cached_weights_gb", is_served(request) && weights_gb > kCachedGb ? weights_gb : 0)
      .set("startup_probes", (patience + kProbeSeconds - 1) / kProbeSeconds)
      .set("needs_code", needs_code(request))
      .set("keeps_results", !is_served(request))
      .set("offline", request.work.kind == WorkKind::kOffline)
      .set("inputs", inputs_of(request, plan, storage))
      .set("storage", storage)
      .set("spot", is_spot(plan))
      .set("amd", is_amd(plan))
      .set("resource", is_amd(plan) ? "amd.com/gpu" : "nvidia.com/gpu")
      .set("machine_gpus", machine.gpus)
      .set("machine_gpus_used", used)
      .set("all_gpus", plan.machines * machine.gpus)
      .set("several_machines", plan.machines > 1)
      .set("nodes", work_apart(request, plan) ? 1 : plan.machines)
      .set("apart", work_apart(request, plan))
      .set("last_machine", plan.machines - 1)
      .set("cpus", cpus)
      // One processor is left to the training process itself.
      .set("loaders", plan::image_input(request, plan) ? std::max(1, cpus / std::max(1, used) - 1) : 0)
      .set("disk_gb", disk_gb(request, plan))
      .set("pod_disk_gb", disk_gb(request, plan, false, !is_served(request) || weights_gb <= kCachedGb))
      .set("max_price", max_price(plan))
      .set("image", image_for(request, perf::work_of(request.model), *plan.offer.gpu))
      .set("install", install_command(request, plan))
      .set("unwritten_drafts", is_served(request) && !is_vllm(plan) ? plan.job.serve.speculation.tokens : 0)
      .set("routes_by_prefix", routes_by_prefix(request) && plan.replicas > 1)
      .set("router_of_engine",
           plan.job.stack == Stack::kSglang ? "python -m sglang_router.launch_router" : "vllm-router")
      .set("nixl_on_amd", plan.job.serve.disaggregated && is_amd(plan))
      .set("replicas", std::max(1, plan.replicas))
      .set("several_replicas", plan.replicas > 1)
      .set("span", span)
      .set("spans", span > 1)
      .set("port", kPort);
}

// Input parts, and results on their way to storage, of all replicas of a machine, in GB.
double results_on_disk(const Request& request, const Plan& plan, bool keeps_all) {
  constexpr double kParts = 10, kRoom = 1.1;
  if (request.work.kind != WorkKind::kOffline) return 0;
  const double all = 1e-9 * in_bytes(plan::data_size(request).both());
  if (keeps_all) return kRoom * all / std::max(1, plan.machines);
  return kParts * all / static_cast<double>(parts_of(request, plan).count) * engines_per_machine(plan);
}

}  // namespace

bool is_spot(const Plan& plan) { return plan.offer.price->purchase == catalog::Purchase::kSpot; }

bool is_committed(const Plan& plan) {
  const catalog::Purchase purchase = plan.offer.price->purchase;
  return purchase == catalog::Purchase::kOneYear || purchase == catalog::Purchase::kThreeYears;
}

bool is_amd(const Plan& plan) { return plan.offer.gpu->vendor == "AMD"; }
bool is_served(const Request& request) { return request.work.kind == WorkKind::kServing; }
bool is_training(const Request& request) { return request.work.kind == WorkKind::kTraining; }
bool in_batches(const Request& request) { return perf::serves_batches(perf::work_of(request.model)); }

bool needs_code(const Request& request) {
  return is_training(request) || request.work.is_measured() || (in_batches(request) && !plan::is_pooled(request));
}

int gpus_used_per_machine(const Plan& plan) { return std::max(1, (plan.gpus + plan.machines - 1) / plan.machines); }
int engines_per_machine(const Plan& plan) { return std::max(1, plan.replicas / plan.machines); }

bool starts_its_replicas(const model::Job& job) {
  return job.stack != Stack::kTrtLlm && job.parallel.attention_data == 1;
}

bool has_router(const Request& request, const Plan& plan, int engines) {
  return engines > 1 && (!starts_its_replicas(plan.job) || routes_by_prefix(request));
}

int machines_per_replica(const Request& request, const Plan& plan) {
  if (!is_served(request)) return 1;
  const int copy = plan.job.parallel.tensor * plan.job.parallel.pipeline, gpus = plan.offer.machine->gpus;
  return std::max(1, (copy + gpus - 1) / gpus);
}

bool work_together(const Request& request, const Plan& plan) {
  return (plan.machines > 1 && is_training(request)) || machines_per_replica(request, plan) > 1;
}

bool work_apart(const Request& request, const Plan& plan) {
  return plan.machines > 1 && request.work.kind == WorkKind::kOffline;
}

std::string max_price(const Plan& plan) {
  constexpr double kMargin = 1.2;
  const double price = in_usd_per_machine_hour(std::max(plan.price.listed, plan.price.likely));
  return fmt::format("{:.2f}", std::ceil(price * kMargin * 100) / 100);
}

std::string hub_id_of(const Request& request) {
  return model::hub_id(request.model_given.empty() ? request.model.name : request.model_given);
}

bool needs_fp8_checkpoint(const Request& request, const Plan& plan) {
  const bool quantizes = plan.job.kind == model::JobKind::kServe && plan.job.precision == Precision::kFp8 &&
                         request.model.checkpoint != Precision::kFp8;
  const double split = plan.job.parallel.tensor * plan.job.parallel.pipeline;
  return quantizes && bytes(2.0 * static_cast<double>(request.model.parameters()) / split) > plan.offer.gpu->capacity();
}

std::string checkpoint_of(const Request& request, const Plan& plan) {
  std::string id = hub_id_of(request);
  const bool chats = plan.job.kind == model::JobKind::kServe && request.model.kind == model::ModelKind::kDecoder &&
                     !plan::is_pooled(request) && request.model_given.find('/') == std::string::npos;
  if (std::string tuned = chats ? model::tuned_id(id) : std::string(); !tuned.empty()) id = std::move(tuned);
  if (!needs_fp8_checkpoint(request, plan)) return id;
  std::string narrow = model::fp8_id(id);
  return narrow.empty() ? id : narrow;
}

bool runs_remote_code(std::string_view hub_id) {
  static const Csv kModels = *Csv::parse("data/remote_code.csv", std::string(embedded_file("remote_code.csv")));
  return std::any_of(kModels.rows().begin(), kModels.rows().end(),
                     [&](const CsvRow& row) { return hub_id.starts_with(kModels.cell(row, "repository")); });
}

bool has_checkpoint(const Request& request, const Plan& plan) {
  if (is_training(request) && request.from_scratch.value_or(false)) return false;
  return !(is_training(request) && plan.job.stack == Stack::kLlmFoundry && request.model.family == "mpt");
}

bool needs_own_script(const Request& request) {
  return request.work.is_measured() || (needs_code(request) && !is_training(request));
}

const Software& software(std::string_view project) {
  static const std::map<std::string, Software, std::less<>> kAll = [] {
    const Csv csv = *Csv::parse("data/software.csv", std::string(embedded_file("software.csv")));
    std::map<std::string, Software, std::less<>> all;
    for (const CsvRow& row : csv.rows())
      all.emplace(csv.cell(row, "project"),
                  Software{std::string(csv.cell(row, "name")), std::string(csv.cell(row, "commit")),
                           std::string(csv.cell(row, "read"))});
    return all;
  }();
  return kAll.find(project)->second;
}

const Software& software(Stack stack) { return software(stack == Stack::kHf ? "trl" : model::name_of(stack)); }

int storage_gb(const Request& request, const Plan& plan) {
  constexpr double kStep = 100;
  const double stored = 1e-9 * in_bytes(plan::stored_bytes(request, perf::work_of(request.model), plan.job));
  const double claimed = is_training(request) ? std::max(1.0, 1.05 * stored) : std::max(500.0, 1.1 * stored);
  return static_cast<int>(std::ceil(claimed / kStep) * kStep);
}

int disk_gb(const Request& request, const Plan& plan, bool keeps_all, bool has_weights) {
  constexpr double kSystemAndImage = 100, kStep = 50;
  if (request.work.is_measured()) return static_cast<int>(2 * kSystemAndImage);
  const perf::ModelWork work = perf::work_of(request.model);
  // The size as downloaded: 16 bits per parameter, or the checkpoint of a format that has its own.
  const double weights = has_weights ? 2e-9 * static_cast<double>(request.model.loaded_parameters()) : 0;
  const double saved = 1e-9 * in_bytes(plan::checkpoint_bytes(work, plan.job)) / std::max(1, plan.machines);
  return static_cast<int>(
      std::ceil((kSystemAndImage + 1.1 * weights + 2.2 * saved + results_on_disk(request, plan, keeps_all)) / kStep) *
      kStep);
}

Facts facts_of(const Request& request, const Plan& plan, std::string_view storage) {
  Facts facts;
  add_header(facts, request, plan);
  add_machines(facts, request, plan, storage);
  add_network(facts, request, plan);
  return facts;
}

}  // namespace rightsize::launch
