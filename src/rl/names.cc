// Names, layouts as users write them, and the constants of the frameworks.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "rl/rl.h"

namespace rightsize::rl {
namespace {

constexpr std::string_view kAlgorithms[] = {"grpo", "ppo", "dapo", "rloo", "reinforce++", "distill"};
constexpr std::string_view kFrameworks[] = {"verl", "nemo-rl", "openrlhf", "trl"};
constexpr std::string_view kPhases[] = {"generate", "log_prob", "reward", "update", "sync"};
constexpr std::string_view kLimits[] = {"generation", "training", "longest answers"};

// Stores a row of data/rl_stacks.csv, which a test reads in full.
void store(std::string_view name, std::string_view value, StackConstants& to) {
  const std::pair<std::string_view, double StackConstants::*> numbers[] = {
      {"update", &StackConstants::update}, {"log_prob", &StackConstants::log_prob}, {"width", &StackConstants::width}};
  const std::pair<std::string_view, Seconds StackConstants::*> times[] = {{"engine_step", &StackConstants::engine_step},
                                                                          {"host_step", &StackConstants::host_step},
                                                                          {"sync", &StackConstants::sync},
                                                                          {"reward", &StackConstants::reward},
                                                                          {"between", &StackConstants::between}};
  for (const auto& [key, member] : numbers)
    if (key == name) to.*member = *parse_number(value);
  for (const auto& [key, member] : times)
    if (key == name) to.*member = *parse_duration(value);
  if (name == "sync_rate") to.sync_rate = *parse_bandwidth(value);
}

Error not_a_layout(const std::string& text) {
  return bad_input(fmt::format("'{}' is not a layout", text))
      .with_hint("use colocated, or split=TRAINER:ROLLOUT with the GPUs of each, for example split=8:8");
}

}  // namespace

std::string_view name_of(Algorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }
std::string_view name_of(Framework framework) { return kFrameworks[static_cast<std::size_t>(framework)]; }
std::string_view name_of(PhaseKind kind) { return kPhases[static_cast<std::size_t>(kind)]; }
std::string_view name_of(Limit limit) { return kLimits[static_cast<std::size_t>(limit)]; }

std::string describe(const Layout& layout) {
  return layout.split ? fmt::format("split={}:{}", layout.train, layout.rollout) : "colocated";
}

Result<Layout> parse_layout(const std::string& text, std::optional<int> gpus) {
  const std::string lower = to_lower(text);
  if (lower == "colocated") return Layout{false, gpus.value_or(8), gpus.value_or(8)};
  if (!lower.starts_with("split=")) return fail(not_a_layout(text));
  const std::vector<std::string_view> sides = split_list(std::string_view(lower).substr(6), ':');
  if (sides.size() != 2) return fail(not_a_layout(text));
  RIGHTSIZE_TRY(const double train, parse_count(sides[0]));
  RIGHTSIZE_TRY(const double rollout, parse_count(sides[1]));
  constexpr double kMostGpus = 1'000'000;
  if (!(train >= 1 && rollout >= 1 && train + rollout <= kMostGpus)) return fail(not_a_layout(text));
  const Layout layout{true, static_cast<int>(train), static_cast<int>(rollout)};
  if (gpus && *gpus != layout.gpus()) {
    return fail(bad_input(fmt::format("{} uses {} GPUs, not {}", lower, layout.gpus(), *gpus))
                    .with_hint(fmt::format("use --gpus {} or leave it out", layout.gpus())));
  }
  return layout;
}

double RlJob::longest() const {
  // Without a limit, the longest answer of a usual batch.
  constexpr double kUsualTail = 8;
  return isl + (answers.most > 0 ? answers.most : answers.mean * (answers.variation > 0 ? kUsualTail : 1));
}

RlJob at_first_step(RlJob job) {
  if (job.first_mean > 0) job.answers.mean = job.first_mean;
  return job;
}

RlJob at_last_step(RlJob job) {
  if (job.last_mean > 0) job.answers.mean = job.last_mean;
  return job;
}

StackConstants constants_of(Framework framework) {
  static const Csv kRows = *Csv::parse("data/rl_stacks.csv", std::string(embedded_file("rl_stacks.csv")));
  StackConstants constants;
  for (const std::string_view wanted : {std::string_view("any"), name_of(framework)}) {
    for (const CsvRow& row : kRows.rows())
      if (kRows.cell(row, "stack") == wanted) store(kRows.cell(row, "constant"), kRows.cell(row, "value"), constants);
  }
  return constants;
}

Pool pool_of(const perf::Constants& constants, const catalog::Gpu& gpu) {
  return {&gpu, perf::gpu_speed(constants, gpu), perf::default_cluster(gpu)};
}

}  // namespace rightsize::rl
