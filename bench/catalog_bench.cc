// Start-up: loads the whole catalogue and looks up a GPU.
#include <benchmark/benchmark.h>

#include "catalog/catalog.h"

namespace {

void load_built_in_catalog(benchmark::State& state) {
  for (auto _ : state) {
    auto catalog = rightsize::catalog::load_catalog("");
    benchmark::DoNotOptimize(catalog);
  }
}
BENCHMARK(load_built_in_catalog)->Unit(benchmark::kMillisecond);

void find_gpu_by_alias(benchmark::State& state) {
  auto catalog = rightsize::catalog::load_catalog("");
  for (auto _ : state) benchmark::DoNotOptimize(catalog->find_gpu("NVIDIA H100 80GB HBM3"));
}
BENCHMARK(find_gpu_by_alias);

}  // namespace
