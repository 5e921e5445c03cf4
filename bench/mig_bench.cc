// Plans slices: 50 and 200 workloads to the proven optimum, and 10,000, with and without replicas that must be spread.
#include <benchmark/benchmark.h>

#include "mig/mechanisms.h"
#include "mig/plan.h"

namespace {

using namespace rightsize;

mig::WorkloadFile workloads(std::int64_t count, bool rules) {
  mig::WorkloadFile file;
  unsigned state = 1;
  auto draw = [&](unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    mig::Workload w;
    w.name = "w" + std::to_string(i);
    w.memory = gib(1.0 + draw(700) / 10.0);
    w.load = Ratio::percent(draw(60));
    if (rules && draw(5) == 0) w.replicas = 3, w.spread = true;
    file.workloads.push_back(w);
  }
  return file;
}

void plan(benchmark::State& state, bool rules, const std::vector<std::string>& names, bool alternatives = false) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  const perf::SpeedTable speeds(catalog, *perf::load_constants(""));
  std::vector<mig::GpuType> types;
  double price = 2;
  for (const std::string& name : names) {
    const catalog::Gpu* gpu = *catalog.find_gpu(name);
    types.push_back({gpu, mig::Geometry::of(catalog, *gpu), usd_per_gpu_hour(price), "bench"});
    price *= 1.4;
  }
  const market::PriceBook prices(catalog);
  const mig::WorkloadFile file = workloads(state.range(0), rules);
  mig::SlicePlan result;
  for (auto _ : state) {
    result = *mig::plan_slices(file, types, speeds, {});
    if (alternatives) {
      benchmark::DoNotOptimize(
          *mig::compare_alternatives(file, types, speeds, catalog::Purchase::kOnDemand, result, {.prices = &prices}));
    }
  }
  state.counters["gpus"] = static_cast<double>(result.gpus.size());
  state.counters["gap_percent"] = 100 * result.gap();
}

void one_type(benchmark::State& state) { plan(state, false, {"h100-sxm"}); }
void one_type_apart(benchmark::State& state) { plan(state, true, {"h100-sxm"}); }
void three_types(benchmark::State& state) { plan(state, false, {"a100-80gb-sxm", "h100-sxm", "h200-sxm"}); }
// As the command runs it, including the five alternatives.
void one_type_all_ways(benchmark::State& state) { plan(state, true, {"h100-sxm"}, true); }
void three_types_all_ways(benchmark::State& state) {
  plan(state, true, {"a100-80gb-sxm", "h100-sxm", "h200-sxm"}, true);
}
BENCHMARK(one_type_all_ways)->Arg(50)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK(three_types_all_ways)->Arg(50)->Arg(200)->Unit(benchmark::kMillisecond);
BENCHMARK(one_type)->Arg(50)->Arg(200)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(one_type_apart)->Arg(50)->Arg(200)->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK(three_types)->Arg(50)->Arg(200)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
