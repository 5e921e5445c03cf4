// rightsize autoscale: the cost of scaling policies and the share of requests that miss their SLO, including start-up.
#include <algorithm>
#include <chrono>
#include <memory>

#include "base/long_work.h"
#include "base/threads.h"
#include "rightsize/autoscale/report.h"

namespace rightsize::app {
namespace {

using autoscale::SimulatedPolicy;

std::size_t best_of(const std::vector<SimulatedPolicy>& policies, const autoscale::Limits& slo) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < policies.size(); ++i)
    if (autoscale::better(policies[i], policies[best], slo)) best = i;
  return best;
}

// The oldest replica dies during the busiest five minutes.
FailureRun fail_one(const AutoscaleInput& input, const SimulatedPolicy& policy) {
  const auto& slots = policy.run.slots;
  const auto busiest =
      std::max_element(slots.begin(), slots.end(),
                       [](const autoscale::Slot& a, const autoscale::Slot& b) { return a.requests < b.requests; });
  autoscale::ClusterConfig config = input.cluster;
  const sim::SimTime at = (busiest - slots.begin()) * autoscale::kSlot + autoscale::kSlot / 2;
  // Two hours of traffic before the failure warm up the policy; an hour after it, the failure has no more effect.
  const autoscale::Traffic around =
      autoscale::part(input.traffic, std::max<sim::SimTime>(0, at - autoscale::whole_seconds(7200)),
                      at + autoscale::whole_seconds(3600));
  FailureRun failure{sim::from_sim_time(at), autoscale::simulate(config, around, policy.policy), {}};
  config.failure = at;
  failure.run = autoscale::simulate(config, around, policy.policy);
  return failure;
}

// The cheapest setting on mean traffic for each faster start-up, compared with today's start-up.
std::vector<FasterStart> compare_starts(const AutoscaleInput& input) {
  std::vector<FasterStart> faster;
  if (input.faster_starts.empty()) return faster;
  const double now = autoscale::cheapest_on_average(input.cluster, input.traffic);
  for (const auto& [name, startup] : input.faster_starts) {
    autoscale::ClusterConfig config = input.cluster;
    config.startup = sim::to_sim_time(startup.total());
    const double then = autoscale::cheapest_on_average(config, input.traffic);
    faster.push_back({name, startup.total(), now > 0 ? std::max(0.0, 1 - then / now) : 0});
  }
  // The estimates are random; a shorter start-up saves at least what a longer one saves.
  for (FasterStart& one : faster)
    for (const FasterStart& slower : faster)
      if (slower.startup >= one.startup) one.saved_share = std::max(one.saved_share, slower.saved_share);
  return faster;
}

// Dynamo's planner and SkyServe read the capacity of a replica from its profile.
void fill_in_rates(const AutoscaleInput& input, std::vector<autoscale::Policy>& policies) {
  for (autoscale::Policy& policy : policies) {
    const bool by_rate = policy.kind == autoscale::Kind::kDynamo || policy.kind == autoscale::Kind::kSkyServe;
    if (by_rate && policy.rate == 0)
      policy.rate = autoscale::rate_within(input.cluster, autoscale::demand_of(input.traffic, autoscale::kSlot));
  }
}

// The policies on mean traffic, in a fraction of the time.
Checked<Outcome> compare_quickly(const AutoscaleFlags& flags, AutoscaleAnswer answer) {
  const AutoscaleInput& input = answer.input;
  if (input.policies.empty())
    return fail(bad_input("--plans-only needs --policy").with_hint("add --policy hpa:target=24"));
  if (!input.cluster.open_loop())
    return fail(bad_input("--plans-only needs traffic that does not wait for answers")
                    .with_hint("omit --plans-only, or use --arrivals"));
  constexpr sim::SimTime kWidth = autoscale::whole_seconds(5);
  const autoscale::DemandSeries demand =
      input.day ? autoscale::drawn_demand(*input.day, input.lengths, flags.engine.input.seed,
                                          sim::to_sim_time(flags.duration.value_or(input.day->period)), kWidth)
                : autoscale::demand_of(input.traffic, kWidth);
  for (const autoscale::Policy& policy : input.policies)
    answer.on_mean_traffic.push_back({policy, autoscale::screen(input.cluster, demand, policy, 1)});
  return autoscale_outcome(answer);
}

Checked<Outcome> run_autoscale(const AutoscaleFlags& flags) {
  if (Result<> known = check_scaling_tools(flags.emit); !known) return fail(known.error());
  RIGHTSIZE_TRY(AutoscaleInput input, read_input(flags));
  if (!input.traffic) return startup_outcome(input);
  const auto start = std::chrono::steady_clock::now();
  fill_in_rates(input, input.policies);
  AutoscaleAnswer answer{input};
  if (flags.plans_only) return compare_quickly(flags, answer);
  const LongWork counted("requests simulated", 0);
  const auto find_bound = [&] {
    if (input.cluster.open_loop()) answer.bound = autoscale::lower_bound(input.cluster, input.traffic);
  };
  const auto find_policies = [&] { answer.search = autoscale::search(input.cluster, input.traffic); };
  const auto simulate_given = [&] {
    answer.policies = autoscale::simulate_all(input.cluster, input.traffic, input.policies);
  };
  // The bound needs one thread, and the others do not always keep both busy.
  for_each_index(2, 2, [&](std::size_t i) {
    i == 0 ? find_bound() : input.policies.empty() ? find_policies() : simulate_given();
  });
  if (cancelled()) return fail(bad_input("cancelled"));
  if (input.policies.empty()) {
    answer.policies = std::move(answer.search->best);
    // A fixed number of replicas outside the limits only serves for comparison; the nearest within them is allowed.
    for (auto at = answer.policies.begin(); at != answer.policies.end(); ++at) {
      const autoscale::Policy allowed = bounded(at->policy, input.cluster);
      if (at->policy.kind != autoscale::Kind::kFixed || allowed.replicas == at->policy.replicas) continue;
      *at = {allowed, autoscale::simulate(input.cluster, input.traffic, allowed)};
      std::rotate(answer.policies.begin(), at, at + 1);  // the simplest of equal policies
      break;
    }
    answer.faster_starts = compare_starts(input);
  }
  answer.best = best_of(answer.policies, input.cluster.slo);
  if (input.cluster.open_loop()) answer.failure = fail_one(input, answer.policies[answer.best]);
  RIGHTSIZE_TRY(answer.files, scaling_files(answer));
  answer.wall = seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return autoscale_outcome(answer);
}

}  // namespace

Run add_autoscale(FlagSet& command) {
  auto flags = std::make_shared<AutoscaleFlags>();
  declare(command, *flags);
  return [flags] { return run_autoscale(*flags); };
}

}  // namespace rightsize::app
