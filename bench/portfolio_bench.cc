// Organisations of 200 workloads, 24 hours and 600 pools: the gap after 10 and 30 seconds. `options` of each workload:
// few make pools small and machines hard to fill, many make the choice wide.
#include <cmath>

#include <benchmark/benchmark.h>

#include "base/random.h"
#include "portfolio/optimum.h"

namespace {

using namespace rightsize;

portfolio::Organisation organisation(std::uint64_t seed, int options) {
  constexpr int kWorkloads = 200, kHours = 24, kPools = 600;
  Random random(seed);
  const auto below = [&](int n) { return std::min(n - 1, static_cast<int>(random.uniform() * n)); };
  portfolio::Organisation made;
  for (int h = 0; h < kHours; ++h) made.blocks.push_back({"h" + std::to_string(h), in_hours(kMonth) / kHours});
  for (int p = 0; p < kPools; ++p) {
    portfolio::Pool pool;
    pool.name = "p" + std::to_string(p);
    pool.usd_per_gpu_hour = 0.6 + 4 * random.uniform();
    pool.gpus_per_machine = 1 << below(4);
    if (random.uniform() < 0.1)
      pool.reserved = 4 << below(4), pool.reserved_usd = pool.reserved * 430 * pool.usd_per_gpu_hour;
    if (random.uniform() < 0.3) pool.quota = 8 << below(3);
    made.pools.push_back(pool);
  }
  for (int w = 0; w < kWorkloads; ++w) {
    portfolio::Workload workload;
    workload.name = "w" + std::to_string(w);
    const double size = 1 + below(16), phase = 6.28 * random.uniform(), swing = 0.8 * random.uniform();
    for (int i = 0; i < options; ++i) {
      portfolio::Option option;
      option.pool = options >= kPools ? i : below(kPools);
      const portfolio::Pool& pool = made.pools[static_cast<std::size_t>(option.pool)];
      option.where = pool.name;
      const double gpus = size * std::pow(2.5 / pool.usd_per_gpu_hour, 0.8) * (0.8 + 0.5 * random.uniform());
      for (int h = 0; h < kHours; ++h)
        option.gpus.push_back(
            std::max(1, static_cast<int>(std::ceil(gpus * (1 + swing * std::sin(6.28 * h / 24 + phase))))));
      workload.options.push_back(std::move(option));
    }
    portfolio::Option elsewhere;
    elsewhere.where = "elsewhere", elsewhere.gpus.assign(kHours, 0);
    elsewhere.usd = size * 1600 * (0.9 + random.uniform());
    workload.options.push_back(std::move(elsewhere));
    made.workloads.push_back(std::move(workload));
  }
  return made;
}

void plan(benchmark::State& state) {
  const portfolio::Organisation made = organisation(1, static_cast<int>(state.range(0)));
  const portfolio::CostModel costs(made);
  portfolio::Optimum found;
  for (auto _ : state) found = *find_optimum(costs, {static_cast<double>(state.range(1)), 0});
  state.counters["gap_percent"] = 100 * found.gap();
  state.counters["usd_per_month"] = found.usd;
  state.counters["lower_bound"] = found.bound;
}
BENCHMARK(plan)
    ->ArgNames({"options", "seconds"})
    ->Args({4, 10})
    ->Args({20, 10})
    ->Args({100, 10})
    ->Args({600, 10})
    ->Args({4, 30})
    ->Args({20, 30})
    ->Args({100, 30})
    ->Args({600, 30})
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
