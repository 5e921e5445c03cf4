// What a service must deliver: traffic and SLOs. The front door of the room is planner.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/arrivals.h"
#include "sim/continuous_batching.h"
#include "sim/dynamic_batching.h"
#include "sim/quantiles.h"

namespace rightsize::capacity {

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
double share_beyond(Statistic percentile);      // of all requests; of a mean, half

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
// the traffic, and no run of a simulator is long enough to see how far.
inline constexpr double kMostLoad = 0.8;

// Replicas left when one is lost must still keep up with what arrives, until it is replaced: their load may then be so
// high. Waiting gets longer meanwhile; it does not grow without end.
inline constexpr double kLoadAfterLoss = 0.95;

struct Service {
  sim::ArrivalProcess arrivals = sim::Poisson{requests_per_s(1)};
  sim::RequestShape lengths = {};                      // of synthetic arrivals; a trace has its own
  std::optional<sim::RequestShape> mean_lengths = {};  // over all requests; nothing: see mean_of()
  std::vector<Slo> slos = {};                          // all of them hold; none: only `max_load` does
  double most_rejected = 0.001;                        // share of requests that a limit or timeout may turn away
  double max_load = kMostLoad;  // of the capacity, 0-1; not applied where a limit or timeout sheds load
  bool one_to_spare = false;    // the load stays within kLoadAfterLoss when a replica is lost
  sim::QueuePolicy queue = {};  // models that answer in one pass
  std::vector<double> priorities = {};
};

// The mean lengths of a service's requests. A planner counts a trace's once and keeps them.
sim::RequestShape mean_of(const Service& service);

// Poisson arrivals of requests that have each size with its share: kinds of request that each keep the SLOs by
// themselves. Equal seeds give equal traffic.
sim::ArrivalProcess mixed_arrivals(double requests_per_second, const std::vector<RequestSize>& mix,
                                   std::uint64_t seed = 1);

// How long prompts or answers are: on average, and how far they vary (standard deviation over mean; nothing: as
// usual_variation() has it).
struct Length {
  double mean = 0;
  std::optional<double> variation = {};
};
// "1024": on average; "1024,fixed": each; "1k,p95=8k": half of all are shorter than the first, one in twenty longer
// than the second (also p90, p99).
Result<Length> parse_length(std::string_view text);

// What a stated mean stands for, from public traces: data/request_lengths.csv.
struct UsualVariation {
  double prompt = 0, answer = 0;
};
const UsualVariation& usual_variation();

}  // namespace rightsize::capacity
