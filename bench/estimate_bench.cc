// One estimate. The planner makes a million of them, so each should take less than 10 microseconds, or 30 for a
// mixture.
#include <cstdlib>
#include <new>

#include <benchmark/benchmark.h>

#include "perf/perf.h"
#include "presets/presets.h"

namespace {
long allocations = 0;
}

// Not inlined, because g++ 12 would report a mismatch between malloc inside new and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace rightsize;

// Runs the body and reports the number of allocations.
template <class Body>
void count_allocations(benchmark::State& state, Body body) {
  long inside = 0;
  for (auto _ : state) {
    const long before = allocations;
    benchmark::DoNotOptimize(body());
    inside += allocations - before;
  }
  state.counters["allocations"] = benchmark::Counter(static_cast<double>(inside), benchmark::Counter::kAvgIterations);
}

struct Setup {
  perf::Constants constants = *perf::load_constants("");
  catalog::Catalog catalog = *catalog::load_catalog("");
  perf::GpuSpeed gpu;
  perf::ModelWork work;
  perf::Cluster cluster;
  model::Job job;

  Setup(const char* model, const char* gpu_name) {
    const catalog::Gpu& found = **catalog.find_gpu(gpu_name);
    gpu = perf::gpu_speed(constants, found);
    cluster = perf::default_cluster(found);
    work = perf::work_of(*model::find_model(model));
    job.batch = 4;
    job.sequence = 2048;
  }
};

void train(benchmark::State& state, const char* model, model::Stack stack) {
  Setup setup(model, "h100-sxm");
  setup.job.stack = stack;
  count_allocations(
      state, [&] { return perf::estimate_training(setup.constants, setup.work, setup.job, setup.gpu, setup.cluster); });
}
BENCHMARK_CAPTURE(train, hf_llama, "llama-3.1-8b", model::Stack::kHf);
BENCHMARK_CAPTURE(train, hf_mixtral, "mixtral-8x7b", model::Stack::kHf);
BENCHMARK_CAPTURE(train, llm_foundry, "llama-3.1-8b", model::Stack::kLlmFoundry);
BENCHMARK_CAPTURE(train, megatron, "llama-3.1-70b", model::Stack::kMegatron);
BENCHMARK_CAPTURE(train, megatron_deepseek, "deepseek-v3", model::Stack::kMegatron);
BENCHMARK_CAPTURE(train, torchtitan, "llama-3.1-70b", model::Stack::kTorchTitan);
BENCHMARK_CAPTURE(train, resnet_50, "resnet-50", model::Stack::kHf);
BENCHMARK_CAPTURE(train, swin_b, "swin-b", model::Stack::kHf);

void serve(benchmark::State& state, model::Stack stack, double rate, const char* model) {
  Setup setup(model, "h100-sxm");
  setup.job.kind = model::JobKind::kServe;
  setup.job.stack = stack;
  setup.job.parallel.gpus = setup.job.parallel.tensor = 8;
  setup.job.serve.concurrency = 32;
  perf::ServeLoad load;
  load.kv_tokens = 1e6;
  load.rate = requests_per_s(rate);
  count_allocations(state, [&] {
    return perf::estimate_serving(setup.constants, setup.work, setup.job, setup.gpu, setup.cluster, load);
  });
}
BENCHMARK_CAPTURE(serve, vllm_closed, model::Stack::kVllm, 0, "llama-3.1-70b");
BENCHMARK_CAPTURE(serve, vllm_open, model::Stack::kVllm, 2, "llama-3.1-70b");
BENCHMARK_CAPTURE(serve, mixture_closed, model::Stack::kVllm, 0, "deepseek-v3");
BENCHMARK_CAPTURE(serve, mixture_open, model::Stack::kVllm, 2, "gpt-oss-120b");
BENCHMARK_CAPTURE(serve, hf, model::Stack::kHf, 0, "llama-3.1-70b");

void prepare_gpu(benchmark::State& state) {
  Setup setup("llama-3.1-8b", "h100-sxm");
  const catalog::Gpu& gpu = **setup.catalog.find_gpu("a10g");
  for (auto _ : state) benchmark::DoNotOptimize(perf::gpu_speed(setup.constants, gpu));
}
BENCHMARK(prepare_gpu);

void load_constants(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(perf::load_constants(""));
}
BENCHMARK(load_constants)->Unit(benchmark::kMillisecond);

}  // namespace
