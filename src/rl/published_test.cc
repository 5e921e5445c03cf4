// Published runs: step times, and the faster of two layouts.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/parse_units.h"
#include "presets/presets.h"
#include "rl/memory.h"
#include "rl/rl.h"
#include "rl/test_jobs.h"

namespace rightsize::rl {
namespace {

struct PublishedRun {
  std::map<std::string, std::string> cells;
  RlJob job;
  RlEstimate step;

  const std::string& at(const char* name) const { return cells.at(name); }
  double number(const char* name) const { return at(name).empty() ? 0 : *parse_number(at(name)); }
  double measured() const { return number("step_seconds"); }
  double log_error() const { return std::log(in_seconds(step.step) / measured()); }
  // Published tokens per second and GPU, or any unit for runs without them.
  double speed() const { return number("tok_s_gpu") > 0 ? number("tok_s_gpu") : 1 / (measured() * number("gpus")); }
  std::string kind() const {
    std::string kind;
    for (const char* name : {"source", "release", "model", "gpu", "algorithm", "precision", "prompts", "max_tokens"})
      kind += at(name) + "|";
    return at("stack") == "verl" ? kind + at("tp") + "|" + at("pp") : kind;
  }
  std::string who() const {
    return fmt::format("{} {} {} {} {} async {}", at("release"), at("model"), at("gpus"), at("gpu"), at("layout"),
                       at("async_steps"));
  }
};

RlJob job_of(const PublishedRun& run) {
  RlJob job;
  job.framework = run.at("stack") == "verl" ? Framework::kVerl : Framework::kNemoRl;
  job.algorithm = run.at("algorithm") == "dapo" ? Algorithm::kDapo : Algorithm::kGrpo;
  job.layout = *parse_layout(run.at("layout"), static_cast<int>(run.number("gpus")));
  job.async = run.number("async_steps");
  job.prompts = run.number("prompts"), job.samples = run.number("samples");
  job.isl = run.number("isl");
  job.answers = {run.number("osl"), 1, run.number("max_tokens") - run.number("isl")};
  job.train_batch = run.number("train_batch");
  job.reference = run.at("reference") == "yes";
  model::Parallelism& p = job.train.parallel;
  const auto size = [&](const char* name) { return static_cast<int>(run.number(name)); };
  p.tensor = size("tp"), p.pipeline = size("pp"), p.context = size("cp"), p.expert = size("ep");
  job.train.precision = run.at("precision") == "fp8" ? model::Precision::kFp8 : model::Precision::kMixedBf16;
  job.rollout.precision = run.at("precision") == "fp8" ? model::Precision::kFp8 : model::Precision::kBf16;
  if (run.at("recompute") == "full") job.train.train.recompute = model::Recompute::kFull;
  job.rollout.parallel.tensor = size("rollout_tp");
  settle(job);
  return job;
}

const std::vector<PublishedRun>& runs() {
  static const std::vector<PublishedRun> kRuns = [] {
    std::ifstream file(RIGHTSIZE_SOURCE_DIR "/data/measurements/rl.csv");
    std::stringstream text;
    text << file.rdbuf();
    const Csv csv = *Csv::parse("rl.csv", text.str());
    std::vector<PublishedRun> all;
    for (const CsvRow& row : csv.rows()) {
      PublishedRun run;
      for (const std::string& name : csv.header()) run.cells[name] = std::string(csv.cell(row, name));
      run.job = job_of(run);
      const auto step = estimate_for(run.at("model"), run.at("gpu"), run.job);
      EXPECT_TRUE(step) << run.who() << ": " << (step ? "" : step.error().message);
      if (!step) continue;
      run.step = *step;
      all.push_back(std::move(run));
    }
    return all;
  }();
  return kRuns;
}

TEST(PublishedRuns, StepTimesAreWithinTwentyPercent) {
  double sum = 0, inside = 0, count = 0;
  for (const PublishedRun& run : runs()) {
    std::string phases;
    for (const Phase& phase : run.step.phases)
      phases +=
          fmt::format(" {} {:.0f}({:.0f})", name_of(phase.kind), in_seconds(phase.time), in_seconds(phase.exposed));
    std::printf("%-58s measured %6.1f s, predicted %6.1f (%+.0f %%)%s | measured gen %s lp %s up %s steady\n",
                run.who().c_str(), run.measured(), in_seconds(run.step.step), 100 * std::expm1(run.log_error()),
                phases.c_str(), run.at("generate_seconds").c_str(), run.at("log_prob_seconds").c_str(),
                run.at("update_seconds").c_str());
    if (run.at("osl_from") != "published" || !run.at("not_scored").empty()) continue;
    sum += std::abs(std::expm1(run.log_error()));
    const double t = in_seconds(run.step.step);
    inside += t * run.step.interval.low <= run.measured() && run.measured() <= t * run.step.interval.high;
    ++count;
  }
  EXPECT_LE(sum / count, 0.2);
  EXPECT_GE(inside / count, 0.8);
}

// These runs completed, so every phase must fit.
TEST(PublishedRuns, TheirMemoryFits) {
  for (const PublishedRun& run : runs()) {
    if (!run.at("not_scored").empty()) continue;  // its batch and layout are not published
    const catalog::Gpu& gpu = test_gpu(run.at("gpu"));
    const RlMemory memory = phase_memory(test_model(run.at("model")).shape, run.job, gpu, gpu);
    EXPECT_NE(memory.verdict, memory::Verdict::kNo)
        << run.who() << ": " << name_of(memory.fullest().kind) << " needs " << in_gib(memory.fullest().need.device)
        << " GiB of " << in_gib(gpu.capacity());
  }
}

TEST(PublishedRuns, FasterLayoutsAreFasterHere) {
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < runs().size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const PublishedRun &a = runs()[i], &b = runs()[j];
      const bool compared = a.kind() == b.kind() &&
                            (a.at("layout") != b.at("layout") || a.at("gpus") != b.at("gpus")) &&
                            a.at("not_scored").empty() && b.at("not_scored").empty();
      if (!compared || std::abs(a.speed() / b.speed() - 1) <= (a.at("stack") == "verl" ? 0.1 : 0.05)) continue;
      ++pairs;
      const bool same = (a.speed() > b.speed()) == (a.step.tokens_per_gpu > b.step.tokens_per_gpu);
      right += same;
      if (!same)
        std::printf("wrong: %s is %.2f times as fast as %s, here %.2f\n", a.who().c_str(), a.speed() / b.speed(),
                    b.who().c_str(), a.step.tokens_per_gpu / b.step.tokens_per_gpu);
    }
  }
  EXPECT_GE(right / pairs, 0.9) << right << " of " << pairs;
}

}  // namespace
}  // namespace rightsize::rl
