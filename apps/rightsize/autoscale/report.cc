#include "rightsize/autoscale/report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/format.h"
#include "rightsize/input/emitted.h"

namespace rightsize::app {
namespace {

using autoscale::SimulatedPolicy;
using report::Fields;

Seconds from_ns(double ns) { return seconds(ns * 1e-9); }
std::string percent(double share) { return format_percent(Ratio::fraction(share)); }
std::string hours_text(double hours) { return format_number(hours); }
std::string replicas_text(double n) { return fmt::format("{:.2f}", n); }

struct HourView {
  std::size_t hour = 0;
  double requests = 0, over = 0, ready = 0, paid = 0;
  Seconds worst_ttft = {};

  double over_share() const { return requests > 0 ? over / requests : 0; }
};
const Fields<HourView> kHourFields = {
    {"hour", "hour", "hours since the start", &HourView::hour},
    {"requests", "requests", "requests that arrived in it", &HourView::requests, format_count},
    {"over_slo", "over the SLO", "share of them over the SLO", &HourView::over_share, percent},
    {"ttft_max_seconds", "longest TTFT", "of requests that arrived in it", &HourView::worst_ttft, format_duration},
    {"mean_replicas", "replicas", "ready on average", &HourView::ready, replicas_text},
    {"paid_replicas", "paid", "paid for on average", &HourView::paid, replicas_text},
};

std::vector<HourView> hours_of(const autoscale::ScalingRun& run) {
  constexpr std::size_t kSlots = 12;
  std::vector<HourView> all;
  for (std::size_t i = 0; i < run.slots.size(); ++i) {
    if (i / kSlots >= all.size()) all.push_back({i / kSlots});
    HourView& hour = all.back();
    const autoscale::Slot& slot = run.slots[i];
    hour.requests += slot.requests, hour.over += slot.over;
    hour.ready += slot.ready / 3600, hour.paid += slot.paid / 3600;
    hour.worst_ttft = std::max(hour.worst_ttft, sim::from_sim_time(slot.worst_ttft));
  }
  return all;
}

// The hour with the largest share over the SLO; among equals, that with the longest TTFT. Hours with few requests are
// ignored.
std::optional<HourView> worst_hour(const autoscale::ScalingRun& run) {
  const std::vector<HourView> all = hours_of(run);
  double most = 0;
  for (const HourView& hour : all) most = std::max(most, hour.requests);
  std::optional<HourView> worst;
  constexpr double kEnough = 0.05;
  for (const HourView& hour : all) {
    if (hour.requests < kEnough * most || hour.requests == 0) continue;
    if (!worst || std::pair(hour.over_share(), hour.worst_ttft) > std::pair(worst->over_share(), worst->worst_ttft))
      worst = hour;
  }
  return worst;
}

struct PolicyView {
  const AutoscaleAnswer& answer;
  const autoscale::SimulatedPolicy& simulated;

  const autoscale::ScalingRun& run() const { return simulated.run; }
  const AutoscaleInput& input() const { return answer.input; }
};

const Fields<autoscale::Purchase> kPurchaseFields = {
    {"committed_replicas", "replicas to commit to for a year", &autoscale::Purchase::committed},
    {"elastic", "how the others are rented", [](const autoscale::Purchase& p) { return p.spot ? "spot" : "on-demand"; },
     report::one_of({"spot", "on-demand"})},
    {"committed_usd", "cost of the committed ones", &autoscale::Purchase::committed_usd},
    {"elastic_usd", "cost of the others", &autoscale::Purchase::elastic_usd},
    {"usd", "cost of both", [](const autoscale::Purchase& p) { return p.usd(); }},
};

const Fields<PolicyView> kPolicyFields = {
    {"name", "name of the policy", [](const PolicyView& v) { return autoscale::name_of(v.simulated.policy.kind); }},
    {"policy", "policy", "as --policy takes it",
     [](const PolicyView& v) { return autoscale::describe(v.simulated.policy); }},
    {"parameters", "its parameters, defaults included",
     [](const PolicyView& v) { return autoscale::parameters(v.simulated.policy); }},
    {"gpu_hours", "GPU-hours", "GPU-hours that are paid for",
     [](const PolicyView& v) { return v.input().gpu_hours(v.run().paid_seconds); }, hours_text},
    {"usd", "cost", "cost of the GPU-hours", [](const PolicyView& v) { return v.input().usd(v.run().paid_seconds); },
     [](double value) { return format_usd(usd(value)); }},
    {"purchase?", "the base committed, the rest as spot or on demand", kPurchaseFields,
     [](const PolicyView& v) {
       return autoscale::cheapest_purchase(v.run(), v.input().offer.replica.gpus, v.input().market);
     }},
    {"over_bound?", "over the bound", "GPU-hours above the lower bound, as a share of it",
     [](const PolicyView& v) {
       return report::when(v.answer.bound && v.answer.bound->replica_seconds > 0,
                           v.answer.bound ? v.run().paid_seconds / v.answer.bound->replica_seconds - 1 : 0.0);
     },
     percent},
    {"over_slo", "over the SLO", "share of requests over the SLO",
     [](const PolicyView& v) { return v.run().over_share(); }, percent},
    {"meets_slo", "whether at most the allowed share is over the SLO",
     [](const PolicyView& v) { return v.run().meets(v.input().cluster.slo); }},
    {"ttft_p99_seconds", "p99 TTFT", "99th percentile of TTFT",
     [](const PolicyView& v) { return from_ns(v.run().ttft.quantile(0.99)); }, format_duration},
    {"tpot_p99_seconds", "p99 TPOT", "99th percentile of TPOT",
     [](const PolicyView& v) { return from_ns(v.run().tpot.quantile(0.99)); }, format_duration},
    {"mean_replicas", "replicas", "ready replicas on average", [](const PolicyView& v) { return v.run().mean_ready(); },
     replicas_text},
    {"max_replicas", "most", "most ready replicas", [](const PolicyView& v) { return v.run().most_ready; }},
    {"starts", "starts", "replicas started after the beginning", [](const PolicyView& v) { return v.run().starts; }},
    {"requests", "requests that finished", [](const PolicyView& v) { return v.run().requests; }},
    {"unserved?", "requests that no replica ever served",
     [](const PolicyView& v) { return report::positive(v.run().unserved); }},
    {"rejected?", "requests that do not fit the KV cache of a replica",
     [](const PolicyView& v) { return report::positive(v.run().rejected); }},
    {"worst_hour?", "the hour with the largest share over the SLO", kHourFields,
     [](const PolicyView& v) { return worst_hour(v.run()); }},
    {"hours", "the course of the run", kHourFields, [](const PolicyView& v) { return hours_of(v.run()); }},
};

const Fields<HourView> kMeanHourFields = {
    {"hour", "hours since the start", &HourView::hour},
    {"requests", "requests that arrive in it", &HourView::requests},
    {"mean_replicas", "replicas that are ready on average", &HourView::ready},
    {"paid_replicas", "replicas that are paid for on average", &HourView::paid},
};
const Fields<PolicyView> kMeanFields = {
    {"name", "name of the policy", [](const PolicyView& v) { return autoscale::name_of(v.simulated.policy.kind); }},
    {"policy", "policy", "as --policy takes it",
     [](const PolicyView& v) { return autoscale::describe(v.simulated.policy); }},
    {"gpu_hours", "GPU-hours", "GPU-hours that are paid for",
     [](const PolicyView& v) { return v.input().gpu_hours(v.run().paid_seconds); }, hours_text},
    {"usd", "cost", "cost of the GPU-hours", [](const PolicyView& v) { return v.input().usd(v.run().paid_seconds); },
     [](double value) { return format_usd(usd(value)); }},
    {"overloaded", "over the SLO",
     "whether mean traffic alone is often over the SLO; the GPU-hours are then unreliable",
     [](const PolicyView& v) { return v.run().over_share() > v.input().cluster.slo.allowed / 10; }},
    {"max_replicas", "most", "most ready replicas", [](const PolicyView& v) { return v.run().most_ready; }},
    {"hours", "the course of the run", kMeanHourFields, [](const PolicyView& v) { return hours_of(v.run()); }},
};

struct BoundView {
  const AutoscaleInput& input;
  autoscale::Bound bound;
};
const Fields<BoundView> kBoundFields = {
    {"gpu_hours", "fewest GPU-hours of a scaler that sees the future",
     [](const BoundView& v) { return v.input.gpu_hours(v.bound.replica_seconds); }},
    {"usd", "their cost", [](const BoundView& v) { return v.input.usd(v.bound.replica_seconds); }},
    {"work_gpu_hours", "GPU-hours of the work itself in full batches",
     [](const BoundView& v) { return v.input.gpu_hours(v.bound.work_seconds); }},
};

std::optional<Seconds> limit_of(sim::SimTime limit) {
  return report::when(limit != sim::kNever, sim::from_sim_time(limit));
}
const Fields<autoscale::Limits> kLimitFields = {
    {"ttft_seconds?", "limit on TTFT", [](const autoscale::Limits& l) { return limit_of(l.ttft); }},
    {"tpot_seconds?", "limit on TPOT", [](const autoscale::Limits& l) { return limit_of(l.tpot); }},
    {"latency_seconds?", "limit on latency", [](const autoscale::Limits& l) { return limit_of(l.latency); }},
    {"allowed_share", "share of requests that may exceed one of them", &autoscale::Limits::allowed},
};

const Fields<History> kHistoryFields = {
    {"service", "the service whose metrics were read", &History::service},
    {"window_hours", "how long", &History::window},
    {"gpu_hours", "GPU-hours that it used", &History::gpu_hours},
    {"over_slo?", "share of requests over the limit that most exceeded", &History::over_slo},
};

const Fields<autoscale::Stage> kStageFields = {
    {"name", "stage", "engine, weights, compile, graphs; node and image where they apply", &autoscale::Stage::name},
    {"seconds", "time", "likely time", &autoscale::Stage::time, format_duration},
    {"low", "from", "lower end in seconds", &autoscale::Stage::low, format_duration},
    {"high", "to", "upper end in seconds", &autoscale::Stage::high, format_duration},
    {"source?", "where the figure comes from, with its date", &autoscale::Stage::source},
};
const Fields<autoscale::Startup> kStartupFields = {
    {"stages", "its stages", kStageFields, &autoscale::Startup::stages},
    {"seconds", "from the start of a replica to its first request",
     [](const autoscale::Startup& s) { return s.total(); }},
    {"low", "lower end in seconds", [](const autoscale::Startup& s) { return s.low(); }},
    {"high", "upper end in seconds", [](const autoscale::Startup& s) { return s.high(); }},
};

struct FailureView {
  const FailureRun& failure;

  double more_over() const { return static_cast<double>(failure.run.over) - static_cast<double>(failure.usual.over); }
  Seconds worst() const {
    const auto slot = static_cast<std::size_t>(sim::to_sim_time(failure.at) / autoscale::kSlot);
    sim::SimTime longest = 0;
    for (std::size_t i = slot > 0 ? slot - 1 : 0; i < std::min(slot + 4, failure.run.slots.size()); ++i)
      longest = std::max(longest, failure.run.slots[i].worst_ttft);
    return sim::from_sim_time(longest);
  }
};
const Fields<FailureView> kFailureFields = {
    {"at_seconds", "when the oldest replica dies", [](const FailureView& v) { return v.failure.at; }},
    {"more_requests_over", "requests over the SLO that would have met it", &FailureView::more_over},
    {"ttft_max_seconds", "longest TTFT around it", &FailureView::worst},
};

const Fields<FasterStart> kFasterFields = {
    {"name", "kept ready", "what stays ready", &FasterStart::name},
    {"startup_seconds", "start-up", "from start to first request", &FasterStart::startup, format_duration},
    {"saved_share", "GPU-hours saved", "share of the GPU-hours that it saves", &FasterStart::saved_share, percent},
};

struct SearchView {
  const autoscale::PolicySearch& search;
};
const Fields<SearchView> kSearchFields = {
    {"settings", "settings that were compared", [](const SearchView& v) { return v.search.screened; }},
    {"simulated", "of those, simulated over all requests", [](const SearchView& v) { return v.search.simulated; }},
};

std::vector<PolicyView> views_of(const AutoscaleAnswer& answer, const std::vector<SimulatedPolicy>& policies) {
  std::vector<PolicyView> views;
  for (const SimulatedPolicy& policy : policies) views.push_back({answer, policy});
  return views;
}

std::optional<double> saved_against_fixed(const AutoscaleAnswer& a) {
  const autoscale::Limits& slo = a.input.cluster.slo;
  if (!a.search || !a.search->fixed || !a.search->fixed->run.meets(slo) || !a.policies[a.best].run.meets(slo))
    return std::nullopt;
  return 1 - a.policies[a.best].run.paid_seconds / a.search->fixed->run.paid_seconds;
}

const Fields<AutoscaleAnswer> kAutoscaleFields = {
    {"gpu?", "GPU by its catalogue name", [](const AutoscaleAnswer& a) { return a.input.offer.replica.gpu; }},
    {"gpus_per_replica", "GPUs of one replica", [](const AutoscaleAnswer& a) { return a.input.offer.replica.gpus; }},
    {"usd_per_gpu_hour?", "price of a GPU", [](const AutoscaleAnswer& a) { return a.input.usd_per_gpu_hour; }},
    {"price_source?", "where the price comes from",
     [](const AutoscaleAnswer& a) { return a.input.offer.price_source; }},
    {"traffic?", "what was simulated", [](const AutoscaleAnswer& a) { return a.input.traffic_words; }},
    {"measured?", "how the service fared in the time that is replayed", kHistoryFields,
     [](const AutoscaleAnswer& a) { return a.input.history; }},
    {"slo?", "limits on each request", kLimitFields,
     [](const AutoscaleAnswer& a) { return report::when(!a.policies.empty(), a.input.cluster.slo); }},
    {"simulated_hours?", "length of the run of the best policy",
     [](const AutoscaleAnswer& a) {
       return a.policies.empty() ? std::nullopt : std::optional(sim::from_sim_time(a.policies[a.best].run.end));
     }},
    {"startup", "how a replica starts", kStartupFields,
     [](const AutoscaleAnswer& a) { return std::cref(a.input.startup); }},
    {"bound?", "lower bound for every policy", kBoundFields,
     [](const AutoscaleAnswer& a) {
       return a.bound ? std::optional(BoundView{a.input, *a.bound}) : std::nullopt;
     }},
    {"best?", "the cheapest policy that meets the SLO",
     [](const AutoscaleAnswer& a) {
       return a.policies.empty() ? std::string() : autoscale::describe(a.policies[a.best].policy);
     }},
    {"saved_against_fixed?", "GPU-hours that the best policy saves against the fewest fixed replicas, as a share",
     [](const AutoscaleAnswer& a) { return saved_against_fixed(a); }},
    {"policies?", "the policies", kPolicyFields, [](const AutoscaleAnswer& a) { return views_of(a, a.policies); }},
    {"on_mean_traffic?", "the policies on mean traffic, with --plans-only instead of a simulation", kMeanFields,
     [](const AutoscaleAnswer& a) { return views_of(a, a.on_mean_traffic); }},
    {"failure?", "the best policy when a replica dies at the busiest time", kFailureFields,
     [](const AutoscaleAnswer& a) { return a.failure ? std::optional(FailureView{*a.failure}) : std::nullopt; }},
    {"faster_starts?", "savings from a shorter start-up", kFasterFields, &AutoscaleAnswer::faster_starts},
    {"search?", "how the policies were found", kSearchFields,
     [](const AutoscaleAnswer& a) { return a.search ? std::optional(SearchView{*a.search}) : std::nullopt; }},
    {"files?", "files of --emit, by tool", &AutoscaleAnswer::files},
    {"seconds", "wall time", &AutoscaleAnswer::wall},
};

const report::Document<AutoscaleAnswer> kAutoscaleDocument("autoscale", "Scaling policies, with start-up times",
                                                           kAutoscaleFields);

std::string conclusion(const AutoscaleAnswer& a) {
  const PolicyView best{a, a.policies[a.best]};
  const autoscale::ScalingRun& run = best.run();
  const std::string cost = fmt::format(
      "{} GPU-hours{}", hours_text(a.input.gpu_hours(run.paid_seconds)),
      a.input.usd_per_gpu_hour ? fmt::format(" ({})", format_usd(usd(*a.input.usd(run.paid_seconds)))) : "");
  const std::string name = autoscale::describe(a.policies[a.best].policy);
  if (!run.meets(a.input.cluster.slo))
    return fmt::format("{} misses the SLO{}: {} of requests are late, for {} in {}.", name,
                       a.policies.size() > 1 ? fmt::format(", as do the other {} policies", a.policies.size() - 1) : "",
                       percent(run.over_share()), cost, format_duration(sim::from_sim_time(run.end)));
  const bool fitted = a.search && !a.policies[a.best].policy.plan.empty();
  return fmt::format("Use {}: {}, {} of requests over the SLO.{}", name, cost, percent(run.over_share()),
                     fitted ? " Its plan is fitted to this traffic: check it on another day." : "");
}

std::string bound_line(const AutoscaleAnswer& a) {
  if (!a.bound || !(a.bound->replica_seconds > 0)) return "";
  return fmt::format("Meeting the SLO takes at least {} GPU-hours, whatever the scaler; a replica starts in {}.",
                     hours_text(a.input.gpu_hours(a.bound->replica_seconds)), format_duration(a.input.startup.total()));
}

std::string constant_line(const AutoscaleAnswer& a) {
  return a.input.constant ? "The load is constant, so there is nothing to scale." : "";
}

// "It saves 43 % against 9 fixed replicas ($12,000/month)."
std::string saving_line(const AutoscaleAnswer& a) {
  if (!a.search || !a.search->fixed) return "";
  const autoscale::SimulatedPolicy& fixed = *a.search->fixed;
  const int replicas = fixed.policy.replicas;
  const std::string against = fmt::format("{} fixed replica{}", replicas, replicas == 1 ? "" : "s");
  const autoscale::ClusterConfig& cluster = a.input.cluster;
  if (fixed.run.meets(cluster.slo) && replicas > cluster.most_replicas)
    return fmt::format("{} would meet the SLO: raise --max-replicas to {}.", against, replicas);
  const std::optional<double> saved = saved_against_fixed(a);
  if (!saved) return "";
  if (replicas < cluster.least_replicas)
    return fmt::format("{} would meet the SLO for {} less; --min-replicas {} does not allow that.", against,
                       percent(std::max(0.0, 1 - 1 / (1 - *saved))), cluster.least_replicas);
  if (*saved < 0.005)
    return fmt::format("Autoscaling saves nothing here: {} cost{} the same.", against, replicas == 1 ? "s" : "");
  const double hours = in_hours(sim::from_sim_time(fixed.run.end));
  const std::optional<double> spent = a.input.usd(fixed.run.paid_seconds);
  return fmt::format(
      "It saves {} against {}{}.", percent(*saved), against,
      spent && hours > 0 ? fmt::format(": {}/month", format_usd(usd(*spent * *saved / hours * in_hours(kMonth)))) : "");
}

// "The service used 336 GPU-hours in the same time, with 0.2 % of requests over the SLO."
std::string history_line(const AutoscaleAnswer& a) {
  if (!a.input.history) return "";
  const History& h = *a.input.history;
  return fmt::format("{} used {} GPU-hours in the same time{}.", h.service, hours_text(h.gpu_hours),
                     h.over_slo ? fmt::format(", with {} of requests over the SLO", percent(*h.over_slo)) : "");
}

std::string purchase_line(const AutoscaleAnswer& a) {
  const auto p = autoscale::cheapest_purchase(a.policies[a.best].run, a.input.offer.replica.gpus, a.input.market);
  if (!p || p->usd() >= p->on_demand_usd * 0.995) return "";
  const std::string elastic = p->spot ? "as spot" : "on demand";
  const std::string terms = p->committed == 0 ? fmt::format("Rented {}", elastic)
                            : p->elastic_usd > 0
                                ? fmt::format("With {} replica{} committed for a year and the others {}", p->committed,
                                              p->committed == 1 ? "" : "s", elastic)
                                : fmt::format("Committed for a year");
  return fmt::format("{}, it costs {} instead of {}.", terms, format_usd(usd(p->usd())),
                     format_usd(usd(p->on_demand_usd)));
}

std::string failure_line(const AutoscaleAnswer& a) {
  if (!a.failure) return "";
  const FailureView v{*a.failure};
  const double more = std::max(0.0, v.more_over());
  const std::string missed = more == 0   ? "no more requests miss the SLO than without the failure"
                             : more == 1 ? "1 more request misses the SLO"
                                         : format_count(more) + " more requests miss the SLO";
  return fmt::format("If a replica dies at the busiest time, {}, and TTFT reaches {}.", missed,
                     format_duration(v.worst()));
}

}  // namespace

Outcome autoscale_outcome(const AutoscaleAnswer& answer) {
  Outcome outcome;
  report::Report& report = outcome.report;
  report.title = "Autoscaling";
  report.document = kAutoscaleDocument.of(answer);
  if (!answer.on_mean_traffic.empty()) {
    report.say("Mean traffic only: latencies need the simulation of every request, without --plans-only.");
    report.show("Policies", table_of(kMeanFields, views_of(answer, answer.on_mean_traffic),
                                     {"policy", "gpu_hours", "usd", "overloaded", "max_replicas"}));
  }
  if (answer.policies.empty()) return outcome;
  report.say(conclusion(answer));
  for (const std::string& line :
       {constant_line(answer), saving_line(answer), history_line(answer), bound_line(answer), purchase_line(answer)}) {
    if (!line.empty()) report.say(line);
  }
  report.show("Policies", table_of(kPolicyFields, views_of(answer, answer.policies),
                                   {"policy", "gpu_hours", "usd", "over_bound", "over_slo", "ttft_p99_seconds",
                                    report::spare("tpot_p99_seconds"), "mean_replicas", "max_replicas"}));
  if (const auto worst = worst_hour(answer.policies[answer.best].run); worst && worst->over > 0)
    report.say(fmt::format("Its worst hour is hour {}: {} of {} requests over the SLO, TTFT up to {}.", worst->hour,
                           percent(worst->over_share()), format_count(worst->requests),
                           format_duration(worst->worst_ttft)));
  if (const std::string line = failure_line(answer); !line.empty()) report.say(line);
  if (!answer.faster_starts.empty())
    report.show("Savings from a faster start-up",
                table_of(kFasterFields, answer.faster_starts, {"name", "startup_seconds", "saved_share"}));
  show_only(answer.files, report);
  // Policies that the user named are answered whether they meet the SLO or not.
  if (answer.search && !answer.policies[answer.best].run.meets(answer.input.cluster.slo))
    outcome.exit_code = kNoFeasibleAnswer;
  return outcome;
}

Outcome startup_outcome(const AutoscaleInput& input) {
  Outcome outcome;
  outcome.report.title = "Start-up of a replica";
  outcome.report.document = kAutoscaleDocument.of(AutoscaleAnswer{input});
  outcome.report.say(fmt::format("A replica starts in {} (80 % interval {} to {}).",
                                 format_duration(input.startup.total()), format_duration(input.startup.low()),
                                 format_duration(input.startup.high())));
  outcome.report.show("Stages", table_of(kStageFields, input.startup.stages, {"name", "seconds", "low", "high"}));
  return outcome;
}

}  // namespace rightsize::app
