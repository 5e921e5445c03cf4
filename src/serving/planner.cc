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
  service_key_ = service_key(service_, seed_);
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
  for (const Group& group : c.groups) append_workers(replicas_[group.replica], group.count, server);
  server.batching = c.engine;
  return server;
}

double Planner::capacity(const Configuration& c) const {
  if (!continuous(c)) return in_requests_per_s(sim::capacity(server_of(c)));
  return in_requests_per_s(sim::capacity(engine_of(c), mean_of(service_)));
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

std::optional<Assessment> Planner::assess(const Configuration& c, const sim::RunLength& length, double density) const {
  const sim::ArrivalProcess arrivals = density == 1 ? service_.arrivals : sim::scaled(service_.arrivals, density);
  Assessment a;
  a.configuration = c;
  if (continuous(c)) {
    std::optional<sim::ContinuousProfile> run = sim::simulate(engine_of(c), arrivals, service_.lengths, length);
    if (!run) return std::nullopt;
    a.profile = run->all;
    a.ttft = run->ttft, a.tpot = run->tpot;
    a.kinds = std::move(run->kinds);
    a.ttft_half_width = run->ttft_half_width, a.tpot_half_width = run->tpot_half_width;
    a.steps = run->steps, a.preemptions = run->preemptions;
    a.output_tokens_per_second = in_tokens_per_s(run->output_rate);
  } else {
    std::optional<sim::LatencyProfile> run = sim::simulate(server_of(c), arrivals, length);
    if (!run) return std::nullopt;
    a.profile = *run;
  }
  a.capacity = capacity(c);
  const double rate = in_requests_per_s(sim::mean_rate(arrivals).value_or(RequestsPerSecond{}));
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

namespace {

// What a run allows to say of all SLOs.
enum class Verdict { kKept, kBroken, kOpen };

// Clear is what lies well outside the 95 % interval, which a run of waits that are alike sees too narrow, or further
// from the limit than even a short run is off.
Verdict verdict(const Assessment& a, const Service& service) {
  constexpr double kWellBelow = 0.7, kWellAbove = 1.2, kSure = 4;
  bool all_kept = true;
  for (const Slo& slo : service.slos) {
    const double share = a.value(slo) / slo.limit, off = kSure * (a.half_width(slo) / slo.limit);  // NaN: too short
    if (share > kWellAbove || share - off > 1) return Verdict::kBroken;
    all_kept = all_kept && (share <= kWellBelow || share + off <= 1);
  }
  return all_kept ? Verdict::kKept : Verdict::kOpen;
}

}  // namespace

// Enough that the way up from an empty server is a small part: several times the requests in flight (Little's law).
std::uint64_t Planner::run_of(const Configuration& c, double turnovers, std::uint64_t fewest) const {
  constexpr double kMost = 32'000;
  const double rate = in_requests_per_s(sim::mean_rate(service_.arrivals).value_or(RequestsPerSecond{}));
  double in_flight = 0;
  for (const Group& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    const double share = rate / c.replicas();
    in_flight += group.count * (replica.continuous ? running_at(service_, replica, c.engine, share)
                                                   : share * replica.times.mean(c.batching.max_batch) * 1e-9);
  }
  return std::max(fewest, static_cast<std::uint64_t>(std::min(turnovers * in_flight, kMost)));
}

std::optional<Assessment> Planner::confirm(const Configuration& c) const {
  constexpr std::uint64_t kLonger = 4;
  const std::uint64_t most = continuous(c) ? 64'000 : 512'000;  // of tokens each request takes many steps
  // Near capacity waits are alike over 1 / (1 - load)^2 requests: it takes many times that to see their spread. Batches
  // are simulated some hundred times faster than tokens, and can be seen for longer.
  const double idle =
      1 -
      std::min(0.999, in_requests_per_s(sim::mean_rate(service_.arrivals).value_or(RequestsPerSecond{})) / capacity(c));
  const std::uint64_t least = continuous(c) ? 8'000 : 64'000;
  const double alike = (continuous(c) ? 300 : 2'000) / (idle * idle);
  std::uint64_t requests = std::min(most, std::max(run_of(c, 6, least), static_cast<std::uint64_t>(alike)));
  std::optional<Assessment> a = assess(c, {requests, seed_, 0, Statistic::kP99});
  while (a && verdict(*a, service_) == Verdict::kOpen) {
    if (requests == most || a->profile.requests < requests) break;  // a trace may end before
    requests = std::min(requests * kLonger, most);
    a = assess(c, {requests, seed_, 0, Statistic::kP99});
  }
  if (!a || !a->keeps(service_)) return std::nullopt;
  if (verdict(*a, service_) == Verdict::kKept) return a;
  // Tails of one run are alike; near a limit another, longer one must keep it too, and is what is shown.
  auto again = assess(c, {std::min(requests * kLonger, most), seed_ + 1, 0, Statistic::kP99});
  return again && again->keeps(service_) ? again : std::nullopt;
}

namespace {

// Limits of an engine worth trying: the usual ones, then smaller steps and fewer sequences, which shorten TPOT and let
// others wait longer.
constexpr std::pair<std::int64_t, std::int64_t> kEngineLimits[] = {{256, 8192}, {256, 2048}, {256, 512},
                                                                   {128, 2048}, {64, 512},   {32, 512}};

bool breaks_tpot(const Assessment& a, const Service& service) {
  return std::any_of(service.slos.begin(), service.slos.end(),
                     [&](const Slo& slo) { return slo.quantity == Quantity::kTpot && a.value(slo) > slo.limit; });
}

constexpr double kGlanceTurnovers = 3;
constexpr std::uint64_t kGlance = 1'000;
constexpr double kGlanceDoubt = 1.3;  // how far so short a run may be off

}  // namespace

std::optional<Assessment> Planner::kept_by_engine(std::size_t index, int count) const {
  constexpr double kBetter = 0.995;  // less of a gain is none
  Configuration c;
  c.groups = {{index, count}};
  Seconds shortest = seconds(kInfinite);  // TPOT of those looked at closely
  for (const auto& [sequences, budget] : kEngineLimits) {
    c.engine.max_sequences = sequences, c.engine.token_budget = budget;
    if (bound(c) > 1) return std::nullopt;
    const auto glance = assess(c, {run_of(c, kGlanceTurnovers, kGlance), seed_, 0, Statistic::kP99});
    if (!glance) return std::nullopt;
    const Seconds tpot = glance->value(Quantity::kTpot, Statistic::kP99);
    const bool better = tpot < shortest * kBetter;
    if (better && glance->excess(service_) <= kGlanceDoubt) {
      if (auto confirmed = confirm(c)) return confirmed;
      shortest = tpot;
    }
    // Others can only help TPOT; where that is near its limit a longer run may break it.
    if (!breaks_tpot(*glance, service_) && glance->excess(service_) > 1) return std::nullopt;
  }
  return std::nullopt;
}

// Of the sizes without delay the one that answers soonest; waiting for others where that comes near.
std::optional<Assessment> Planner::kept_by_batches(std::size_t index, int count) const {
  constexpr double kOutOfReach = 1.5;  // waiting for others does not save that much
  Seconds tightest = seconds(kInfinite);
  for (const Slo& slo : service_.slos) tightest = std::min(tightest, slo.limit);
  for (double share : {0.0, 0.05, 0.2}) {
    if (share > 0 && service_.slos.empty()) break;
    Configuration c, best;
    c.groups = {{index, count}};
    c.batching.max_delay = share > 0 ? sim::to_sim_time(tightest * share) : 0;
    double least = kInfinite;
    for (int size : replicas_[index].sizes) {
      c.batching.max_batch = size;
      if ((share > 0 && size == 1) || bound(c) > 1) continue;
      const auto glance = assess(c, {run_of(c, kGlanceTurnovers, kGlance), seed_, 0, Statistic::kP99});
      if (glance && glance->excess(service_) < least) least = glance->excess(service_), best = c;
    }
    if (least <= kGlanceDoubt) {
      if (auto confirmed = confirm(best)) return confirmed;
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

// Begins where means would be kept. More replicas never wait longer: doubling the distance finds a number that is
// enough, halving it the fewest.
std::optional<Assessment> Planner::fewest(std::size_t replica, const Counts& counts) const {
  const double rate = in_requests_per_s(sim::mean_rate(service_.arrivals).value_or(RequestsPerSecond{}));
  const Replica& one = replicas_[replica];
  Configuration largest;
  largest.groups = {{replica, 1}};
  largest.batching.max_batch = one.continuous ? 1 : one.sizes.back();
  const double screened = screened_rate(service_, one);
  if (!(screened > 0)) return std::nullopt;
  const auto steps_for = [&](double each) {
    const double replicas = std::max<double>(counts.at_least, std::ceil(rate / each - 1e-9));
    return static_cast<int>(std::min(std::ceil(std::max(1.0, replicas) / counts.step), 1e9));
  };
  const int least = steps_for(capacity(largest)), last = counts.most / counts.step;
  int kept = std::min(std::max(least, steps_for(screened)), last);
  if (least > last) return std::nullopt;
  std::optional<Assessment> found = kept_by(replica, kept * counts.step);
  int broken = found ? least - 1 : kept;
  // One less is mostly too few; where it is not, means were kept sooner than they are in truth.
  if (found && kept - 1 > broken) {
    std::optional<Assessment> fewer = kept_by(replica, (kept - 1) * counts.step);
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
  return found;
}

}  // namespace rightsize::serving
