// When requests arrive, and how large they are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "sim/arrival_list.h"
#include "sim/lengths.h"
#include "sim/prompts.h"
#include "sim/sim_time.h"

namespace rightsize::sim {

// Independent requests at one rate.
struct Poisson {
  RequestsPerSecond rate;

  auto operator<=>(const Poisson&) const = default;
};
// Bursts: Poisson arrivals that alternate between two rates, each for an exponential time of the given mean.
struct Mmpp {
  RequestsPerSecond calm_rate, burst_rate;
  Seconds calm, burst;

  auto operator<=>(const Mmpp&) const = default;
};
// A daily cycle: the rate follows a sine around its mean; `peak` is the ratio of highest to mean rate, in (1, 2].
struct Diurnal {
  RequestsPerSecond mean_rate;
  double peak = 1;
  Seconds period;

  auto operator<=>(const Diurnal&) const = default;
  double share_of_peak(Seconds at) const;  // the rate at this time against the highest; midnight is the low point
};
// Users who wait for an answer, with the requests of each user in turn. `at` is the time of a user's first request or,
// for later ones, the time since the previous answer.
struct ClosedLoop {
  std::vector<Arrival> turns;
  std::vector<std::uint32_t> first;  // index of each user's first turn in `turns`, and the end
  int side_by_side = 1;              // parallel requests per turn
};
// A rate over time, as Prometheus and Grafana export it.
struct RateSeries {
  std::vector<double> rates;  // requests per second, in each step
  Seconds step;
};
// A recording, replayed from its first arrival at time 0.
struct Trace {
  std::string file;
  ArrivalList arrivals;
  bool has_tokens = false;                      // sizes are prompt and output tokens
  bool has_timeouts = false;                    // some request has its own timeout
  std::shared_ptr<const Prompts> prompts = {};  // the contents of prompts; null: unknown
  std::uint64_t warm_up = 0;                    // the first arrivals, which find caches emptier than later ones
  // If set, the simulated engine decides when users come back, and `arrivals` are those that formulas expect, with the
  // same prompts.
  std::shared_ptr<const ClosedLoop> closed = {};
  std::shared_ptr<const RateSeries> rates = {};  // if set, only rates were recorded; `arrivals` are drawn from them
};
using ArrivalProcess = std::variant<Poisson, Mmpp, Diurnal, std::shared_ptr<const Trace>>;

// Null if the process is synthetic.
const Trace* trace_of(const ArrivalProcess& process);

// The long-run rate. Empty for a trace of one request or without duration.
std::optional<RequestsPerSecond> mean_rate(const ArrivalProcess& process);
// Whether a server of the given capacity falls behind without bound. Traces of fewer than a hundred requests never
// count: the server catches up after their end.
bool overloads(const ArrivalProcess& process, RequestsPerSecond capacity);
// The highest rate of a burst or a day; the mean rate of other processes.
std::optional<RequestsPerSecond> peak_rate(const ArrivalProcess& process);
// The same traffic at `factor` times the rate.
ArrivalProcess scaled(const ArrivalProcess& process, double factor);

// "poisson:RATE", "mmpp:CALM,BURST,MEAN_CALM,MEAN_BURST" (100,900,10s,1s), "diurnal:MEAN,PEAK[,PERIOD]" (200,1.8,24h),
// "trace:FILE", or a bare RATE for Poisson. A rate is a number per second or has a unit (20/min). Reads the trace file.
Checked<ArrivalProcess> parse_arrivals(std::string_view text);

// A trace's text: one JSON object per line with timestamp, input_length, output_length and hash_ids
// (kv_cache/hashed_trace.h), or a table with columns TIMESTAMP,ContextTokens,GeneratedTokens (the Azure LLM inference
// traces) or t[,size[,output]] with t in seconds. A column timeout_ms gives requests their own timeout; an empty cell
// gives none. Refused with line and reason: a time that is not a number, is negative or precedes the line above; a size
// that is not a whole number from 1; an empty trace. Reports at most twenty mistakes.
//
// A table of two columns, time or timestamp and any other, has rates: requests per second, or requests since the
// previous row if the column is called requests or count. A missing sample has the previous value.
Checked<Trace> parse_trace(const std::string& file, std::string_view text);

// Arrivals in order of time, produced in blocks to amortize the virtual call.
class ArrivalStream {
 public:
  virtual ~ArrivalStream() = default;
  // Fills the front of the block and returns the count. Fewer than its size: the trace ended, or the clock (70 years).
  virtual std::size_t fill(std::span<Arrival> block) = 0;
};

// A trace ignores the shape. Equal seeds give equal streams.
std::unique_ptr<ArrivalStream> open_stream(const ArrivalProcess& process, std::uint64_t seed,
                                           const RequestShape& shape = {});

}  // namespace rightsize::sim
