// Simulated requests per second of the dynamic batcher, continuous batching and a whole search, compared with SimPy on
// the same model.
#include <cstdio>
#include <ctime>
#include <string>

#include <benchmark/benchmark.h>

#include "capacity/search.h"
#include "sim/sessions.h"

namespace {

using namespace rightsize;
using namespace rightsize::sim;

// The model of bench/simpy_batcher.py: 2 ms + 0.35 ms per item.
ServiceTimes linear_times(int max_batch) {
  ServiceTimes times{{0}, {0}};
  for (int b = 1; b <= max_batch; ++b) {
    times.shortest.push_back(2'000'000 + 350'000 * b);
    times.scale.push_back(0);
  }
  return times;
}

Server batching_server(int gpus) {
  Server server;
  server.gpus = {{linear_times(32), 1, 0, gpus}};
  server.batching = {32, {}, 5'000'000};
  return server;
}

double our_rate = 0;  // of the last dynamic_batcher run, for the comparison

void dynamic_batcher(benchmark::State& state) {
  const Server server = batching_server(static_cast<int>(state.range(0)));
  const Poisson arrivals{requests_per_s(1500.0 * static_cast<double>(state.range(0)))};
  constexpr std::uint64_t kRequests = 2'000'000;
  double seconds_taken = 0;
  LatencyProfile profile;
  for (auto _ : state) {
    const std::clock_t start = std::clock();  // CPU time, as in the SimPy program
    profile = *simulate(server, arrivals, {kRequests, 1});
    seconds_taken += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRequests));
  state.counters["mean_ms"] = value_of(profile.latency, Statistic::kMean) * 1e-6;
  state.counters["mean_batch"] = profile.mean_batch;
  if (state.range(0) == 1) our_rate = static_cast<double>(state.iterations()) * kRequests / seconds_taken;
}
BENCHMARK(dynamic_batcher)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond);

void simpy_dynamic_batcher(benchmark::State& state) {
  double rate = 0, mean = 0, batch = 0;
  for (auto _ : state) {
    const std::string command =
        std::string("/usr/bin/python3 ") + RIGHTSIZE_SOURCE_DIR + "/bench/simpy_batcher.py 100000 1";
    FILE* pipe = popen(command.c_str(), "r");
    const bool read = pipe != nullptr && std::fscanf(pipe, "%lf %lf %lf", &rate, &mean, &batch) == 3;
    if (pipe != nullptr) pclose(pipe);
    if (!read) return state.SkipWithError("needs the package python3-simpy3");
    state.SetIterationTime(100000 / rate);
  }
  state.SetItemsProcessed(state.iterations() * 100000);
  state.counters["mean_ms"] = mean;
  state.counters["mean_batch"] = batch;
  state.counters["ours_over_simpy"] = our_rate / rate;
}
BENCHMARK(simpy_dynamic_batcher)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

void continuous_batching(benchmark::State& state) {
  const ContinuousServer server{{{6e6, 15e3, 20e3, 4}}, {}};
  constexpr std::uint64_t kRequests = 200'000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate(server, Poisson{requests_per_s(static_cast<double>(state.range(0)))},
                                      {500, 200, true}, {kRequests, 1}));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRequests));
}
BENCHMARK(continuous_batching)->Arg(20)->Arg(50)->Unit(benchmark::kMillisecond);

// Conversations on replicas with prefix caches.
void sessions(benchmark::State& state) {
  const Sessions users{.users = 2'000, .turns = 6, .system = 1'200, .turn_in = 150, .turn_out = 300};
  const auto replicas = static_cast<std::size_t>(state.range(0));
  const auto trace = std::make_shared<const Trace>(
      trace_of(users, {.rate = requests_per_s(15.0 * static_cast<double>(replicas)), .requests = 200'000}));
  ContinuousServer server;
  server.replicas.assign(replicas, {6e6, 15e3, 20e3, 4});
  server.batching.cache_block = 16;
  for (auto _ : state) benchmark::DoNotOptimize(start_run(server, trace, {}, 1)->to_the_end(trace->arrivals.size()));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace->arrivals.size()));
}
BENCHMARK(sessions)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

// 5,040 settings on two GPU types, on two threads.
void search_5000_settings(benchmark::State& state) {
  capacity::Service service;
  service.arrivals = Poisson{requests_per_s(6000)};
  service.slos = {{capacity::Quantity::kLatency, Statistic::kP99, milliseconds(40)}};
  capacity::Replica replica;
  replica.continuous = false;
  replica.times = linear_times(32);
  const capacity::Planner planner(service, {replica, replica});
  std::vector<capacity::Configuration> all;
  for (std::size_t kind = 0; kind < 2; ++kind) {
    for (int gpus = 3; gpus <= 22; ++gpus) {
      for (int batch : {1, 2, 4, 8, 16, 24, 32}) {
        for (SimTime delay = 0; delay <= 16'000'000; delay += 2'000'000) {
          for (int executors : {1, 2}) {
            capacity::Configuration c;
            c.groups = {{kind, gpus}};
            c.batching = {batch, {}, delay};
            c.executors = executors;
            c.price = gpus * (2.0 + static_cast<double>(kind));
            all.push_back(c);
          }
        }
      }
    }
  }
  capacity::ConfigurationSearch found;
  for (auto _ : state) found = capacity::search(planner, all);
  state.counters["settings"] = static_cast<double>(all.size());
  state.counters["simulated"] = static_cast<double>(found.simulated);
}
BENCHMARK(search_5000_settings)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
