#include "capacity/sessions.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

namespace rightsize::capacity {

std::shared_ptr<const sim::Trace> session_traffic(sim::Sessions sessions, const SessionWish& wish) {
  constexpr Seconds kUsualTpot = milliseconds(25);
  const Seconds answer = wish.answer.value_or(kUsualTpot * sessions.turn_out);
  if (sessions.repeat && wish.isl) sessions.turn_in = std::max(1.0, *wish.isl - sessions.system);
  sim::SessionTrace wanted;
  wanted.rate = wish.rate > RequestsPerSecond{} ? wish.rate : sessions.rate(answer);
  wanted.answer = answer;
  wanted.closed = !(wish.rate > RequestsPerSecond{});  // at a given rate, requests do not wait for answers
  wanted.requests = wish.requests;
  wanted.longest = static_cast<std::int32_t>(std::min<std::int64_t>(wish.context, 1'000'000'000));
  wanted.seed = wish.seed;
  if (!sessions.repeat) {
    wanted.in_variation = usual_variation().prompt;
    wanted.out_variation = usual_variation().answer;
  }
  // The plans of one request, and of changes to it, mostly need the same few. A trace that is the same object also
  // shares its simulations.
  struct Known {
    sim::Sessions sessions;
    sim::SessionTrace wanted;
    std::shared_ptr<const sim::Trace> trace;
  };
  constexpr std::size_t kKept = 6;
  static std::mutex mutex;
  static std::deque<Known> all;
  {
    const std::lock_guard lock(mutex);
    for (const Known& known : all)
      if (known.sessions == sessions && known.wanted == wanted) return known.trace;
  }
  auto trace = std::make_shared<const sim::Trace>(sim::trace_of(sessions, wanted));
  const std::lock_guard lock(mutex);
  all.push_back({sessions, wanted, trace});
  if (all.size() > kKept) all.pop_front();
  return trace;
}

// Defaults of the engines, from their documentation (read 2026-11-17): vLLM --block-size 16, TensorRT-LLM
// tokens_per_block 32, SGLang --page-size 1.
std::int64_t cache_block(model::Stack stack) {
  if (stack == model::Stack::kVllm) return 16;
  if (stack == model::Stack::kTrtLlm) return 32;
  return stack == model::Stack::kSglang ? 1 : 0;
}

Result<double> predicted_hit(const Predictor& predictor, const model::Job& job, const catalog::Gpu& gpu,
                             const perf::GpuSpeed& speed, const perf::Cluster& cluster,
                             const std::shared_ptr<const sim::Trace>& trace, int replicas, sim::Routing routing) {
  if (cache_block(job.stack) == 0) return 0;
  model::Job whole = job;
  whole.serve.prefix_hit = 0;  // times per computed token
  RIGHTSIZE_TRY(const Replica replica, token_replica(predictor, whole, gpu, speed, cluster));
  sim::ContinuousServer server;
  server.batching.cache_block = cache_block(job.stack);
  server.batching.routing = routing;
  if (job.serve.max_batch) server.batching.max_sequences = *job.serve.max_batch;
  if (job.serve.max_tokens) server.batching.token_budget = *job.serve.max_tokens;
  append_workers(replica, std::max(1, replicas), server);
  const std::optional<RequestsPerSecond> rate = sim::mean_rate(trace);
  const RequestsPerSecond most = sim::capacity(server, sim::mean_shape(trace, {}));
  constexpr double kBusy = 0.9;
  sim::ArrivalProcess arrivals = trace;
  if (rate && *rate > most * kBusy) arrivals = sim::scaled(trace, most * kBusy / *rate);
  return sim::start_run(server, arrivals, {}, 1)->to_the_end(trace->arrivals.size()).prefix_hit().value_or(0);
}

sim::Routing parse_routing(std::string_view name) {
  if (name == "random") return sim::Routing::kRandom;
  return name == "least-loaded" ? sim::Routing::kLeastLoaded : sim::Routing::kPrefixAware;
}

}  // namespace rightsize::capacity
