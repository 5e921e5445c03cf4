#include "rightsize/memory/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "memory/options.h"
#include "memory/serve.h"
#include "perf/job_time.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using memory::Fit;
using memory::MemoryNeed;
using memory::OptionEffect;
using memory::Verdict;
using model::Job;
using report::Fields;
using report::kTableOnly;
using report::renamed;
using report::Report;

struct SizedPart {
  memory::Part part;
  Bytes size;
};

std::vector<SizedPart> parts_of(const MemoryNeed& need) {
  std::vector<SizedPart> parts;
  for (int i = 0; i < memory::kParts; ++i) {
    const auto part = static_cast<memory::Part>(i);
    if (need.parts[part] > Bytes{}) parts.push_back({part, need.parts[part]});
  }
  return parts;
}

// The parts against the capacities of a few well-known GPUs; more would make the picture unreadable.
report::StackedBar picture(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  report::StackedBar bar;
  for (const auto& [part, size] : parts_of(need)) {
    if (size < mib(1)) continue;  // too small to see
    const std::string_view name = memory::name_of(part);
    bar.segments.push_back({name == "kv_cache" ? "KV cache" : std::string(name), format_bytes(size), in_bytes(size)});
  }
  static const std::vector<std::string> kRulers{"l4", "l40s", "a100-80gb-sxm", "h200-sxm", "b200-sxm", "b300-sxm"};
  Bytes shown_up_to = need.device * 1.6;
  for (const Gpu* gpu : gpus) {
    const bool ruler = gpus.size() == 1 || std::ranges::find(kRulers, gpu->name) != kRulers.end();
    if (!ruler || (gpus.size() > 1 && gpu->capacity() > shown_up_to && !bar.lines.empty())) continue;
    bar.lines.push_back({fmt::format("{} {}", gpu->name, format_bytes(gpu->capacity())), in_bytes(gpu->capacity())});
    if (gpu->capacity() > need.device && gpus.size() > 1) shown_up_to = gpu->capacity();
  }
  return bar;
}

// GPUs that fit, smallest first; then the tight ones; then the rest, largest first.
std::vector<const Gpu*> nearest_first(const MemoryNeed& need, std::vector<const Gpu*> gpus) {
  auto key = [&](const Gpu* gpu) {
    const Verdict verdict = memory::fits(need, *gpu).verdict;
    const double capacity = in_bytes(gpu->capacity());
    return std::pair(verdict, verdict == Verdict::kNo ? -capacity : capacity);
  };
  std::ranges::stable_sort(gpus, [&](const Gpu* a, const Gpu* b) { return key(a) < key(b); });
  return gpus;
}

std::string risk(double probability) {
  if (probability < 0.001) return "< 0.1 %";
  return probability > 0.999 ? "> 99.9 %" : format_percent(Ratio::fraction(probability));
}

std::string shortage(Bytes headroom) { return format_bytes(-headroom) + " short"; }

const Fields<Fit> kFitFields = {
    {"capacity_bytes", "capacity", "memory the job can use", &Fit::capacity},
    {"verdict", "verdict", "whether the job fits", &Fit::verdict, report::one_of({"fits", "tight", "no"})},
    {"headroom_bytes", "headroom", "capacity less the need", &Fit::headroom,
     [](Bytes b) { return b < Bytes{} ? shortage(b) : format_bytes(b); }},
    {"oom_probability", "OOM risk", "chance to run out of memory", &Fit::oom_probability, risk},
};

struct GpuFit {
  std::string_view gpu;
  Fit fit;
};
const Fields<GpuFit> kGpuFitFields = {
    {"gpu", "GPU", "the GPU", &GpuFit::gpu},
    {kFitFields, &GpuFit::fit},
};

std::vector<GpuFit> fits_on(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  return list_of(gpus, [&](const Gpu* gpu) { return GpuFit{gpu->name, memory::fits(need, *gpu)}; });
}

std::string speed_change(double slowdown) {
  const double times = std::max(slowdown, 1 / slowdown), percent = times * 100 - 100;
  if (percent < 0.5) return "same";
  constexpr double kInTimes = 2;  // "2.4x slower" reads better than "142 % slower"
  return (times < kInTimes ? fmt::format("{:.0f} %", percent) : fmt::format("{:.1f}x", times)) +
         (slowdown > 1 ? " slower" : " faster");
}

using memory::MemoryOption;
const Fields<MemoryOption> kNoteFields = {
    {"option", "the option", &MemoryOption::name},
    {"accuracy", "what it does to the result; empty: nothing", &MemoryOption::accuracy},
};

std::vector<std::string> names_of(const OptionEffect& effect) {
  return list_of<std::string>(effect.taken, &MemoryOption::name);
}

const Fields<OptionEffect> kEffectFields = {
    {"options", "option", "the options taken", names_of},
    {"flags", "flags", "the flags that take them", &OptionEffect::flags},
    {"saved_bytes", "saves", "memory they free on each GPU", &OptionEffect::saved,
     [](Bytes saved) { return saved > mib(1) ? format_bytes(saved) : "nothing"; }},
    {"device_bytes", "leaves", "need with them", [](const OptionEffect& e) { return e.need.device; }},
    {"high_bytes", "upper end of the 80 % interval", [](const OptionEffect& e) { return e.need.high; }},
    {"slowdown", "speed", "factor on the time of a token or sample", &OptionEffect::slowdown, speed_change},
    {"notes", "what each option does to the result", kNoteFields, &OptionEffect::taken},
    {"accuracy", "result", "the first note", [](const OptionEffect& e) { return e.taken[0].accuracy; },
     [](std::string_view accuracy) { return accuracy.empty() ? "identical" : "may differ"; }, kTableOnly},
};

struct FittingOptions {
  OptionEffect effect;
  const Gpu* gpu;
  bool same_result;
  Fit fit;
};
const Fields<FittingOptions> kCombinationFields = {
    {kEffectFields, &FittingOptions::effect},
    {"gpu", "the GPU it makes the job fit", [](const FittingOptions& c) { return c.gpu->name; }},
    {"same_result", "only options that do not change the result", &FittingOptions::same_result},
    {"verdict", "whether the job then fits", [](const FittingOptions& c) { return c.fit.verdict; },
     report::one_of({"fits", "tight", "no"})},
};

struct OptionsView {
  const Gpu* speed_on = nullptr;  // the GPU that the speeds are for
  std::vector<OptionEffect> each = {};
  std::vector<FittingOptions> combinations = {};
};
const Fields<OptionsView> kOptionsFields = {
    {"each", "every option on its own", kEffectFields, &OptionsView::each},
    {"combinations", "the cheapest combinations that fit", kCombinationFields, &OptionsView::combinations},
};

// The options' effects on the result, and why adapters can be slower.
std::string option_notes(const std::vector<OptionEffect>& effects) {
  std::string text;
  for (const OptionEffect& effect : effects) {
    const memory::MemoryOption& option = effect.taken[0];
    const auto add = [&](std::string_view note) {
      text += fmt::format("{}{}: {}.", text.empty() ? "" : "\n", option.name, note);
    };
    if (!option.accuracy.empty()) add(option.accuracy);
    // Only for the option that introduces adapters.
    const bool amp =
        effect.job.precision == model::Precision::kAmpBf16 || effect.job.precision == model::Precision::kAmpFp16;
    const bool adapters =
        option.kind == memory::OptionKind::kMethod && effect.job.train.method != model::Method::kFull && !amp;
    if (adapters && effect.job.stack == model::Stack::kHf && effect.slowdown.value_or(1) > 1)
      add("slower because PEFT keeps adapters in fp32 and casts around each of them; autocast or bf16 adapters "
          "avoid that");
  }
  return text;
}

// "The cheapest combination that fits l4: ...", "Nothing fits l4 with room to spare; tight: ...".
std::string combination_sentence(const FittingOptions& c) {
  const OptionEffect& effect = c.effect;
  const std::string how = fmt::format("{} ({})", fmt::join(names_of(effect), " + "), effect.flags);
  const std::string change = effect.slowdown ? speed_change(*effect.slowdown) : "";
  const std::string speed = change.empty()     ? "its speed is not known"
                            : change == "same" ? "is just as fast"
                                               : "is " + change;
  const std::string_view same = c.same_result ? " with the same result" : "";
  if (c.fit.verdict == Verdict::kTight)
    return fmt::format("The smallest combination{} is tight on {}: {}. It needs {} (OOM risk {}) and {}.", same,
                       c.gpu->name, how, format_bytes(effect.need.device), risk(c.fit.oom_probability), speed);
  return fmt::format("The cheapest combination{} that fits {}: {}. It needs {} and {}.", same, c.gpu->name, how,
                     format_bytes(effect.need.device), speed);
}

// The GPU to fit: the named one, or the largest below the smallest that fits.
const Gpu* target_of(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  if (gpus.size() == 1) return gpus[0];
  const Gpu* smaller = nullptr;
  for (const Gpu* gpu : gpus) {
    if (memory::fits(need, *gpu).verdict == Verdict::kFits) break;
    if (gpu->vendor == "NVIDIA") smaller = gpu;
  }
  return smaller;
}

// The GPU for speeds: the one to fit, or the smallest that fits.
const Gpu* speed_gpu(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  if (const Gpu* target = target_of(need, gpus)) return target;
  for (const Gpu* gpu : gpus) {
    if (memory::fits(need, *gpu).verdict == Verdict::kFits) return gpu;
  }
  return nullptr;
}

OptionsView options_of(const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus,
                       const perf::Constants& constants) {
  OptionsView options{speed_gpu(need, gpus)};
  const memory::TimeOf time_of = [&](const Job& job) -> std::optional<Seconds> {
    if (options.speed_on == nullptr) return std::nullopt;
    const Result<perf::JobTime> time = perf::job_time(constants, input.model, job, *options.speed_on);
    return time ? std::optional(time->unit) : std::nullopt;
  };
  options.each = memory::each_option(input.model, input.job, time_of, options.speed_on);
  const Gpu* target = target_of(need, gpus);
  if (target == nullptr || memory::fits(need, *target).verdict == Verdict::kFits) return options;
  for (const bool same_result : {true, false}) {
    auto effect = memory::cheapest_fit(input.model, input.job, *target, time_of, same_result);
    const bool known =
        effect && !options.combinations.empty() && options.combinations.back().effect.flags == effect->flags;
    if (!effect || known) continue;
    const Fit fit = memory::fits(effect->need, *target);
    options.combinations.push_back({*std::move(effect), target, same_result, fit});
  }
  return options;
}

void add_options(Report& report, const OptionsView& options, const MemoryNeed& need,
                 const std::vector<const Gpu*>& gpus) {
  std::vector<OptionEffect> freeing = options.each;
  std::erase_if(freeing, [](const OptionEffect& effect) { return effect.saved <= mib(1); });
  report::Table table =
      table_of(kEffectFields, freeing,
               {renamed("options", "option"), "flags", "saved_bytes", "device_bytes", "slowdown", "accuracy"});
  report.show("Options that free memory, each on its own" +
                  (options.speed_on != nullptr ? fmt::format(" (speed on {})", options.speed_on->name) : std::string()),
              std::move(table));
  report.say(option_notes(freeing));
  const Gpu* target = target_of(need, gpus);
  if (target == nullptr || memory::fits(need, *target).verdict == Verdict::kFits) return;

  std::vector<std::string> lines = list_of(options.combinations, combination_sentence);
  if (lines.empty()) lines.push_back(fmt::format("No combination fits {}.", target->name));
  if (!options.combinations.empty() && !options.combinations.front().same_result)
    lines.insert(lines.begin(), fmt::format("No combination with the same result fits {}.", target->name));
  report.say(fmt::format("{}", fmt::join(lines, "\n")));
}

// The tool that shows the memory in use.
std::string_view shown_by(const std::vector<const Gpu*>& gpus) {
  const auto all = [&](std::string_view vendor) {
    return std::ranges::all_of(gpus, [&](const Gpu* gpu) { return gpu->vendor == vendor; });
  };
  if (gpus.size() > 1 || all("NVIDIA")) return "nvidia-smi";
  return all("AMD") ? "amd-smi" : "the vendor's monitor";
}

// The evidence behind the interval.
std::string basis_of(const ModelAndJob& input, const std::vector<const Gpu*>& gpus) {
  if (input.job.kind == model::JobKind::kServe) return "engine";
  if (gpus.size() != 1) return std::string(memory::name_of(memory::RuntimeBasis::kThisGpu));
  return std::string(memory::name_of(memory::runtime_basis(*gpus.front())));
}

const Fields<MemoryNeed> kNeedFields = {
    {"peak_allocated_bytes", "live in the framework's allocator at the peak", &MemoryNeed::peak_allocated},
    {"reserved_bytes", "held by the allocator from the driver", &MemoryNeed::reserved},
    {"device_bytes", "what nvidia-smi shows, with context and libraries", &MemoryNeed::device},
    {"low_bytes", "lower end of the 80 % interval of device_bytes", &MemoryNeed::low},
    {"high_bytes", "upper end of the 80 % interval of device_bytes", &MemoryNeed::high},
};
const Fields<MemoryNeed> kServingFields = {
    {"kv_bytes_per_token", "KV cache of one token on one GPU", &MemoryNeed::kv_per_token},
    {"kv_precision?", "number format of the KV cache", &MemoryNeed::kv_format},
    {"max_concurrency", "requests the KV cache has room for; null without a GPU", &MemoryNeed::max_concurrency},
};

const Fields<memory::EngineLaunch> kLaunchFields = {
    {"device_bytes", "what nvidia-smi shows before the first request", &memory::EngineLaunch::device},
    {"kv_cache_bytes", "of this, the KV cache", &memory::EngineLaunch::kv_cache},
    {"kv_cache_tokens", "tokens that the caches of one copy of the model hold", &memory::EngineLaunch::kv_tokens},
    {"max_concurrency", "requests of these lengths that they hold", &memory::EngineLaunch::sequences},
    {"max_context_tokens", "tokens of the longest request", &memory::EngineLaunch::max_context},
};

const Fields<SizedPart> kPartFields = {
    {"name", "weights, gradients, optimizer, activations and so on", &SizedPart::part},
    {"bytes", "its size", &SizedPart::size},
};

// The smallest of the GPUs that holds the job; empty if none does.
struct SweptFit {
  const SweptNeed& row;
  std::string_view gpu;
};
const Fields<SweptFit> kSweptFields = {
    {"setting", "the setting", [](const SweptFit& s) { return s.row.setting; }},
    {"value", "value", "its value", [](const SweptFit& s) { return s.row.value; }},
    {"device_bytes", "needs", "need on each GPU", [](const SweptFit& s) { return s.row.need.device; }},
    {"fits", "fits", "the smallest of the GPUs that holds it; empty: none does", &SweptFit::gpu,
     [](std::string_view gpu) { return gpu.empty() ? std::string("none") : std::string(gpu); }},
};

std::vector<SweptFit> swept_fits(const std::vector<SweptNeed>& sweep, const std::vector<const Gpu*>& gpus) {
  return list_of(sweep, [&](const SweptNeed& row) {
    const auto found = std::ranges::find_if(
        gpus, [&](const Gpu* gpu) { return memory::fits(row.need, *gpu).verdict == Verdict::kFits; });
    return SweptFit{row, found == gpus.end() ? std::string_view() : (*found)->name};
  });
}

struct MemoryView {
  const ModelAndJob& input;
  const MemoryNeed& need;
  const std::vector<const Gpu*>& gpus;
  const OptionsView* options;                 // null: not wanted
  const memory::EngineLaunch* launch;         // null: no engine, or no single GPU
  std::optional<std::int64_t> largest_batch;  // for training on one GPU
  std::vector<SweptFit> sweep;
  std::optional<std::int64_t> longest = {};  // tokens; only where they were asked for
};

const MemoryNeed* serving_need(const MemoryView& v) {
  return v.input.job.kind == model::JobKind::kServe ? &v.need : nullptr;
}

const Fields<MemoryView> kDocumentFields = {
    {"model", "the model", [](const MemoryView& v) { return v.input.model.name; }},
    {"job", "training or serving",
     [](const MemoryView& v) { return v.input.job.kind == model::JobKind::kServe ? "serve" : "train"; },
     report::one_of({"train", "serve"})},
    {"per_gpu", "need on each GPU", kNeedFields, [](const MemoryView& v) { return std::cref(v.need); }},
    {"basis", "what the interval rests on", [](const MemoryView& v) { return basis_of(v.input, v.gpus); }},
    {"parts", "what takes the memory at the peak", kPartFields, [](const MemoryView& v) { return parts_of(v.need); }},
    {"fits", "the GPUs and whether the job fits them", kGpuFitFields,
     [](const MemoryView& v) { return fits_on(v.need, v.gpus); }},
    {"largest_batch?", "training: the largest batch per GPU that fits; 0: not even one sample does",
     &MemoryView::largest_batch},
    {"longest_tokens?", "--longest: tokens of the longest request, or training sequence, that fits",
     &MemoryView::longest},
    {"warnings", "settings that cannot be as asked for, and their effect",
     [](const MemoryView& v) { return std::cref(v.need.warnings); }},
    {kServingFields, serving_need},
    {"launch?", "what the engine allocates on each GPU when it starts", kLaunchFields,
     [](const MemoryView& v) { return v.launch; }},
    {"options?", "what frees memory", kOptionsFields, [](const MemoryView& v) { return v.options; }},
    {"sweep", "the need with each value of --sweep", kSweptFields,
     [](const MemoryView& v) { return std::cref(v.sweep); }},
};
const report::Document<MemoryView> kMemoryDocument("memory", "GPU memory that a job needs", kDocumentFields);

// " The KV cache (bf16) has room for 43 such requests at once, not for the 128 of --max-batch."
std::string room_sentence(const Job& job, const MemoryNeed& need) {
  const auto count = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  const std::int64_t room = *need.max_concurrency;
  std::string text =
      (need.kv_format ? fmt::format(" The KV cache ({}) has", model::name_of(*need.kv_format)) : " There is") +
      (room == 1 ? std::string(" room for one such request")
                 : fmt::format(" room for {} such requests at once", count(room)));
  if (const auto most = job.serve.max_batch)
    text += (room < *most ? ", not for the " : ", enough for the ") + count(*most) + " of --max-batch";
  return text + ".";
}

// "llama-3.1-8b has room for a request of up to 71,000 tokens on l4, input and output together."
std::string longest_sentence(const ModelAndJob& input, const Gpu& gpu, std::int64_t tokens) {
  const auto count = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  const bool serves = input.job.kind == model::JobKind::kServe;
  const int split = serves ? input.job.parallel.tensor * input.job.parallel.pipeline : input.job.parallel.gpus;
  const std::string where = split > 1 ? fmt::format("{} x {}", split, gpu.name) : gpu.name;
  if (tokens == 0)
    return fmt::format("No context fits: {} leaves no room on {}{}.", input.model.name, where,
                       serves ? " for a KV cache" : "");
  const char* limit =
      input.model.context > 0 && tokens >= input.model.context / 128 * 128 ? ", the most that the model accepts" : "";
  return serves ? fmt::format("The longest context of {} on {} is {} tokens, input and output of one request{}.",
                              input.model.name, where, count(tokens), limit)
                : fmt::format("The longest sequence for training {} on {} is {} tokens{}.", input.model.name, where,
                              count(tokens), limit);
}

}  // namespace

std::string memory_sentence(const MemoryNeed& need, const model::Job& job, const std::vector<const Gpu*>& gpus) {
  std::string text =
      fmt::format("needs {}{} (80 % interval {} to {}).", format_bytes(need.device),
                  job.parallel.gpus > 1 ? " on each" : "", format_bytes(need.low), format_bytes(need.high));
  if (gpus.size() == 1) {
    const Fit fit = memory::fits(need, *gpus[0]);
    const std::string odds = format_percent(Ratio::fraction(fit.oom_probability));
    if (fit.headroom >= Bytes{} && need.max_concurrency == 0) {
      const double share = job.serve.memory_share;
      return text + fmt::format(
                        " {} holds it, but the engine would not start: it may use {:g} % of the memory "
                        "(--memory-share {:g}), which leaves too little for the KV cache of one request (a larger "
                        "--memory-share or --tp, or a smaller --precision, helps).",
                        gpus[0]->name, 100 * share, share);
    }
    const std::string room = fit.headroom < Bytes{} ? shortage(fit.headroom) : format_bytes(fit.headroom) + " to spare";
    switch (fit.verdict) {
      case Verdict::kFits:
        text += fmt::format(" It fits {} with {}.", gpus[0]->name, room);
        break;
      case Verdict::kTight:
        text += fmt::format(" It is tight on {}: {}, OOM risk {}.", gpus[0]->name, room, odds);
        break;
      case Verdict::kNo:
        text += fmt::format(" It does not fit {}: {} too much.", gpus[0]->name, format_bytes(-fit.headroom));
        break;
    }
    return text;
  }
  for (const Gpu* gpu : gpus) {
    if (memory::fits(need, *gpu).verdict == Verdict::kFits)
      return text + fmt::format(" The smallest GPU it fits is {} ({}).", gpu->name, format_bytes(gpu->capacity()));
  }
  return text + " No single GPU for rent is large enough.";
}

Report memory_report(const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus,
                     const perf::Constants& constants, bool wants_options, bool by_engine,
                     const std::vector<SweptNeed>& sweep, std::optional<std::int64_t> longest) {
  Report report{.title = "Memory"};
  if (longest) report.say(longest_sentence(input, *gpus.front(), *longest));
  const bool does_not_fit = gpus.size() == 1 && memory::fits(need, *gpus.front()).verdict != Verdict::kFits;
  const std::optional<OptionsView> options =
      wants_options || does_not_fit ? std::optional(options_of(input, need, gpus, constants)) : std::nullopt;
  const bool starts = by_engine && gpus.size() == 1 && input.job.kind == model::JobKind::kServe;
  const std::optional<memory::EngineLaunch> launch =
      starts ? memory::engine_launch(input.model, input.job, *gpus[0]) : std::nullopt;
  const std::optional<std::int64_t> largest =
      gpus.size() == 1 && input.job.kind == model::JobKind::kTrain
          ? std::optional(memory::largest_batch(input.model, input.job, *gpus[0]))
          : std::nullopt;
  report.document = kMemoryDocument.of({input, need, gpus, options ? &*options : nullptr, launch ? &*launch : nullptr,
                                        largest, swept_fits(sweep, gpus), longest});
  std::string text = describe_job(input.model, input.job) + ", " + memory_sentence(need, input.job, gpus);
  if (largest)
    text += *largest > 0
                ? fmt::format(" The largest batch that fits is {}.", format_count(static_cast<double>(*largest)))
            : input.job.batch == 1 && memory::fits(need, *gpus[0]).verdict == Verdict::kNo
                ? " Even a batch of 1 does not fit."
                : " Even a batch of 1 does not fit with room to spare.";
  if (need.max_concurrency && *need.max_concurrency >= 1) text += room_sentence(input.job, need);
  if (launch && launch->sequences >= 1)
    text += fmt::format(" At start-up the engine allocates {} on each GPU; a request of up to {} tokens would fit.",
                        format_bytes(launch->device), format_count(static_cast<double>(launch->max_context)));
  for (const std::string& warning : need.warnings) text += "\nwarning: " + warning;
  report.say(std::move(text));
  report.blocks.emplace_back(picture(need, gpus));
  report.say(fmt::format("Allocated at the peak {}, reserved by the allocator {}, shown by {} {}.",
                         format_bytes(need.peak_allocated), format_bytes(need.reserved), shown_by(gpus),
                         format_bytes(need.device)));
  if (!sweep.empty())
    report.show(fmt::format("By {}", sweep.front().setting),
                table_of(kSweptFields, swept_fits(sweep, gpus),
                         {renamed("value", sweep.front().setting.c_str(), sweep.front().setting.c_str()),
                          "device_bytes", "fits"}));
  constexpr std::size_t kMostShown = 16;
  if (gpus.size() > 1)
    report.show("",
                table_of(kGpuFitFields, fits_on(need, nearest_first(need, gpus)),
                         {"gpu", "capacity_bytes", "verdict", "headroom_bytes", "oom_probability"}),
                kMostShown);
  if (options) add_options(report, *options, need, gpus);
  return report;
}

}  // namespace rightsize::app
