// Remedies for single GPUs: stop or park what runs there, a smaller GPU, quantization, a commitment.
#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "fleet/remedies.h"

namespace rightsize::fleet {
namespace {

using diagnose::Verdict;

constexpr Seconds kCommitAfter = hours(7 * 24 * 0.98);  // the first reading of a week may be late

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

bool is_weekend(TimePoint time) {
  const auto day = static_cast<long>(in_hours(time.since_epoch()) / 24);  // 1970-01-01 was a Thursday
  return day % 7 == 2 || day % 7 == 3;
}

// Calls `use` with every step: whether it was idle, its hour of the day, and whether it was at a weekend.
template <class Use>
void each_step(const GpuRow& gpu, const Running& running, const Use& use) {
  const Profile& profile = gpu.use.profile;
  for (std::size_t i = running.first_step; i < profile.idle.size(); ++i) {
    const TimePoint begin = profile.begin_of(i);
    if (!std::isnan(profile.idle[i]))
      use(profile.idle[i] > 0.99F, std::fmod(in_hours(begin.since_epoch()), 24.0), is_weekend(begin));
  }
}

// When the GPU worked. Weekends are left out if it was idle on two days of them.
DailyHours working_hours(const GpuRow& gpu, const Running& running) {
  const Seconds width = gpu.use.profile.width;
  DailyHours worked{.from = 24, .until = 0, .weekdays_only = true};
  Seconds weekend;
  each_step(gpu, running, [&](bool idle, double hour, bool at_weekend) {
    if (at_weekend) weekend += width;
    if (idle) return;
    worked.from = std::min(worked.from, static_cast<int>(hour));
    worked.until = std::max(worked.until, static_cast<int>(std::ceil(hour + in_hours(width))));
    worked.weekdays_only = worked.weekdays_only && !at_weekend;
  });
  worked.until = std::min(worked.until, 24);
  worked.weekdays_only = worked.weekdays_only && weekend >= hours(48);
  return worked.valid() ? worked : DailyHours{};
}
// The share of its time outside these hours.
double share_outside(const DailyHours& within, const GpuRow& gpu, const Running& running) {
  double all = 0, outside = 0;
  each_step(gpu, running, [&](bool, double hour, bool at_weekend) {
    all += 1;
    outside += hour < within.from || hour >= within.until || (within.weekdays_only && at_weekend) ? 1 : 0;
  });
  return all > 0 ? outside / all : 0;
}

// All replicas of a workload have one schedule, so each saves only the hours outside of it.
void join_schedules(std::vector<Remedy>& found, const RemedyInput& input) {
  std::map<std::string, DailyHours> schedules;
  const auto joins = [](const Remedy& r) { return r.kind == RemedyKind::kPark && r.hours.valid(); };
  for (const Remedy& remedy : found) {
    if (!joins(remedy)) continue;
    DailyHours& all = schedules.try_emplace(remedy.owner, remedy.hours).first->second;
    all.from = std::min(all.from, remedy.hours.from);
    all.until = std::max(all.until, remedy.hours.until);
    all.weekdays_only = all.weekdays_only && remedy.hours.weekdays_only;
  }
  for (Remedy& remedy : found) {
    if (!joins(remedy)) continue;
    const std::size_t row = remedy.gpus.front();
    remedy.hours = schedules.at(remedy.owner);
    remedy.counted = remedy.counted && remedy.hours.valid();
    if (remedy.hours.valid())
      remedy.saving = std::min(remedy.saving, input.gpus[row].spend_rate() *
                                                  share_outside(remedy.hours, input.gpus[row], input.running[row]));
  }
}

// Whether the GPU worked on at least half of the days. One working day among several is not a schedule.
bool works_regularly(const GpuRow& gpu, const Running& running) {
  const Profile& profile = gpu.use.profile;
  std::map<long, bool> worked;  // by day
  for (std::size_t i = running.first_step; i < profile.idle.size(); ++i) {
    if (std::isnan(profile.idle[i])) continue;
    bool& day = worked[static_cast<long>((profile.begin_of(i) - profile.start) / hours(24))];
    day = day || profile.idle[i] <= 0.99F;
  }
  const auto days = std::ranges::count_if(worked, [](const auto& day) { return day.second; });
  return worked.size() < 2 || (days >= 2 && 2 * days >= std::ssize(worked));
}

Remedy remedy_for(RemedyKind kind, const RemedyInput& input, std::size_t row, std::string to) {
  Remedy remedy{.kind = kind, .gpus = {row}};
  remedy.owner = input.running[row].owner().shown();
  remedy.gpu = gpu_name(input.gpus[row]);
  remedy.moves = moves_of(input, row, to);
  remedy.to = std::move(to);
  return remedy;
}

// Kernels that fill almost no SM are work, too: the engine is active although the SM counters are nearly 0.
bool runs_tiny_kernels(const GpuRow& gpu) {
  constexpr double kNotNoise = 0.05;
  const auto active = [&](Metric metric) {
    return gpu.use.metric(metric) != nullptr ? gpu.use.metric(metric)->mean : 0;
  };
  const double engine = std::max(active(Metric::kGraphicsActive), active(Metric::kGpuUtil));
  return engine > 1 - gpu.use.idle_share + kNotNoise;
}

// A service with few requests looks the same as an unneeded one, so readings alone are no reason to stop it.
std::optional<Remedy> review(const RemedyInput& input, std::size_t row) {
  if (input.running[row].busy_p95 > kNearlyIdle || input.running[row].owners.empty()) return std::nullopt;
  Remedy ask = remedy_for(RemedyKind::kReview, input, row, "none");
  ask.saving = input.gpus[row].spend_rate();
  ask.confidence = input.gpus[row].confidence * 0.3;
  ask.counted = false;
  return ask;
}

// Whether work ended and still holds its GPU: idle up to the last reading, and far longer than in any pause before.
bool has_ended(const GpuRow& gpu, const Running& running, Seconds min_age) {
  const Profile& profile = gpu.use.profile;
  Seconds pause, longest;
  bool worked = false;
  for (std::size_t i = running.first_step; i < profile.idle.size(); ++i) {
    if (std::isnan(profile.idle[i])) continue;
    const bool idle = profile.idle[i] > 0.99F;
    if (!idle) longest = std::max(longest, pause), worked = true;
    pause = idle ? pause + profile.width : Seconds{};
  }
  return worked && pause >= 2 * min_age && pause >= 3 * longest;
}

std::optional<Remedy> stop_or_park(const RemedyInput& input, std::size_t row) {
  const GpuRow& gpu = input.gpus[row];
  if (runs_tiny_kernels(gpu)) return std::nullopt;
  const Running& running = input.running[row];
  const Thresholds& t = input.thresholds;
  const bool ended = running.watched && !running.owners.empty() && has_ended(gpu, running, t.min_age);
  if (ended || (running.idle_share >= t.stop_idle_share && running.quiet)) {
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
  double share = parkable_share(gpu, running, t.park_after);
  if (share < t.park_share) return review(input, row);
  Remedy park = remedy_for(RemedyKind::kPark, input, row, "scaled to zero when idle");
  park.hours = working_hours(gpu, running);
  const double outside = share_outside(park.hours, gpu, running);
  // A schedule also runs in idle hours between others. If these are most of them, only requests can scale the work.
  if (park.hours.valid() && outside >= share / 2) {
    share = std::min(share, outside);
  } else {
    park.hours = {};
  }
  park.saving = gpu.spend_rate() * share;
  park.confidence = gpu.confidence * 0.8;
  park.counted = park.hours.valid() && works_regularly(gpu, running) && is_scalable(running.owner());
  return park;
}

// The cache key of offers for a GPU: its kind, its price, and the number of GPUs that may move.
auto price_key(const GpuPrice& price, std::size_t together) {
  return std::tuple(price.gpu, price.machine, price.home + price.provider + price.region, *price.rate, together);
}
template <class Value>
using PerPrice = std::map<decltype(price_key(GpuPrice{}, 1)), Value>;

struct Downsizing {
  PerPrice<std::vector<KindOffers>> offers = {};
  std::map<std::pair<std::string, std::string>, std::size_t> together = {};     // GPUs by owner and kind
  std::map<std::pair<std::string, std::string>, std::size_t> of_instance = {};  // GPUs by team and pod or job
};

std::optional<Remedy> smaller_gpu(RemedyKind kind, const RemedyInput& input, std::size_t row, Downsizing& known,
                                  double memory_factor, double traffic_factor) {
  const GpuRow& gpu = input.gpus[row];
  const Running& running = input.running[row];
  if (!gpu.price.rate || running.memory_peak <= Bytes{}) return std::nullopt;
  const std::size_t together = known.together[{running.owner().shown(), gpu_name(gpu)}];
  const auto [offers, is_new] = known.offers.try_emplace(price_key(gpu.price, together));
  if (is_new) offers->second = input.prices.offers_instead_of(gpu.price, together);
  const std::optional<Alternative> best = best_alternative(gpu, running,
                                                           {.speeds = input.speeds,
                                                            .thresholds = input.thresholds,
                                                            .offers = offers->second,
                                                            .memory_factor = memory_factor,
                                                            .traffic_factor = traffic_factor});
  if (!best) return std::nullopt;
  const Replacement& other = *best->offer;
  const std::string where =
      other.machine == nullptr ? "yours" : fmt::format("{} {}", other.machine->provider, other.machine->instance);
  Remedy remedy = remedy_for(kind, input, row, fmt::format("{} ({})", other.gpu->name, where));
  remedy.saving = gpu.spend_rate() * *best->saved;
  remedy.confidence = gpu.confidence * (kind == RemedyKind::kDownsize ? 0.7 : 0.5);
  if (has_room(gpu)) {
    remedy.forecast = best->forecast;
  } else {
    remedy.speed = best->speed.likely;
  }
  remedy.instead = other;
  // Work that fills its GPU would only move to a cheaper provider.
  const Owner& owner = running.owner();
  const bool spans = known.of_instance[{owner.team, owner.instance}] > 1 || (!is_scalable(owner) && together > 1);
  remedy.loses_link =
      !owner.instance.empty() && spans && gpu.price.gpu->nvlink_kind != "none" && other.gpu->nvlink_kind == "none";
  remedy.moves_provider = best->keeps_up && other.moves_provider;
  // No command quantizes someone's model, or shows that it only serves.
  remedy.counted = best->keeps_up && !other.moves_provider && !remedy.loses_link && kind != RemedyKind::kQuantize;
  return remedy;
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
  join_schedules(found, input);
  // A GPU that nothing uses saves money if nothing uses the rest of its machine.
  std::map<std::string, int> in_use;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) in_use[input.gpus[i].use.device.host] += input.running[i].here;
  const auto rest_of = [&](const Remedy& remedy) -> int& { return in_use[input.gpus[remedy.gpus[0]].use.device.host]; };
  for (const Remedy& remedy : found) rest_of(remedy) -= remedy.kind == RemedyKind::kGiveBack;
  for (Remedy& remedy : found)
    remedy.counted = remedy.counted && (remedy.kind != RemedyKind::kGiveBack || rest_of(remedy) <= 0);
  return found;
}

std::vector<Remedy> find_downsizes(const RemedyInput& input) {
  std::vector<Remedy> found;
  Downsizing known;
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const Owner& owner = input.running[i].owner();
    ++known.together[{owner.shown(), gpu_name(input.gpus[i])}];
    ++known.of_instance[{owner.team, owner.instance}];
  }
  auto add = [&](RemedyKind kind, std::size_t row, double memory, double traffic) {
    if (auto remedy = smaller_gpu(kind, input, row, known, memory, traffic)) found.push_back(*std::move(remedy));
  };
  for (std::size_t i = 0; i < input.gpus.size(); ++i) {
    const GpuRow& gpu = input.gpus[i];
    const bool memory_bound = gpu.verdict == Verdict::kMemoryBound;
    if (!input.running[i].actionable()) continue;
    add(RemedyKind::kDownsize, i, 1, 1);
    // Weights in 8 bits halve the memory reads per token of a memory-bound workload; caches and activations do not
    // shrink.
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
    const auto [known, is_new] = offers.try_emplace(price_key(gpu.price, 1));
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
  // Providers sell years of whole machines, and a few busy days are no reason to pay for a year.
  std::map<std::string, int> on_host;
  for (const Remedy& remedy : found) ++on_host[input.gpus[remedy.gpus.front()].use.device.host];
  const bool long_enough = window_of(input.gpus).length() >= kCommitAfter;
  for (Remedy& remedy : found) {
    const GpuRow& gpu = input.gpus[remedy.gpus.front()];
    const int whole = gpu.price.machine == nullptr ? 1 : gpu.price.machine->gpus;
    remedy.counted = long_enough && on_host[gpu.use.device.host] >= whole;
  }
  return found;
}

}  // namespace rightsize::fleet
