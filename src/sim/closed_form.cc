#include "sim/closed_form.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rightsize::sim {
namespace {

// The share of the time one server is busy.
double load_of(RequestsPerSecond arrivals, Seconds service) { return arrivals * service / requests(1); }

// P(X >= k) for X ~ Poisson(mean): the terms from k up, which fall once past the mean.
double poisson_tail(double mean, int k) {
  double term = std::exp(-mean + k * std::log(mean) - std::lgamma(k + 1.0));
  double sum = 0;
  for (int j = k; term > 1e-18 * sum || j < mean; ++j) {
    sum += term;
    term *= mean / (j + 1);
    if (term == 0) break;
  }
  return sum;
}

// The least mean batch time a request can meet when an executor must carry `rate` requests a nanosecond. With w_b the
// share of requests in batches of b: sum w_b t(b)/b <= 1/rate (executors are at most always busy), and the mean is at
// least sum w_b t(b). A linear program with one constraint: its optimum mixes at most two sizes.
double batch_service_bound(const ServiceTimes& times, int max_batch, double rate) {
  const double most = 1 / rate;
  double least = times.mean(max_batch);
  for (int a = 1; a <= max_batch; ++a) {
    const double share_a = times.mean(a) / a;
    if (share_a > most) continue;
    least = std::min(least, times.mean(a));
    for (int b = 1; b < a; ++b) {  // a smaller, dearer size for as many requests as the executor has time for
      const double share_b = times.mean(b) / b;
      if (share_b <= most) continue;
      const double weight = (most - share_a) / (share_b - share_a);
      least = std::min(least, weight * times.mean(b) + (1 - weight) * times.mean(a));
    }
  }
  return least;
}

}  // namespace

Seconds mm1_mean_sojourn(RequestsPerSecond arrivals, Seconds mean_service) {
  return mean_service / (1 - load_of(arrivals, mean_service));
}

Seconds mm1_sojourn_quantile(RequestsPerSecond arrivals, Seconds mean_service, double q) {
  return -std::log1p(-q) * mm1_mean_sojourn(arrivals, mean_service);
}

Seconds md1_mean_wait(RequestsPerSecond arrivals, Seconds service) {
  const double load = load_of(arrivals, service);
  return service * (load / (2 * (1 - load)));
}

// E[W] = D sum_{i>=1} [ P(X_i >= ic) - P(X_i >= ic + 1) / load ], X_i ~ Poisson(i c load), load = rate D / c.
Seconds mdc_mean_wait(RequestsPerSecond arrivals, Seconds service, int servers) {
  const double load = load_of(arrivals, service) / servers;
  double wait = 0;
  for (int i = 1; i < 100000; ++i) {
    const double mean = i * servers * load;
    const double term = poisson_tail(mean, i * servers) - poisson_tail(mean, i * servers + 1) / load;
    wait += term;
    if (std::fabs(term) < 1e-12 * wait) break;
  }
  return wait * service;
}

Seconds latency_lower_bound(const Server& server, const ArrivalProcess& arrivals, Statistic statistic) {
  constexpr Seconds kNoBound = seconds(std::numeric_limits<double>::infinity());
  const RequestsPerSecond rate = mean_rate(arrivals).value_or(RequestsPerSecond{});
  if (server.queue.never_acts() && overloads(arrivals, capacity(server))) return kNoBound;
  Seconds shortest = kNoBound;
  bool alike = true;
  int executors = 0;
  for (const GpuReplica& gpu : server.gpus) {
    shortest = std::min(shortest, from_sim_time(gpu.times.shortest[1]));
    alike = alike && gpu.times.shortest == server.gpus[0].times.shortest;
    executors += gpu.executors * gpu.count;
  }
  if (statistic != Statistic::kMean || !alike || !server.queue.never_acts()) return shortest;
  const ServiceTimes& times = server.gpus[0].times;
  if (server.batching.max_batch == 1 && executors == 1 && std::holds_alternative<Poisson>(arrivals)) {
    const Seconds service = seconds(times.mean(1) * 1e-9);
    return service + md1_mean_wait(rate, service);
  }
  const double a_nanosecond = in_requests_per_s(rate) * 1e-9 / executors;
  return seconds(batch_service_bound(times, server.batching.max_batch, a_nanosecond) * 1e-9);
}

}  // namespace rightsize::sim
