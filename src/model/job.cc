#include "model/job.h"

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "base/list_of.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/serve_settings.h"
#include "settings/setting.h"

namespace rightsize::model {
namespace {

// The names of an enumeration's values, in their order.
using EnumNames = std::span<const std::string_view>;

constexpr std::string_view kJobKinds[] = {"train", "serve"};
constexpr std::string_view kMethods[] = {"full", "lora", "qlora"};
constexpr std::string_view kTargets[] = {"all-linear", "attention"};
constexpr std::string_view kPrecisions[] = {"bf16", "fp16", "amp-bf16", "amp-fp16", "mixed-bf16", "fp32",
                                            "fp8",  "int8", "int4",     "nf4",      "fp4"};
constexpr std::string_view kOptimizers[] = {
    "adamw", "adamw-8bit", "adamw-paged-8bit", "sgd", "sgd-momentum", "adafactor", "lion", "muon"};
constexpr std::string_view kStates[] = {"fp32", "bf16", "int8"};
constexpr std::string_view kRecomputes[] = {"none", "selective", "full"};
constexpr std::string_view kAttentions[] = {"eager", "sdpa", "flash"};
constexpr std::string_view kCrossEntropies[] = {"eager", "chunked", "fused"};
constexpr std::string_view kOffloads[] = {"none", "optimizer", "parameters"};
constexpr std::string_view kStacks[] = {"hf", "torchtitan", "megatron", "llm-foundry", "vllm", "trtllm", "sglang"};

// How one setting is stored, once its row (settings/setting.h) accepted the value.
using Apply = std::function<Result<>(Job&, const settings::Value&)>;

struct SettingRule {
  const char* name;
  Apply apply;
};

SettingRule rule(const char* name, Apply apply) { return {name, std::move(apply)}; }

template <class Store>
SettingRule choice(const char* name, EnumNames names, Store store) {
  return rule(name, [names, store](Job& job, const settings::Value& value) -> Result<> {
    const auto found = std::ranges::find(names, value.text);
    // The row of precision also accepts "auto", which commands replace before they parse the job.
    if (found == names.end()) return fail(bad_input(fmt::format("{} is not possible here", value.text)));
    store(job, static_cast<int>(found - names.begin()));
    return {};
  });
}

template <class Store>
SettingRule number(const char* name, Store store) {
  return rule(name, [store](Job& job, const settings::Value& value) -> Result<> {
    store(job, value.number);
    return {};
  });
}

Result<ImageSize> parse_resolution(const std::string& text) {
  constexpr double kLeast = 16, kMost = 16'384;
  const std::size_t x = to_lower(text).find('x');
  RIGHTSIZE_TRY(const double width, parse_count(text.substr(0, x)));
  double height = width;
  if (x != std::string::npos) {
    RIGHTSIZE_TRY(height, parse_count(text.substr(x + 1)));
  }
  if (std::min(width, height) < kLeast || std::max(width, height) > kMost)
    return fail(bad_input(
        fmt::format("a resolution of {} is not between {:.0f} and {:.0f} pixels per side", text, kLeast, kMost)));
  return ImageSize{static_cast<std::int64_t>(width), static_cast<std::int64_t>(height)};
}

// In the order of --help.
#define STORE(type, member) ([](Job& j, auto v) { j.member = static_cast<type>(v); })
std::vector<SettingRule> make_rules() {
  return {
      choice("job", kJobKinds, STORE(JobKind, kind)),
      choice("method", kMethods, STORE(Method, train.method)),
      number("preference", STORE(bool, train.preference)),
      number("lora-rank", STORE(int, train.lora_rank)),
      choice("lora-targets", kTargets, STORE(LoraTargets, train.lora_targets)),
      choice("precision", kPrecisions, STORE(Precision, precision)),
      choice("optimizer", kOptimizers, STORE(Optimizer, train.optimizer)),
      choice("optimizer-states", kStates, STORE(StateFormat, train.optimizer_states)),
      choice("gradients", kStates, STORE(StateFormat, train.gradients)),
      number("batch", STORE(std::int64_t, batch)),
      number("seq", STORE(std::int64_t, sequence)),
      number("accumulate", STORE(int, train.accumulation)),
      choice("recompute", kRecomputes, STORE(Recompute, train.recompute)),
      choice("attention", kAttentions, STORE(Attention, train.attention)),
      choice("cross-entropy", kCrossEntropies, STORE(CrossEntropy, train.cross_entropy)),
      number("fused-kernels", STORE(bool, train.fused_kernels)),
      number("compile", STORE(bool, train.compile)),
      number("optimizer-in-backward", STORE(bool, train.optimizer_in_backward)),
      choice("offload", kOffloads, STORE(Offload, train.offload)),
      number("offload-activations", STORE(bool, train.offload_activations)),
      choice("stack", kStacks, STORE(Stack, stack)),
      number("gpus", STORE(int, parallel.gpus)),
      number("tp", STORE(int, parallel.tensor)),
      number("pp", STORE(int, parallel.pipeline)),
      number("cp", STORE(int, parallel.context)),
      number("ep", STORE(int, parallel.expert)),
      number("attention-dp", STORE(int, parallel.attention_data)),
      number("pp-interleave", STORE(int, parallel.pipeline_interleave)),
      number("sequence-parallel", STORE(bool, parallel.sequence_parallel)),
      number("zero", STORE(int, parallel.zero)),
      number("isl", STORE(std::int64_t, serve.isl)),
      number("osl", STORE(std::int64_t, serve.osl)),
      number("steps", STORE(int, image.steps)),
      number("guidance", STORE(bool, image.guidance)),
      rule("resolution",
           [](Job& job, const settings::Value& value) -> Result<> {
             RIGHTSIZE_TRY(job.image.resolution, parse_resolution(value.text));
             return {};
           }),
      number("frames", STORE(int, image.frames)),
      number("images", STORE(int, image.count)),
      number("concurrency", STORE(std::int64_t, serve.concurrency)),
      rule("kv-precision",
           [](Job& job, const settings::Value& value) -> Result<> {
             // In vLLM and SGLang, auto is the format of the model's arithmetic, also with weights in 8 or 4 bits.
             if (value.text == "auto") return job.serve.kv_precision = Precision::kBf16, Result<>{};
             return choice("kv-precision", kPrecisions, STORE(Precision, serve.kv_precision)).apply(job, value);
           }),
      rule("disaggregated",
           [](Job& job, const settings::Value& value) -> Result<> {
             job.serve.disaggregated.reset();
             if (to_lower(value.text) == "off") return {};
             RIGHTSIZE_TRY(job.serve.disaggregated, parse_disaggregated(value.text));
             return {};
           }),
      number("prefix-hit", STORE(double, serve.prefix_hit)),
      rule("speculate",
           [](Job& job, const settings::Value& value) -> Result<> {
             RIGHTSIZE_TRY(job.serve.speculation, parse_speculation(value.text));
             return {};
           }),
      number("max-batch", STORE(std::int64_t, serve.max_batch)),
      number("max-tokens", STORE(std::int64_t, serve.max_tokens)),
      number("poll-steps", STORE(std::int64_t, serve.poll_steps)),
      number("memory-share", STORE(double, serve.memory_share)),
      number("quantize-embeddings", STORE(bool, serve.quantize_embeddings)),
  };
}
#undef STORE

const std::vector<SettingRule>& rules() {
  static const std::vector<SettingRule> kAll = make_rules();
  return kAll;
}

bool is_one_of(Precision precision, std::initializer_list<Precision> set) {
  return std::ranges::find(set, precision) != set.end();
}

// Collects contradictions, with the place of the wrong setting.
class Contradictions {
 public:
  Contradictions(const std::vector<Setting>& settings, Errors& errors) : settings_(settings), errors_(errors) {}

  void add(std::string_view setting, std::string message, std::string hint) {
    Error error = bad_input(std::move(message)).with_hint(std::move(hint));
    for (const Setting& given : settings_) {
      if (given.name == setting) error.place = given.place;
    }
    errors_.push_back(std::move(error));
  }

 private:
  const std::vector<Setting>& settings_;
  Errors& errors_;
};

void check_train(const Job& job, Contradictions& wrong) {
  if (!is_one_of(job.precision, {Precision::kBf16, Precision::kAmpBf16, Precision::kAmpFp16, Precision::kMixedBf16,
                                 Precision::kFp32, Precision::kFp8, Precision::kFp4})) {
    wrong.add("precision", fmt::format("training does not run in {}", name_of(job.precision)),
              job.precision == Precision::kNf4 || job.precision == Precision::kInt4
                  ? "--method qlora keeps the frozen base in nf4; --job serve serves the model in 4 bits"
                  : "use bf16, amp-bf16, mixed-bf16, fp32, fp8 or fp4");
  }
  if (job.precision == Precision::kFp4 && job.stack != Stack::kMegatron)
    wrong.add("precision", fmt::format("{} does not train in fp4", name_of(job.stack)), "use --stack megatron");
  if (job.train.compile && job.stack != Stack::kHf && job.stack != Stack::kTorchTitan)
    wrong.add("compile", fmt::format("{} already uses fused kernels; torch.compile does not apply", name_of(job.stack)),
              "drop --compile, or use --stack hf or torchtitan");
  if (job.train.method == Method::kQlora &&
      !is_one_of(job.precision, {Precision::kBf16, Precision::kAmpBf16, Precision::kAmpFp16})) {
    wrong.add("precision",
              fmt::format("QLoRA keeps the base model in nf4 and computes in 16 bits, not {}", name_of(job.precision)),
              "leave --precision at bf16");
  }
  if (job.precision != Precision::kBf16 && job.train.optimizer_states == StateFormat::kInt8 &&
      job.train.optimizer != Optimizer::kAdamW8bit && job.train.optimizer != Optimizer::kAdamWPaged8bit &&
      job.train.optimizer != Optimizer::kAdamW) {
    wrong.add("optimizer-states", fmt::format("{} has no 8-bit states", name_of(job.train.optimizer)),
              "use adamw-8bit");
  }
  if (job.train.gradients == StateFormat::kBf16 &&
      (job.stack != Stack::kMegatron ||
       !is_one_of(job.precision, {Precision::kBf16, Precision::kMixedBf16, Precision::kFp8, Precision::kFp4}))) {
    wrong.add("gradients", "only megatron reduces gradients in bf16, in bf16, mixed-bf16, fp8 and fp4",
              "leave --gradients out, or use --stack megatron");
  }
  if (job.train.optimizer_in_backward && job.train.accumulation > 1)
    wrong.add("optimizer-in-backward", "an optimizer step inside the backward pass cannot accumulate gradients",
              "drop --accumulate or --optimizer-in-backward");
  if (job.precision == Precision::kAmpFp16 && job.train.optimizer_in_backward)
    wrong.add("optimizer-in-backward", "loss scaling must see every gradient before the step", "use bf16");
}

void check_serve(const Job& job, Contradictions& wrong) {
  if (is_one_of(job.precision, {Precision::kAmpBf16, Precision::kAmpFp16, Precision::kMixedBf16}))
    wrong.add("precision", fmt::format("{} is a training precision", name_of(job.precision)),
              "serving takes bf16, fp16, fp8, int8, int4, nf4, fp4");
  if (job.serve.kv_precision &&
      !is_one_of(*job.serve.kv_precision,
                 {Precision::kBf16, Precision::kFp16, Precision::kFp8, Precision::kInt8, Precision::kFp4})) {
    wrong.add("kv-precision", fmt::format("no engine keeps its KV cache in {}", name_of(*job.serve.kv_precision)),
              "use bf16, fp16, fp8, int8 or fp4");
  }
}

// The experts and the attention of one copy of a served model lie on its --tp GPUs.
void check_served_groups(const Job& job, Contradictions& wrong) {
  const Parallelism& p = job.parallel;
  for (const auto& [setting, groups] : {std::pair{"ep", p.expert}, std::pair{"attention-dp", p.attention_data}}) {
    if (p.tensor % groups == 0) continue;
    const std::string copy = p.tensor == 1 ? "one GPU" : fmt::format("{} GPUs", p.tensor);
    wrong.add(setting, fmt::format("{} {} does not divide the {} of one copy (--tp)", setting, groups, copy),
              p.tensor == 1 ? fmt::format("add --tp {}", groups) : "use a divisor of --tp");
  }
  if ((p.expert > 1 || p.attention_data > 1) && job.stack == Stack::kHf)
    wrong.add(p.expert > 1 ? "ep" : "attention-dp", "the hf stack supports neither --ep nor --attention-dp",
              "use --stack vllm, trtllm or sglang");
}

void check_disaggregated(const Job& job, const Disaggregated& d, Contradictions& wrong) {
  if (job.stack == Stack::kHf)
    wrong.add("disaggregated", "the hf stack does not support disaggregated serving",
              "use --stack vllm, trtllm or sglang");
  if (job.parallel.pipeline > 1)
    wrong.add("pp", "pipelines inside disaggregated workers are not modelled", "leave --pp out");
  if (job.parallel.tensor != d.decode_tensor)
    wrong.add("tp", fmt::format("--tp {} contradicts decode workers of {} GPUs", job.parallel.tensor, d.decode_tensor),
              "leave --tp out: it is the decode worker's");
  if (job.parallel.gpus != d.gpus()) {
    wrong.add("gpus",
              fmt::format("{} x {} and {} x {} are {} GPUs, not {}", d.prefill_workers, d.prefill_tensor,
                          d.decode_workers, d.decode_tensor, d.gpus(), job.parallel.gpus),
              fmt::format("use --gpus {} or leave it out", d.gpus()));
  }
}

// Settings of serving given to a training job.
void check_train_only(const Job& job, Contradictions& wrong) {
  const ServeSettings& s = job.serve;
  const std::pair<const char*, bool> given[] = {{"attention-dp", job.parallel.attention_data > 1},
                                                {"disaggregated", s.disaggregated.has_value()},
                                                {"prefix-hit", s.prefix_hit > 0},
                                                {"speculate", s.speculation.tokens > 0},
                                                {"max-batch", s.max_batch.has_value()},
                                                {"max-tokens", s.max_tokens.has_value()},
                                                {"poll-steps", s.poll_steps.has_value()}};
  for (const auto& [setting, is_given] : given) {
    if (is_given) wrong.add(setting, fmt::format("{} applies to serving only", setting), "use --job serve");
  }
}

bool is_engine(Stack stack) { return stack == Stack::kVllm || stack == Stack::kTrtLlm || stack == Stack::kSglang; }

void check_parallel(const Job& job, Contradictions& wrong) {
  const Parallelism& p = job.parallel;
  const std::int64_t model_gpus = std::int64_t{p.tensor} * p.pipeline * p.context;
  if (job.kind == JobKind::kServe) check_served_groups(job, wrong);
  if (job.kind == JobKind::kTrain) check_train_only(job, wrong);
  if (job.serve.disaggregated && job.kind == JobKind::kServe) {
    check_disaggregated(job, *job.serve.disaggregated, wrong);
  } else if (p.gpus % model_gpus != 0) {
    wrong.add("gpus",
              fmt::format("tp {} x pp {} x cp {} = {} GPUs per replica, which does not divide {} GPUs", p.tensor,
                          p.pipeline, p.context, model_gpus, p.gpus),
              fmt::format("use --gpus {} or a multiple", model_gpus));
  }
  if (p.pipeline_interleave > 1 && p.pipeline == 1)
    wrong.add("pp-interleave", "virtual stages need a pipeline", "set --pp too");
  const bool train_stack =
      job.stack == Stack::kTorchTitan || job.stack == Stack::kMegatron || job.stack == Stack::kLlmFoundry;
  if ((job.kind == JobKind::kServe && train_stack) || (job.kind == JobKind::kTrain && is_engine(job.stack))) {
    wrong.add(
        "stack", fmt::format("{} does not {}", name_of(job.stack), job.kind == JobKind::kServe ? "serve" : "train"),
        job.kind == JobKind::kServe ? "use vllm, trtllm, sglang or hf" : "use hf, torchtitan, megatron or llm-foundry");
  }
}

}  // namespace

const std::vector<std::string>& job_settings() {
  static const auto kAll = list_of<std::string>(rules(), &SettingRule::name);
  return kAll;
}

bool belongs_only_to(JobKind kind, std::string_view setting) {
  const settings::Setting* row = settings::find(setting);
  if (row == nullptr || row->jobs == settings::Jobs::kAll) return false;
  return (row->jobs == settings::Jobs::kTrain) == (kind == JobKind::kTrain);
}

Precision default_training_precision(Stack stack, Method method) {
  const bool keeps_masters = stack == Stack::kMegatron || stack == Stack::kTorchTitan;
  return keeps_masters && method == Method::kFull ? Precision::kMixedBf16 : Precision::kBf16;
}

Checked<Job> parse_job(const std::vector<Setting>& settings) {
  Job job;
  Errors errors;
  bool stack_given = false;
  bool of_serving = false, of_training = false;
  std::vector<std::string> seen;
  for (const Setting& setting : settings) {
    auto rule = std::ranges::find_if(rules(), [&](const SettingRule& r) { return r.name == setting.name; });
    if (rule == rules().end()) {
      errors.push_back(bad_input(fmt::format("unknown setting '{}'", setting.name))
                           .at(setting.place)
                           .with_hint(did_you_mean(setting.name, job_settings())));
      continue;
    }
    if (std::ranges::find(seen, setting.name) != seen.end())
      errors.push_back(bad_input(fmt::format("'{}' is given twice", setting.name)).at(setting.place));
    seen.push_back(setting.name);
    stack_given |= setting.name == "stack";
    of_serving |= belongs_only_to(JobKind::kServe, setting.name);
    of_training |= belongs_only_to(JobKind::kTrain, setting.name) || setting.name == "job";
    const bool in_file = setting.place.line > 0;
    const Result<settings::Value> value =
        settings::read(settings::get(setting.name), setting.value, in_file ? setting.name : std::string{});
    if (!value) {
      errors.push_back(Error(value.error()).at(setting.place));
    } else if (Result<> applied = rule->apply(job, *value); !applied) {
      Error error = std::move(applied).error();
      if (!in_file) error.message = "--" + setting.name + ": " + error.message;
      errors.push_back(std::move(error).at(setting.place));
    }
  }
  if ((of_serving || is_engine(job.stack)) && !of_training) job.kind = JobKind::kServe;
  if (!stack_given && job.kind == JobKind::kServe) job.stack = Stack::kVllm;
  if (job.kind == JobKind::kTrain && std::ranges::find(seen, "precision") == seen.end())
    job.precision = default_training_precision(job.stack, job.train.method);
  if (job.serve.disaggregated) {
    auto given = [&](std::string_view name) { return std::ranges::find(seen, name) != seen.end(); };
    if (!given("tp")) job.parallel.tensor = job.serve.disaggregated->decode_tensor;
    if (!given("gpus")) job.parallel.gpus = job.serve.disaggregated->gpus();
  }
  // `--tp 2` alone: the GPUs of one copy.
  const Parallelism& p = job.parallel;
  const int copy = p.tensor * p.pipeline * p.context;
  if (std::ranges::find(seen, "gpus") == seen.end() && copy > 1 && p.gpus == 1) job.parallel.gpus = copy;
  Contradictions wrong(settings, errors);
  if (errors.empty()) {
    job.kind == JobKind::kTrain ? check_train(job, wrong) : check_serve(job, wrong);
    check_parallel(job, wrong);
  }
  if (!errors.empty()) return fail(std::move(errors));
  return job;
}

std::string_view name_of(Precision precision) { return kPrecisions[static_cast<std::size_t>(precision)]; }
std::string_view name_of(Method method) { return kMethods[static_cast<std::size_t>(method)]; }
std::string_view name_of(Optimizer optimizer) { return kOptimizers[static_cast<std::size_t>(optimizer)]; }
std::string_view name_of(Recompute recompute) { return kRecomputes[static_cast<std::size_t>(recompute)]; }
std::string_view name_of(Stack stack) { return kStacks[static_cast<std::size_t>(stack)]; }
std::string_view name_of(CrossEntropy loss) { return kCrossEntropies[static_cast<std::size_t>(loss)]; }

}  // namespace rightsize::model
