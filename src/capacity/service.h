// The requirements of a service: traffic and SLOs. Start reading at planner.h.
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

// TTFT is the time to the first token, TPOT the time per output token after it; latency is that of the whole request.
// Models that answer in one pass only have a latency.
enum class Quantity { kLatency, kTtft, kTpot };

// One limit: a statistic of a quantity stays at or below a time.
struct Slo {
  Quantity quantity = Quantity::kLatency;
  Statistic at = Statistic::kP99;
  Seconds limit;
};

// Applies if a limit on TTFT or TPOT names no percentile.
inline constexpr Statistic kDefaultPercentile = Statistic::kP95;

std::string_view name_of(Statistic statistic);  // "mean", "p99"
std::string_view name_of(Quantity quantity);    // "latency", "TTFT", "TPOT"
std::string describe(const Slo& slo);           // "p99 latency", "p95 TTFT", "mean TPOT"
double share_beyond(Statistic percentile);      // share of requests above it; one half for a mean

// "50", "90", "95", "99", with or without a leading p.
Result<Statistic> parse_percentile(std::string_view text);
// "p99=100ms" limits latency, "ttft=500ms" and "tpot=40ms" limit those at the default percentile, "ttft-p95=500ms" at
// the given one. Commas separate several.
Result<std::vector<Slo>> parse_slos(std::string_view text, Statistic default_percentile = kDefaultPercentile);

// A kind of request and its share of the traffic; shares sum to 1.
struct RequestSize {
  std::int64_t isl = 0, osl = 0;
  double share = 1;
};

// Default for the load of replicas as a share of their capacity. Closer to capacity, queues grow with every fluctuation
// of the traffic, and no simulation is long enough to show how far.
inline constexpr double kMostLoad = 0.8;

// The load that the remaining replicas may reach when one is lost, until it is replaced. Waits get longer meanwhile but
// do not grow without bound.
inline constexpr double kLoadAfterLoss = 0.95;

struct Service {
  sim::ArrivalProcess arrivals = sim::Poisson{requests_per_s(1)};
  sim::RequestShape lengths = {};                      // of synthetic arrivals; a trace has its own
  std::optional<sim::RequestShape> mean_lengths = {};  // over all requests; empty: mean_of() computes them
  std::vector<Slo> slos = {};                          // all must hold; none: only `max_load` applies
  double most_rejected = 0.001;                        // share of requests that may be rejected
  double max_load = kMostLoad;  // share of capacity, 0-1; ignored if a queue limit or timeout sheds load
  bool one_to_spare = false;    // the load must stay within kLoadAfterLoss after a loss (Configuration::together)
  sim::QueuePolicy queue = {};  // batch models
  // For language models with known contents of prompts (sim/prompts.h).
  std::int64_t cache_block = 0;  // tokens per block of the engine's prefix cache; 0: none
  sim::Routing routing = sim::Routing::kLeastLoaded;
  bool shared_lower = false;  // replicas share the tier below their caches
  std::vector<double> priorities = {};
};

// The mean lengths of a service's requests; `cached` is the hit of an unlimited prefix cache. A planner computes these
// of a trace once.
sim::RequestShape mean_of(const Service& service);

// Poisson arrivals of requests with these shares of sizes. Each size must meet the SLOs by itself. Equal seeds give
// equal traffic.
sim::ArrivalProcess mixed_arrivals(double requests_per_second, const std::vector<RequestSize>& mix,
                                   std::uint64_t seed = 1);

// The mean length of prompts or outputs and its coefficient of variation (empty: usual_variation()).
struct Length {
  double mean = 0;
  std::optional<double> variation = {};
  std::optional<double> most = {};  // the longest are cut to this length
};
// "1024" is a mean; "1024,fixed" the length of every request; "1k,p95=8k" a median and a percentile (also p90, p99).
// With `may_cut`, "1k,max=8k" cuts longer ones; it may follow the others.
Result<Length> parse_length(std::string_view text, bool may_cut = false);

// The variation assumed if only a mean is given, from public traces: data/request_lengths.csv.
struct UsualVariation {
  double prompt = 0, answer = 0;
};
const UsualVariation& usual_variation();

}  // namespace rightsize::capacity
