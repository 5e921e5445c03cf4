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

namespace rightsize::sim {
namespace {

// Gaps are drawn in nanoseconds; a queue cannot tell two arrivals of one nanosecond from two of a fraction of it.
SimTime gap_of(double ns) { return static_cast<SimTime>(std::round(ns)); }

// Lengths of one kind, prompts or answers.
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

// Times from Derived::next_time(); sizes from the shape. Two generators, so that the times of a process do not depend
// on whether sizes are drawn.
template <class Derived>
class SyntheticStream : public ArrivalStream {
 public:
  SyntheticStream(std::uint64_t seed, const RequestShape& shape)
      : random_(seed),
        shape_random_(~seed),
        sizes_(shape.size, shape.exponential, size_table(shape)),
        outputs_(shape.output, shape.exponential, output_table(shape)) {}

  std::size_t fill(std::span<Arrival> block) override {
    for (Arrival& arrival : block) {
      const std::int32_t size = sizes_.draw(shape_random_);
      arrival = {static_cast<Derived*>(this)->next_time(), size, outputs_.draw(shape_random_)};
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

// Between two requests, in nanoseconds.
double mean_gap(RequestsPerSecond rate) { return 1e9 / in_requests_per_s(rate); }

class PoissonStream final : public SyntheticStream<PoissonStream> {
 public:
  PoissonStream(const Poisson& p, std::uint64_t seed, const RequestShape& shape)
      : SyntheticStream(seed, shape), mean_gap_(mean_gap(p.rate)) {}
  SimTime next_time() { return now_ += gap_of(mean_gap_ * random_.exponential()); }

 private:
  double mean_gap_;
};

class MmppStream final : public SyntheticStream<MmppStream> {
 public:
  MmppStream(const Mmpp& p, std::uint64_t seed, const RequestShape& shape) : SyntheticStream(seed, shape), process_(p) {
    switch_at_ = stay();
  }
  SimTime next_time() {
    for (;;) {
      const RequestsPerSecond rate = bursting_ ? process_.burst_rate : process_.calm_rate;
      const bool any = rate > RequestsPerSecond{};
      const SimTime next = any ? now_ + gap_of(mean_gap(rate) * random_.exponential()) : kNever;
      if (next < switch_at_) return now_ = next;
      now_ = switch_at_;  // memoryless: the gap may be drawn anew at the switch
      bursting_ = !bursting_;
      switch_at_ = now_ + stay();
    }
  }

 private:
  SimTime stay() {
    return 1 + gap_of(1e9 * in_seconds(bursting_ ? process_.burst : process_.calm) * random_.exponential());
  }
  Mmpp process_;
  bool bursting_ = false;
  SimTime switch_at_ = 0;
};

// Thinning (Lewis and Shedler 1979): draw at the peak rate, keep each arrival with the share the hour has of it.
class DiurnalStream final : public SyntheticStream<DiurnalStream> {
 public:
  DiurnalStream(const Diurnal& p, std::uint64_t seed, const RequestShape& shape)
      : SyntheticStream(seed, shape), process_(p), gap_(mean_gap(p.mean_rate * p.peak)) {}
  SimTime next_time() {
    for (;;) {
      now_ += gap_of(gap_ * random_.exponential());
      const double phase = 2 * std::numbers::pi * static_cast<double>(now_) * 1e-9 / in_seconds(process_.period);
      const double share = (1 - (process_.peak - 1) * std::cos(phase)) / process_.peak;  // midnight is the low point
      if (random_.uniform() < share) return now_;
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
    std::copy_n(trace_->arrivals.begin() + static_cast<std::ptrdiff_t>(next_), count, block.begin());
    next_ += count;
    return count;
  }

 private:
  std::shared_ptr<const Trace> trace_;
  std::size_t next_ = 0;
};

Result<RequestsPerSecond> parse_rate(std::string_view text) {
  const bool has_unit = text.find('/') != std::string_view::npos;
  RequestsPerSecond rate;
  if (has_unit) {
    RIGHTSIZE_TRY(rate, parse_request_rate(text));
  } else {
    RIGHTSIZE_TRY(const double a_second, parse_number(text));
    rate = requests_per_s(a_second);
  }
  constexpr double kLeast = 1e-9, kMost = 1e9;  // one in thirty years; a rate that vanishes has no mean
  if (rate >= requests_per_s(kLeast) && rate <= requests_per_s(kMost)) return rate;
  return fail(bad_input(fmt::format("a rate lies above 0 and is at most 1,000,000,000 a second, not '{}'", text)));
}

Result<Seconds> parse_positive_duration(std::string_view text) {
  RIGHTSIZE_TRY(const Seconds duration, parse_duration(text));
  if (duration > seconds(0) && duration < days(3650)) return duration;
  return fail(bad_input(fmt::format("'{}' is not a usable length of time", text)));
}

Result<ArrivalProcess> parse_mmpp(const std::vector<std::string_view>& parts) {
  if (parts.size() != 4) {
    return fail(bad_input("mmpp takes two rates and how long each lasts: mmpp:100,900,10s,1s"));
  }
  Mmpp process;
  RIGHTSIZE_TRY(process.calm_rate, parse_rate(parts[0]));
  RIGHTSIZE_TRY(process.burst_rate, parse_rate(parts[1]));
  RIGHTSIZE_TRY(process.calm, parse_positive_duration(parts[2]));
  RIGHTSIZE_TRY(process.burst, parse_positive_duration(parts[3]));
  return process;
}

Result<ArrivalProcess> parse_diurnal(const std::vector<std::string_view>& parts) {
  if (parts.size() != 2 && parts.size() != 3) {
    return fail(bad_input("diurnal takes the mean rate, the peak over the mean, and a period: diurnal:200,1.8,24h"));
  }
  Diurnal process{{}, 1, hours(24)};
  RIGHTSIZE_TRY(process.mean_rate, parse_rate(parts[0]));
  RIGHTSIZE_TRY(process.peak, parse_number(parts[1]));
  if (!(process.peak > 1 && process.peak <= 2)) {
    return fail(
        bad_input(fmt::format("the peak of a day is above 1 and at most 2 times its mean, not '{}'", parts[1])));
  }
  if (parts.size() == 3) {
    RIGHTSIZE_TRY(process.period, parse_positive_duration(parts[2]));
  }
  return process;
}

Checked<ArrivalProcess> read_trace(const std::string& file) {
  Result<std::string> text = read_file(file);
  if (!text) return fail(Errors{text.error()});
  RIGHTSIZE_TRY(Trace trace, parse_trace(file, *std::move(text)));
  return ArrivalProcess(std::make_shared<const Trace>(std::move(trace)));
}

}  // namespace

Checked<ArrivalProcess> parse_arrivals(std::string_view text) {
  static const std::vector<std::string> kKinds{"poisson", "mmpp", "diurnal", "trace"};
  const std::size_t colon = text.find(':');
  const std::string kind = to_lower(trim(text.substr(0, colon)));
  const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (kind == "trace" && !rest.empty()) return read_trace(std::string(rest));
  Result<ArrivalProcess> parsed =
      fail(bad_input(fmt::format("unknown arrivals '{}'", text))
               .with_hint(did_you_mean(kind, kKinds))
               .with_hint("arrivals are poisson:RATE, mmpp:CALM,BURST,10s,1s, diurnal:MEAN,PEAK,24h or trace:FILE"));
  const bool bare = colon == std::string_view::npos && !kind.empty() && kind.front() >= '0' && kind.front() <= '9';
  if (bare) {
    const Result<RequestsPerSecond> rate = parse_request_rate(text);
    if (!rate)
      parsed = fail(rate.error());
    else if (*rate > RequestsPerSecond{})
      parsed = Poisson{*rate};
    else
      parsed = fail(bad_input("a rate of arrivals must be more than nothing"));
  } else if (kind == "poisson") {
    Result<RequestsPerSecond> rate = parse_rate(trim(rest));
    parsed = rate ? Result<ArrivalProcess>(Poisson{*rate}) : fail(rate.error());
  } else if (kind == "mmpp") {
    parsed = parse_mmpp(split_list(rest, ','));
  } else if (kind == "diurnal") {
    parsed = parse_diurnal(split_list(rest, ','));
  }
  if (!parsed) return fail(Errors{parsed.error()});
  return *std::move(parsed);
}

std::optional<RequestsPerSecond> mean_rate(const ArrivalProcess& process) {
  if (const auto* p = std::get_if<Poisson>(&process)) return p->rate;
  if (const auto* d = std::get_if<Diurnal>(&process)) return d->mean_rate;
  if (const auto* m = std::get_if<Mmpp>(&process)) {
    return (m->calm_rate * m->calm + m->burst_rate * m->burst) / (m->calm + m->burst);
  }
  const Trace& trace = *std::get<std::shared_ptr<const Trace>>(process);
  if (trace.arrivals.empty() || trace.arrivals.back().at <= 0) return std::nullopt;
  return requests(static_cast<double>(trace.arrivals.size() - 1)) / from_sim_time(trace.arrivals.back().at);
}

bool overloads(const ArrivalProcess& process, RequestsPerSecond capacity) {
  constexpr std::size_t kTooFew = 100;
  const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&process);
  if (trace != nullptr && (*trace)->arrivals.size() < kTooFew) return false;
  return mean_rate(process).value_or(RequestsPerSecond{}) >= capacity;
}

std::optional<RequestsPerSecond> peak_rate(const ArrivalProcess& process) {
  if (const auto* d = std::get_if<Diurnal>(&process)) return d->mean_rate * d->peak;
  if (const auto* m = std::get_if<Mmpp>(&process)) return std::max(m->calm_rate, m->burst_rate);
  return mean_rate(process);
}

ArrivalProcess scaled(const ArrivalProcess& process, double factor) {
  if (const auto* p = std::get_if<Poisson>(&process)) return Poisson{p->rate * factor};
  if (const auto* d = std::get_if<Diurnal>(&process)) return Diurnal{d->mean_rate * factor, d->peak, d->period};
  if (const auto* m = std::get_if<Mmpp>(&process)) {
    return Mmpp{m->calm_rate * factor, m->burst_rate * factor, m->calm, m->burst};
  }
  Trace trace = *std::get<std::shared_ptr<const Trace>>(process);
  for (Arrival& arrival : trace.arrivals) arrival.at = static_cast<SimTime>(static_cast<double>(arrival.at) / factor);
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
