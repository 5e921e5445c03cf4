#include "fleet/alternatives.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace rightsize::fleet {

bool is_different_service(const Forecast& forecast, double most_slowdown) {
  return !forecast.latency_p95 || *forecast.latency_p95 > std::max(kDifferentService, most_slowdown);
}

bool is_too_slow(const Forecast& forecast, const Thresholds& t) {
  const auto slow = [&](std::optional<double> factor) { return !factor || *factor > t.most_slowdown; };
  return slow(forecast.latency_p95) || slow(forecast.latency_peak) || forecast.too_small.high > t.most_overload;
}

namespace {

using diagnose::Verdict;

constexpr double kWorthAMove = 0.05;      // of the cost
constexpr double kWorthAProvider = 0.25;  // of the cost, if data and network move as well
constexpr double kSameSpeed = 0.95;

// Arithmetic, memory or copies are the limit: on a slower GPU the work takes longer.
bool fills_gpu(const GpuRow& gpu) {
  return gpu.verdict == Verdict::kComputeBound || gpu.verdict == Verdict::kMemoryBound ||
         gpu.verdict == Verdict::kTransferBound;
}

class Finder {
 public:
  Finder(const GpuRow& gpu, const Running& running, const AlternativeInput& input)
      : gpu_(gpu), running_(running), input_(input), summary_(summary_of(gpu.use)) {
    diagnosis_.verdict = gpu.verdict;
    diagnosis_.shares = gpu.time;
  }

  // Candidates with prices and speeds, without their load.
  std::vector<Alternative> candidates() const {
    std::vector<Alternative> found;
    for (const diagnose::Projection& there :
         diagnose::project({&summary_, &diagnosis_, gpu_.price.gpu, input_.known}, input_.speeds)) {
      Alternative one{.gpu = there.gpu, .speed = there.speed, .slow = there.slow};
      one.replaces = diagnose::may_replace(*there.gpu, *gpu_.price.gpu);
      one.fits =
          running_.memory_peak * input_.memory_factor <= there.gpu->capacity() * input_.thresholds.memory_headroom;
      set_price(one);
      found.push_back(std::move(one));
    }
    return found;
  }

  void set_load(Alternative& there) const {
    if (!there.fits || !there.replaces) return;
    const Thresholds& t = input_.thresholds;
    const double traffic = there.slow.memory * input_.traffic_factor;
    // Busy time is arithmetic, memory traffic or both. It grows by at most the larger of the two ratios, and by less if
    // the counters show how much is which. Without a bandwidth counter, only the busy time is known.
    RelativeLoad place{std::min(std::max(there.slow.arithmetic, traffic), there.speed.growth), traffic, 0};
    if (gpu_.use.metric(Metric::kDramActive) == nullptr) place.traffic = place.growth;
    place.latency = place.growth;
    there.forecast = forecast_on(place, gpu_, running_);
    if (there.full_speed = fills_gpu(gpu_); there.full_speed) {
      there.keeps_up = there.speed.low * t.most_slowdown >= 1;
      return;
    }
    const Forecast& load = there.forecast;
    const bool enough = load.load_p95 <= t.target_activity && load.too_small.likely <= t.most_overload;
    // A GPU that is at least as fast in every respect keeps up with what this one does.
    there.keeps_up = (enough && !is_too_slow(load, t)) || (place.growth <= 1 && place.traffic <= 1);
    there.only_slow = enough && !there.keeps_up;
    // Work at its own pace runs as fast as today only where it keeps up.
    diagnose::SpeedElsewhere& speed = there.speed;
    if (!there.keeps_up && is_paced(gpu_))
      speed.low = 1 / std::max({1.0, speed.growth, place.traffic}), speed.likely = speed.active,
      speed.high = speed.active_high;
  }

  // Whether the saving could be worth a move.
  bool saves(const Alternative& there) const {
    if (!there.fits || !there.replaces || !there.saved) return false;
    return *there.saved >= (there.offer->moves_provider ? kWorthAProvider : kWorthAMove) &&
           (!fills_gpu(gpu_) || there.speed.likely >= kSameSpeed);
  }

 private:
  void set_price(Alternative& there) const {
    const double speed = fills_gpu(gpu_) || !(is_paced(gpu_) || is_idle(gpu_)) ? there.speed.likely : 1;
    const auto kind = std::ranges::find(input_.offers, there.gpu, &KindOffers::gpu);
    if (kind == input_.offers.end() || speed <= 0) return;
    there.offer = kind->cheapest(speed);
    if (!there.offer || !gpu_.price.rate) return;
    const double ratio = there.offer->rate / *gpu_.price.rate;
    there.cost = ratio / speed;
    there.saved = 1 - ratio / std::min(1.0, speed);
  }

  const GpuRow& gpu_;
  const Running& running_;
  const AlternativeInput& input_;
  diagnose::Summary summary_;
  diagnose::Diagnosis diagnosis_;
};

bool has_alternatives(const GpuRow& gpu) {
  return gpu.price.gpu != nullptr && gpu.price.share >= 1 && gpu.verdict != Verdict::kUnknown;
}

}  // namespace

bool is_idle(const GpuRow& gpu) { return gpu.verdict == Verdict::kIdle || gpu.verdict == Verdict::kIdleHeld; }

bool is_paced(const GpuRow& gpu) { return gpu.verdict == Verdict::kUnderused || gpu.verdict == Verdict::kBursty; }

bool has_room(const GpuRow& gpu) {
  switch (gpu.verdict) {
    case Verdict::kUnderused:
    case Verdict::kBursty:
    case Verdict::kLaunchBound:
    case Verdict::kInputBound:
      return gpu.use.idle_share < 0.9;
    default:
      return false;
  }
}

Forecast forecast_on(const RelativeLoad& place, const GpuRow& gpu, const Running& running) {
  LoadCurve load = activity_curve(gpu, running), dram = dram_curve(gpu, running);
  load.scale(place.growth);
  dram.scale(place.traffic);
  load.at_least(dram);
  return make_forecast(load, {.p95 = std::max(running.busy_p95 * place.growth, running.dram_p95 * place.traffic),
                              .peak = std::max(running.busy_peak * place.growth, running.dram_peak * place.traffic),
                              .now_p95 = running.busy_p95,
                              .now_peak = running.busy_peak,
                              .growth = place.latency,
                              .paced = is_paced(gpu),
                              .reading = gpu.use.interval});
}

std::vector<Alternative> alternatives(const GpuRow& gpu, const Running& running, const AlternativeInput& input) {
  if (!has_alternatives(gpu)) return {};
  const Finder finder(gpu, running, input);
  std::vector<Alternative> found = finder.candidates();
  for (Alternative& there : found) finder.set_load(there);
  std::ranges::stable_sort(found, {}, [](const Alternative& a) {
    const double price = a.offer ? in_usd_per_gpu_hour(a.offer->rate) / std::max(a.speed.likely, 1e-9) : 0;
    return std::tuple((a.fits ? 0 : 8) + (a.replaces ? 0 : 4) + (a.keeps_up ? 0 : 2) + (a.offer ? 0 : 1),
                      a.cost.value_or(price));
  });
  return found;
}

std::optional<Alternative> best_alternative(const GpuRow& gpu, const Running& running, const AlternativeInput& input) {
  if (!has_alternatives(gpu) || !(fills_gpu(gpu) || has_room(gpu))) return std::nullopt;
  const Finder finder(gpu, running, input);
  std::vector<Alternative> found = finder.candidates();
  std::erase_if(found, [&](const Alternative& there) { return !finder.saves(there); });
  std::ranges::stable_sort(found, std::ranges::greater(), [](const Alternative& a) { return *a.saved; });
  const Alternative* slow = nullptr;
  for (Alternative& there : found) {
    finder.set_load(there);
    if (there.keeps_up) return there;
    if (!there.only_slow || is_different_service(there.forecast, input.thresholds.most_slowdown)) continue;
    if (slow == nullptr || *there.forecast.latency_p95 < *slow->forecast.latency_p95) slow = &there;
  }
  return slow != nullptr ? std::optional(*slow) : std::nullopt;
}

}  // namespace rightsize::fleet
