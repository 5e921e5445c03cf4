// Replicas that answer in batches: sizes and delays worth trying, and runs gone on with until the SLOs are decided.
#include <algorithm>
#include <cmath>
#include <limits>

#include "capacity/planner.h"

namespace rightsize::capacity {
namespace {

constexpr double kDelays[] = {0, 0.05, 0.2};  // for others, of the tightest limit
constexpr double kGlanceDoubt = 1.3;          // how far so short a run may be off
constexpr double kFirstDoubt = 1.1;           // and a first look, compared with another at the same requests

// Requests after which an interval is believed. Waits are alike over 1 / (1 - load)^2 requests, and it takes hundreds
// of such stretches to see their spread; a percentile stands on the requests beyond it.
std::uint64_t believed_after(const Assessment& a, const Service& service) {
  constexpr double kAlike = 1'000, kBeyond = 640;
  const double idle = 1 - std::min(0.999, a.load);
  double rarest = 1;
  for (const Slo& slo : service.slos) rarest = std::min(rarest, share_beyond(slo.at));
  return static_cast<std::uint64_t>(std::max(kAlike / (idle * idle), kBeyond / rarest));
}

// Not one request has taken longer than a limit: far fewer will lie beyond it than its percentile allows.
bool keeps_beyond_doubt(const Assessment& a, const Service& service) {
  return a.keeps(service) && !service.slos.empty() &&
         std::all_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return a.profile.longest * 1e-9 <= in_seconds(slo.limit); });
}

}  // namespace

// Sizes that could be tried, as a glance sees them.
struct Planner::Glanced {
  double excess = 0;
  Configuration configuration;
};

std::vector<std::uint64_t> Planner::batch_looks(const Configuration& c) const {
  constexpr double kGlanceTurnovers = 3, kTurnovers = 6;
  constexpr std::uint64_t kGlance = 1'000, kFirst = 8'000, kLonger = 4, kMost = 512'000;
  const std::uint64_t before = warm_up(c);
  std::vector<std::uint64_t> all{before + run_of(c, kGlanceTurnovers, kGlance)};
  for (std::uint64_t at = run_of(c, kTurnovers, kFirst); at < kMost; at *= kLonger) all.push_back(before + at);
  all.push_back(before + kMost);
  return all;
}

// Until the SLOs are clearly kept or broken, or so well known that what keeps them only just is refused: the upper end
// of the interval must lie within each limit. Another run must keep them, too: where nearly as many requests wait as
// may lie beyond a percentile, its value is that of those who do not wait in one run and far above it in another, and
// the interval of neither shows it.
Planner::Watched Planner::watch_batches(const Configuration& c) const {
  const std::vector<std::uint64_t> all = batch_looks(c);
  const auto decide = [&](std::uint64_t seed) {
    std::optional<Assessment> a;
    for (auto at = all.begin() + 1; at != all.end(); ++at) {
      a = look(c, *at, seed);
      if (!a || verdict(*a, service_) == Verdict::kBroken || keeps_beyond_doubt(*a, service_)) break;
      if (a->profile.requests + warm_up(c) < *at) break;  // a trace may end before
      const bool decided = verdict(*a, service_) == Verdict::kKept || is_tight(*a, service_, kWellKnown);
      if (decided && *at >= believed_after(*a, service_)) break;
    }
    return a;
  };
  Watched watched;
  std::optional<Assessment> one = decide(seed_);
  if (one) watched.last = *one;
  if (!one || !one->keeps(service_)) return watched;
  if (keeps_beyond_doubt(*one, service_)) {
    watched.kept = one;
    return watched;
  }
  const std::optional<Assessment> other = decide(seed_ + 1);
  if (other && !other->keeps(service_)) watched.last = *other;
  if (!other || !other->keeps(service_)) return watched;
  watched.kept = other->profile.requests > one->profile.requests ? other : one;
  return watched;
}

// What is told of batches is seen for so long that another run tells about the same. Nothing where that run breaks an
// SLO after all.
std::optional<Assessment> Planner::settled(const Assessment& found) const {
  constexpr double kAlike = 0.04;
  const Configuration& c = found.configuration;
  if (continuous(c) || service_.slos.empty()) return found;
  std::optional<Assessment> told = found;
  for (std::uint64_t at : batch_looks(c)) {
    const std::uint64_t seen = told->profile.requests + warm_up(c);
    if (seen >= at || (is_tight(*told, service_, kAlike) && seen >= believed_after(*told, service_))) continue;
    told = look(c, at, seed_);
  }
  return told->keeps(service_) ? told : std::nullopt;
}

// The sizes that are worth a closer look, soonest first. Of those that answer about as soon the smallest: after a burst
// a large batch holds up all that come behind it.
std::vector<Planner::Glanced> Planner::glances(std::size_t index, int count, double delay) const {
  constexpr double kAsSoon = 1.1;
  Seconds tightest = seconds(kInfinite);
  for (const Slo& slo : service_.slos) tightest = std::min(tightest, slo.limit);
  std::vector<Glanced> all;
  if (delay > 0 && service_.slos.empty()) return all;
  Configuration c;
  c.groups = {{index, count}};
  c.batching.max_delay = delay > 0 ? sim::to_sim_time(tightest * delay) : 0;
  int reached = std::numeric_limits<int>::max();
  double least = kInfinite;
  for (auto size = replicas_[index].sizes.rbegin(); size != replicas_[index].sizes.rend(); ++size) {
    c.batching.max_batch = *size;
    if ((delay > 0 && *size == 1) || bound(c) > 1) continue;
    // A limit that no batch reaches changes nothing: the runs are the same.
    if (delay > 0 ? reached < *size : reached <= *size) {
      all.back().configuration = c;
      continue;
    }
    const auto glance = look(c, batch_looks(c)[0], seed_);
    if (!glance) continue;
    reached = glance->profile.largest_batch;
    all.push_back({glance->excess(service_), c});
    least = std::min(least, all.back().excess);
  }
  std::reverse(all.begin(), all.end());
  std::stable_sort(all.begin(), all.end(), [&](const Glanced& a, const Glanced& b) {
    const double soon = least * kAsSoon;
    return std::max(a.excess, soon) < std::max(b.excess, soon);
  });
  return all;
}

// Sizes without delay, soonest first.
std::vector<Configuration> Planner::worth_trying(std::size_t index, int count) const {
  std::vector<Configuration> sizes;
  for (const Glanced& one : glances(index, count, 0)) sizes.push_back(one.configuration);
  return sizes;
}

// Sizes without delay, then waiting for others where a glance at the same requests sees that help. After one that broke
// an SLO only what looks better over the same requests.
std::optional<Assessment> Planner::kept_by_batches(std::size_t index, int count) const {
  std::optional<Watched> broken;
  const auto may_do_better = [&](const Configuration& c) {
    const std::uint64_t first = batch_looks(c)[1];
    const auto other = look(c, first, seed_), same = look(broken->last.configuration, first, seed_);
    return other && same &&
           broken->last.excess(service_) * other->excess(service_) <= kFirstDoubt * same->excess(service_);
  };
  double least = kInfinite;
  for (double delay : kDelays) {
    for (const Glanced& one : glances(index, count, delay)) {
      if (one.excess > std::min(kGlanceDoubt, delay > 0 ? least : kInfinite)) continue;
      least = std::min(least, one.excess);
      if (broken && !may_do_better(one.configuration)) continue;
      Watched watched = watch_batches(one.configuration);
      if (watched.kept) return watched.kept;
      if (!broken) broken = std::move(watched);
    }
  }
  return std::nullopt;
}

// What the best settings come to by a first look, or a glance where that leaves no doubt.
double Planner::excess_of_batches(std::size_t replica, int count, double aim, bool at_best) const {
  constexpr double kFarAbove = 1.5, kFarBelow = 0.6;
  constexpr std::size_t kSizes = 2;
  double least = kInfinite, glanced = kInfinite;
  for (double delay : kDelays) {
    const std::vector<Glanced> all = glances(replica, count, delay);
    double here = kInfinite;
    for (const Glanced& one : all) here = std::min(here, one.excess);
    if (here >= glanced) continue;  // waiting for others does not help
    glanced = here;
    if (glanced > kFarAbove * aim || glanced < kFarBelow * aim) return glanced;
    for (std::size_t i = 0; i < std::min(kSizes, all.size()); ++i) {
      const Configuration& c = all[i].configuration;
      const auto seen = look(c, batch_looks(c)[1], seed_);
      if (seen) least = std::min(least, at_best ? seen->least_excess(service_) : seen->excess(service_));
    }
    if (!at_best || least <= aim) break;
  }
  return least;
}

bool Planner::batches_may_do_with(const Assessment& kept, int fewer) const {
  const std::size_t replica = kept.configuration.groups.front().replica;
  return excess_of_batches(replica, fewer, 1, true) <= kFirstDoubt;
}

}  // namespace rightsize::capacity
