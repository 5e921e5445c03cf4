#include "rightsize/memory/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "memory/options.h"
#include "perf/job_time.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using memory::Fit;
using memory::MemoryNeed;
using memory::OptionEffect;
using memory::Verdict;
using model::Job;
using report::Align;
using report::Json;
using report::Report;

Json whole(Bytes value) { return report::json_number(std::round(in_bytes(value))); }

// The parts against the capacities around them: a few well-known sizes, so that the lines stay readable.
report::StackedBar picture(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  report::StackedBar bar;
  for (int i = 0; i < memory::kParts; ++i) {
    const auto part = static_cast<memory::Part>(i);
    if (need.parts[part] < mib(1)) continue;  // too small to see
    const std::string name(memory::name_of(part));
    bar.segments.push_back(
        {name == "kv_cache" ? "KV cache" : name, format_bytes(need.parts[part]), in_bytes(need.parts[part])});
  }
  static const std::vector<std::string> kRulers{"l4", "l40s", "a100-80gb-sxm", "h200-sxm", "b200-sxm", "b300-sxm"};
  Bytes shown_up_to = need.device * 1.6;
  for (const Gpu* gpu : gpus) {
    const bool ruler = gpus.size() == 1 || std::find(kRulers.begin(), kRulers.end(), gpu->name) != kRulers.end();
    if (!ruler || (gpus.size() > 1 && gpu->capacity() > shown_up_to && !bar.lines.empty())) continue;
    bar.lines.push_back({fmt::format("{} {}", gpu->name, format_bytes(gpu->capacity())), in_bytes(gpu->capacity())});
    if (gpu->capacity() > need.device && gpus.size() > 1) shown_up_to = gpu->capacity();
  }
  return bar;
}

// Those it fits, small before large; then the tight ones; then the rest, large before small.
std::vector<const Gpu*> nearest_first(const MemoryNeed& need, std::vector<const Gpu*> gpus) {
  auto key = [&](const Gpu* gpu) {
    const Verdict verdict = memory::fits(need, *gpu).verdict;
    const double capacity = in_bytes(gpu->capacity());
    return std::pair(verdict, verdict == Verdict::kNo ? -capacity : capacity);
  };
  std::stable_sort(gpus.begin(), gpus.end(), [&](const Gpu* a, const Gpu* b) { return key(a) < key(b); });
  return gpus;
}

report::Table fits_table(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  report::Table table;
  table.columns = {{"GPU", "gpu", Align::kLeft},
                   {"capacity", "capacity_bytes", Align::kRight},
                   {"verdict", "verdict", Align::kLeft},
                   {"headroom", "headroom_bytes", Align::kRight},
                   {"OOM risk", "oom_probability", Align::kRight}};
  constexpr std::size_t kMostShown = 16;
  table.most_shown = kMostShown;
  for (const Gpu* gpu : nearest_first(need, gpus)) {
    const Fit fit = memory::fits(need, *gpu);
    const std::string room =
        (fit.headroom < Bytes{} ? "-" : "") + format_bytes(fit.headroom < Bytes{} ? -fit.headroom : fit.headroom);
    table.rows.push_back(
        {report::text_cell(gpu->name), report::number_cell(format_bytes(fit.capacity), in_bytes(fit.capacity)),
         report::text_cell(memory::name_of(fit.verdict)), report::number_cell(room, in_bytes(fit.headroom)),
         report::number_cell(fit.oom_probability < 0.001   ? "< 0.1 %"
                             : fit.oom_probability > 0.999 ? "> 99.9 %"
                                                           : format_percent(Ratio::fraction(fit.oom_probability)),
                             fit.oom_probability)});
  }
  return table;
}

std::string speed_change(const std::optional<double>& slowdown) {
  if (!slowdown) return "not known";
  const double percent = (*slowdown > 1 ? *slowdown : 1 / *slowdown) * 100 - 100;
  return percent < 0.5 ? "same" : fmt::format("{:.0f} % {}", percent, *slowdown > 1 ? "slower" : "faster");
}

report::Table options_table(const std::vector<OptionEffect>& effects, const Gpu* gpu) {
  report::Table table;
  table.title = "What frees memory, each option alone";
  if (gpu != nullptr) table.title += fmt::format(" (speed on {})", gpu->name);
  table.columns = {{"option", "option", Align::kLeft},      {"flags", "flags", Align::kLeft},
                   {"saves", "saved_bytes", Align::kRight}, {"leaves", "device_bytes", Align::kRight},
                   {"speed", "slowdown", Align::kRight},    {"result", "accuracy", Align::kLeft}};
  for (const OptionEffect& effect : effects) {
    const memory::MemoryOption& option = effect.taken[0];
    const bool frees = effect.saved > mib(1);
    table.rows.push_back({report::text_cell(option.name), report::text_cell(effect.flags),
                          report::number_cell(frees ? format_bytes(effect.saved) : "nothing", in_bytes(effect.saved)),
                          report::number_cell(format_bytes(effect.need.device), in_bytes(effect.need.device)),
                          effect.slowdown ? report::number_cell(speed_change(effect.slowdown), *effect.slowdown)
                                          : report::unknown_cell(),
                          report::Cell{option.accuracy.empty() ? "same" : "changes", option.accuracy}});
  }
  return table;
}

Json json_of(const OptionEffect& effect) {
  Json names = Json::array(), notes = Json::array();
  for (const memory::MemoryOption& option : effect.taken) {
    names.push_back(option.name);
    notes.push_back({{"option", option.name}, {"accuracy", option.accuracy}});
  }
  return {{"options", std::move(names)},
          {"flags", effect.flags},
          {"saved_bytes", whole(effect.saved)},
          {"device_bytes", whole(effect.need.device)},
          {"high_bytes", whole(effect.need.high)},
          {"slowdown", report::json_number(effect.slowdown)},
          {"notes", std::move(notes)}};
}

// What the options do to the result, and why adapters can cost more time than they save.
std::string option_notes(const std::vector<OptionEffect>& effects) {
  std::string text;
  for (const OptionEffect& effect : effects) {
    const memory::MemoryOption& option = effect.taken[0];
    const auto add = [&](std::string_view note) {
      text += fmt::format("{}{}: {}.", text.empty() ? "" : "\n", option.name, note);
    };
    if (!option.accuracy.empty()) add(option.accuracy);
    const bool adapters = effect.job.train.method != model::Method::kFull;
    if (adapters && effect.job.stack == model::Stack::kHf && effect.slowdown.value_or(1) > 1)
      add("slower because PEFT keeps adapters in fp32 and casts around every one of them; autocast or bf16 adapters "
          "avoid that");
  }
  return text;
}

std::string combination_sentence(const OptionEffect& effect, const Gpu& gpu, std::string_view what) {
  std::vector<std::string> names;
  for (const memory::MemoryOption& option : effect.taken) names.push_back(option.name);
  return fmt::format("{} fits {}: {} ({}). It needs {}; speed: {}.", what, gpu.name, fmt::join(names, " + "),
                     effect.flags, format_bytes(effect.need.device), speed_change(effect.slowdown));
}

// The GPU the combination is for: the one named, or the next smaller than the smallest that fits.
const Gpu* target_of(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  if (gpus.size() == 1) return gpus[0];
  const Gpu* smaller = nullptr;
  for (const Gpu* gpu : gpus) {
    if (memory::fits(need, *gpu).verdict == Verdict::kFits) break;
    if (gpu->vendor == "NVIDIA") smaller = gpu;
  }
  return smaller;
}

// The GPU whose speed is meant: the one named, the one to fit, or the smallest that does.
const Gpu* speed_gpu(const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  if (const Gpu* target = target_of(need, gpus)) return target;
  for (const Gpu* gpu : gpus) {
    if (memory::fits(need, *gpu).verdict == Verdict::kFits) return gpu;
  }
  return nullptr;
}

void add_options(Report& report, const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus,
                 const perf::Constants& constants) {
  const Gpu* fast_as = speed_gpu(need, gpus);
  const memory::TimeOf time_of = [&](const Job& job) -> std::optional<Seconds> {
    if (fast_as == nullptr) return std::nullopt;
    const Result<perf::JobTime> time = perf::job_time(constants, input.model, job, *fast_as);
    return time ? std::optional(time->unit) : std::nullopt;
  };
  const std::vector<OptionEffect> effects = memory::each_option(input.model, input.job, time_of);
  Json& options = report.document["options"];
  options = {{"each", Json::array()}, {"combinations", Json::array()}};
  for (const OptionEffect& effect : effects) options["each"].push_back(json_of(effect));
  report.blocks.emplace_back(options_table(effects, fast_as));
  if (std::string notes = option_notes(effects); !notes.empty())
    report.blocks.emplace_back(report::Paragraph{std::move(notes)});
  const Gpu* target = target_of(need, gpus);
  if (target == nullptr || memory::fits(need, *target).verdict == Verdict::kFits) return;

  std::string text;
  for (bool same_result : {true, false}) {
    const auto effect = memory::cheapest_fit(input.model, input.job, *target, time_of, same_result);
    const std::string_view what = same_result ? "What keeps the result as it is and" : "The cheapest of all that";
    if (effect) {
      Json entry = json_of(*effect);
      entry["gpu"] = target->name;
      entry["same_result"] = same_result;
      options["combinations"].push_back(std::move(entry));
    }
    if (!text.empty()) text += '\n';
    text += effect ? combination_sentence(*effect, *target, what)
                   : fmt::format("No combination {}fits {}.", same_result ? "that keeps the result as it is " : "",
                                 target->name);
  }
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
}

// What the interval stands on.
std::string basis_of(const ModelAndJob& input, const std::vector<const Gpu*>& gpus) {
  if (input.job.kind == model::JobKind::kServe) return "engine";
  if (gpus.size() != 1) return std::string(memory::name_of(memory::RuntimeBasis::kThisGpu));
  return std::string(memory::name_of(memory::runtime_basis(*gpus.front())));
}

Json document_of(const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  Json document = {{"schema", "rightsize/memory/1"},
                   {"model", input.model.name},
                   {"job", input.job.kind == model::JobKind::kServe ? "serve" : "train"},
                   {"per_gpu",
                    {{"peak_allocated_bytes", whole(need.peak_allocated)},
                     {"reserved_bytes", whole(need.reserved)},
                     {"device_bytes", whole(need.device)},
                     {"low_bytes", whole(need.low)},
                     {"high_bytes", whole(need.high)}}},
                   {"basis", basis_of(input, gpus)},
                   {"parts", Json::array()},
                   {"fits", Json::array()},
                   {"warnings", need.warnings}};
  for (int i = 0; i < memory::kParts; ++i) {
    const auto part = static_cast<memory::Part>(i);
    if (need.parts[part] > Bytes{})
      document["parts"].push_back({{"name", memory::name_of(part)}, {"bytes", whole(need.parts[part])}});
  }
  for (const Gpu* gpu : gpus) {
    const Fit fit = memory::fits(need, *gpu);
    document["fits"].push_back({{"gpu", gpu->name},
                                {"capacity_bytes", whole(fit.capacity)},
                                {"verdict", memory::name_of(fit.verdict)},
                                {"headroom_bytes", whole(fit.headroom)},
                                {"oom_probability", fit.oom_probability}});
  }
  if (input.job.kind == model::JobKind::kServe) {
    document["kv_bytes_per_token"] = whole(need.kv_per_token);
    document["max_concurrency"] = need.max_concurrency ? Json(*need.max_concurrency) : Json(nullptr);
  }
  return document;
}

}  // namespace

std::string memory_sentence(const MemoryNeed& need, const model::Job& job, const std::vector<const Gpu*>& gpus) {
  std::string text =
      fmt::format("needs {}{} (80 % interval {} to {}).", format_bytes(need.device),
                  job.parallel.gpus > 1 ? " on each" : "", format_bytes(need.low), format_bytes(need.high));
  if (gpus.size() == 1) {
    const Fit fit = memory::fits(need, *gpus[0]);
    const std::string odds = format_percent(Ratio::fraction(fit.oom_probability));
    switch (fit.verdict) {
      case Verdict::kFits:
        text += fmt::format(" It fits {} with {} to spare.", gpus[0]->name, format_bytes(fit.headroom));
        break;
      case Verdict::kTight:
        text += fmt::format(" It is tight on {}: {} to spare, OOM risk {}.", gpus[0]->name, format_bytes(fit.headroom),
                            odds);
        break;
      case Verdict::kNo:
        text += fmt::format(" It does not fit {}: {} too much.", gpus[0]->name, format_bytes(-fit.headroom));
        break;
    }
    return text;
  }
  for (const Gpu* gpu : gpus) {
    if (memory::fits(need, *gpu).verdict == Verdict::kFits) {
      return text + fmt::format(" The smallest GPU it fits is {} ({}).", gpu->name, format_bytes(gpu->capacity()));
    }
  }
  return text + " It fits no single GPU of those for rent.";
}

Report memory_report(const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus,
                     const perf::Constants& constants, bool options) {
  Report report;
  report.title = "Memory";
  report.document = document_of(input, need, gpus);
  std::string text = describe_job(input.model, input.job) + ", " + memory_sentence(need, input.job, gpus);
  if (need.max_concurrency && *need.max_concurrency >= 1)
    text += fmt::format(" {} room for {} such requests at once.",
                        input.model.kind == model::ModelKind::kDecoder ? "The KV cache has" : "There is",
                        format_count(static_cast<double>(*need.max_concurrency)));
  for (const std::string& warning : need.warnings) text += "\nwarning: " + warning;
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
  report.blocks.emplace_back(picture(need, gpus));
  report.blocks.emplace_back(report::Paragraph{
      fmt::format("Live at the peak {}, held by the allocator {}, shown by nvidia-smi {}.",
                  format_bytes(need.peak_allocated), format_bytes(need.reserved), format_bytes(need.device))});
  const bool does_not_fit = gpus.size() == 1 && memory::fits(need, *gpus.front()).verdict != Verdict::kFits;
  if (gpus.size() > 1) report.blocks.emplace_back(fits_table(need, gpus));
  if (options || does_not_fit) add_options(report, input, need, gpus, constants);
  return report;
}

}  // namespace rightsize::app
