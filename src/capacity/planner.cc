#include "capacity/planner.h"

#include <algorithm>
#include <cmath>

#include "capacity/screen.h"
#include "sim/closed_form.h"

namespace rightsize::capacity {

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
    server.gpus.push_back({replica.times, c.executors, replica.overlap, group.count});
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

namespace {

// Requests on a replica in balance: one batch runs and the next gathers. Batches grow until they keep up with the rate.
double present_in_batches(const Replica& replica, int max_batch, double rate) {
  int size = 1;
  for (int next : replica.sizes)
    if (next <= max_batch && in_requests_per_s(replica.times.rate(size)) < rate) size = next;
  return 2.0 * size;
}

}  // namespace

// Enough that the way up from an empty server is a small part: several times the requests in flight (Little's law).
std::uint64_t Planner::run_of(const Configuration& c, double turnovers, std::uint64_t fewest) const {
  constexpr double kMost = 32'000;
  const double rate = mean_rate();
  double in_flight = 0;
  for (const Group& group : c.groups) {
    const Replica& replica = replicas_[group.replica];
    const double share = rate / c.replicas();
    in_flight += group.count * (replica.continuous ? running_at(service_, replica, c.engine, share)
                                                   : present_in_batches(replica, c.batching.max_batch, share));
  }
  return std::max(fewest, static_cast<std::uint64_t>(std::min(turnovers * in_flight, kMost)));
}

// Requests that find a server emptier than it will be; batches take longer to find their size. A trace is taken as it
// is.
std::uint64_t Planner::warm_up(const Configuration& c) const {
  constexpr double kTokenTurnovers = 2, kBatchTurnovers = 4;
  const bool recorded = std::holds_alternative<std::shared_ptr<const sim::Trace>>(service_.arrivals);
  return recorded ? 0 : run_of(c, continuous(c) ? kTokenTurnovers : kBatchTurnovers, 0);
}

// Runs of one configuration are gone on with, whoever asks for more of them.
std::optional<Assessment> Planner::look(const Configuration& c, std::uint64_t requests, std::uint64_t seed) const {
  Findings::Key key = traffic_key_;
  const auto add = [&key](std::initializer_list<double> values) { key.insert(key.end(), values); };
  const auto number = [](auto value) { return static_cast<double>(value); };
  if (continuous(c)) {
    if (sim::overloads(service_.arrivals, requests_per_s(capacity(c)))) return std::nullopt;
    const sim::ContinuousConfig& e = c.engine;
    add({number(seed), number(e.token_budget), number(e.max_sequences), number(e.kv_tokens),
         e.chunked_prefill ? 1.0 : 0.0});
  } else {
    if (sim::overloads(server_of(c), service_.arrivals)) return std::nullopt;
    add({number(seed), number(c.batching.max_batch), number(c.batching.max_delay), number(c.executors)});
    for (int size : c.batching.preferred_sizes) key.push_back(size);
  }
  for (const Group& group : c.groups) {
    key.push_back(group.count);
    append_replica(replicas_[group.replica], key);
  }
  const std::shared_ptr<KeptRun> run = findings_->run(key, [&] { return run_from_the_start(c, seed); });
  return assessed(c, run->at(requests, looks(c)), service_.arrivals);
}

KeptRun::Begin Planner::run_from_the_start(const Configuration& c, std::uint64_t seed) const {
  if (!continuous(c)) {
    return [server = server_of(c), arrivals = service_.arrivals, seed, warm_up = warm_up(c)]() -> KeptRun::Until {
      return [run = std::make_shared<sim::BatchRun>(server, arrivals, seed, warm_up)](std::uint64_t requests) {
        sim::ContinuousProfile seen;
        seen.all = run->until(requests);
        return seen;
      };
    };
  }
  return [server = engine_of(c), arrivals = service_.arrivals, lengths = service_.lengths, seed,
          warm_up = warm_up(c)]() -> KeptRun::Until {
    return [run = std::make_shared<sim::ContinuousRun>(server, arrivals, lengths, seed, warm_up)](
               std::uint64_t requests) { return run->until(requests); };
  };
}

std::vector<std::uint64_t> Planner::looks(const Configuration& c) const {
  return continuous(c) ? token_looks(c) : batch_looks(c);
}

std::optional<Assessment> Planner::confirm(const Configuration& c) const {
  return continuous(c) ? watch(c).kept : watch_batches(c).kept;
}

}  // namespace rightsize::capacity
