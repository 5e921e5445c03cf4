#include "model/job.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/serve_settings.h"
#include "settings/setting.h"

namespace rightsize::model {
namespace {

template <class E>
struct Named {
  std::string_view name;
  E value;
};

constexpr Named<JobKind> kJobKinds[] = {{"train", JobKind::kTrain}, {"serve", JobKind::kServe}};
constexpr Named<Method> kMethods[] = {{"full", Method::kFull}, {"lora", Method::kLora}, {"qlora", Method::kQlora}};
constexpr Named<LoraTargets> kTargets[] = {{"all-linear", LoraTargets::kAllLinear},
                                           {"attention", LoraTargets::kAttention}};
constexpr Named<Precision> kPrecisions[] = {{"bf16", Precision::kBf16},
                                            {"fp16", Precision::kFp16},
                                            {"amp-bf16", Precision::kAmpBf16},
                                            {"amp-fp16", Precision::kAmpFp16},
                                            {"mixed-bf16", Precision::kMixedBf16},
                                            {"fp32", Precision::kFp32},
                                            {"fp8", Precision::kFp8},
                                            {"int8", Precision::kInt8},
                                            {"int4", Precision::kInt4},
                                            {"nf4", Precision::kNf4},
                                            {"fp4", Precision::kFp4}};
constexpr Named<Optimizer> kOptimizers[] = {{"adamw", Optimizer::kAdamW},
                                            {"adamw-8bit", Optimizer::kAdamW8bit},
                                            {"adamw-paged-8bit", Optimizer::kAdamWPaged8bit},
                                            {"sgd", Optimizer::kSgd},
                                            {"sgd-momentum", Optimizer::kSgdMomentum},
                                            {"adafactor", Optimizer::kAdafactor},
                                            {"lion", Optimizer::kLion},
                                            {"muon", Optimizer::kMuon}};
constexpr Named<StateFormat> kStates[] = {
    {"fp32", StateFormat::kFp32}, {"bf16", StateFormat::kBf16}, {"int8", StateFormat::kInt8}};
constexpr Named<Recompute> kRecomputes[] = {
    {"none", Recompute::kNone}, {"selective", Recompute::kSelective}, {"full", Recompute::kFull}};
constexpr Named<Attention> kAttentions[] = {
    {"eager", Attention::kEager}, {"sdpa", Attention::kSdpa}, {"flash", Attention::kFlash}};
constexpr Named<CrossEntropy> kCrossEntropies[] = {
    {"eager", CrossEntropy::kEager}, {"chunked", CrossEntropy::kChunked}, {"fused", CrossEntropy::kFused}};
constexpr Named<Offload> kOffloads[] = {
    {"none", Offload::kNone}, {"optimizer", Offload::kOptimizer}, {"parameters", Offload::kParameters}};
constexpr Named<Stack> kStacks[] = {{"hf", Stack::kHf},
                                    {"torchtitan", Stack::kTorchTitan},
                                    {"megatron", Stack::kMegatron},
                                    {"llm-foundry", Stack::kLlmFoundry},
                                    {"vllm", Stack::kVllm},
                                    {"trtllm", Stack::kTrtLlm},
                                    {"sglang", Stack::kSglang}};
constexpr Named<bool> kSwitches[] = {{"true", true}, {"false", false}, {"yes", true},
                                     {"no", false},  {"on", true},     {"off", false}};

template <class E, std::size_t N>
std::string_view find_name(const Named<E> (&table)[N], E value) {
  for (const Named<E>& row : table) {
    if (row.value == value) return row.name;
  }
  return "?";
}

template <class E, std::size_t N>
std::vector<std::string> names_in(const Named<E> (&table)[N]) {
  std::vector<std::string> names;
  for (const Named<E>& row : table) names.emplace_back(row.name);
  return names;
}

// How one setting is understood and stored. Returns the error, or nothing.
using Apply = std::function<Result<>(Job&, const std::string&)>;

struct SettingRule {
  SettingInfo info;
  Apply apply;
};

template <class E, std::size_t N, class Store>
SettingRule choice(const char* name, const char* meaning, const Named<E> (&table)[N], Store store) {
  const std::vector<std::string> names = names_in(table);
  Apply apply = [&table, names, store, name](Job& job, const std::string& text) -> Result<> {
    for (const Named<E>& row : table) {
      if (row.name == to_lower(text)) {
        store(job, row.value);
        return {};
      }
    }
    if (std::is_same_v<E, bool>)
      return fail(bad_input(fmt::format("'{}' is neither yes nor no", text)).with_hint(fmt::format("--{} yes", name)));
    return fail(bad_input(fmt::format("'{}' is not a known {}", text, name))
                    .with_hint(did_you_mean(text, names))
                    .with_hint(fmt::format("known are {}", fmt::join(names, ", "))));
  };
  const bool is_switch = std::is_same_v<E, bool>;
  return {{name, is_switch ? "yes|no" : fmt::format("{}", fmt::join(names, "|")), meaning}, std::move(apply)};
}

template <class Store>
SettingRule whole_number(const char* name, const char* meaning, double least, double most, Store store) {
  Apply apply = [=](Job& job, const std::string& text) -> Result<> {
    RIGHTSIZE_TRY(double value, parse_count(text));
    if (value < least || value > most) {
      return fail(bad_input(fmt::format("{} of {} is not between {:.0f} and {:.0f}", name, text, least, most)));
    }
    store(job, static_cast<std::int64_t>(value));
    return {};
  };
  return {{name, "N", meaning}, std::move(apply)};
}

SettingRule text(const char* name, const char* values, const char* meaning, Apply apply) {
  return {{name, values, meaning}, std::move(apply)};
}

SettingRule toggle(const char* name, const char* meaning, bool TrainSettings::*field) {
  return choice(name, meaning, kSwitches, [field](Job& job, bool on) { job.train.*field = on; });
}

SettingRule gpu_count(const char* name, const char* meaning, int Parallelism::*field, int most) {
  return whole_number(name, meaning, 1, most,
                      [field](Job& job, std::int64_t n) { job.parallel.*field = static_cast<int>(n); });
}

Result<ImageSize> parse_resolution(const std::string& text) {
  constexpr double kLeast = 16, kMost = 16'384;
  const std::size_t x = to_lower(text).find('x');
  RIGHTSIZE_TRY(const double width, parse_count(text.substr(0, x)));
  double height = width;
  if (x != std::string::npos) {
    RIGHTSIZE_TRY(height, parse_count(text.substr(x + 1)));
  }
  if (std::min(width, height) < kLeast || std::max(width, height) > kMost) {
    return fail(bad_input(
        fmt::format("a resolution of {} is not between {:.0f} and {:.0f} pixels a side", text, kLeast, kMost)));
  }
  return ImageSize{static_cast<std::int64_t>(width), static_cast<std::int64_t>(height)};
}

void add_training_rules(std::vector<SettingRule>& rules) {
  auto add = [&](SettingRule rule) { rules.push_back(std::move(rule)); };
  add(choice("job", "train or serve (default train; serve if a flag of serving is given)", kJobKinds,
             [](Job& j, JobKind v) { j.kind = v; }));
  add(choice("method", "train: every weight, LoRA adapters, or adapters over an nf4 base", kMethods,
             [](Job& j, Method v) { j.train.method = v; }));
  add(whole_number("lora-rank", "train: rank of the adapters", 1, 4096,
                   [](Job& j, std::int64_t n) { j.train.lora_rank = static_cast<int>(n); }));
  add(choice("lora-targets", "train: which matrices get adapters", kTargets,
             [](Job& j, LoraTargets v) { j.train.lora_targets = v; }));
  add(choice("precision",
             "train: bf16 (pure), amp-bf16, amp-fp16, mixed-bf16, fp32, fp8, fp4 (NVFP4, megatron); serve: bf16, fp16, "
             "fp8, int8, "
             "int4, nf4, fp4",
             kPrecisions, [](Job& j, Precision v) { j.precision = v; }));
  add(choice("optimizer", "train: how weights are updated", kOptimizers,
             [](Job& j, Optimizer v) { j.train.optimizer = v; }));
  add(choice("optimizer-states", "train: format of the optimizer's states (default: as the precision has it)", kStates,
             [](Job& j, StateFormat v) { j.train.optimizer_states = v; }));
  add(whole_number("batch", "sequences or images per GPU in one pass", 1, 1e7,
                   [](Job& j, std::int64_t n) { j.batch = n; }));
  add(whole_number("seq", "train: tokens per sequence", 1, 1e8, [](Job& j, std::int64_t n) { j.sequence = n; }));
  add(whole_number("accumulate", "train: passes per optimizer step", 1, 1e6,
                   [](Job& j, std::int64_t n) { j.train.accumulation = static_cast<int>(n); }));
  add(choice("recompute", "train: activation checkpointing", kRecomputes,
             [](Job& j, Recompute v) { j.train.recompute = v; }));
  add(choice("attention", "train: attention kernels", kAttentions, [](Job& j, Attention v) { j.train.attention = v; }));
  add(choice("cross-entropy", "train: loss over whole logits, in chunks, or fused with the head", kCrossEntropies,
             [](Job& j, CrossEntropy v) { j.train.cross_entropy = v; }));
  add(toggle("fused-kernels", "train: fused SwiGLU and norms (Liger, Apex)", &TrainSettings::fused_kernels));
  add(toggle("compile", "train: torch.compile of the whole forward pass (hf, torchtitan)", &TrainSettings::compile));
  add(toggle("optimizer-in-backward", "train: apply and free each gradient at once",
             &TrainSettings::optimizer_in_backward));
  add(choice("offload", "train: keep in host memory", kOffloads, [](Job& j, Offload v) { j.train.offload = v; }));
  add(toggle("offload-activations", "train: keep saved activations in host memory",
             &TrainSettings::offload_activations));
  add(choice("stack",
             "the framework or engine: train hf, torchtitan, megatron, llm-foundry; serve vllm, trtllm, "
             "sglang, hf",
             kStacks, [](Job& j, Stack v) { j.stack = v; }));
}

void add_parallel_rules(std::vector<SettingRule>& rules) {
  auto add = [&](SettingRule rule) { rules.push_back(std::move(rule)); };
  add(gpu_count("gpus", "how many GPUs", &Parallelism::gpus, 1'000'000));
  add(gpu_count("tp", "tensor parallel", &Parallelism::tensor, 1024));
  add(gpu_count("pp", "pipeline parallel", &Parallelism::pipeline, 1024));
  add(gpu_count("cp", "train: context parallel", &Parallelism::context, 1024));
  add(gpu_count("ep", "expert parallel: experts spread over N GPUs (serve: of the --tp GPUs of one copy)",
                &Parallelism::expert, 1024));
  add(gpu_count("attention-dp",
                "serve: attention of one copy split into N groups with caches of their own, while experts are shared",
                &Parallelism::attention_data, 1024));
  add(gpu_count("pp-interleave", "train: virtual pipeline stages per GPU", &Parallelism::pipeline_interleave, 128));
  add(choice("sequence-parallel", "train: with tp, split norms and dropouts too", kSwitches,
             [](Job& j, bool on) { j.parallel.sequence_parallel = on; }));
  add(whole_number("zero", "train: 1 shards states, 2 gradients too, 3 parameters too (FSDP)", 0, 3,
                   [](Job& j, std::int64_t n) { j.parallel.zero = static_cast<int>(n); }));
}

void add_serving_rules(std::vector<SettingRule>& rules) {
  auto add = [&](SettingRule rule) { rules.push_back(std::move(rule)); };
  add(whole_number("isl", "serve: tokens in", 1, 1e8, [](Job& j, std::int64_t n) { j.serve.isl = n; }));
  add(whole_number("osl", "serve: tokens out", 0, 1e8, [](Job& j, std::int64_t n) { j.serve.osl = n; }));
  add(whole_number("steps", "serve: denoising steps of an image", 1, 1e4,
                   [](Job& j, std::int64_t n) { j.image.steps = static_cast<int>(n); }));
  add(choice("guidance", "serve: a second pass a step without the prompt (classifier-free guidance)", kSwitches,
             [](Job& j, bool on) { j.image.guidance = on; }));
  add({{"resolution", "WxH", "size of images, e.g. 1024x768 or 1024"},
       [](Job& job, const std::string& text) -> Result<> {
         RIGHTSIZE_TRY(job.image.resolution, parse_resolution(text));
         return {};
       }});
  add(whole_number("images", "serve: images in a prompt, of models that read them beside text", 0, 1e4,
                   [](Job& j, std::int64_t n) { j.image.count = static_cast<int>(n); }));
  add(whole_number("concurrency", "serve: requests in flight", 1, 1e6,
                   [](Job& j, std::int64_t n) { j.serve.concurrency = n; }));
  add(choice("kv-precision", "serve: format of the KV cache (default: the engine's)", kPrecisions,
             [](Job& j, Precision v) { j.serve.kv_precision = v; }));
  add(text("disaggregated", "prefill=NxTP,decode=NxTP",
           "serve: separate workers for prompts and answers, or off; --tp, --ep and --attention-dp then describe a "
           "decode worker",
           [](Job& j, const std::string& words) -> Result<> {
             j.serve.disaggregated.reset();
             if (to_lower(words) == "off") return {};
             RIGHTSIZE_TRY(j.serve.disaggregated, parse_disaggregated(words));
             return {};
           }));
  add(text("prefix-hit", "0-1", "serve: share of the prompt found in the prefix cache",
           [](Job& j, const std::string& words) -> Result<> {
             RIGHTSIZE_TRY(j.serve.prefix_hit, parse_share("prefix-hit", words));
             return {};
           }));
  add(text("speculate", "N[,ACCEPTANCE]", "serve: tokens guessed ahead a step (draft model, MTP), share accepted (0.8)",
           [](Job& j, const std::string& words) -> Result<> {
             RIGHTSIZE_TRY(j.serve.speculation, parse_speculation(words));
             return {};
           }));
  add(whole_number("max-batch", "serve: requests the engine decodes together at most", 1, 1e6,
                   [](Job& j, std::int64_t n) { j.serve.max_batch = n; }));
  add(whole_number("max-tokens", "serve: tokens of one pass at most (max-num-batched-tokens)", 16, 1e7,
                   [](Job& j, std::int64_t n) { j.serve.max_tokens = n; }));
  add({{"memory-share", "0-1", "serve: share of the GPU's memory the engine may take"},
       [](Job& job, const std::string& text) -> Result<> {
         RIGHTSIZE_TRY(double share, parse_number(text));
         if (share < 0.05 || share > 1)
           return fail(bad_input(fmt::format("memory-share of {} is not between 0.05 and 1", text)));
         job.serve.memory_share = share;
         return {};
       }});
  add(choice("quantize-embeddings", "serve: embeddings and head in the weights' format too", kSwitches,
             [](Job& j, bool on) { j.serve.quantize_embeddings = on; }));
}

// In the order of --help.
std::vector<SettingRule> make_rules() {
  std::vector<SettingRule> rules;
  add_training_rules(rules);
  add_parallel_rules(rules);
  add_serving_rules(rules);
  return rules;
}

const std::vector<SettingRule>& rules() {
  static const std::vector<SettingRule> kAll = make_rules();
  return kAll;
}

bool is_one_of(Precision precision, std::initializer_list<Precision> set) {
  return std::find(set.begin(), set.end(), precision) != set.end();
}

// What contradicts itself, with the place of the setting to blame.
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
  if (job.precision == Precision::kFp4 && job.stack != Stack::kMegatron) {
    wrong.add("precision", fmt::format("{} does not train in fp4", name_of(job.stack)), "use --stack megatron");
  }
  if (job.train.compile && job.stack != Stack::kHf && job.stack != Stack::kTorchTitan) {
    wrong.add("compile", fmt::format("{} has fused kernels of its own and is not compiled", name_of(job.stack)),
              "drop --compile, or use --stack hf or torchtitan");
  }
  if (job.train.method == Method::kQlora &&
      !is_one_of(job.precision, {Precision::kBf16, Precision::kAmpBf16, Precision::kAmpFp16})) {
    wrong.add(
        "precision",
        fmt::format("QLoRA keeps its base in nf4 and computes in 16 bits: {} contradicts that", name_of(job.precision)),
        "leave --precision at bf16");
  }
  if (is_one_of(Precision::kBf16, {job.precision}) == false && job.train.optimizer_states == StateFormat::kInt8 &&
      job.train.optimizer != Optimizer::kAdamW8bit && job.train.optimizer != Optimizer::kAdamWPaged8bit &&
      job.train.optimizer != Optimizer::kAdamW) {
    wrong.add("optimizer-states", fmt::format("{} has no 8-bit states", name_of(job.train.optimizer)),
              "use adamw-8bit");
  }
  if (job.train.optimizer_in_backward && job.train.accumulation > 1) {
    wrong.add("optimizer-in-backward", "an optimizer step inside the backward pass cannot accumulate gradients",
              "drop --accumulate or --optimizer-in-backward");
  }
  if (is_one_of(job.precision, {Precision::kAmpFp16}) && job.train.optimizer_in_backward) {
    wrong.add("optimizer-in-backward", "loss scaling must see every gradient before the step", "use bf16");
  }
}

void check_serve(const Job& job, Contradictions& wrong) {
  if (is_one_of(job.precision, {Precision::kAmpBf16, Precision::kAmpFp16, Precision::kMixedBf16})) {
    wrong.add("precision", fmt::format("{} is a training precision", name_of(job.precision)),
              "serving takes bf16, fp16, fp8, int8, int4, nf4, fp4");
  }
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
  if ((p.expert > 1 || p.attention_data > 1) && job.stack == Stack::kHf) {
    wrong.add(p.expert > 1 ? "ep" : "attention-dp", "the hf stack spreads neither experts nor attention",
              "use --stack vllm, trtllm or sglang");
  }
}

void check_disaggregated(const Job& job, const Disaggregated& d, Contradictions& wrong) {
  if (job.stack == Stack::kHf)
    wrong.add("disaggregated", "the hf stack has one kind of worker", "use --stack vllm, trtllm or sglang");
  if (job.parallel.pipeline > 1)
    wrong.add("pp", "pipelines inside disaggregated workers are not modelled", "leave --pp out");
  if (job.parallel.tensor != d.decode_tensor) {
    wrong.add("tp", fmt::format("--tp {} contradicts decode workers of {} GPUs", job.parallel.tensor, d.decode_tensor),
              "leave --tp out: it is the decode worker's");
  }
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
                                                {"max-tokens", s.max_tokens.has_value()}};
  for (const auto& [setting, is_given] : given) {
    if (is_given) wrong.add(setting, fmt::format("{} is a setting of serving", setting), "use --job serve");
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
              fmt::format("tp {} x pp {} x cp {} = {} GPUs a replica do not divide {} GPUs", p.tensor, p.pipeline,
                          p.context, model_gpus, p.gpus),
              fmt::format("use --gpus {} or a multiple", model_gpus));
  }
  if (p.pipeline_interleave > 1 && p.pipeline == 1) {
    wrong.add("pp-interleave", "virtual stages need a pipeline", "set --pp too");
  }
  const bool train_stack =
      job.stack == Stack::kTorchTitan || job.stack == Stack::kMegatron || job.stack == Stack::kLlmFoundry;
  if ((job.kind == JobKind::kServe && train_stack) || (job.kind == JobKind::kTrain && is_engine(job.stack))) {
    wrong.add(
        "stack", fmt::format("{} does not {}", name_of(job.stack), job.kind == JobKind::kServe ? "serve" : "train"),
        job.kind == JobKind::kServe ? "use vllm, trtllm, sglang or hf" : "use hf, torchtitan, megatron or llm-foundry");
  }
}

}  // namespace

const std::vector<SettingInfo>& job_settings() {
  static const std::vector<SettingInfo> kAll = [] {
    std::vector<SettingInfo> infos;
    for (const SettingRule& rule : rules()) infos.push_back(rule.info);
    return infos;
  }();
  return kAll;
}

bool belongs_only_to(JobKind kind, const SettingInfo& setting) {
  // Encoders are served sequences of one length, so --seq is of both.
  if (setting.name == "seq" || setting.meaning.find("; serve: ") != std::string::npos) return false;
  if (kind == JobKind::kTrain) return setting.meaning.starts_with("train: ");
  return setting.meaning.starts_with("serve: ") || setting.meaning.starts_with("offline: ");
}

Checked<Job> parse_job(const std::vector<Setting>& settings) {
  Job job;
  Errors errors;
  bool stack_given = false;
  bool of_serving = false, of_training = false;
  std::vector<std::string> seen;
  for (const Setting& setting : settings) {
    auto rule =
        std::find_if(rules().begin(), rules().end(), [&](const SettingRule& r) { return r.info.name == setting.name; });
    if (rule == rules().end()) {
      std::vector<std::string> names;
      for (const SettingInfo& info : job_settings()) names.push_back(info.name);
      errors.push_back(bad_input(fmt::format("unknown setting '{}'", setting.name))
                           .at(setting.place)
                           .with_hint(did_you_mean(setting.name, names)));
      continue;
    }
    if (std::find(seen.begin(), seen.end(), setting.name) != seen.end()) {
      errors.push_back(bad_input(fmt::format("'{}' is given twice", setting.name)).at(setting.place));
    }
    seen.push_back(setting.name);
    stack_given |= setting.name == "stack";
    of_serving |= belongs_only_to(JobKind::kServe, rule->info);
    of_training |= belongs_only_to(JobKind::kTrain, rule->info) || setting.name == "job";
    if (Result<> checked = settings::check(setting.name, setting.value, setting.place); !checked) {
      errors.push_back(std::move(checked).error());
    } else if (Result<> applied = rule->apply(job, setting.value); !applied) {
      Error error = std::move(applied).error();
      if (setting.place.line == 0) error.message = "--" + setting.name + ": " + error.message;
      errors.push_back(std::move(error).at(setting.place));
    }
  }
  if ((of_serving || is_engine(job.stack)) && !of_training) job.kind = JobKind::kServe;
  if (!stack_given && job.kind == JobKind::kServe) job.stack = Stack::kVllm;
  if (job.serve.disaggregated) {
    auto given = [&](std::string_view name) { return std::find(seen.begin(), seen.end(), name) != seen.end(); };
    if (!given("tp")) job.parallel.tensor = job.serve.disaggregated->decode_tensor;
    if (!given("gpus")) job.parallel.gpus = job.serve.disaggregated->gpus();
  }
  // `--tp 2` alone: the GPUs of one copy.
  const Parallelism& p = job.parallel;
  const int copy = p.tensor * p.pipeline * p.context;
  if (std::find(seen.begin(), seen.end(), "gpus") == seen.end() && copy > 1 && p.gpus == 1) job.parallel.gpus = copy;
  Contradictions wrong(settings, errors);
  if (errors.empty()) {
    job.kind == JobKind::kTrain ? check_train(job, wrong) : check_serve(job, wrong);
    check_parallel(job, wrong);
  }
  if (!errors.empty()) return fail(std::move(errors));
  return job;
}

std::string_view name_of(Precision precision) { return find_name(kPrecisions, precision); }
std::string_view name_of(Method method) { return find_name(kMethods, method); }
std::string_view name_of(Optimizer optimizer) { return find_name(kOptimizers, optimizer); }
std::string_view name_of(Recompute recompute) { return find_name(kRecomputes, recompute); }
std::string_view name_of(Stack stack) { return find_name(kStacks, stack); }
std::string_view name_of(CrossEntropy cross_entropy) { return find_name(kCrossEntropies, cross_entropy); }

}  // namespace rightsize::model
