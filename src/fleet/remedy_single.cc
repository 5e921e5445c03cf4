// Remedies for single GPUs: stop or park what runs there, a smaller GPU, quantization, a commitment.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "diagnose/project.h"
#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

// Share of the recorded time in idle periods of at least `least`.
double parkable_share(const GpuRow& gpu, const Running& running, Seconds least) {
  const Profile& profile = gpu.use.profile;
  double parked = 0, all = 0, run = 0;
  auto end_run = [&] {
    if (run * profile.width >= least) parked += run;
    run = 0;
  };
  for (std::size_t i = running.first_step; i < profile.idle.size(); ++i) {
    if (std::isnan(profile.idle[i])) {
      end_run();
      continue;
    }
    all += 1;
    if (profile.idle[i] > 0.99F) {
      run += 1;
    } else {
      end_run();
    }
  }
  end_run();
  return all > 0 ? parked / all : 0;
}

// The hours of the day (UTC) in which it worked: [from, until).
std::pair<int, int> working_hours(const GpuRow& gpu, const Running& running) {
  const Profile& profile = gpu.use.profile;
  int first = 24, last = 0;
  for (std::size_t i = running.first_step; i < profile.idle.size(); ++i) {
    if (std::isnan(profile.idle[i]) || profile.idle[i] > 0.99F) continue;
    const double begin = std::fmod(in_hours(profile.begin_of(i).since_epoch()), 24.0);
    first = std::min(first, static_cast<int>(begin));
    last = std::max(last, static_cast<int>(std::ceil(begin + in_hours(profile.width))));
  }
  return first < std::min(last, 24) ? std::pair(first, std::min(last, 24)) : std::pair(0, 24);
}

Remedy remedy_for(RemedyKind kind, const RemedyInput& input, std::size_t row, std::string to) {
  Remedy remedy{.kind = kind, .gpus = {row}};
  remedy.owner = input.running[row].owner().shown();
  remedy.gpu = gpu_name(input.gpus[row]);
  remedy.moves = moves_of(input, row, to);
  remedy.to = std::move(to);
  return remedy;
}

std::optional<Remedy> stop_or_park(const RemedyInput& input, std::size_t row) {
  const GpuRow& gpu = input.gpus[row];
  const Running& running = input.running[row];
  const Thresholds& t = input.thresholds;
  if (running.idle_share >= t.stop_idle_share && running.quiet) {
    const bool held = !running.owners.empty() || running.held_share > running.idle_share / 2;
    const RemedyKind kind = !running.watched ? RemedyKind::kWatch : held ? RemedyKind::kStop : RemedyKind::kGiveBack;
    Remedy stop = remedy_for(kind, input, row, "none");
    if (!held) stop.owner = kUnowned;
    stop.saving = gpu.spend_rate() * running.idle_share;
    stop.confidence = gpu.confidence * (running.watched ? 1 : 0.5);
    stop.counted = running.watched;
    return stop;
  }
  if (!running.watched) return std::nullopt;
  const double share = parkable_share(gpu, running, t.park_after);
  if (share < t.park_share) return std::nullopt;
  Remedy park = remedy_for(RemedyKind::kPark, input, row, "scaled to zero when idle");
  park.saving = gpu.spend_rate() * share;
  park.confidence = gpu.confidence * 0.8;
  std::tie(park.from_hour, park.until_hour) = working_hours(gpu, running);
  return park;
}

std::optional<RelativeLoad> place_on(const catalog::Gpu& now, const catalog::Gpu& other, double traffic_factor,
                                     const perf::SpeedTable& speeds, const std::map<std::string, double>& projected) {
  const perf::SustainedRates *here = speeds.find(now), *there = speeds.find(other);
  if (here == nullptr || there == nullptr) return std::nullopt;
  const auto slow = perf::slowdown(*here, *there, catalog::NumberFormat::kBf16);
  if (!slow) return std::nullopt;
  // Busy time is arithmetic, memory traffic or both. It grows by at most the larger of the two ratios, and by less if
  // the counters show how much is which.
  const double traffic = slow->memory * traffic_factor;
  RelativeLoad place{std::max(slow->arithmetic, traffic), traffic, 0};
  if (const auto known = projected.find(other.name); known != projected.end())
    place.growth = std::min(place.growth, known->second);
  place.latency = place.growth;
  return place;
}

// What an offer for a GPU depends on, so that it is searched for once per kind and price.
auto price_key(const GpuPrice& price) {
  return std::tuple(price.gpu, price.machine, price.provider + price.region, *price.rate);
}
template <class Value>
using PerPrice = std::map<decltype(price_key(GpuPrice{})), Value>;

// Whether the work would become much slower, or the GPU too small more often than allowed at the upper bound.
bool is_too_slow(const Forecast& forecast, const Thresholds& t) {
  const auto slow = [&](std::optional<double> factor) { return !factor || *factor > t.most_slowdown; };
  return slow(forecast.latency_p95) || slow(forecast.latency_peak) || forecast.too_small.high > t.most_overload;
}

// The cheapest GPU that is sufficient for the work with this share of its memory and traffic. If all of them slow it
// down too much, the cheapest of these, which does not count.
std::optional<Remedy> smaller_gpu(RemedyKind kind, const RemedyInput& input, std::size_t row,
                                  PerPrice<std::vector<Replacement>>& cheaper, double memory_factor,
                                  double traffic_factor) {
  const GpuRow& gpu = input.gpus[row];
  const Running& running = input.running[row];
  if (gpu.price.gpu == nullptr || !gpu.price.rate || gpu.price.share < 1 || running.memory_peak <= Bytes{})
    return std::nullopt;
  const std::map<std::string, double> projected = projected_growth(gpu, input.speeds);
  const auto [others, is_new] = cheaper.try_emplace(price_key(gpu.price));
  if (is_new) others->second = input.prices.cheaper_than(gpu.price);
  std::optional<Remedy> slow;
  for (const Replacement& other : others->second) {
    if (running.memory_peak * memory_factor > other.gpu->capacity() * input.thresholds.memory_headroom) continue;
    std::optional<RelativeLoad> place = place_on(*gpu.price.gpu, *other.gpu, traffic_factor, input.speeds, projected);
    if (!place) continue;
    // Without a counter of bandwidth, the projection of the busy time is all that is known.
    if (!gpu.use.metric(Metric::kDramActive) && projected.contains(other.gpu->name)) place->traffic = place->growth;
    const Forecast forecast = forecast_on(*place, gpu, running);
    if (forecast.load_p95 > input.thresholds.target_activity) continue;
    if (forecast.too_small.likely > input.thresholds.most_overload) continue;
    const bool too_slow = is_too_slow(forecast, input.thresholds);
    if (too_slow && slow) continue;
    const std::string where =
        other.machine == nullptr ? "yours" : fmt::format("{} {}", other.machine->provider, other.machine->instance);
    Remedy remedy = remedy_for(kind, input, row, fmt::format("{} ({})", other.gpu->name, where));
    remedy.saving = gpu.spend_rate() * (1 - other.rate / *gpu.price.rate);
    remedy.confidence = gpu.confidence * (kind == RemedyKind::kDownsize ? 0.7 : 0.5);
    remedy.forecast = forecast;
    remedy.instead = other;
    remedy.counted = !too_slow;
    if (!too_slow) return remedy;  // the cheapest comes first
    slow = std::move(remedy);
  }
  return slow;
}

}  // namespace

bool are_whole_instances(const RemedyInput& input, const std::vector<std::size_t>& gpus) {
  const std::set<std::size_t> among(gpus.begin(), gpus.end());
  std::set<std::pair<std::string, std::string>> instances;
  for (std::size_t gpu : gpus) {
    for (const Tenancy* t : input.running[gpu].owners) {
      if (!t->owner.instance.empty()) instances.insert({t->owner.team, t->owner.instance});
    }
  }
  for (std::size_t i = 0; i < input.running.size() && !instances.empty(); ++i) {
    if (!input.running[i].here || among.contains(i)) continue;
    for (const Tenancy* t : input.running[i].owners) {
      if (instances.contains({t->owner.team, t->owner.instance})) return false;
    }
  }
  return true;
}

std::vector<Remedy> find_stops(const RemedyInput& input) {
  // A pod or job can be stopped or parked if the same remedy applies to all of its GPUs.
  struct Instance {
    std::size_t gpus = 0, idle = 0;
    std::set<RemedyKind> kinds = {};
  };
  std::map<std::pair<std::string, std::string>, Instance> instances;
  const auto each = [&](std::size_t row, const auto& use) {
    for (const Tenancy* t : input.running[row].owners) {
      if (!t->owner.instance.empty()) use(instances[{t->owner.team, t->owner.instance}]);
    }
  };
  std::vector<Remedy> found;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    if (input.running[i].here) each(i, [](Instance& instance) { ++instance.gpus; });
    if (!input.gpus[i].use.activity() || !input.running[i].actionable()) continue;
    std::optional<Remedy> remedy = stop_or_park(input, i);
    if (!remedy) continue;
    each(i, [&](Instance& instance) {
      ++instance.idle;
      instance.kinds.insert(remedy->kind);
    });
    found.push_back(*std::move(remedy));
  }
  std::erase_if(found, [&](const Remedy& remedy) {
    bool in_part = false;
    each(remedy.gpus.front(), [&](const Instance& instance) {
      in_part = in_part || instance.idle < instance.gpus || instance.kinds.size() > 1;
    });
    return in_part;
  });
  return found;
}

std::map<std::string, double> projected_growth(const GpuRow& gpu, const perf::SpeedTable& speeds) {
  const double busy = 1 - gpu.time.wait;
  if (gpu.price.gpu == nullptr || !is_paced(gpu) || busy <= 0) return {};
  const diagnose::Summary summary = summary_of(gpu.use);
  diagnose::Diagnosis diagnosis;
  diagnosis.verdict = gpu.verdict;
  diagnosis.shares = gpu.time;
  std::map<std::string, double> growth;
  for (const diagnose::Projection& there : diagnose::project({&summary, &diagnosis, gpu.price.gpu}, speeds, nullptr)) {
    // A GPU that would be busy all the time gives no factor that could be applied to a peak.
    if (there.speed.busy_high < 1) growth[there.gpu->name] = there.speed.busy_high / busy;
  }
  return growth;
}

std::vector<Remedy> find_downsizes(const RemedyInput& input) {
  std::vector<Remedy> found;
  PerPrice<std::vector<Replacement>> cheaper;
  auto add = [&](RemedyKind kind, std::size_t row, double memory, double traffic) {
    if (auto remedy = smaller_gpu(kind, input, row, cheaper, memory, traffic)) found.push_back(*std::move(remedy));
  };
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    const bool memory_bound = gpu.verdict == Verdict::kMemoryBound;
    if (!input.running[i].actionable() || (!has_room(gpu) && !memory_bound)) continue;
    add(RemedyKind::kDownsize, i, 1, 1);
    // Weights in 8 bits halve what a memory-bound workload reads per token; caches and activations do not shrink.
    if (memory_bound) add(RemedyKind::kQuantize, i, 0.6, 0.6);
  }
  return found;
}

std::vector<Remedy> find_commitments(const RemedyInput& input) {
  std::vector<Remedy> found;
  PerPrice<std::optional<Replacement>> offers;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    const bool stable = gpu.presence >= input.thresholds.stable_share && gpu.use.activity() && gpu.use.idle_share < 0.5;
    if (!input.running[i].actionable() || !stable || gpu.price.share < 1 || !gpu.price.rate || gpu.use.from_job_log)
      continue;
    const auto [known, is_new] = offers.try_emplace(price_key(gpu.price));
    if (is_new) known->second = input.prices.commitment_for(gpu.price);
    const std::optional<Replacement>& offer = known->second;
    if (!offer) continue;
    Remedy remedy = remedy_for(RemedyKind::kCommit, input, i, "1 year: " + offer->source);
    remedy.owner.clear();  // a commitment is for the whole fleet
    remedy.moves.clear();
    remedy.saving = gpu.spend_rate() * (1 - offer->rate / *gpu.price.rate);
    remedy.confidence = 0.6;
    remedy.instead = offer;
    found.push_back(std::move(remedy));
  }
  return found;
}

}  // namespace rightsize::fleet
