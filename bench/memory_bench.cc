// The planner asks for memory once per configuration. Without the allocator this takes well under a microsecond (a
// surface compiled once per model and settings), with it about a millisecond.
#include <benchmark/benchmark.h>

#include "memory/memory.h"
#include "memory/tape/training_tape.h"
#include "presets/presets.h"

namespace {

using namespace rightsize;

model::Job fine_tune(std::int64_t batch) {
  model::Job job;
  job.batch = batch;
  job.sequence = 2048;
  return job;
}

void peak_from_surface(benchmark::State& state) {
  const auto model = model::find_model("llama-2-7b");
  const memory::tape::TrainingSurface surface(*model, fine_tune(1));
  double batch = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(surface.at(batch, 1));
    batch = batch < 64 ? batch + 1 : 1;
  }
}
BENCHMARK(peak_from_surface);

void compile_surface(benchmark::State& state) {
  const auto model = model::find_model("llama-2-7b");
  for (auto _ : state) benchmark::DoNotOptimize(memory::tape::TrainingSurface(*model, fine_tune(1)));
}
BENCHMARK(compile_surface)->Unit(benchmark::kMicrosecond);

void replay_with_allocator(benchmark::State& state) {
  const auto model = model::find_model("llama-2-7b");
  const model::Job job = fine_tune(4);
  for (auto _ : state) benchmark::DoNotOptimize(memory::tape::replay_training(*model, job));
}
BENCHMARK(replay_with_allocator)->Unit(benchmark::kMicrosecond);

void serving_need(benchmark::State& state) {
  const auto model = model::find_model("llama-3.1-70b");
  model::Job job;
  job.kind = model::JobKind::kServe;
  job.stack = model::Stack::kVllm;
  for (auto _ : state) benchmark::DoNotOptimize(memory::estimate_memory(*model, job, nullptr));
}
BENCHMARK(serving_need);

}  // namespace
