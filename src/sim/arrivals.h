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
#include "sim/lengths.h"
#include "sim/sim_time.h"

namespace rightsize::sim {

// `size` is how many items of a batch a request takes (Triton), or its prompt in tokens (continuous batching), where
// `output` is how many tokens are generated.
struct Arrival {
  SimTime at = 0;
  std::int32_t size = 1;
  std::int32_t output = 1;
  std::int32_t timeout_us = 0;  // the request's own longest wait in the queue; 0: none given
  std::int32_t kind = 0;        // continuous batching: from 1, kinds whose latencies are also told apart; 0: none

  bool operator==(const Arrival&) const = default;
};

// Independent requests at one rate.
struct Poisson {
  RequestsPerSecond rate;
};
// Bursts: Poisson at one of two rates, staying with each for an exponential time of the given mean.
struct Mmpp {
  RequestsPerSecond calm_rate, burst_rate;
  Seconds calm, burst;
};
// A day: the rate follows a sine around its mean; `peak` is the highest rate over the mean, in (1, 2].
struct Diurnal {
  RequestsPerSecond mean_rate;
  double peak = 1;
  Seconds period;
};
// A recording, replayed from its first arrival, which stands at time 0.
struct Trace {
  std::string file;
  std::vector<Arrival> arrivals;
  bool has_tokens = false;    // sizes are prompt and output tokens
  bool has_timeouts = false;  // some request has a timeout of its own
};
using ArrivalProcess = std::variant<Poisson, Mmpp, Diurnal, std::shared_ptr<const Trace>>;

// The rate in the long run. A trace of one request or of no length has no rate: nothing.
std::optional<RequestsPerSecond> mean_rate(const ArrivalProcess& process);
// Whether a server of the given capacity falls behind for good. A trace of fewer than a hundred
// requests is too short to say so: whatever it asks is done some time after its end.
bool overloads(const ArrivalProcess& process, RequestsPerSecond capacity);
// The rate of the busiest time: the burst, the height of the day; the mean for the others.
std::optional<RequestsPerSecond> peak_rate(const ArrivalProcess& process);
// The same traffic `factor` times as dense.
ArrivalProcess scaled(const ArrivalProcess& process, double factor);

// "poisson:RATE", "mmpp:CALM,BURST,MEAN_CALM,MEAN_BURST" (100,900,10s,1s), "diurnal:MEAN,PEAK[,PERIOD]" (200,1.8,24h),
// "trace:FILE". A rate is a plain number per second or has a unit (20/min). Reads the trace; errors say what would have
// been right.
Checked<ArrivalProcess> parse_arrivals(std::string_view text);

// A trace's text: columns TIMESTAMP,ContextTokens,GeneratedTokens (the Azure LLM inference traces) or t[,size[,output]]
// with t in seconds. A column timeout_ms gives requests a timeout of their own; an empty cell gives none. Refused, with
// the line and the reason: a time that is no number, negative, NaN or before the one above it; a size that is not a
// whole number from 1; an empty trace. Reports at most twenty mistakes.
Checked<Trace> parse_trace(const std::string& file, std::string text);

// Arrivals in order of time, produced in blocks so that the cost of the virtual call vanishes.
class ArrivalStream {
 public:
  virtual ~ArrivalStream() = default;
  // Fills the front of the block; fewer than its size only at the end of a trace.
  virtual std::size_t fill(std::span<Arrival> block) = 0;
};

// The shape is ignored for a trace, which has its own. Equal seeds give equal streams.
std::unique_ptr<ArrivalStream> open_stream(const ArrivalProcess& process, std::uint64_t seed,
                                           const RequestShape& shape = {});

}  // namespace rightsize::sim
