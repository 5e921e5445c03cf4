// What a service must deliver: traffic and SLOs. The front door of the room is planner.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/arrivals.h"
#include "sim/continuous_batching.h"
#include "sim/dynamic_batching.h"
#include "sim/quantiles.h"

namespace rightsize::serving {

using sim::Statistic;

// TTFT is the time to the first token, TPOT the time of each token after it; latency is that of the whole request.
// Models that answer in one pass have a latency only.
enum class Quantity { kLatency, kTtft, kTpot };

// One limit: a statistic of a quantity stays at or below a time.
struct Slo {
  Quantity quantity = Quantity::kLatency;
  Statistic at = Statistic::kP99;
  Seconds limit;
};

// Where a limit on TTFT or TPOT names no percentile.
inline constexpr Statistic kDefaultPercentile = Statistic::kP95;

std::string_view name_of(Statistic statistic);  // "mean", "p99"
std::string_view name_of(Quantity quantity);    // "latency", "TTFT", "TPOT"
std::string describe(const Slo& slo);           // "p99 latency", "p95 TTFT", "mean TPOT"

// "50", "95", "99", with or without a p in front.
Result<Statistic> parse_percentile(std::string_view text);
// "p99=100ms" is a limit on latency, "ttft=500ms" and "tpot=40ms" on those at `otherwise`, "ttft-p95=500ms" at its own
// percentile; several are separated by commas. Wrong names get a suggestion.
Result<std::vector<Slo>> parse_slos(std::string_view text, Statistic otherwise = kDefaultPercentile);

// A kind of request and its share of the traffic; shares sum to 1.
struct RequestSize {
  std::int64_t isl = 0, osl = 0;
  double share = 1;
};

// The share of their capacity that replicas may be loaded to unless said: near it queues grow with every fluctuation of
// the traffic, and no run of a simulator is long enough to see how far. The traffic of n replicas together fluctuates
// as the square root of n (square-root staffing, Halfin and Whitt 1981): one may be loaded to 90 %, four to 95 %.
double usual_most_load(int replicas);

struct Service {
  sim::ArrivalProcess arrivals = sim::Poisson{requests_per_s(1)};
  sim::RequestShape lengths = {};                      // of synthetic arrivals; a trace has its own
  std::optional<sim::RequestShape> mean_lengths = {};  // over all requests; nothing: see mean_of()
  std::vector<Slo> slos = {};                          // all of them hold; none: only `max_load` does
  double most_rejected = 0.001;                        // share of requests that a limit or timeout may turn away
  std::optional<double> max_load = {};  // of the capacity, 0-1; not applied where a limit or timeout sheds load
  sim::QueuePolicy queue = {};          // models that answer in one pass
  std::vector<double> priorities = {};
};

// The mean lengths of a service's requests. A planner counts a trace's once and keeps them.
sim::RequestShape mean_of(const Service& service);

// Poisson arrivals of requests that have each size with its share. Equal seeds give equal traffic. `told_apart`: each
// size is a kind of request of its own, and keeps the SLOs by itself; else they are one kind whose length varies.
sim::ArrivalProcess mixed_arrivals(double requests_per_second, const std::vector<RequestSize>& mix,
                                   std::uint64_t seed = 1, bool told_apart = true);

// Requests whose length varies about a median, log-normally: so long at the median, so long at a high percentile.
struct LengthSpread {
  double median = 0;
  double high = 0;  // at `percentile`; 0: all are alike
  double percentile = 0.95;
};
// The two spreads as sizes of equal share, prompts and answers independent of each other. 32 of them: the longest is
// the 98.4th percentile.
std::vector<RequestSize> sizes_of(const LengthSpread& prompt, const LengthSpread& answer);

}  // namespace rightsize::serving
