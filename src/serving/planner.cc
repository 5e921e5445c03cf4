#include "serving/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "serving/screen.h"
#include "sim/closed_form.h"

namespace rightsize::serving {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }
double finite_or(double value, double otherwise) { return std::isfinite(value) ? value : otherwise; }

const sim::StatisticValues& values_of(const Assessment& a, Quantity quantity) {
  return quantity == Quantity::kTtft ? a.ttft : quantity == Quantity::kTpot ? a.tpot : a.profile.latency;
}

}  // namespace

int Configuration::replicas() const {
  int sum = 0;
  for (const Group& group : groups) sum += group.count;
  return sum;
}

Seconds Assessment::value(Quantity quantity, Statistic at) const {
  return from_ns(sim::value_of(values_of(*this, quantity), at));
}

Seconds Assessment::half_width(const Slo& slo) const {
  const sim::StatisticValues& widths = slo.quantity == Quantity::kTtft   ? ttft_half_width
                                       : slo.quantity == Quantity::kTpot ? tpot_half_width
                                                                         : profile.half_width;
  return from_ns(sim::value_of(widths, slo.at));
}

double Assessment::rejected_share() const {
  return profile.requests > 0 ? static_cast<double>(profile.rejected) / static_cast<double>(profile.requests) : 0;
}

double Assessment::excess(const Service& service) const {
  double worst = 0;
  for (const Slo& slo : service.slos) worst = std::max(worst, value(slo) / slo.limit);
  return worst;
}

bool Assessment::keeps(const Service& service) const {
  if (rejected_share() > service.most_rejected) return false;
  return std::all_of(service.slos.begin(), service.slos.end(), [&](const Slo& slo) {
    return in_seconds(value(slo)) + finite_or(in_seconds(half_width(slo)), 0) <= in_seconds(slo.limit);
  });
}

std::size_t Planner::add(Replica replica) {
  replicas_.push_back(std::move(replica));
  return replicas_.size() - 1;
}

sim::Server Planner::server_of(const Configuration& c) const {
  sim::Server server;
  for (const Group& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    server.gpus.insert(server.gpus.end(), static_cast<std::size_t>(group.count),
                       {replica.times, c.executors, replica.overlap});
  }
  server.queue = service_.queue;
  server.priorities = service_.priorities;
  server.batching = c.batching;
  return server;
}

sim::ContinuousServer Planner::engine_of(const Configuration& c) const {
  sim::ContinuousServer server;
  for (const Group& group : c.groups)
    server.replicas.insert(server.replicas.end(), static_cast<std::size_t>(group.count), replicas_[group.replica].step);
  server.batching = c.engine;
  return server;
}

double Planner::capacity(const Configuration& c) const {
  if (!continuous(c)) return sim::capacity(server_of(c));
  return sim::capacity(engine_of(c), sim::mean_shape(service_.arrivals, service_.lengths));
}

double Planner::bound(const Configuration& c) const {
  const bool sheds = !service_.queue.never_acts();
  const double most = service_.max_load.value_or(usual_most_load(c.replicas()));
  if (!sheds && sim::overloads(service_.arrivals, most * capacity(c))) return kInfinite;
  double worst = 0;
  for (const Slo& slo : service_.slos) {
    double least = kInfinite;
    if (continuous(c)) {
      for (const Group& group : c.groups)
        least = std::min(least, in_seconds(unloaded(service_, replicas_[group.replica], slo.quantity)));
    } else {
      least = sim::latency_lower_bound(server_of(c), service_.arrivals, slo.at) * 1e-9;
    }
    worst = std::max(worst, least / in_seconds(slo.limit));
  }
  return worst;
}

std::optional<Assessment> Planner::assess(const Configuration& c, const sim::RunLength& length, double density) const {
  const sim::ArrivalProcess arrivals = density == 1 ? service_.arrivals : sim::scaled(service_.arrivals, density);
  Assessment a;
  a.configuration = c;
  if (continuous(c)) {
    std::optional<sim::ContinuousProfile> run = sim::simulate(engine_of(c), arrivals, service_.lengths, length);
    if (!run) return std::nullopt;
    a.profile = run->all;
    a.ttft = run->ttft, a.tpot = run->tpot;
    a.ttft_half_width = run->ttft_half_width, a.tpot_half_width = run->tpot_half_width;
    a.steps = run->steps, a.preemptions = run->preemptions;
    a.output_tokens_per_second = run->output_tokens_per_second;
  } else {
    std::optional<sim::LatencyProfile> run = sim::simulate(server_of(c), arrivals, length);
    if (!run) return std::nullopt;
    a.profile = *run;
  }
  a.capacity = capacity(c);
  const double rate = sim::mean_rate(arrivals).value_or(0);
  a.load = rate / a.capacity;
  a.busy = a.profile.utilization;
  // Of a short run the way up from an empty server and down again is a good part; work a request costs is not changed
  // by it.
  const bool recorded = std::holds_alternative<std::shared_ptr<const sim::Trace>>(arrivals);
  if (!recorded && a.profile.rejected == 0 && a.profile.completed > 0) {
    const double elapsed = in_seconds(sim::from_sim_time(a.profile.elapsed));
    a.busy = std::min(1.0, a.busy * elapsed * rate / static_cast<double>(a.profile.completed));
  }
  return a;
}

// Enough that the way up from an empty server is a small part: many times the requests in flight (Little's law).
std::uint64_t Planner::first_look(const Configuration& c) const {
  constexpr double kFewest = 4'000, kTurnovers = 10, kMost = 64'000;
  const double rate = sim::mean_rate(service_.arrivals).value_or(0);
  double in_flight = 0;
  for (const Group& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    const double share = rate / c.replicas();
    in_flight += group.count * (replica.continuous ? running_at(service_, replica, c.engine, share)
                                                   : share * replica.times.mean(c.batching.max_batch) * 1e-9);
  }
  return static_cast<std::uint64_t>(std::clamp(kTurnovers * in_flight, kFewest, kMost));
}

std::optional<Assessment> Planner::confirm(const Configuration& c) const {
  constexpr double kHopeless = 1.2;  // more than a short run may be off
  constexpr std::uint64_t kLonger = 4, kMost = 256'000;
  std::uint64_t requests = first_look(c);
  std::optional<Assessment> a = assess(c, {requests, seed_, 0, Statistic::kP99});
  if (!a || a->excess(service_) > kHopeless) return std::nullopt;
  for (;;) {
    requests = std::min(requests * kLonger, kMost);
    a = assess(c, {requests, seed_, 0, Statistic::kP99});
    if (!a) return std::nullopt;
    const bool undecided = std::any_of(service_.slos.begin(), service_.slos.end(), [&](const Slo& slo) {
      const double half = in_seconds(a->half_width(slo)), off = in_seconds(a->value(slo) - slo.limit);
      return !std::isfinite(half) || std::abs(off) <= half;
    });
    if (undecided && requests < kMost && a->profile.requests == requests) continue;
    return a->keeps(service_) ? a : std::nullopt;
  }
}

namespace {

// Limits worth trying, the engine's usual ones first.
std::vector<Configuration> settings_of(const Replica& replica, const Service& service, const Group& group) {
  std::vector<Configuration> all;
  Configuration c;
  c.groups = {group};
  if (replica.continuous) {
    for (std::int64_t sequences : {256, 128, 64, 32, 16}) {
      for (std::int64_t budget : {8192, 2048, 512}) {
        c.engine.max_sequences = sequences, c.engine.token_budget = budget;
        all.push_back(c);
      }
    }
    return all;
  }
  Seconds tightest = seconds(kInfinite);
  for (const Slo& slo : service.slos) tightest = std::min(tightest, slo.limit);
  for (double share : {0.0, 0.05, 0.2}) {
    for (auto size = replica.sizes.rbegin(); size != replica.sizes.rend(); ++size) {
      if (share > 0 && (*size == 1 || service.slos.empty())) continue;
      c.batching.max_batch = *size;
      c.batching.max_delay = share > 0 ? sim::to_sim_time(tightest * share) : 0;
      all.push_back(c);
    }
  }
  return all;
}

// Smaller steps shorten TPOT and make others wait longer: they cannot help a TTFT that is already too long.
bool only_waits(const Assessment& a, const Service& service) {
  return std::none_of(service.slos.begin(), service.slos.end(),
                      [&](const Slo& slo) { return slo.quantity == Quantity::kTpot && a.value(slo) > slo.limit; });
}

}  // namespace

std::optional<Assessment> Planner::kept_by(std::size_t index, int count) const {
  constexpr double kHopeful = 1.05;  // how far a short run may be off
  constexpr double kOutOfReach = 1.5;
  double least = kInfinite;
  std::vector<std::pair<double, Configuration>> hopeful;
  for (const Configuration& c : settings_of(replicas_[index], service_, {index, count})) {
    if (bound(c) > 1) continue;
    if (c.batching.max_delay > 0 && least > kOutOfReach) break;  // waiting for others does not save that much
    const auto look = assess(c, {first_look(c), seed_, 0, Statistic::kP99});
    if (!look) continue;
    const double excess = look->excess(service_);
    least = std::min(least, excess);
    if (excess <= kHopeful) hopeful.emplace_back(excess, c);
    const bool usual = replicas_[index].continuous && hopeful.size() == 1 && excess <= 1;
    if (usual || (replicas_[index].continuous && excess > kHopeful && only_waits(*look, service_))) break;
  }
  std::stable_sort(hopeful.begin(), hopeful.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  constexpr std::size_t kConfirmed = 3;
  for (std::size_t i = 0; i < std::min(kConfirmed, hopeful.size()); ++i) {
    if (auto confirmed = confirm(hopeful[i].second)) return confirmed;
  }
  return std::nullopt;
}

// More replicas never wait longer: doubling the distance finds a number that is enough, halving it the fewest.
std::optional<Assessment> Planner::fewest(std::size_t replica, const Counts& counts) const {
  const double rate = sim::mean_rate(service_.arrivals).value_or(0);
  double best = 0;
  for (const Configuration& c : settings_of(replicas_[replica], service_, {replica, 1}))
    best = std::max(best, capacity(c));
  const double enough = std::ceil(rate / (best * service_.max_load.value_or(1)) - 1e-9);
  const int last = counts.most / counts.step;
  if (!(enough <= counts.most)) return std::nullopt;
  const int wanted = std::max({1, counts.at_least, static_cast<int>(enough)});
  int broken = (wanted - 1) / counts.step, kept = broken + 1;  // in steps
  std::optional<Assessment> found;
  for (int stride = 1;; stride *= 2) {
    if (kept > last) kept = last;
    if (kept <= broken) return std::nullopt;
    if ((found = kept_by(replica, kept * counts.step))) break;
    broken = kept;
    kept += stride;
  }
  while (kept - broken > 1) {
    const int middle = broken + (kept - broken) / 2;
    std::optional<Assessment> fewer = kept_by(replica, middle * counts.step);
    if (fewer) found = std::move(fewer);
    (fewer ? kept : broken) = middle;
  }
  return found;
}

}  // namespace rightsize::serving
