#include "capacity/screen.h"

#include <algorithm>
#include <cmath>

#include "perf/open_loop.h"

namespace rightsize::capacity {
namespace {

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }

constexpr double kNearlyFull = 0.99;  // at capacity a queue has no steady state
// A run draws lengths at random, so its percentile may be a little below that of the distribution.
constexpr double kPercentileOfRun = 0.9;
// The median TTFT of usual lengths is about this share of the mean.
constexpr double kMedianOfMean = 0.7;
// A request finds a batch running, half done on average, and is served in the next one.
constexpr double kHalfAndOwnBatch = 1.5;
// A lower share of the capacity is not worth a replica.
constexpr double kHardlyAny = 1e-3;

// The TTFT of a prompt on an idle replica, in nanoseconds.
double lone_ttft(const Replica& replica, double prompt) {
  const sim::StepCost& cost = replica.step;
  if (const auto& separate = replica.separate)
    return cost.request + prompt * separate->prefill.prefill + separate->transfer.time(prompt) + cost.decode(1, prompt);
  return cost.request + (cost.prompts_first ? 0 : cost.base) + cost.prompts(prompt);
}

double batch_rate(const Service& service, const Replica& replica) {
  double best = 0;
  for (int size : replica.sizes) {
    const Seconds latency = from_ns(kHalfAndOwnBatch * replica.times.mean(size));
    const bool kept = std::all_of(service.slos.begin(), service.slos.end(),
                                  [&](const Slo& slo) { return size == 1 || latency <= slo.limit; });
    if (kept)
      best = std::max(best, std::min(service.max_load, kNearlyFull) * in_requests_per_s(replica.times.rate(size)));
  }
  return best;
}

// The value of an SLO is at least its mean, and at least that of a request as long as the percentile on an idle
// replica. Their sum would be too strict: a rate that is screened out is never simulated.
Seconds screened_value(const Replica& replica, const sim::RequestShape& lengths, const ScreenedMeans& means,
                       const Slo& slo) {
  if (slo.quantity == Quantity::kTpot) return means.tpot;
  if (slo.quantity == Quantity::kLatency) return means.ttft + means.tpot * (lengths.output_at(slo.at) - 1);
  const Seconds mean = means.ttft * (slo.at == Statistic::kP50 ? kMedianOfMean : 1);
  // Only a run knows how much of a long prompt a prefix cache finds: the longest conversations have the most hits.
  if (lengths.cached > 0) return mean;
  const double prompt = (lengths.varies() ? kPercentileOfRun : 1) * lengths.size_at(slo.at);
  return std::max(mean, from_ns(lone_ttft(replica, prompt)));
}

}  // namespace

ScreenedMeans screened_means(const Replica& replica, const sim::ContinuousConfig& engine,
                             const sim::RequestShape& lengths, double rate) {
  struct Means {
    Seconds ttft, tpot;
  };
  const auto& separate = replica.separate;
  const sim::StepCost& cost = replica.step;
  const double workers = separate ? separate->decode_workers : 1, context = lengths.mean_context();
  const double cache = static_cast<double>(cost.kv_tokens > 0 ? cost.kv_tokens : engine.kv_tokens);
  const double most = std::max(
      1.0, std::min(static_cast<double>(std::min(engine.max_sequences, engine.token_budget)), cache / context));
  const double computed = lengths.size - lengths.cached;
  const Seconds prompt = from_ns(separate ? 0 : cost.prompts(computed));
  // The prompts of others stretch the decode steps. A request waits until it is noticed, for the current step, and for
  // its own.
  const auto at = [&](double running) {
    const Seconds step = from_ns(cost.decode(running, running * context));
    return Means{from_ns(cost.request) + prompt +
                     step * ((cost.prompts_first ? 0 : 1) + 0.5 * std::min(1.0, running) + cost.wait_steps(running)),
                 step + prompt * (std::max(0.0, running - 1) / lengths.output)};
  };
  const perf::OpenLoop loop = perf::open_loop(at, {rate / workers, most, lengths.output, prompt});
  const Means means = at(loop.running);
  ScreenedMeans found{loop.running * workers, means.ttft + loop.queue, means.tpot, loop.stable};
  if (!separate || !loop.stable) return found;
  // Prompts queue for the prefill workers as for one that is n times as fast.
  const Seconds prefill = from_ns(computed * separate->prefill.prefill);
  const double busy = rate * in_seconds(prefill) / separate->prefill_workers;
  found.stable = busy < 1;
  found.ttft += prefill + from_ns(separate->transfer.time(lengths.size)) +
                perf::mg1_wait(prefill / separate->prefill_workers, std::min(busy, kNearlyFull),
                               lengths.exponential ? 1 : lengths.size_variation);
  return found;
}

Seconds unloaded(const Service& service, const Replica& replica, const Slo& slo) {
  if (!replica.continuous) return from_ns(static_cast<double>(replica.times.shortest[1]));
  const sim::RequestShape& lengths = service.lengths;
  const bool known = sim::trace_of(service.arrivals) == nullptr;
  const double prompt = !known ? 1 : lengths.varies() ? kPercentileOfRun * lengths.size_at(slo.at) : lengths.size;
  const double output = known && !lengths.varies() ? lengths.output : 1;
  const double ttft = lone_ttft(replica, prompt), tpot = replica.step.decode(1, prompt);
  constexpr double kRounding = 0.999;  // the simulator counts whole nanoseconds
  if (slo.quantity == Quantity::kTtft) return from_ns(kRounding * ttft);
  return from_ns(kRounding * (slo.quantity == Quantity::kTpot ? tpot : ttft + (output - 1) * tpot));
}

double running_at(const Service& service, const Replica& replica, const sim::ContinuousConfig& engine, double rate) {
  const ScreenedMeans means = screened_means(replica, engine, mean_of(service), rate);
  return means.stable ? means.running : static_cast<double>(engine.max_sequences);
}

double screened_rate(const Service& service, const Replica& replica, const sim::RequestShape& lengths) {
  if (!replica.continuous) return batch_rate(service, replica);
  sim::ContinuousServer one;
  append_workers(replica, 1, one);
  const auto kept = [&](double rate) {
    const ScreenedMeans means = screened_means(replica, {}, lengths, rate);
    return means.stable && std::all_of(service.slos.begin(), service.slos.end(), [&](const Slo& slo) {
             return screened_value(replica, lengths, means, slo) <= slo.limit;
           });
  };
  double high = std::min(service.max_load, kNearlyFull) * in_requests_per_s(sim::capacity(one, lengths)), low = 0;
  if (kept(high)) return high;
  for (int i = 0; i < 24; ++i) {
    const double middle = (low + high) / 2;
    (kept(middle) ? low : high) = middle;
  }
  return low > high * kHardlyAny ? low : 0;
}

Seconds screened_idle(const Service& service, const Replica& replica, const Slo& slo) {
  if (!replica.continuous) return unloaded(service, replica, slo);
  sim::ContinuousServer one;
  append_workers(replica, 1, one);
  const sim::RequestShape lengths = mean_of(service);
  const double rate = kHardlyAny * in_requests_per_s(sim::capacity(one, lengths));
  return screened_value(replica, lengths, screened_means(replica, {}, lengths, rate), slo);
}

double screened_rate(const Service& service, const Replica& replica) {
  return screened_rate(service, replica, mean_of(service));
}

Seconds screened_latency(const Service& service, const Replica& replica, double rate) {
  if (!replica.continuous) return from_ns(kHalfAndOwnBatch * replica.times.mean(1));
  const sim::RequestShape lengths = mean_of(service);
  const ScreenedMeans means = screened_means(replica, {}, lengths, rate);
  return means.ttft + means.tpot * (lengths.output - 1);
}

}  // namespace rightsize::capacity
