// The search: a whole catalogue in under 100 ms on one core.
#include <benchmark/benchmark.h>

#include "plan/plan.h"
#include "plan/read_request.h"
#include "plan/search.h"

namespace {

using namespace rightsize;

struct Setup {
  catalog::Catalog catalog = *catalog::load_catalog("");
  market::PriceBook book{catalog};
  perf::Constants constants = *perf::load_constants("");
};
const Setup& setup() {
  static const Setup kSetup;
  return kSetup;
}

plan::Request request_of(std::initializer_list<model::Setting> settings) {
  return *plan::read_request(settings, setup().catalog);
}

// What `recommend --stats` calls the search: offers, classes, settings, memory, speed.
void search(benchmark::State& state, const plan::Request& request) {
  const perf::ModelWork work = perf::work_of(request.model);
  double configurations = 0;
  for (auto _ : state) {
    const auto offers = setup().book.offers(request.filter);
    const auto classes = plan::machine_classes(offers, setup().constants, {});
    plan::MemoryTable memory(request.model);
    const plan::SearchResult found =
        request.work.kind == plan::WorkKind::kTraining
            ? plan::search_training(request, classes, setup().constants, work, memory,
                                    [](const model::Job&, const catalog::Gpu&) { return false; })
            : plan::search_serving(request, classes, setup().constants, work);
    configurations += found.effort.configurations;
  }
  state.counters["configurations/s"] = benchmark::Counter(configurations, benchmark::Counter::kIsRate);
}

void search_full_training_7b(benchmark::State& state) {
  search(state, request_of({{"model", "llama-2-7b", {}}, {"tokens", "1B", {}}, {"seq", "2048", {}}}));
}
BENCHMARK(search_full_training_7b)->Unit(benchmark::kMillisecond);

void search_serving_70b(benchmark::State& state) {
  search(state, request_of({{"model", "llama-3.1-70b", {}},
                            {"job", "serve", {}},
                            {"rate", "20/s", {}},
                            {"ttft-slo", "1s", {}},
                            {"tpot-slo", "50ms", {}}}));
}
BENCHMARK(search_serving_70b)->Unit(benchmark::kMillisecond);

// With the close look at memory, the explanation and the changes.
void whole_recommendation_7b(benchmark::State& state) {
  const plan::Request request = request_of({{"model", "llama-2-7b", {}}, {"tokens", "1B", {}}, {"seq", "2048", {}}});
  for (auto _ : state) benchmark::DoNotOptimize(plan::recommend(request, setup().book, setup().constants));
}
BENCHMARK(whole_recommendation_7b)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
