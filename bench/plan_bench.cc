// The search: a whole catalogue in under 100 ms on one core.
#include <benchmark/benchmark.h>

#include "plan/plan.h"
#include "plan/read_request.h"
#include "plan/search_serving.h"

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

// The part that `recommend --stats` calls the search: offers, classes, settings, memory, speed.
void search(benchmark::State& state, const plan::Request& request) {
  const perf::ModelWork work = perf::work_of(request.model);
  double configurations = 0;
  for (auto _ : state) {
    const auto offers = setup().book.offers(request.filter);
    const auto classes = plan::machine_classes(offers, setup().book, days(1), setup().constants, {});
    memory::MemoryTable memory(request.model);
    const plan::FoundOptions found =
        request.work.kind == plan::WorkKind::kTraining
            ? plan::search_training(request, classes, setup().constants, work, memory,
                                    [](const model::Job&, const catalog::Gpu&) { return false; })
            : plan::ServingSearch(request, classes, setup().constants, work, std::make_shared<capacity::RunCache>())
                  .screen();
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

// Three times as many providers, each with its regions. Their prices differ slightly, because duplicate rows would be
// skipped.
struct Market {
  catalog::Catalog catalog = tripled();
  market::PriceBook book{catalog};

  static catalog::Catalog tripled() {
    catalog::Catalog all = *catalog::load_catalog("");
    const std::vector<catalog::Machine> machines = all.machines;
    const std::vector<catalog::Price> prices = all.prices;
    for (int copy : {2, 3}) {
      for (catalog::Machine machine : machines) {
        machine.provider += std::to_string(copy);
        all.machines.push_back(std::move(machine));
      }
      for (catalog::Price price : prices) {
        price.provider += std::to_string(copy);
        price.machine_price = price.machine_price * (1 + 0.01 * copy);
        all.prices.push_back(std::move(price));
      }
    }
    return all;
  }
};

// A whole recommendation: plans are simulated, variants explored, and the answer explained.
void three_times(benchmark::State& state, const plan::Request& request) {
  static const Market kMarket;
  for (auto _ : state) benchmark::DoNotOptimize(plan::recommend(request, kMarket.book, setup().constants));
  state.counters["prices"] = static_cast<double>(kMarket.catalog.prices.size());
}

struct ServiceAsked {
  const char *model, *rate, *isl, *osl, *ttft, *tpot, *percentile;
};
void three_times_serving(benchmark::State& state, const ServiceAsked& asked) {
  three_times(state, request_of({{"model", asked.model, {}},
                                 {"job", "serve", {}},
                                 {"rate", asked.rate, {}},
                                 {"isl", asked.isl, {}},
                                 {"osl", asked.osl, {}},
                                 {"ttft-slo", asked.ttft, {}},
                                 {"tpot-slo", asked.tpot, {}},
                                 {"slo-percentile", asked.percentile, {}}}));
}
#define THREE_TIMES(name, ...)                                            \
  BENCHMARK_CAPTURE(three_times_serving, name, ServiceAsked{__VA_ARGS__}) \
      ->Unit(benchmark::kMillisecond)                                     \
      ->UseRealTime()                                                     \
      ->MeasureProcessCPUTime()
THREE_TIMES(llama_8b_at_20, "llama-3.1-8b", "20/s", "1024", "256", "1s", "50ms", "95");
THREE_TIMES(llama_70b_at_60, "llama-3.1-70b", "60/s", "1024", "256", "1s", "50ms", "95");
THREE_TIMES(deepseek_v3_at_5, "deepseek-v3", "5/s", "1024", "256", "2s", "50ms", "95");
THREE_TIMES(gpt_oss_120b_at_10, "gpt-oss-120b", "10/s", "1024", "256", "1s", "30ms", "95");
THREE_TIMES(llama_8b_p99_at_200, "llama-3.1-8b", "200/s", "1024", "256", "500ms", "30ms", "99");
THREE_TIMES(llama_70b_long_prompts_at_20, "llama-3.1-70b", "20/s", "4000", "200", "2s", "30ms", "95");
#undef THREE_TIMES

void three_times_training_7b(benchmark::State& state) {
  three_times(state, request_of({{"model", "llama-2-7b", {}}, {"tokens", "1B", {}}, {"seq", "2048", {}}}));
}
BENCHMARK(three_times_training_7b)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

// With the exact memory check, the explanation and the changes.
void whole_recommendation_7b(benchmark::State& state) {
  const plan::Request request = request_of({{"model", "llama-2-7b", {}}, {"tokens", "1B", {}}, {"seq", "2048", {}}});
  for (auto _ : state) benchmark::DoNotOptimize(plan::recommend(request, setup().book, setup().constants));
}
BENCHMARK(whole_recommendation_7b)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
