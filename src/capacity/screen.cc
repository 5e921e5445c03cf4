#include "capacity/screen.h"

#include <algorithm>
#include <cmath>

namespace rightsize::capacity {
namespace {

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }

// Means of an engine at `rate` requests a nanosecond. Prompts take their share of every step; the decode steps stretch
// by it, and Little's law gives how many sequences that keeps running.
struct Balance {
  double running = 0;
  double ttft = 0, tpot = 0;  // nanoseconds
  bool stable = false;
};

// Separate workers: a queue of prompts as long as they are (Pollaczek and Khinchine), taken as one of a worker n times
// as fast, in front of steps without any.
Balance balance_apart(const Replica& replica, const sim::ContinuousConfig& engine, const sim::RequestShape& lengths,
                      double rate);

Balance balance(const Replica& replica, const sim::ContinuousConfig& engine, const sim::RequestShape& lengths,
                double rate) {
  if (replica.apart) return balance_apart(replica, engine, lengths, rate);
  const sim::StepCost& cost = replica.step;
  const double context = lengths.mean_context();
  const double cache = static_cast<double>(cost.kv_tokens > 0 ? cost.kv_tokens : engine.kv_tokens);
  const double most = std::max(
      1.0, std::min(static_cast<double>(std::min(engine.max_sequences, engine.token_budget)), cache / context));
  const double prompt = lengths.size * cost.prefill, prompts = rate * prompt;
  Balance b;
  if (!(prompts < 1)) return b;
  const auto tpot = [&](double running) { return cost.decode(running, running * context) / (1 - prompts); };
  const auto needed = [&](double running) { return rate * lengths.output * tpot(running); };
  if (needed(most) > most) return b;
  double low = 0, high = most;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (needed(middle) > middle ? low : high) = middle;
  }
  b.running = high;
  b.tpot = tpot(std::max(1.0, high));
  const double step = cost.decode(high, high * context);
  b.ttft = cost.request + prompt * (1 + prompts / (2 * (1 - prompts))) + step * (1 + 0.5 * std::min(1.0, high));
  b.stable = true;
  return b;
}

Balance balance_apart(const Replica& replica, const sim::ContinuousConfig& engine, const sim::RequestShape& lengths,
                      double rate) {
  const Replica::Apart& apart = *replica.apart;
  Replica decode = replica;
  decode.apart.reset();
  decode.step.prefill = 0;
  Balance b = balance(decode, engine, lengths, rate / apart.decode_workers);
  const double prompt = lengths.size * apart.prefill.prefill, busy = rate * prompt / apart.prefill_workers;
  b.stable = b.stable && busy < 1;
  if (!b.stable) return b;
  const double variation = lengths.exponential ? 1 : lengths.size_variation;
  const double wait = prompt / apart.prefill_workers * busy * (1 + variation * variation) / (2 * (1 - busy));
  b.ttft += prompt + wait + apart.transfer.time(lengths.size);
  b.running *= apart.decode_workers;
  return b;
}

// At capacity a queue has no balance.
constexpr double kNearlyFull = 0.99;

// A prompt of so many tokens on a replica that does nothing else, until its first token.
double alone(const Replica& replica, double prompt) {
  const sim::StepCost& cost = replica.step;
  if (const auto& apart = replica.apart)
    return cost.request + prompt * apart->prefill.prefill + apart->transfer.time(prompt) + cost.decode(1, prompt);
  return cost.request + cost.base + cost.prompts(prompt);
}

// A run draws lengths at random: its percentile may lie a little below that of all.
constexpr double kOfARun = 0.9;

// What an SLO's statistic will be at least: its mean in balance, or that of a request as long as its percentile on an
// idle replica. Not both together: few long prompts also wait long. What is screened too dear is never looked at.
struct Least {
  Slo slo;
  double alone = 0, answer = 0;  // nanoseconds, tokens
  double of_mean = 1;

  bool kept(const Balance& b) const {
    const double value = slo.quantity == Quantity::kTtft   ? std::max(of_mean * b.ttft, alone)
                         : slo.quantity == Quantity::kTpot ? b.tpot
                                                           : b.ttft + b.tpot * (answer - 1);
    return from_ns(value) <= slo.limit;
  }
};
std::vector<Least> least_of(const Service& service, const Replica& replica, const sim::RequestShape& lengths) {
  constexpr double kMedian = 0.7;  // of the mean, with lengths as usual: half of requests wait less than that
  std::vector<Least> all;
  for (const Slo& slo : service.slos) {
    const double prompt = (lengths.varies() ? kOfARun : 1) * lengths.size_at(slo.at);
    all.push_back({slo, alone(replica, prompt), lengths.output_at(slo.at), slo.at == Statistic::kP50 ? kMedian : 1});
  }
  return all;
}

// A request finds a batch running, half of it done on average, and rides in the next.
constexpr double kRideAndHalf = 1.5;

double batch_rate(const Service& service, const Replica& replica) {
  double best = 0;
  for (int size : replica.sizes) {
    const Seconds latency = from_ns(kRideAndHalf * replica.times.mean(size));
    const bool kept = std::all_of(service.slos.begin(), service.slos.end(),
                                  [&](const Slo& slo) { return size == 1 || latency <= slo.limit; });
    if (kept)
      best = std::max(best, std::min(service.max_load, kNearlyFull) * in_requests_per_s(replica.times.rate(size)));
  }
  return best;
}

}  // namespace

Seconds unloaded(const Service& service, const Replica& replica, const Slo& slo) {
  if (!replica.continuous) return from_ns(static_cast<double>(replica.times.shortest[1]));
  const Quantity quantity = slo.quantity;
  const sim::StepCost& cost = replica.step;
  const sim::RequestShape& lengths = service.lengths;
  const bool known = !std::holds_alternative<std::shared_ptr<const sim::Trace>>(service.arrivals);
  const double prompt = !known ? 1 : lengths.varies() ? kOfARun * lengths.size_at(slo.at) : lengths.size;
  const double answer = known && !lengths.varies() ? lengths.output : 1;
  const double ttft = alone(replica, prompt);
  const double tpot = cost.decode(1, prompt);
  constexpr double kRounding = 0.999;  // the simulator counts whole nanoseconds
  return from_ns(kRounding * (quantity == Quantity::kTtft   ? ttft
                              : quantity == Quantity::kTpot ? tpot
                                                            : ttft + (answer - 1) * tpot));
}

double running_at(const Service& service, const Replica& replica, const sim::ContinuousConfig& engine, double rate) {
  const sim::RequestShape lengths = mean_of(service);
  const Balance b = balance(replica, engine, lengths, rate * 1e-9);
  return b.stable ? b.running : static_cast<double>(engine.max_sequences);
}

double screened_rate(const Service& service, const Replica& replica, const sim::RequestShape& lengths) {
  if (!replica.continuous) return batch_rate(service, replica);
  const sim::ContinuousConfig engine;
  sim::ContinuousServer one;
  append_workers(replica, 1, one);
  const double capacity = in_requests_per_s(sim::capacity(one, lengths));
  double high = std::min(service.max_load, kNearlyFull) * capacity, low = 0;
  const std::vector<Least> least = least_of(service, replica, lengths);
  const auto kept = [&](double rate) {
    const Balance b = balance(replica, engine, lengths, rate * 1e-9);
    return b.stable && std::all_of(least.begin(), least.end(), [&](const Least& slo) { return slo.kept(b); });
  };
  if (kept(high)) return high;
  for (int i = 0; i < 24; ++i) {
    const double middle = (low + high) / 2;
    (kept(middle) ? low : high) = middle;
  }
  return low > high * 1e-3 ? low : 0;
}

double screened_rate(const Service& service, const Replica& replica) {
  return screened_rate(service, replica, mean_of(service));
}

Seconds screened_latency(const Service& service, const Replica& replica, double rate) {
  if (!replica.continuous) return from_ns(kRideAndHalf * replica.times.mean(1));
  const sim::RequestShape lengths = mean_of(service);
  const Balance b = balance(replica, {}, lengths, rate * 1e-9);
  return from_ns(b.ttft + b.tpot * (lengths.output - 1));
}

}  // namespace rightsize::capacity
