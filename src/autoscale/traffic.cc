#include "autoscale/traffic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "base/cancel.h"
#include "base/random.h"

namespace rightsize::autoscale {
namespace {

using sim::Arrival;
using sim::ArrivalStream;

class PartStream final : public ArrivalStream {
 public:
  PartStream(std::unique_ptr<ArrivalStream> inner, SimTime from, SimTime to)
      : inner_(std::move(inner)), from_(from), to_(to) {}

  std::size_t fill(std::span<Arrival> block) override {
    for (;;) {
      const std::size_t got = inner_->fill(block);
      const auto end = std::find_if(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(got),
                                    [&](const Arrival& a) { return a.at >= to_; });
      const auto begin = std::find_if(block.begin(), end, [&](const Arrival& a) { return a.at >= from_; });
      const bool ends = got < block.size() || end != block.end();
      if (begin == block.begin() || ends)
        return static_cast<std::size_t>(std::move(begin, end, block.begin()) - block.begin());
      if (begin == end) continue;
      // Fewer than a whole block would mean the end, so the first one is completed.
      const auto kept = static_cast<std::size_t>(std::move(begin, end, block.begin()) - block.begin());
      return kept + fill(block.subspan(kept));
    }
  }

 private:
  std::unique_ptr<ArrivalStream> inner_;
  SimTime from_, to_;
};

// A Poisson process with a changing rate: one request per second on average, on a clock that runs at the rate of each
// slot.
class SlotStream final : public ArrivalStream {
 public:
  SlotStream(std::vector<double> rates, SimTime width, std::unique_ptr<ArrivalStream> steady)
      : rates_(std::move(rates)), width_(static_cast<double>(width) * 1e-9), steady_(std::move(steady)) {}

  std::size_t fill(std::span<Arrival> block) override {
    const std::size_t got = steady_->fill(block);
    for (std::size_t i = 0; i < got; ++i) {
      const double due = static_cast<double>(block[i].at) * 1e-9;  // requests expected so far
      while (due - passed_ > rates_[slot_ % rates_.size()] * width_)
        passed_ += rates_[slot_ % rates_.size()] * width_, ++slot_;
      const double into = (due - passed_) / rates_[slot_ % rates_.size()];
      block[i].at = sim::to_sim_time(seconds(static_cast<double>(slot_) * width_ + into));
    }
    return got;
  }

 private:
  std::vector<double> rates_;
  double width_, passed_ = 0;
  std::size_t slot_ = 0;
  std::unique_ptr<ArrivalStream> steady_;
};

// Requests that are already drawn.
class DrawnStream final : public ArrivalStream {
 public:
  explicit DrawnStream(std::shared_ptr<const std::vector<Arrival>> all) : all_(std::move(all)) {}

  std::size_t fill(std::span<Arrival> block) override {
    const std::size_t got = std::min(block.size(), all_->size() - at_);
    std::copy_n(all_->begin() + static_cast<std::ptrdiff_t>(at_), got, block.begin());
    at_ += got;
    return got;
  }

 private:
  std::shared_ptr<const std::vector<Arrival>> all_;
  std::size_t at_ = 0;
};

// Draws the requests once for all streams, unless there are too many to keep.
Traffic drawn_once(Traffic traffic) {
  constexpr std::size_t kMost = 1 << 20, kBlock = 4096;
  struct Drawn {
    std::once_flag once;
    std::shared_ptr<const std::vector<Arrival>> all;
  };
  return [traffic = std::move(traffic), drawn = std::make_shared<Drawn>()]() -> std::unique_ptr<ArrivalStream> {
    std::call_once(drawn->once, [&] {
      std::vector<Arrival> all;
      const std::unique_ptr<ArrivalStream> stream = traffic();
      for (bool more = true; more;) {
        if (all.size() > kMost || cancelled()) return;
        const std::size_t before = all.size();
        all.resize(before + kBlock);
        const std::size_t got = stream->fill(std::span(all).subspan(before));
        all.resize(before + got);
        more = got == kBlock;
      }
      drawn->all = std::make_shared<const std::vector<Arrival>>(std::move(all));
    });
    if (drawn->all) return std::make_unique<DrawnStream>(drawn->all);
    return traffic();
  };
}

class NoStream final : public ArrivalStream {
 public:
  std::size_t fill(std::span<Arrival>) override { return 0; }
};

// A whole number from a Poisson distribution.
double poisson(double mean, Random& random) {
  constexpr double kLarge = 50;  // close to normal
  if (mean > kLarge) return std::max(0.0, std::round(mean + std::sqrt(mean) * random.normal()));
  double count = 0;
  for (double passed = random.exponential(); passed < mean; passed += random.exponential()) ++count;
  return count;
}

}  // namespace

Traffic part(Traffic traffic, SimTime from, SimTime to) {
  if (from <= 0 && to == sim::kNever) return traffic;
  return [traffic = std::move(traffic), from, to] { return std::make_unique<PartStream>(traffic(), from, to); };
}

Traffic replay(const sim::ArrivalProcess& process, const sim::RequestShape& shape, std::uint64_t seed,
               SimTime horizon) {
  Traffic traffic = part([process, shape, seed] { return sim::open_stream(process, seed, shape); }, 0, horizon);
  const bool endless = horizon == sim::kNever;
  return endless || sim::trace_of(process) != nullptr ? traffic : drawn_once(std::move(traffic));
}

Traffic by_slots(std::vector<double> rates, SimTime width, const sim::RequestShape& shape, std::uint64_t seed,
                 SimTime horizon) {
  double sum = 0;
  for (double rate : rates) sum += rate;
  if (!(sum > 0)) return [] { return std::make_unique<NoStream>(); };
  return drawn_once(part(
      [rates = std::move(rates), width, shape, seed] {
        return std::make_unique<SlotStream>(rates, width,
                                            sim::open_stream(sim::Poisson{requests_per_s(1)}, seed, shape));
      },
      0, horizon));
}

DemandSeries demand_of(const Traffic& traffic, SimTime width) {
  DemandSeries series{width, {}, {}};
  const std::unique_ptr<ArrivalStream> stream = traffic();
  std::array<Arrival, 512> block;
  for (std::size_t got = block.size(); got == block.size();) {
    got = stream->fill(block);
    for (std::size_t i = 0; i < got; ++i) {
      const auto at = static_cast<std::size_t>(block[i].at / width);
      if (at >= series.slots.size()) series.slots.resize(at + 1);
      for (Demand* sum : {&series.slots[at], &series.total})
        sum->requests += 1, sum->prompt_tokens += block[i].size, sum->output_tokens += block[i].output;
    }
  }
  return series;
}

DemandSeries drawn_demand(const sim::Diurnal& process, const sim::RequestShape& shape, std::uint64_t seed,
                          SimTime horizon, SimTime width) {
  DemandSeries series{width, {}, {}};
  Random random(seed);
  for (SimTime from = 0; from < horizon; from += width) {
    const SimTime to = std::min(horizon, from + width);
    const double share = process.share_of_peak(sim::from_sim_time((from + to) / 2));
    const double requests =
        poisson(in_requests_per_s(process.mean_rate * process.peak) * share * in_seconds(sim::from_sim_time(to - from)),
                random);
    const Demand demand{requests, requests * shape.size, requests * shape.output};
    series.slots.push_back(demand);
    series.total.requests += demand.requests;
    series.total.prompt_tokens += demand.prompt_tokens, series.total.output_tokens += demand.output_tokens;
  }
  return series;
}

}  // namespace rightsize::autoscale
