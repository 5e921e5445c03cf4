// Simulated configurations: their load, their bounds, and runs of a fixed length or until they decide about the SLOs.
#include "capacity/planner.h"

#include <algorithm>
#include <cmath>

#include "capacity/busiest.h"
#include "capacity/screen.h"

namespace rightsize::capacity {
namespace {

// A first look compares configurations over the same requests; a glance only detects configurations that are far off.
constexpr std::uint64_t kGlance = 1'000, kFirstLook = 8'000;
// No run is longer. A request to a language model takes hundreds of steps.
constexpr std::uint64_t kMostTokenRequests = 64'000, kMostBatchRequests = 512'000;
// A run that meets its SLOs is trusted after this many requests beyond the percentile and this many times the requests
// in flight: a burst that fills the cache has an effect until its requests have left.
constexpr double kBeyondPercentile = 640, kTurnovers = 40;
constexpr double kMostTurnoverRequests = 32'000;
// A limit inside an interval with this relative half width is a close call, which is refused.
constexpr double kCloseCall = 0.03;
// Before a run is long enough, its intervals are too narrow. It then decides against a configuration only if the limit
// is this many widths below the value.
constexpr double kEarlyWidths = 2.5;
constexpr double kClearlyRejected = 3;  // times the allowed share

// Requests on a replica in steady state: one batch runs while the next one gathers. Batches grow until they keep up.
double present_in_batches(const Replica& replica, int max_batch, double rate) {
  int size = 1;
  for (int next : replica.sizes)
    if (next <= max_batch && in_requests_per_s(replica.times.rate(size)) < rate) size = next;
  return 2.0 * size;
}

Service for_busiest(Service service) {
  if (const auto part = busiest_part_of(service.arrivals, kMostTokenRequests)) service.arrivals = part;
  return service;
}

// The recording, if its busiest part is not all of it.
std::shared_ptr<const sim::Trace> more_than_busiest(const Service& service) {
  const auto* trace = std::get_if<std::shared_ptr<const sim::Trace>>(&service.arrivals);
  return trace != nullptr && busiest_part_of(service.arrivals, kMostTokenRequests) != *trace ? *trace : nullptr;
}

Service with_arrivals(Service service, const std::shared_ptr<const sim::Trace>& trace) {
  if (trace) service.arrivals = trace;
  return service;
}

}  // namespace

Planner::Planner(Service service, std::vector<Replica> replicas, std::uint64_t seed, std::shared_ptr<RunCache> cache)
    : whole_(more_than_busiest(service)),
      service_(for_busiest(std::move(service))),
      seed_(seed),
      cache_(std::move(cache)),
      traffic_(cache_->traffic_number(service_)),
      whole_traffic_(cache_->traffic_number(with_arrivals(service_, whole_))) {
  service_.mean_lengths = mean_of(service_);
  for (Replica& replica : replicas) add(std::move(replica));
}

std::size_t Planner::add(Replica replica) {
  screened_.push_back(screened_rate(service_, replica));
  numbers_.push_back(cache_->replica_number(replica));
  replicas_.push_back(std::move(replica));
  return replicas_.size() - 1;
}

sim::Server Planner::server_of(const Configuration& c) const {
  sim::Server server;
  for (const ReplicaGroup& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    server.gpus.push_back({replica.times, c.executors, replica.overlap, group.count});
  }
  server.queue = service_.queue;
  server.priorities = service_.priorities;
  server.batching = c.batching;
  return server;
}

sim::ContinuousServer Planner::engine_of(const Configuration& c) const {
  sim::ContinuousServer server;
  for (const ReplicaGroup& group : c.groups) append_workers(replicas_[group.replica], group.count, server);
  server.batching = c.engine;
  server.batching.cache_block = service_.cache_block, server.batching.routing = service_.routing;
  server.batching.shared_lower = service_.shared_lower;
  return server;
}

double Planner::capacity(const Configuration& c) const { return capacity(c, mean_of(service_)); }

double Planner::capacity(const Configuration& c, const sim::RequestShape& lengths) const {
  double sum = 0;
  for (const ReplicaGroup& group : c.groups) {
    Configuration one = c;
    one.groups = {{group.replica, 1}};
    sum += group.count *
           in_requests_per_s(continuous(c) ? sim::capacity(engine_of(one), lengths) : sim::capacity(server_of(one)));
  }
  return sum;
}

double Planner::bound(const Configuration& c) const {
  const bool separate = std::any_of(c.groups.begin(), c.groups.end(), [&](const ReplicaGroup& group) {
    return replicas_[group.replica].separate.has_value();
  });
  if (separate && c.groups.size() > 1) return kInfinite;  // one router sends every prompt to the prefill workers
  constexpr double kRounding = 1 + 1e-9;                  // a load exactly at the limit is within it
  const auto overloads = [&](double most) {
    return sim::overloads(service_.arrivals, requests_per_s(kRounding * most));
  };
  if (service_.queue.never_acts() && overloads(service_.max_load * capacity(c))) return kInfinite;
  if (service_.one_to_spare) {
    double largest = 0;  // the most costly loss of a replica
    for (const ReplicaGroup& group : c.groups) {
      Configuration one = c;
      one.groups = {{group.replica, 1}};
      largest = std::max(largest, capacity(one));
    }
    if (overloads(kLoadAfterLoss * (capacity(c) - c.together * largest))) return kInfinite;
  }
  double worst = 0;
  for (const Slo& slo : service_.slos) {
    Seconds least = seconds(kInfinite);
    for (const ReplicaGroup& group : c.groups)
      least = std::min(least, unloaded(service_, replicas_[group.replica], slo));
    worst = std::max(worst, least / slo.limit);
  }
  return worst;
}

double Planner::mean_rate() const {
  return in_requests_per_s(sim::mean_rate(service_.arrivals).value_or(RequestsPerSecond{}));
}

Assessment Planner::assessed(const Configuration& c, sim::LatencyProfile profile,
                             const sim::ArrivalProcess& arrivals) const {
  Assessment a;
  a.configuration = c;
  a.profile = std::move(profile);
  // Formulas assume an unlimited prefix cache; the run knows the actual hits.
  sim::RequestShape lengths = mean_of(service_);
  if (a.profile.prompt_tokens > 0) lengths.cached = *a.profile.prefix_hit() * lengths.size;
  a.capacity = capacity(c, lengths);
  const double rate = in_requests_per_s(sim::mean_rate(arrivals).value_or(RequestsPerSecond{}));
  a.load = rate / a.capacity;
  a.replay = is_recorded(arrivals);
  a.busy = a.profile.utilization;
  // A short run spends a good part of its time filling up and emptying. The work per request is not affected by that,
  // so it gives the long-run share: requests in flight at the start and at the end count half.
  if (sim::trace_of(arrivals) == nullptr && a.profile.rejected == 0 && a.profile.completed > 0) {
    const double elapsed = in_seconds(sim::from_sim_time(a.profile.elapsed));
    const double done = static_cast<double>(a.profile.completed + a.profile.requests) / 2;
    a.busy = std::min(1.0, a.busy * elapsed * rate / done);
  }
  return a;
}

std::unique_ptr<sim::Run> Planner::start(const Configuration& c, const sim::ArrivalProcess& arrivals,
                                         std::uint64_t seed, std::uint64_t warm_up) const {
  return continuous(c) ? sim::start_run(engine_of(c), arrivals, service_.lengths, seed, warm_up)
                       : sim::start_run(server_of(c), arrivals, seed, warm_up);
}

bool Planner::overloaded(const Configuration& c, const sim::ArrivalProcess& arrivals) const {
  return continuous(c) ? sim::overloads(arrivals, requests_per_s(capacity(c))) : sim::overloads(server_of(c), arrivals);
}

std::optional<Assessment> Planner::assess(const Configuration& c, const sim::RunLength& length, double density) const {
  const sim::ArrivalProcess arrivals = density == 1 ? service_.arrivals : sim::scaled(service_.arrivals, density);
  if (overloaded(c, arrivals)) return std::nullopt;
  return assessed(c, start(c, arrivals, length.seed, 0)->to_the_end(length.requests), arrivals);
}

std::optional<Assessment> Planner::assess_like(const Configuration& c, const Assessment& same) const {
  if (overloaded(c, service_.arrivals)) return std::nullopt;
  return assessed(c, same.profile, service_.arrivals);
}

std::optional<Assessment> Planner::assess_until_tight(const Configuration& c, std::uint64_t most_requests,
                                                      std::uint64_t seed, double tight) const {
  if (overloaded(c, service_.arrivals)) return std::nullopt;
  const std::unique_ptr<sim::Run> run = start(c, service_.arrivals, seed, 0);
  // Doubling keeps the number of looks small, so stopping at a lucky one hardly matters.
  for (std::uint64_t at = std::min(kFirstLook, most_requests);; at = std::min(2 * at, most_requests)) {
    Assessment a = assessed(c, run->until(at), service_.arrivals);
    if (at == most_requests || a.profile.requests < at || a.is_tight(service_, tight))
      return assessed(c, run->to_the_end(at), service_.arrivals);
  }
}

double Planner::in_flight(const Configuration& c) const {
  const double share = mean_rate() / c.replicas();
  double sum = 0;
  for (const ReplicaGroup& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    sum += group.count * (replica.continuous ? running_at(service_, replica, c.engine, share)
                                             : present_in_batches(replica, c.batching.max_batch, share));
  }
  return sum;
}

// Near capacity, waits are correlated over 1 / (1 - load)^2 requests. It takes hundreds of such stretches to see their
// spread, and more for batches, where waits jump from one size to the next.
double Planner::correlated(const Configuration& c) const {
  const double idle = 1 - std::min(0.999, mean_rate() / capacity(c));
  return (continuous(c) ? 300 : 1'000) / (idle * idle);
}

// The first requests find the server emptier than in steady state; batches take longer to reach their size.
std::uint64_t Planner::warm_up(const Configuration& c) const {
  if (const sim::Trace* trace = sim::trace_of(service_.arrivals)) return trace->warm_up;
  return static_cast<std::uint64_t>(std::min((continuous(c) ? 2 : 4) * in_flight(c), kMostTurnoverRequests));
}

// After how many arrivals a run is measured: from a glance to a first look in equal factors, then twice as many each
// time.
std::vector<std::uint64_t> Planner::looks(const Configuration& c) const {
  const std::uint64_t most = continuous(c) ? kMostTokenRequests : kMostBatchRequests;
  const auto at_least = [&](std::uint64_t fewest, double requests) {
    return std::max(fewest, static_cast<std::uint64_t>(std::min(requests, static_cast<double>(most))));
  };
  const double present = std::min(in_flight(c), kMostTurnoverRequests / 6);
  const std::uint64_t before = warm_up(c);
  const std::uint64_t glance = at_least(kGlance, 3 * present);
  std::uint64_t at = at_least(kFirstLook, 6 * present);
  if (continuous(c)) at = at_least(at, correlated(c));
  std::vector<std::uint64_t> all;
  const double factor = std::pow(static_cast<double>(at) / static_cast<double>(glance), 1.0 / kFirst);
  for (double early = static_cast<double>(glance); all.size() < kFirst; early *= factor)
    all.push_back(before + static_cast<std::uint64_t>(early));
  for (; at < most; at *= 2) all.push_back(before + at);
  all.push_back(before + most);
  return all;
}

std::optional<Assessment> Planner::look(const Configuration& c, std::size_t number, std::uint64_t seed) const {
  if (overloaded(c, service_.arrivals)) return std::nullopt;
  // A limit that no replica reaches changes nothing: the run with the default limit is the same.
  Configuration wide = c;
  wide.engine.max_sequences = std::max(c.engine.max_sequences, sim::ContinuousConfig{}.max_sequences);
  if (wide.engine.max_sequences > c.engine.max_sequences && looks(wide) == looks(c)) {
    const auto reached = [&](std::size_t at) {
      return measured(wide, at, seed).largest_batch >= c.engine.max_sequences;
    };
    if (!reached(kAtAGlance) && !reached(number)) return assessed(c, measured(wide, number, seed), service_.arrivals);
  }
  return assessed(c, measured(c, number, seed), service_.arrivals);
}

sim::LatencyProfile Planner::measured(const Configuration& c, std::size_t number, std::uint64_t seed) const {
  return cache_->run(key_of(c, traffic_, seed), [&] { return looks(c); })->at(number, [&] {
    return start(c, service_.arrivals, seed, warm_up(c));
  });
}

RunCache::Key Planner::key_of(const Configuration& c, std::size_t traffic, std::uint64_t seed) const {
  RunCache::Key key{traffic, seed, c.groups, c.engine, c.batching, c.executors};
  for (ReplicaGroup& group : key.groups) group.replica = numbers_[group.replica];
  return key;
}

// One run, continued until it decides about the SLOs.
Planner::Decision Planner::decide(const Configuration& c, std::uint64_t seed) const {
  const std::vector<std::uint64_t> all = looks(c);
  double rarest = 1;
  for (const Slo& slo : service_.slos) rarest = std::min(rarest, share_beyond(slo.at));
  const double enough =
      std::max({kBeyondPercentile / rarest, correlated(c), std::min(kTurnovers * in_flight(c), kMostTurnoverRequests)});
  Decision decision;
  for (std::size_t i = kFirst; i < all.size(); ++i) {
    const std::optional<Assessment> a = look(c, i, seed);
    if (!a) break;
    const bool ended = decision.last && decision.last->profile.requests == a->profile.requests;
    decision.last = a;
    const bool long_enough = static_cast<double>(a->profile.requests) >= enough || i + 1 == all.size();
    const double widths = long_enough ? 1 : kEarlyWidths;
    if (a->excess(service_, -widths) > 1 || a->rejected_share() > kClearlyRejected * service_.most_rejected) break;
    if (ended || (long_enough && (a->excess(service_, 1) <= 1 || a->is_tight(service_, kCloseCall)))) break;
  }
  decision.kept = decision.last && decision.last->keeps(service_);
  return decision;
}

// Stopping a run when it looks good is biased, and the tail of one run is correlated, so a second seed must meet the
// SLOs as well. The longer run is reported, with the upper ends of both: a limit at these would be met again.
Planner::Decision Planner::decide(const Configuration& c) const {
  Decision one = decide(c, seed_);
  if (!one.kept || service_.slos.empty()) return one;
  Decision other = one.last->replay ? one : decide(c, seed_ + 1);
  if (!other.kept) return other;
  if (other.last->profile.requests > one.last->profile.requests) std::swap(one, other);
  one.last->confirm(service_, *other.last);
  return one;
}

std::optional<Assessment> Planner::confirm(const Configuration& c) const {
  Decision decision = decide(c);
  return decision.kept && keeps_all_day(c) ? std::move(decision.last) : std::nullopt;
}

std::optional<Assessment> Planner::replay(const Configuration& c) const {
  if (!whole_) return std::nullopt;
  const sim::ArrivalProcess all = whole_;
  const auto begin = [&] { return start(c, all, seed_, 0); };
  const std::uint64_t requests = whole_->arrivals.size();
  if (whole_->closed) return assessed(c, begin()->to_the_end(requests), all);
  // A look beyond the last arrival waits for all answers.
  const auto run = cache_->run(key_of(c, whole_traffic_, seed_), [&] { return std::vector{requests + 1}; });
  return assessed(c, run->at(0, begin), all);
}

bool Planner::keeps_all_day(const Configuration& c) const {
  if (!whole_) return true;
  const std::optional<Assessment> all = replay(c);
  return all && all->rejected_share() <= service_.most_rejected && all->excess(service_) <= 1;
}

}  // namespace rightsize::capacity
