#include "sim/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parse_units.h"
#include "base/random.h"
#include "base/suggest.h"
#include "base/text.h"
#include "sim/trace_file.h"

namespace rightsize::sim {
namespace {

// Streams end here: later times would overflow the clock while the last requests are served.
constexpr SimTime kLastArrival = kNever / 4;

// `ns` nanoseconds after `now`, at most just past kLastArrival.
SimTime after(SimTime now, double ns) {
  const auto left = static_cast<double>(kLastArrival - now);
  return ns < left ? now + static_cast<SimTime>(std::round(ns)) : kLastArrival + 1;
}

// Draws the lengths of prompts or of outputs.
class Lengths {
 public:
  Lengths(double mean, bool exponential, std::vector<std::int32_t> table)
      : mean_(mean), exponential_(exponential), table_(std::move(table)) {}

  std::int32_t draw(Random& random) const {
    if (exponential_) return static_cast<std::int32_t>(std::clamp(mean_ * random.exponential() + 0.5, 1.0, 1e9));
    if (table_.size() == 1) return table_.front();
    return table_[static_cast<std::size_t>(random.uniform() * static_cast<double>(table_.size()))];
  }

 private:
  double mean_;
  bool exponential_;
  std::vector<std::int32_t> table_;
};

// Times from Derived::next_time(), sizes from the shape. Separate generators keep the times independent of the sizes.
template <class Derived>
class SyntheticStream : public ArrivalStream {
 public:
  SyntheticStream(std::uint64_t seed, const RequestShape& shape)
      : random_(seed),
        shape_random_(~seed),
        sizes_(shape.size, shape.exponential, size_table(shape)),
        outputs_(shape.output, shape.exponential, output_table(shape)) {}

  std::size_t fill(std::span<Arrival> block) override {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const SimTime at = now_ > kLastArrival ? now_ : static_cast<Derived*>(this)->next_time();
      if (at > kLastArrival) return i;
      const std::int32_t size = sizes_.draw(shape_random_);
      block[i] = {at, size, outputs_.draw(shape_random_)};
    }
    return block.size();
  }

 protected:
  Random random_;
  SimTime now_ = 0;

 private:
  Random shape_random_;
  Lengths sizes_, outputs_;
};

// Mean time between two requests, in nanoseconds.
double mean_gap(RequestsPerSecond rate) { return 1e9 / in_requests_per_s(rate); }

class PoissonStream final : public SyntheticStream<PoissonStream> {
 public:
  PoissonStream(const Poisson& p, std::uint64_t seed, const RequestShape& shape)
      : SyntheticStream(seed, shape), mean_gap_(mean_gap(p.rate)) {}
  SimTime next_time() { return now_ = after(now_, mean_gap_ * random_.exponential()); }

 private:
  double mean_gap_;
};

class MmppStream final : public SyntheticStream<MmppStream> {
 public:
  MmppStream(const Mmpp& p, std::uint64_t seed, const RequestShape& shape) : SyntheticStream(seed, shape), process_(p) {
    switch_at_ = next_switch();
  }
  SimTime next_time() {
    for (;;) {
      const RequestsPerSecond rate = bursting_ ? process_.burst_rate : process_.calm_rate;
      const bool any = rate > RequestsPerSecond{};
      const SimTime next = any ? after(now_, mean_gap(rate) * random_.exponential()) : kNever;
      if (next < switch_at_ || switch_at_ > kLastArrival) return now_ = std::min(next, kLastArrival + 1);
      now_ = switch_at_;  // memoryless: the gap can be drawn again at the switch
      bursting_ = !bursting_;
      switch_at_ = next_switch();
    }
  }

 private:
  SimTime next_switch() {
    return after(now_ + 1, 1e9 * in_seconds(bursting_ ? process_.burst : process_.calm) * random_.exponential());
  }
  Mmpp process_;
  bool bursting_ = false;
  SimTime switch_at_ = 0;
};

// Thinning (Lewis and Shedler 1979): draw at the peak rate, keep each arrival with the probability rate / peak rate.
class DiurnalStream final : public SyntheticStream<DiurnalStream> {
 public:
  DiurnalStream(const Diurnal& p, std::uint64_t seed, const RequestShape& shape)
      : SyntheticStream(seed, shape), process_(p), gap_(mean_gap(p.mean_rate * p.peak)) {}
  SimTime next_time() {
    for (;;) {
      now_ = after(now_, gap_ * random_.exponential());
      if (now_ > kLastArrival) return now_;
      if (random_.uniform() < process_.share_of_peak(from_sim_time(now_))) return now_;
    }
  }

 private:
  Diurnal process_;
  double gap_;
};

class TraceStream final : public ArrivalStream {
 public:
  explicit TraceStream(std::shared_ptr<const Trace> trace) : trace_(std::move(trace)) {}
  std::size_t fill(std::span<Arrival> block) override {
    const std::size_t count = std::min(block.size(), trace_->arrivals.size() - next_);
    for (std::size_t i = 0; i < count; ++i) block[i] = trace_->arrivals[next_++];
    return count;
  }

 private:
  std::shared_ptr<const Trace> trace_;
  std::size_t next_ = 0;
};

Result<RequestsPerSecond> parse_rate(std::string_view text) {
  constexpr double kLeast = 1e-9, kMost = 1e9;
  RIGHTSIZE_TRY(const RequestsPerSecond rate, parse_request_rate(text));
  if (rate >= requests_per_s(kLeast) && rate <= requests_per_s(kMost)) return rate;
  return fail(bad_input(fmt::format("arrival rate '{}' is out of range; use 1e-9/s to 1e9/s", text)));
}

Result<Seconds> parse_positive_duration(std::string_view text) {
  RIGHTSIZE_TRY(const Seconds duration, parse_duration(text));
  if (duration > seconds(0) && duration < days(3650)) return duration;
  return fail(bad_input(fmt::format("duration '{}' is out of range; use more than 0 and less than ten years", text)));
}

Result<ArrivalProcess> parse_mmpp(const std::vector<std::string_view>& parts) {
  if (parts.size() != 4) {
    return fail(bad_input("mmpp needs two rates and the mean duration of each: mmpp:100,900,10s,1s"));
  }
  Mmpp process;
  RIGHTSIZE_TRY(process.calm_rate, parse_rate(parts[0]));
  RIGHTSIZE_TRY(process.burst_rate, parse_rate(parts[1]));
  RIGHTSIZE_TRY(process.calm, parse_positive_duration(parts[2]));
  RIGHTSIZE_TRY(process.burst, parse_positive_duration(parts[3]));
  constexpr double kFewest = 1e-3;  // requests per cycle: every change of the rate takes a step of the simulation
  if (process.calm_rate * process.calm + process.burst_rate * process.burst < requests(kFewest))
    return fail(
        bad_input("calm and burst are much shorter than the time between two requests").with_hint("use poisson:RATE"));
  return process;
}

Result<ArrivalProcess> parse_diurnal(const std::vector<std::string_view>& parts) {
  if (parts.size() != 2 && parts.size() != 3) {
    return fail(bad_input(
        "diurnal needs the mean rate, the ratio of peak to mean, and optionally a period: diurnal:200,1.8,24h"));
  }
  Diurnal process{{}, 1, hours(24)};
  RIGHTSIZE_TRY(process.mean_rate, parse_rate(parts[0]));
  RIGHTSIZE_TRY(process.peak, parse_number(parts[1]));
  if (!(process.peak > 1 && process.peak <= 2)) {
    return fail(bad_input(fmt::format("peak '{}' must be above 1 and at most 2 times the mean rate", parts[1])));
  }
  if (parts.size() == 3) {
    RIGHTSIZE_TRY(process.period, parse_positive_duration(parts[2]));
  }
  // Requests are drawn at the peak rate, and nearly all of them are dropped at the low point.
  constexpr double kMost = 1e11;
  if (process.mean_rate * process.period > requests(kMost))
    return fail(
        bad_input("diurnal: at most 1e11 requests per period").with_hint("use a lower rate or a shorter period"));
  return process;
}

Checked<ArrivalProcess> read_trace(const std::string& file) {
  RIGHTSIZE_TRY(Trace trace, read_trace_file(file));
  return ArrivalProcess(std::make_shared<const Trace>(std::move(trace)));
}

}  // namespace

Checked<ArrivalProcess> parse_arrivals(std::string_view text) {
  static const std::vector<std::string> kKinds{"poisson", "mmpp", "diurnal", "trace"};
  const std::size_t colon = text.find(':');
  const std::string kind = to_lower(trim(text.substr(0, colon)));
  const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (kind == "trace" && !rest.empty()) return read_trace(std::string(rest));
  const bool bare = colon == std::string_view::npos && !kind.empty() && kind.front() >= '0' && kind.front() <= '9';
  const auto parsed = [&]() -> Result<ArrivalProcess> {
    if (kind == "mmpp") return parse_mmpp(split_list(rest, ','));
    if (kind == "diurnal") return parse_diurnal(split_list(rest, ','));
    if (kind == "poisson" || bare) {
      RIGHTSIZE_TRY(const RequestsPerSecond rate, parse_rate(trim(bare ? text : rest)));
      return Poisson{rate};
    }
    return fail(bad_input(fmt::format("unknown arrivals '{}'", text))
                    .with_hint(did_you_mean(kind, kKinds))
                    .with_hint("use poisson:RATE, mmpp:CALM,BURST,10s,1s, diurnal:MEAN,PEAK,24h or trace:FILE"));
  }();
  if (!parsed) return fail(parsed.error());
  return *parsed;
}

const Trace* trace_of(const ArrivalProcess& process) {
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&process);
  return trace == nullptr ? nullptr : trace->get();
}

std::optional<RequestsPerSecond> mean_rate(const ArrivalProcess& process) {
  if (const auto* p = std::get_if<Poisson>(&process)) return p->rate;
  if (const auto* d = std::get_if<Diurnal>(&process)) return d->mean_rate;
  if (const auto* m = std::get_if<Mmpp>(&process)) {
    return (m->calm_rate * m->calm + m->burst_rate * m->burst) / (m->calm + m->burst);
  }
  const Trace& trace = *trace_of(process);
  if (trace.arrivals.empty() || trace.arrivals.back().at <= 0) return std::nullopt;
  return requests(static_cast<double>(trace.arrivals.size() - 1)) / from_sim_time(trace.arrivals.back().at);
}

bool overloads(const ArrivalProcess& process, RequestsPerSecond capacity) {
  constexpr std::size_t kTooFew = 100;
  const Trace* trace = trace_of(process);
  if (trace != nullptr && trace->arrivals.size() < kTooFew) return false;
  return mean_rate(process).value_or(RequestsPerSecond{}) >= capacity;
}

double Diurnal::share_of_peak(Seconds at) const {
  return (1 - (peak - 1) * std::cos(2 * std::numbers::pi * in_seconds(at) / in_seconds(period))) / peak;
}

std::optional<RequestsPerSecond> peak_rate(const ArrivalProcess& process) {
  if (const auto* d = std::get_if<Diurnal>(&process)) return d->mean_rate * d->peak;
  if (const auto* m = std::get_if<Mmpp>(&process)) return std::max(m->calm_rate, m->burst_rate);
  return mean_rate(process);
}

ArrivalProcess scaled(const ArrivalProcess& process, double factor) {
  // A recording at its own rate, up to rounding, is the same object, which lets planners share simulations.
  if (std::fabs(factor - 1) < 1e-9) return process;
  if (const auto* p = std::get_if<Poisson>(&process)) return Poisson{p->rate * factor};
  if (const auto* d = std::get_if<Diurnal>(&process)) return Diurnal{d->mean_rate * factor, d->peak, d->period};
  if (const auto* m = std::get_if<Mmpp>(&process)) {
    return Mmpp{m->calm_rate * factor, m->burst_rate * factor, m->calm, m->burst};
  }
  Trace trace = *trace_of(process);
  trace.arrivals = trace.arrivals.faster(factor);
  if (trace.closed) {
    ClosedLoop closed = *trace.closed;
    for (Arrival& turn : closed.turns) turn.at = static_cast<SimTime>(static_cast<double>(turn.at) / factor);
    trace.closed = std::make_shared<const ClosedLoop>(std::move(closed));
  }
  return std::make_shared<const Trace>(std::move(trace));
}

std::unique_ptr<ArrivalStream> open_stream(const ArrivalProcess& process, std::uint64_t seed,
                                           const RequestShape& shape) {
  if (const auto* p = std::get_if<Poisson>(&process)) return std::make_unique<PoissonStream>(*p, seed, shape);
  if (const auto* d = std::get_if<Diurnal>(&process)) return std::make_unique<DiurnalStream>(*d, seed, shape);
  if (const auto* m = std::get_if<Mmpp>(&process)) return std::make_unique<MmppStream>(*m, seed, shape);
  return std::make_unique<TraceStream>(std::get<std::shared_ptr<const Trace>>(process));
}

}  // namespace rightsize::sim
