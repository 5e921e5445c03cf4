#include "serving/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "serving/screen.h"
#include "sim/closed_form.h"

namespace rightsize::serving {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

}  // namespace

Planner::Planner(Service service, std::vector<Replica> replicas, std::uint64_t seed, std::shared_ptr<Findings> findings)
    : service_(std::move(service)), replicas_(std::move(replicas)), seed_(seed), findings_(std::move(findings)) {
  service_.mean_lengths = mean_of(service_);
  for (const Replica& replica : replicas_) screened_.push_back(screened_rate(service_, replica));
  traffic_key_ = traffic_key(service_);
  service_key_ = traffic_key_;
  append_limits(service_, service_key_);
  service_key_.push_back(static_cast<double>(seed_));
}

std::size_t Planner::add(Replica replica) {
  screened_.push_back(screened_rate(service_, replica));
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
  for (const Group& group : c.groups) append_workers(replicas_[group.replica], group.count, server);
  server.batching = c.engine;
  return server;
}

double Planner::capacity(const Configuration& c) const {
  if (!continuous(c)) return in_requests_per_s(sim::capacity(server_of(c)));
  return in_requests_per_s(sim::capacity(engine_of(c), mean_of(service_)));
}

// When the largest of its replicas is lost.
double Planner::left_of(const Configuration& c) const {
  double largest = 0;
  for (const Group& group : c.groups) {
    Configuration one = c;
    one.groups = {{group.replica, 1}};
    largest = std::max(largest, capacity(one));
  }
  return capacity(c) - largest;
}

double Planner::bound(const Configuration& c) const {
  const bool sheds = !service_.queue.never_acts();
  const bool apart = std::any_of(c.groups.begin(), c.groups.end(),
                                 [&](const Group& group) { return replicas_[group.replica].apart.has_value(); });
  if (apart && c.groups.size() > 1) return kInfinite;  // one router sends every prompt to the prefill workers
  // Just at the limit is within it, whichever way it was rounded.
  constexpr double kRounding = 1 + 1e-9;
  if (!sheds && sim::overloads(service_.arrivals, requests_per_s(kRounding * service_.max_load * capacity(c))))
    return kInfinite;
  if (service_.one_to_spare &&
      sim::overloads(service_.arrivals, requests_per_s(kRounding * kLoadAfterLoss * left_of(c))))
    return kInfinite;
  double worst = 0;
  for (const Slo& slo : service_.slos) {
    double least = kInfinite;
    if (continuous(c)) {
      for (const Group& group : c.groups)
        least = std::min(least, in_seconds(unloaded(service_, replicas_[group.replica], slo)));
    } else {
      least = in_seconds(sim::latency_lower_bound(server_of(c), service_.arrivals, slo.at));
    }
    worst = std::max(worst, least / in_seconds(slo.limit));
  }
  return worst;
}

double Planner::mean_rate() const {
  return in_requests_per_s(sim::mean_rate(service_.arrivals).value_or(RequestsPerSecond{}));
}

void Planner::add_load(const sim::ArrivalProcess& arrivals, Assessment& a) const {
  a.capacity = capacity(a.configuration);
  const double rate = in_requests_per_s(sim::mean_rate(arrivals).value_or(RequestsPerSecond{}));
  a.load = rate / a.capacity;
  a.busy = a.profile.utilization;
  // Of a short run the way up from an empty server and down again is a good part; work a request costs is not changed
  // by it. Requests still there are half done on average, and so are those that were there when counting began.
  const bool recorded = std::holds_alternative<std::shared_ptr<const sim::Trace>>(arrivals);
  if (!recorded && a.profile.rejected == 0 && a.profile.completed > 0) {
    const double elapsed = in_seconds(sim::from_sim_time(a.profile.elapsed));
    const double done = static_cast<double>(a.profile.completed + a.profile.requests) / 2;
    a.busy = std::min(1.0, a.busy * elapsed * rate / done);
  }
}

Assessment Planner::assessed(const Configuration& c, const sim::ContinuousProfile& run,
                             const sim::ArrivalProcess& arrivals) const {
  Assessment a;
  a.configuration = c;
  a.profile = run.all;
  a.ttft = run.ttft, a.tpot = run.tpot;
  a.kinds = run.kinds;
  a.ttft_interval = run.ttft_interval, a.tpot_interval = run.tpot_interval;
  a.steps = run.steps, a.preemptions = run.preemptions;
  a.output_tokens_per_second = in_tokens_per_s(run.output_rate);
  add_load(arrivals, a);
  return a;
}

std::optional<Assessment> Planner::assess(const Configuration& c, const sim::RunLength& length, double density) const {
  const sim::ArrivalProcess arrivals = density == 1 ? service_.arrivals : sim::scaled(service_.arrivals, density);
  if (continuous(c)) {
    const auto run = sim::simulate(engine_of(c), arrivals, service_.lengths, length);
    return run ? std::optional(assessed(c, *run, arrivals)) : std::nullopt;
  }
  const std::optional<sim::LatencyProfile> run = sim::simulate(server_of(c), arrivals, length);
  if (!run) return std::nullopt;
  Assessment a;
  a.configuration = c;
  a.profile = *run;
  add_load(arrivals, a);
  return a;
}

// Enough that the way up from an empty server is a small part: several times the requests in flight (Little's law).
std::uint64_t Planner::run_of(const Configuration& c, double turnovers, std::uint64_t fewest) const {
  constexpr double kMost = 32'000;
  const double rate = mean_rate();
  double in_flight = 0;
  for (const Group& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    const double share = rate / c.replicas();
    in_flight += group.count * (replica.continuous ? running_at(service_, replica, c.engine, share)
                                                   : share * replica.times.mean(c.batching.max_batch) * 1e-9);
  }
  return std::max(fewest, static_cast<std::uint64_t>(std::min(turnovers * in_flight, kMost)));
}

namespace {

constexpr double kGlanceTurnovers = 3;
constexpr std::uint64_t kGlance = 1'000;
constexpr double kGlanceDoubt = 1.3;  // how far so short a run may be off

// Whether what is told of each SLO is known to a few percent.
bool is_tight(const Assessment& a, const Service& service) {
  constexpr double kTight = 0.04;
  return std::all_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return a.half_width(slo) <= a.value(slo) * kTight; });
}

}  // namespace

std::optional<Assessment> Planner::confirm_batches(const Configuration& c) const {
  constexpr std::uint64_t kLonger = 4, kMost = 512'000, kLeast = 64'000;
  // Near capacity waits are alike over 1 / (1 - load)^2 requests: it takes many times that to see their spread. Batches
  // are simulated some hundred times faster than tokens, and can be seen for longer. Where batches stay small, GPUs are
  // far busier than the load against full ones says.
  const auto glance = assess(c, {run_of(c, kGlanceTurnovers, kGlance), seed_, 0, Statistic::kP99});
  if (!glance) return std::nullopt;
  const double idle = 1 - std::min(0.999, std::max(glance->load, glance->busy));
  const double alike = std::min<double>(kMost, 4'000 / (idle * idle));
  std::uint64_t requests = run_of(c, 6, kLeast);
  std::optional<Assessment> a = assess(c, {requests, seed_, 0, Statistic::kP99});
  constexpr double kFarFrom = 0.8;  // of its limit
  const bool clear = !a || verdict(*a, service_) == Verdict::kBroken ||
                     (verdict(*a, service_) == Verdict::kKept && a->excess(service_) <= kFarFrom);
  if (alike > static_cast<double>(requests) && !clear) {
    requests = static_cast<std::uint64_t>(alike);
    a = assess(c, {requests, seed_, 0, Statistic::kP99});
  }
  while (a && verdict(*a, service_) == Verdict::kOpen) {
    if (requests == kMost || a->profile.requests < requests) break;  // a trace may end before
    requests = std::min(requests * kLonger, kMost);
    a = assess(c, {requests, seed_, 0, Statistic::kP99});
  }
  if (!a || !a->keeps(service_)) return std::nullopt;
  if (verdict(*a, service_) == Verdict::kKept && a->excess(service_) <= kFarFrom) return a;
  // Tails of one run are alike, and its interval does not know how much they differ in another; near a limit another,
  // longer one must keep it too, and is what is shown.
  auto again = assess(c, {std::min(requests * kLonger, kMost), seed_ + 1, 0, Statistic::kP99});
  return again && again->keeps(service_) ? again : std::nullopt;
}

// What is told of batches is seen for so long that another run tells about the same. Nothing where that run breaks an
// SLO after all.
std::optional<Assessment> Planner::settled(const Assessment& found) const {
  constexpr std::uint64_t kLong = 512'000;
  const bool known = found.profile.requests >= kLong || is_tight(found, service_);
  if (continuous(found.configuration) || service_.slos.empty() || known) return found;
  auto longer = assess(found.configuration, {kLong, seed_ + 2, 0, Statistic::kP99});
  return longer && longer->keeps(service_) ? longer : std::nullopt;
}

// Sizes without delay, then waiting for others where that comes near. Of sizes that answer about as soon the smallest:
// after a burst a large batch holds up all that come behind it.
std::optional<Assessment> Planner::kept_by_batches(std::size_t index, int count) const {
  constexpr double kOutOfReach = 1.5;  // waiting for others does not save that much
  constexpr double kAsSoon = 1.1;
  Seconds tightest = seconds(kInfinite);
  for (const Slo& slo : service_.slos) tightest = std::min(tightest, slo.limit);
  for (double share : {0.0, 0.05, 0.2}) {
    if (share > 0 && service_.slos.empty()) break;
    Configuration c;
    c.groups = {{index, count}};
    c.batching.max_delay = share > 0 ? sim::to_sim_time(tightest * share) : 0;
    std::vector<std::pair<double, Configuration>> sizes;  // by excess
    double least = kInfinite;
    for (int size : replicas_[index].sizes) {
      c.batching.max_batch = size;
      if ((share > 0 && size == 1) || bound(c) > 1) continue;
      const auto glance = assess(c, {run_of(c, kGlanceTurnovers, kGlance), seed_, 0, Statistic::kP99});
      if (!glance) continue;
      const double excess = glance->excess(service_);
      // Sizes that no batch reaches are alike.
      if (sizes.empty() || sizes.back().first != excess) sizes.emplace_back(excess, c);
      least = std::min(least, excess);
    }
    std::stable_sort(sizes.begin(), sizes.end(), [&](const auto& a, const auto& b) {
      const double soon = least * kAsSoon;
      return std::max(a.first, soon) < std::max(b.first, soon);
    });
    for (const auto& [excess, tried] : sizes) {
      if (excess > kGlanceDoubt) break;
      if (auto confirmed = confirm(tried)) return confirmed;
    }
    if (least > kOutOfReach) break;
  }
  return std::nullopt;
}

std::optional<Assessment> Planner::kept_by(std::size_t index, int count) const {
  Findings::Key key = service_key_;
  key.push_back(count);
  append_replica(replicas_[index], key);
  std::optional<Assessment> found = findings_->of(
      key, [&] { return replicas_[index].continuous ? kept_by_engine(index, count) : kept_by_batches(index, count); });
  if (found) found->configuration.groups = {{index, count}};
  return found;
}

Planner::Steps Planner::steps_of(std::size_t replica, const Counts& counts) const {
  const Replica& one = replicas_[replica];
  Configuration largest;
  largest.groups = {{replica, 1}};
  largest.batching.max_batch = one.continuous ? 1 : one.sizes.back();
  const auto steps_for = [&](double each) {
    const double replicas = std::max<double>(counts.at_least, std::ceil(mean_rate() / each - 1e-9));
    return static_cast<int>(std::min(std::ceil(std::max(1.0, replicas) / counts.step), 1e9));
  };
  Steps steps;
  const double screened = screened_[replica];
  if (!(screened > 0)) return steps;
  steps.least = steps_for(capacity(largest)), steps.last = counts.most / counts.step;
  steps.guess = std::min(std::max(steps.least, steps_for(screened)), steps.last);
  return steps;
}

// Begins where means would be kept, or first looks see them kept. More replicas never wait longer: doubling the
// distance finds a number that is enough, halving it the fewest.
std::optional<Assessment> Planner::fewest(std::size_t replica, const Counts& counts) const {
  const Steps steps = steps_of(replica, counts);
  const int least = steps.least, last = steps.last;
  if (least > last) return std::nullopt;
  int kept = replicas_[replica].continuous ? first_enough(replica, counts.step, steps) : steps.guess;
  std::optional<Assessment> found = kept_by(replica, kept * counts.step);
  int broken = found ? least - 1 : kept;
  // One less is mostly too few; where it is not, means were kept sooner than they are in truth.
  if (found && kept - 1 > broken) {
    std::optional<Assessment> fewer;
    if (may_do_with(*found, (kept - 1) * counts.step)) fewer = kept_by(replica, (kept - 1) * counts.step);
    if (fewer)
      found = std::move(fewer), --kept;
    else
      broken = kept - 1;
  }
  for (int stride = 1; !found; stride *= 2) {
    if (kept == last) return std::nullopt;
    kept = std::min(kept + stride, last);
    found = kept_by(replica, kept * counts.step);
    if (!found) broken = kept;
  }
  while (kept - broken > 1) {
    const int middle = broken + (kept - broken) / 2;
    std::optional<Assessment> fewer = kept_by(replica, middle * counts.step);
    (fewer ? kept : broken) = middle;
    if (fewer) found = std::move(fewer);
  }
  if (auto told = settled(*found)) return told;
  return kept == last ? std::nullopt : fewest(replica, {counts.step, counts.most, (kept + 1) * counts.step});
}

}  // namespace rightsize::serving
