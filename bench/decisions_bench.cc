// Lists and filters a ledger of 100,000 decisions.
#include <filesystem>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include "decisions/ledger.h"

namespace {

using namespace rightsize;

constexpr int kDecisions = 100'000;

// Created once, in one transaction. The rows are those that the commands would write.
decisions::Ledger& ledger() {
  static decisions::Ledger opened = [] {
    const std::string path = fmt::format("/tmp/rightsize-decisions-bench-{}.db", getpid());
    std::filesystem::remove(path);
    decisions::Ledger made = *decisions::Ledger::open(path, store::Access::kWrite);
    store::Database& database = made.database();
    (void)database.begin();
    int next = 0;
    (void)database.insert(
        "decision",
        {"id", "workload", "team", "author", "decided_at", "status", "choice", "gpu", "gpus", "provider", "instance",
         "instances", "region", "purchase", "per", "cost", "before_cost", "saving"},
        [&](std::vector<store::Value>& values) {
          if (next == kDecisions) return false;
          const std::int64_t id = ++next;
          values = {id,
                    fmt::format("workload-{}", id % 20'000),
                    fmt::format("team-{}", id % 100),
                    std::string("ann"),
                    1'700'000'000 + id * 60,
                    std::string(id > 80'000 ? "in-force" : "superseded"),
                    std::string("4 x h100-sxm: 1 x a3-highgpu-4g at gcp, on-demand"),
                    std::string("h100-sxm"),
                    std::int64_t{4},
                    std::string("gcp"),
                    std::string("a3-highgpu-4g"),
                    std::int64_t{1},
                    std::string("us-central1"),
                    std::string("on-demand"),
                    std::string("month"),
                    9000.0,
                    12000.0,
                    3000.0};
          return true;
        });
    (void)database.commit();
    return made;
  }();
  return opened;
}

void list_all(benchmark::State& state) {
  decisions::Ledger& all = ledger();
  for (auto _ : state) {
    const auto found = all.list({});
    if (!found || found->size() != kDecisions) state.SkipWithError("the list is not whole");
  }
}
BENCHMARK(list_all)->Unit(benchmark::kMillisecond);

void list_one_team_in_force(benchmark::State& state) {
  decisions::Ledger& all = ledger();
  for (auto _ : state) {
    const auto found = all.list({.team = "team-7", .statuses = {decisions::DecisionStatus::kInForce}});
    if (!found || found->size() != 200) state.SkipWithError("the list is not whole");
  }
}
BENCHMARK(list_one_team_in_force)->Unit(benchmark::kMillisecond);

void newest_forty(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ledger().list({.most = 40}));
}
BENCHMARK(newest_forty)->Unit(benchmark::kMillisecond);

}  // namespace
