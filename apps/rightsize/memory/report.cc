#include "rightsize/memory/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "memory/levers.h"

namespace rightsize::app {
namespace {

using catalog::Gpu;
using memory::Fit;
using memory::MemoryNeed;
using memory::Verdict;
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
    bar.segments.push_back(
        {std::string(memory::name_of(part)), format_bytes(need.parts[part]), in_bytes(need.parts[part])});
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
                   {"odds of running out", "oom_probability", Align::kRight}};
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

std::string time_factor(double slowdown) {
  return slowdown == 1  ? "same"
         : slowdown > 1 ? fmt::format("{:.0f} % slower", (slowdown - 1) * 100)
                        : fmt::format("{:.0f} % faster", (1 / slowdown - 1) * 100);
}

report::Table levers_table(const std::vector<memory::LeverEffect>& effects) {
  report::Table table;
  table.title = "What frees memory, one lever at a time";
  table.columns = {{"lever", "lever", Align::kLeft},         {"flags", "flags", Align::kLeft},
                   {"saves", "saved_bytes", Align::kRight},  {"leaves", "device_bytes", Align::kRight},
                   {"step time", "slowdown", Align::kRight}, {"result", "accuracy", Align::kLeft}};
  for (const memory::LeverEffect& effect : effects) {
    const memory::Lever& lever = effect.pulled[0];
    const bool frees = effect.saved > mib(1);
    table.rows.push_back({report::text_cell(lever.name), report::text_cell(lever.flags),
                          report::number_cell(frees ? format_bytes(effect.saved) : "nothing", in_bytes(effect.saved)),
                          report::number_cell(format_bytes(effect.need.device), in_bytes(effect.need.device)),
                          report::number_cell(time_factor(lever.slowdown), lever.slowdown),
                          report::Cell{lever.accuracy.empty() ? "same" : "changes", lever.accuracy}});
  }
  return table;
}

Json json_of(const memory::LeverEffect& effect) {
  Json names = Json::array(), flags = Json::array(), notes = Json::array();
  for (const memory::Lever& lever : effect.pulled) {
    names.push_back(lever.name);
    flags.push_back(lever.flags);
    notes.push_back({{"lever", lever.name}, {"accuracy", lever.accuracy}, {"source", lever.source}});
  }
  return {{"levers", std::move(names)},
          {"flags", std::move(flags)},
          {"saved_bytes", whole(effect.saved)},
          {"device_bytes", whole(effect.need.device)},
          {"high_bytes", whole(effect.need.high)},
          {"slowdown", effect.slowdown},
          {"notes", std::move(notes)}};
}

std::string step_time(double slowdown) {
  return slowdown == 1 ? "the same time" : fmt::format("{:.2f} times as long", slowdown);
}

// Where the factors come from, and what a lever does to the result.
std::string lever_notes(const std::vector<memory::LeverEffect>& effects) {
  std::string text;
  for (const memory::LeverEffect& effect : effects) {
    const memory::Lever& lever = effect.pulled[0];
    text += fmt::format("{}{}: {}{}.", text.empty() ? "" : "\n", lever.name,
                        lever.accuracy.empty() ? "" : lever.accuracy + "; ", lever.source);
  }
  return text;
}

std::string combination_sentence(const memory::LeverEffect& effect, const Gpu& gpu, std::string_view what) {
  std::vector<std::string> names;
  for (const memory::Lever& lever : effect.pulled) names.push_back(fmt::format("{} ({})", lever.name, lever.flags));
  return fmt::format("{} fits {}: {}. It needs {}; a step takes {}.", what, gpu.name, fmt::join(names, " + "),
                     format_bytes(effect.need.device), step_time(effect.slowdown));
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

void add_levers(Report& report, const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus) {
  const std::vector<memory::LeverEffect> effects = memory::each_lever(input.model, input.job);
  Json& levers = report.document["levers"];
  levers = {{"each", Json::array()}, {"combinations", Json::array()}};
  for (const memory::LeverEffect& effect : effects) levers["each"].push_back(json_of(effect));
  report.blocks.emplace_back(levers_table(effects));
  report.blocks.emplace_back(report::Paragraph{lever_notes(effects)});
  const Gpu* target = target_of(need, gpus);
  if (target == nullptr || memory::fits(need, *target).verdict == Verdict::kFits) return;

  std::string text;
  for (bool same_result : {true, false}) {
    const auto effect = memory::cheapest_fit(input.model, input.job, *target, same_result);
    const std::string_view what = same_result ? "What keeps the result as it is and" : "The cheapest of all that";
    if (effect) {
      Json entry = json_of(*effect);
      entry["gpu"] = target->name;
      entry["same_result"] = same_result;
      levers["combinations"].push_back(std::move(entry));
    }
    if (!text.empty()) text += '\n';
    text += effect ? combination_sentence(*effect, *target, what)
                   : fmt::format("No combination {}fits {}.", same_result ? "that keeps the result as it is " : "",
                                 target->name);
  }
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
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
      fmt::format("needs {}{} (80 % sure of {} to {}).", format_bytes(need.device),
                  job.parallel.gpus > 1 ? " on each" : "", format_bytes(need.low), format_bytes(need.high));
  if (gpus.size() == 1) {
    const Fit fit = memory::fits(need, *gpus[0]);
    const std::string odds = format_percent(Ratio::fraction(fit.oom_probability));
    switch (fit.verdict) {
      case Verdict::kFits:
        text += fmt::format(" It fits {} with {} to spare.", gpus[0]->name, format_bytes(fit.headroom));
        break;
      case Verdict::kTight:
        text += fmt::format(" It is tight on {}: {} to spare, {} odds of running out.", gpus[0]->name,
                            format_bytes(fit.headroom), odds);
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
  return text + " It fits no single GPU of the catalogue.";
}

Report memory_report(const ModelAndJob& input, const MemoryNeed& need, const std::vector<const Gpu*>& gpus,
                     bool levers) {
  Report report;
  report.title = "Memory";
  report.document = document_of(input, need, gpus);
  std::string text = describe_job(input.model, input.job) + ", " + memory_sentence(need, input.job, gpus);
  if (need.max_concurrency)
    text += fmt::format(" The KV cache has room for {} such requests at once.",
                        format_count(static_cast<double>(*need.max_concurrency)));
  for (const std::string& warning : need.warnings) text += "\nwarning: " + warning;
  report.blocks.emplace_back(report::Paragraph{std::move(text)});
  report.blocks.emplace_back(picture(need, gpus));
  report.blocks.emplace_back(report::Paragraph{
      fmt::format("Live at the peak {}, held by the allocator {}, shown by nvidia-smi {}.",
                  format_bytes(need.peak_allocated), format_bytes(need.reserved), format_bytes(need.device))});
  const bool does_not_fit = gpus.size() == 1 && memory::fits(need, *gpus.front()).verdict != Verdict::kFits;
  if (gpus.size() > 1) report.blocks.emplace_back(fits_table(need, gpus));
  if (levers || does_not_fit) add_levers(report, input, need, gpus);
  return report;
}

}  // namespace rightsize::app
