#include <cmath>

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"
#include "rightsize/fleet/report.h"

namespace rightsize::app {
namespace {

using fleet::FleetAction;
using fleet::FleetTotals;
using fleet::Forecast;
using fleet::GpuRow;
using fleet::GroupLine;
using fleet::JobExample;
using fleet::JobIssueLine;
using fleet::JobLedger;
using fleet::LedgerLine;
using report::Fields;
using report::kTableOnly;
using report::when;

template <class Value>
using Named = std::vector<std::pair<std::string_view, Value>>;

// A confidence is a judgement, so it is shown without decimals.
std::string whole_percent(double share) { return fmt::format("{:.0f} %", share * 100); }
std::string hours(GpuTime time) { return format_number(in_gpu_hours(time)); }
std::string kwh(Joules energy) { return format_number(in_joules(energy) / 3.6e6); }
std::string duration_text(Seconds time) { return format_duration(time); }
std::optional<std::string> not_empty(const std::string& text) { return when(!text.empty(), text); }

Named<double> mean_metrics(const GpuRow& gpu) {
  Named<double> means;
  for (const auto& [metric, use] : gpu.use.metrics) means.emplace_back(telemetry::name_of(metric), use.mean);
  return means;
}

Named<double> time_shares(const GpuRow& gpu) {
  Named<double> shares;
  for (std::size_t c = 0; c < fleet::kCategories; ++c)
    shares.emplace_back(fleet::name_of(static_cast<fleet::Category>(c)), gpu.share[c]);
  return shares;
}

std::optional<double> activity_of(const GpuRow& gpu) {
  const auto metric = gpu.use.activity();
  return metric ? std::optional(gpu.use.metric(*metric)->mean) : std::nullopt;
}

const Fields<fleet::Tenancy> kTenancyFields = {
    {"owner", "namespace/workload, account or user", [](const fleet::Tenancy& t) { return t.owner.shown(); }},
    {"seconds", "time on the GPU", &fleet::Tenancy::time},
    {"idle_seconds", "of it without activity", &fleet::Tenancy::idle},
};

const Fields<diagnose::Cycle> kCycleFields = {
    {"kind", "waiting: work alternates with waits; colocated: generation with training", &diagnose::Cycle::kind},
    {"period_seconds", "length of a cycle", &diagnose::Cycle::period},
    {"wait_share", "share of the time that is waited", &diagnose::Cycle::wait_share},
};

const Fields<fleet::WorstStep> kWorstFields = {
    {"time", "when it begins, UTC", [](const fleet::WorstStep& s) { return time_text(s.begin); }},
    {"seconds", "how long it lasts", &fleet::WorstStep::width},
    {"load", "highest load; 1 is full", &fleet::WorstStep::load},
};

const Fields<fleet::ShareBounds> kBoundsFields = {
    {"low", "lower bound", &fleet::ShareBounds::low},
    {"likely", "best estimate", &fleet::ShareBounds::likely},
    {"high", "upper bound", &fleet::ShareBounds::high},
};

const Fields<Forecast> kForecastFields = {
    {"load_p95", "95th percentile of the load on the new GPU; 1 is full", &Forecast::load_p95},
    {"load_peak", "highest load", &Forecast::load_peak},
    {"latency_factor_p95", "p95 latency relative to today; null: unbounded", &Forecast::latency_p95},
    {"latency_factor_peak", "latency at the peak relative to today; null: unbounded", &Forecast::latency_peak},
    {"too_small_share", "share of the recorded time with a load above 1", kBoundsFields, &Forecast::too_small},
    {"worst", "the periods with the highest load", kWorstFields, &Forecast::worst},
};

const Fields<fleet::Move> kMoveFields = {
    {"gpu", "ID of the GPU it runs on", &fleet::Move::gpu},
    {"owner", "the workload's owner", [](const fleet::Move& m) { return m.owner.shown(); }},
    {"instance", "pod or job", [](const fleet::Move& m) { return not_empty(m.owner.instance); }},
    {"from", "host/index of the GPU", &fleet::Move::from},
    {"to", "where it goes", &fleet::Move::to},
};

// Fields of every kind of group.
const Fields<GroupLine> kAmountFields = {
    {"jobs?", "jobs", "jobs", [](const GroupLine& line) { return report::positive(line.jobs); }},
    {"gpus?", "GPUs", "GPUs used", [](const GroupLine& line) { return report::positive(line.gpus); }},
    {"gpu_hours", "GPU-hours", "GPU-hours", &GroupLine::gpu_time, hours},
    {"idle_gpu_hours", "idle GPU-h", "without activity; null: not measured", &GroupLine::idle, hours},
    {"unsuccessful_gpu_hours?", "unsuccessful", "of jobs that failed, timed out or were cancelled",
     [](const GroupLine& line) { return when(line.jobs > 0, line.unsuccessful); }, hours},
    {"spend_usd", "spent", "cost; null: no price known",
     [](const GroupLine& line) { return when(line.priced, line.spend); }, dollars},
    {"waste_usd?", "wasted", "of it wasted",
     [](const GroupLine& line) { return when(line.waste_known && line.priced, line.waste); }, dollars},
    {"energy_kwh?", "kWh", "energy of its GPUs, measured", &GroupLine::energy, kwh},
    {"waste_share", "share", "wasted share of the cost",
     [](const GroupLine& line) { return line.spend > Usd{} ? line.waste / line.spend : 0; }, percent, kTableOnly},
};

const Fields<JobExample> kJobExampleFields = {
    {"job", "job ID", &JobExample::id},
    {"user", "user", &JobExample::user},
    {"name", "job name", &JobExample::name},
    {"gpu_hours", "GPU-hours", &JobExample::gpu_time},
};

const Fields<JobLedger> kJobFields = {
    {"count", "GPU jobs", &JobLedger::jobs},
    {"priced", "jobs with a known price", &JobLedger::priced},
    {"measured", "jobs with measured utilization", &JobLedger::measured},
    {"without_gpu", "jobs without GPUs, not counted", &JobLedger::without_gpu},
    {"never_started", "jobs that never started, not counted", &JobLedger::never_started},
    {"gpu_hours", "GPU-hours", &JobLedger::gpu_time},
    {"spend_usd", "cost; null: no price known", [](const JobLedger& j) { return when(j.priced > 0, j.spend); }},
    {"unsuccessful_gpu_hours", "of jobs that failed, timed out, were cancelled, preempted or requeued",
     &JobLedger::unsuccessful},
    {"unsuccessful_usd", "their cost; null: no price known",
     [](const JobLedger& j) { return when(j.priced > 0, j.unsuccessful_spend); }},
    {"requested_gpu_hours", "GPUs times time limit of ended jobs with a limit",
     [](const JobLedger& j) { return report::positive(j.requested); }},
    {"used_gpu_hours", "GPUs times elapsed time of the same jobs",
     [](const JobLedger& j) { return report::positive(j.used); }},
    {"waits", "time from submission to start, by partition", kWaitFields, &JobLedger::waits},
    {"issues", "GPU-hours without a result, by reason", kJobIssueFields, &JobLedger::issues},
};

// An optional rate in dollars per month.
std::optional<Usd> a_month(const std::optional<UsdPerSecond>& rate) {
  return rate ? std::optional(*rate * kMonth) : std::nullopt;
}

const Fields<fleet::ClusterLedger> kClusterFields = {
    {"time?", "the newest time in the lists",
     [](const fleet::ClusterLedger& c) { return c.moment ? std::optional(time_text(*c.moment)) : std::nullopt; }},
    {"gpus", "GPUs of the nodes", &fleet::ClusterLedger::gpus},
    {"requested_gpus", "of them requested by pods", &fleet::ClusterLedger::requested},
    {"waiting_gpus", "GPUs that pods without a node request", &fleet::ClusterLedger::waiting},
    {"idle_nodes", "nodes with GPUs that no pod requests", &fleet::ClusterLedger::idle_nodes},
    {"nodes_without_price", "nodes without a known price", &fleet::ClusterLedger::unpriced},
    {"usd_per_month", "cost of all nodes with a price", &fleet::ClusterLedger::rate},
    {"free_usd_per_month", "of it for GPUs that no pod requests", &fleet::ClusterLedger::free_rate},
    {"idle_nodes_usd_per_month", "of it for nodes with GPUs that no pod requests", &fleet::ClusterLedger::idle_rate},
    {"requests", "by workload", kRequestFields, &fleet::ClusterLedger::requests},
    {"nodes", "nodes with GPUs, the most free GPUs first", kNodeFields, &fleet::ClusterLedger::nodes},
};

const Fields<FleetTotals> kTotalsFields = {
    {"gpus", "GPUs and MIG instances", &FleetTotals::gpus},
    {"gpus_priced", "of them with a known price", &FleetTotals::priced},
    {"gpu_hours", "hours of whole GPUs", &FleetTotals::gpu_time},
    {"spend_usd", "cost of the window", &FleetTotals::spend},
    {"waste_usd", "of it wasted", &FleetTotals::waste},
    {"waste_share", "wasted share of the cost", &FleetTotals::waste_share},
    {"waste_known", "whether any GPU reported activity; if not, waste is unknown rather than 0",
     &FleetTotals::measured},
    {"idle_gpu_hours", "GPU-hours without activity", &FleetTotals::idle},
    {"usd_per_month", "cost at the current rate", &FleetTotals::spend_rate},
    {"savings_usd_per_month", "saved by all actions that count", &FleetTotals::saving},
    {"not_counted_usd_per_month", "what the other actions would save", &FleetTotals::not_counted},
    {"savings_bound_usd_per_month", "the most any choice among the remedies saves", &FleetTotals::saving_bound},
    {"remedies_considered", "remedies found", &FleetTotals::remedies},
    {"window_seconds", "from the first reading to the last", &FleetTotals::window},
    {"share_read", "share of the GPUs or files that could be read", &FleetTotals::share_read},
    {"energy_kwh?", "energy of the GPUs that reported power, without hosts", &FleetTotals::energy},
    {"gpu_power_watts?", "mean power of such a GPU",
     [](const FleetTotals& t) {
       return t.energy ? std::optional(*t.energy / (t.powered / rightsize::gpus(1))) : std::nullopt;
     }},
};

const Fields<fleet::UnplannedWaste> kUnplannedFields = {
    {"owner", "owner", &fleet::UnplannedWaste::owner},
    {"gpus", "GPUs", &fleet::UnplannedWaste::gpus},
    {"waste_usd_per_month", "waste", &fleet::UnplannedWaste::rate},
    {"verdict", "the verdict behind most of it", &fleet::UnplannedWaste::verdict},
    {"next", "what to do", next_step},
};

using Lines = std::vector<GroupLine>;

// "owner" and "team" instead of "name".
const Fields<GroupLine> kOwnerFields = {
    {"owner", "namespace/workload, account or user", &GroupLine::name},
    {"team", "namespace or account", [](const GroupLine& line) { return not_empty(line.team); }},
    {kAmountFields, [](const GroupLine& line) { return &line; }},
};

template <Lines JobLedger::*kLines>
Lines of_jobs(const FleetResult& result) {
  return result.analysis.jobs ? (*result.analysis.jobs).*kLines : Lines();
}

Named<std::string> metrics_found(const FleetResult& result) {
  Named<std::string> found;
  for (const auto& [metric, source] : result.sources) found.emplace_back(telemetry::name_of(metric), source.name);
  return found;
}

struct TimelineView {
  const GpuRow& gpu;
  fleet::VerdictsOverTime verdicts;
};

std::vector<double> rounded(const std::vector<float>& values) {
  std::vector<double> numbers;
  for (const float value : values) numbers.push_back(std::round(1000.0 * value) / 1000.0);
  return numbers;
}

const Fields<TimelineView> kTimelineFields = {
    {"id", "GPU", [](const TimelineView& v) { return v.gpu.use.device.key(); }},
    {"start", "begin of the first step, UTC", [](const TimelineView& v) { return time_text(v.gpu.use.profile.start); }},
    {"step_seconds", "length of a step", [](const TimelineView& v) { return v.gpu.use.profile.width; }},
    {"activity", "mean activity per step",
     [](const TimelineView& v) { return rounded(v.gpu.use.profile.activity.mean); }},
    {"idle", "idle share per step", [](const TimelineView& v) { return rounded(v.gpu.use.profile.idle); }},
    {"verdict_seconds", "length of a period with one verdict", [](const TimelineView& v) { return v.verdicts.width; }},
    {"verdicts", "verdict per period; null: no reading", [](const TimelineView& v) { return v.verdicts.verdicts; }},
};

std::vector<TimelineView> timelines(const FleetResult& result) {
  std::vector<TimelineView> views;
  for (const GpuRow& gpu : result.analysis.gpus) {
    if (result.with_timelines && gpu.use.profile.steps() > 0) views.push_back({gpu, fleet::verdicts_over_time(gpu)});
  }
  return views;
}

// Of the measured energy; nothing if no power was reported.
template <auto kMember>
auto of_energy(const FleetResult& r) {
  const std::optional<Joules>& energy = r.analysis.totals.energy;
  return energy ? (r.electricity.*kMember)(*energy) : decltype((r.electricity.*kMember)(Joules{})){};
}

const Fields<FleetResult> kFleetFields = {
    {"totals", "the whole fleet", kTotalsFields, [](const FleetResult& r) { return std::cref(r.analysis.totals); }},
    {"ledger", "where the time and money went; adds up to the totals", kLedgerFields,
     [](const FleetResult& r) { return std::span(r.analysis.ledger); }},
    {"owners", "by owner, the most waste first", kOwnerFields,
     [](const FleetResult& r) { return std::span(r.analysis.owners); }},
    {"jobs?", "from Slurm's accounting", kJobFields,
     [](const FleetResult& r) { return r.analysis.jobs ? &*r.analysis.jobs : nullptr; }},
    {"cluster?", "requests of a Kubernetes cluster, from kubectl", kClusterFields,
     [](const FleetResult& r) { return r.cluster ? &*r.cluster : nullptr; }},
    {"users?", "by user", kGroupFields, &FleetResult::users},
    {"accounts?", "by Slurm account", kGroupFields, of_jobs<&JobLedger::accounts>},
    {"partitions?", "by Slurm partition", kGroupFields, of_jobs<&JobLedger::partitions>},
    {"states?", "by final state of the job", kGroupFields, of_jobs<&JobLedger::states>},
    {"namespaces?", "by namespace", kGroupFields, &FleetResult::namespaces},
    {"workloads?", "by workload", kGroupFields, &FleetResult::workloads},
    {"labels?", "by each label of --by", kGroupFields, &FleetResult::labels_asked},
    {"actions", "what to do, the largest saving first; savings add up", kActionFields,
     [](const FleetResult& r) { return std::span(r.analysis.actions); }},
    {"power_caps?", "what power caps would save; null: no GPU reported power", kCapFields,
     [](const FleetResult& r) { return std::span(r.analysis.caps); }},
    {"energy_usd?", "price of the measured energy, with --kwh-price", of_energy<&Electricity::cost>},
    {"co2_kg?", "carbon dioxide of the measured energy, with --carbon", of_energy<&Electricity::co2_kg>},
    {"without_action", "waste that no action removes", kUnplannedFields,
     [](const FleetResult& r) { return std::span(r.analysis.unplanned); }},
    {"gpus", "every GPU and MIG instance", kGpuRowFields,
     [](const FleetResult& r) { return std::span(r.analysis.gpus); }},
    {"metrics_found", "metric names of the source", metrics_found},
    {"read", "what was read", &FleetResult::read},
    {"notes", "caveats", [](const FleetResult& r) { return r.analysis.notes; }},
    {"failures", "what could not be read", &FleetResult::failures},
    {"misleading", "why the totals are not those of the whole fleet", &FleetResult::misleading},
    {"timelines?", "what each GPU did over time, with --timeline", kTimelineFields, timelines},
    {"reconciliation?", "this report and the bill, with --bill", kReconciliationFields,
     [](const FleetResult& r) { return r.billing.reconciliation; }},
    {"budgets?", "against --team-budget", kFleetBudgetFields,
     [](const FleetResult& r) { return std::span(r.billing.budgets); }},
    {"emitted?", "the file of --emit", &FleetResult::emitted},
};

const report::Document<FleetResult> kFleetDocument("fleet", "Cost, waste and savings of a fleet of GPUs", kFleetFields);

}  // namespace

const Fields<LedgerLine> kLedgerFields = {
    {"category", "part", "where the time went", &LedgerLine::category},
    {"gpu_hours", "GPU-hours", "GPU-hours", &LedgerLine::gpu_time, hours},
    {"usd", "dollars", "cost; null: no price known",
     [](const LedgerLine& line) { return when(line.share.has_value(), line.spend); }, dollars},
    {"share", "share", "of the cost; null: no price known", &LedgerLine::share, percent},
    {"gpus", "GPUs", "GPUs with any time here", &LedgerLine::gpus},
    {"rule", "when time falls here", [](const LedgerLine& line) { return fleet::rule_of(line.category); }},
    {"confidence", "confidence", "of the verdicts behind it; null: no GPU has time here",
     [](const LedgerLine& line) { return when(line.gpus > 0, line.confidence); }, whole_percent},
};

const Fields<FleetAction> kActionFields = {
    {"rank", "#", "place in the list", &FleetAction::rank, kTableOnly},
    {"kind", "kind", "kind of action", &FleetAction::kind,
     report::one_of({"stop", "consolidate", "mig", "batch", "downsize", "quantize", "commit", "watch"})},
    {"what", "what", "one sentence", &FleetAction::what},
    {"from", "today", &FleetAction::from},
    {"to", "afterwards", &FleetAction::to},
    {"saving_usd_per_month", "$/month", "saving", &FleetAction::saving,
     [](UsdPerSecond saving) { return dollars(saving * kMonth); }},
    {"counted", "whether the totals include it: it breaks no limit and was watched for long enough",
     &FleetAction::counted},
    {"owner", "owner of the work", &FleetAction::owner},
    {"risk", "what may go wrong", &FleetAction::risk},
    {"forecast", "the recorded load on the new GPU; null: no work moves", kForecastFields, &FleetAction::forecast},
    {"check", "what to check first", &FleetAction::check},
    {"commands", "commands that do it", &FleetAction::commands},
    {"manifest", "file for the commands", [](const FleetAction& action) { return not_empty(action.manifest); }},
    {"rollback", "how to undo it", &FleetAction::rollback},
    {"confidence", "confidence", "0 to 1", &FleetAction::confidence, whole_percent},
    {"gpus", "IDs of its GPUs", &FleetAction::gpu_ids},
    {"moves", "which workload goes where", kMoveFields, &FleetAction::moves},
    {"instead_of", "other remedies for the same GPUs that save less", &FleetAction::instead_of},
};

const Fields<fleet::CapLine> kCapFields = {
    {"verdict", "verdict", "what limits the GPUs", &fleet::CapLine::verdict},
    {"gpu", "GPU", "the GPU", &fleet::CapLine::gpu},
    {"gpus", "GPUs", "GPUs with this verdict", &fleet::CapLine::gpus},
    {"gpu_power_watts", "draws", "mean power of a GPU while active", &fleet::CapLine::drawn},
    {"cap_watts", "cap", "power cap of each GPU", &fleet::CapLine::cap},
    {"time_factor", "slower", "time of the work under the cap, relative to today", &fleet::CapLine::time,
     [](double time) { return percent(time - 1); }},
    {"saved_kwh_per_month", "kWh/month", "energy saved",
     [](const fleet::CapLine& c) { return in_joules(c.saved * kMonth) / 3.6e6; },
     [](double saved) { return format_number(saved); }},
};

const Fields<fleet::RequestLine> kRequestFields = {
    {"namespace", "namespace", "namespace", &fleet::RequestLine::team},
    {"workload", "workload", "the pods' controller, or the pod", &fleet::RequestLine::workload},
    {"pods", "pods", "pods with GPUs", &fleet::RequestLine::pods},
    {"gpus", "GPUs", "GPUs requested", &fleet::RequestLine::gpus,
     [](double count) { return fmt::format("{:g}", count); }},
    {"gpu_hours", "GPU-hours", "since the pods started", &fleet::RequestLine::gpu_time, hours},
    {"usd_per_month", "$/month", "cost of these GPUs; null: no price known",
     [](const fleet::RequestLine& line) { return a_month(line.rate); }, dollars},
};

const Fields<fleet::NodeLine> kNodeFields = {
    {"name", "node", "node", &fleet::NodeLine::name},
    {"pool?", "pool", "node pool", &fleet::NodeLine::pool},
    {"machine?", "machine", "instance type", &fleet::NodeLine::machine},
    {"gpu?", "GPU", "GPU model", &fleet::NodeLine::gpu},
    {"gpus", "GPUs", "GPUs of the node", &fleet::NodeLine::gpus,
     [](double count) { return fmt::format("{:g}", count); }},
    {"requested_gpus", "requested", "of them requested by pods", &fleet::NodeLine::requested,
     [](double count) { return fmt::format("{:g}", count); }},
    {"usd_per_month", "$/month", "cost of its GPUs; null: no price known",
     [](const fleet::NodeLine& line) { return a_month(line.rate); }, dollars},
    {"free_usd_per_month", "free $/month", "cost of the GPUs that no pod requests; null: no price known",
     [](const fleet::NodeLine& line) { return a_month(line.free_rate); }, dollars},
};

const Fields<fleet::WaitLine> kWaitFields = {
    {"partition", "partition", "partition", &fleet::WaitLine::partition},
    {"jobs", "jobs", "jobs with a submission time", &fleet::WaitLine::jobs},
    {"median_seconds", "median", "half of them waited no longer", &fleet::WaitLine::median, duration_text},
    {"p95_seconds", "p95", "95 % of them waited no longer", &fleet::WaitLine::p95, duration_text},
};

const Fields<GroupLine> kGroupFields = {
    {"name", "name", "name", &GroupLine::name},
    {kAmountFields, [](const GroupLine& line) { return &line; }},
};

const Fields<JobIssueLine> kJobIssueFields = {
    {"issue", "issue", "what happened", &JobIssueLine::issue},
    {"why", "explanation", [](const JobIssueLine& line) { return fleet::explain(line.issue); }},
    {"jobs", "jobs", "jobs", &JobIssueLine::jobs},
    {"gpu_hours", "GPU-hours", "GPU-hours lost", &JobIssueLine::lost, hours},
    {"spend_usd", "spent", "their cost; null: no price known", &JobIssueLine::spend, dollars},
    {"examples", "the largest jobs", kJobExampleFields, &JobIssueLine::examples},
    {"example", "largest (GPU-hours)", "the largest job",
     [](const JobIssueLine& line) {
       if (line.examples.empty()) return std::string();
       const JobExample& job = line.examples.front();
       return fmt::format("job {} of {} ({})", job.id, job.user, hours(job.gpu_time));
     },
     kTableOnly},
};

const Fields<GpuRow> kGpuRowFields = {
    {"id", "GPU", "UUID, or host and index", [](const GpuRow& g) { return g.use.device.key(); }},
    {"host", "host", [](const GpuRow& g) { return g.use.device.host; }},
    {"index", "number on the host", [](const GpuRow& g) { return g.use.device.index; }},
    {"name", "kind", "the GPU's name in the catalogue",
     [](const GpuRow& g) { return g.price.gpu != nullptr ? g.price.gpu->name : g.use.device.name; }},
    {"model", "the driver's name for it", [](const GpuRow& g) { return g.use.device.name; }},
    {"mig_profile", "null: not a MIG instance", [](const GpuRow& g) { return not_empty(g.use.device.mig_profile); }},
    {"owner", "owner", "the owner with the most time", [](const GpuRow& g) { return g.owner().shown(); }},
    {"owners", "time per owner", kTenancyFields, [](const GpuRow& g) { return g.use.tenancies; }},
    {"verdict", "verdict", "what limits it", &GpuRow::verdict},
    {"confidence", "0 to 1", &GpuRow::confidence},
    {"evidence", "what the verdict is based on", &GpuRow::evidence},
    {"cycle?", "a regular cycle of work and waits, as in reinforcement learning; the waits are not waste", kCycleFields,
     &GpuRow::cycle},
    {"seconds", "time it was observed", [](const GpuRow& g) { return g.use.covered; }},
    {"gpu_hours", "hours of a whole GPU", &GpuRow::gpu_time},
    {"gpu_share", "share of a whole GPU", [](const GpuRow& g) { return g.price.share; }},
    {"mean", "mean of each metric", mean_metrics},
    {"memory_peak_bytes", "highest memory use", [](const GpuRow& g) { return report::positive(g.memory_peak()); }},
    {"activity", "active", "mean activity", activity_of, percent, kTableOnly},
    {"idle_share", "idle", "share of the time without activity",
     [](const GpuRow& g) { return when(g.use.activity().has_value(), g.use.idle_share); }, percent},
    {"idle_held_share", "... while memory was held",
     [](const GpuRow& g) { return when(g.use.activity().has_value(), g.use.held_share); }},
    {"shares", "share of its time per category", time_shares},
    {"usd_per_gpu_hour", "price of a whole GPU; null: not known", [](const GpuRow& g) { return g.price.rate; }},
    {"price_basis", "where the price comes from", [](const GpuRow& g) { return g.price.basis; }},
    {"price_source", "the offer", [](const GpuRow& g) { return g.price.source; }},
    {"spend_usd", "spent", "cost of the window", &GpuRow::spend, dollars},
    {"waste_usd", "wasted", "of it wasted", &GpuRow::waste, dollars},
    {"energy_kwh?", "kWh", "measured energy; a MIG instance: its share of the GPU's", &GpuRow::energy, kwh},
};

std::string time_text(TimePoint time) {
  const double day = std::floor(in_days(time.since_epoch()));
  const int minute = static_cast<int>((in_unix_seconds(time) - day * 86400) / 60);
  return fmt::format("{}T{:02}:{:02}Z", format_date(Date{static_cast<int>(day)}), minute / 60, minute % 60);
}

report::Json fleet_document(const FleetResult& result) { return kFleetDocument.of(result); }

}  // namespace rightsize::app
