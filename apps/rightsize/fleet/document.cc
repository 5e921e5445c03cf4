// A fleet's analysis as a document for scripts.
#include <cmath>

#include <fmt/format.h>

#include "base/date.h"
#include "fleet/verdicts_over_time.h"
#include "rightsize/fleet/report.h"

namespace rightsize::app {
namespace {

using fleet::Action;
using fleet::Category;
using fleet::FleetAnalysis;
using fleet::GpuRow;
using report::Json;
using report::json_number;

Json hours_json(GpuTime time) { return json_number(in_gpu_hours(time)); }

Json mean_metrics(const GpuRow& gpu) {
  Json means = Json::object();
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    if (const auto& use = gpu.use.metrics[i]) {
      means[std::string(telemetry::name_of(static_cast<telemetry::Metric>(i)))] = json_number(use->mean);
    }
  }
  return means;
}

Json shares_json(const GpuRow& gpu) {
  Json shares = Json::object();
  for (std::size_t c = 0; c < fleet::kCategories; ++c) {
    shares[std::string(fleet::name_of(static_cast<Category>(c)))] = json_number(gpu.share[c]);
  }
  return shares;
}

Json gpu_json(const GpuRow& gpu) {
  const auto& device = gpu.use.device;
  Json owners = Json::array();
  for (const fleet::Tenancy& t : gpu.use.tenancies) {
    owners.push_back({{"owner", t.owner.shown()},
                      {"seconds", json_number(in_seconds(t.time))},
                      {"idle_seconds", json_number(in_seconds(t.idle))}});
  }
  return {{"id", device.key()},
          {"host", device.host},
          {"index", device.index},
          {"name", gpu.price.gpu != nullptr ? gpu.price.gpu->name : device.name},
          {"model", device.name},
          {"mig_profile", device.mig_profile.empty() ? Json(nullptr) : Json(device.mig_profile)},
          {"owner", gpu.owner().shown()},
          {"owners", std::move(owners)},
          {"verdict", diagnose::name_of(gpu.verdict)},
          {"confidence", json_number(gpu.confidence)},
          {"evidence", gpu.evidence},
          {"seconds", json_number(in_seconds(gpu.use.covered))},
          {"gpu_hours", hours_json(gpu.gpu_time)},
          {"gpu_share", json_number(gpu.price.share)},
          {"mean", mean_metrics(gpu)},
          {"memory_peak_bytes", gpu.memory_peak() > Bytes{} ? json_number(in_bytes(gpu.memory_peak())) : Json(nullptr)},
          {"idle_share", gpu.use.activity() ? json_number(gpu.use.idle_share) : Json(nullptr)},
          {"idle_held_share", gpu.use.activity() ? json_number(gpu.use.held_share) : Json(nullptr)},
          {"shares", shares_json(gpu)},
          {"usd_per_gpu_hour", json_number(gpu.price.rate, in_usd_per_gpu_hour)},
          {"price_basis", fleet::name_of(gpu.price.basis)},
          {"price_source", gpu.price.source},
          {"spend_usd", json_number(gpu.spend, in_usd)},
          {"waste_usd", json_number(gpu.waste(), in_usd)}};
}

Json forecast_json(const fleet::Forecast& f) {
  Json worst = Json::array();
  for (const fleet::WorstStep& step : f.worst) {
    worst.push_back({{"time", time_text(step.begin)},
                     {"seconds", json_number(in_seconds(step.width))},
                     {"load", json_number(step.load)}});
  }
  return {{"load_p95", json_number(f.load_p95)},
          {"load_peak", json_number(f.load_peak)},
          {"latency_factor_p95", json_number(f.latency_p95)},
          {"latency_factor_peak", json_number(f.latency_peak)},
          {"too_small_share",
           {{"low", json_number(f.too_small.low)},
            {"likely", json_number(f.too_small.likely)},
            {"high", json_number(f.too_small.high)}}},
          {"worst", std::move(worst)}};
}

Json action_json(const Action& action, const FleetAnalysis& analysis) {
  Json ids = Json::array(), moves = Json::array();
  for (std::size_t i : action.gpus) ids.push_back(analysis.gpus[i].use.device.key());
  for (const fleet::Move& move : action.moves) {
    moves.push_back({{"gpu", analysis.gpus[move.gpu].use.device.key()},
                     {"owner", move.owner.shown()},
                     {"instance", move.owner.instance.empty() ? Json(nullptr) : Json(move.owner.instance)},
                     {"from", move.from},
                     {"to", move.to}});
  }
  return {{"kind", fleet::name_of(action.kind)},
          {"what", action.what},
          {"from", action.from},
          {"to", action.to},
          {"saving_usd_per_month", json_number(in_usd_per_month(action.saving))},
          {"owner", action.owner},
          {"risk", action.risk},
          {"forecast", action.forecast ? forecast_json(*action.forecast) : Json(nullptr)},
          {"check", action.check},
          {"commands", action.commands},
          {"manifest", action.manifest.empty() ? Json(nullptr) : Json(action.manifest)},
          {"rollback", action.rollback},
          {"confidence", json_number(action.confidence)},
          {"gpus", std::move(ids)},
          {"moves", std::move(moves)},
          {"instead_of", action.instead_of}};
}

Json owner_json(const fleet::OwnerLine& line, const char* name) {
  return {{name, line.owner},
          {"gpus", line.gpus},
          {"gpu_hours", hours_json(line.gpu_time)},
          {"idle_gpu_hours", hours_json(line.idle)},
          {"spend_usd", json_number(in_usd(line.spend))},
          {"waste_usd", json_number(in_usd(line.waste))}};
}

Json job_lines_json(const std::vector<fleet::JobLine>& lines, bool priced) {
  Json list = Json::array();
  for (const fleet::JobLine& line : lines) {
    list.push_back({{"name", line.name},
                    {"jobs", line.jobs},
                    {"gpu_hours", hours_json(line.gpu_time)},
                    {"spend_usd", priced ? json_number(in_usd(line.spend)) : Json(nullptr)},
                    {"idle_gpu_hours", json_number(line.idle, in_gpu_hours)},
                    {"unsuccessful_gpu_hours", hours_json(line.unsuccessful)}});
  }
  return list;
}

Json jobs_json(const fleet::JobLedger& jobs) {
  Json issues = Json::array();
  for (const fleet::JobIssueLine& line : jobs.issues) {
    Json examples = Json::array();
    for (const fleet::JobExample& job : line.examples) {
      examples.push_back(
          {{"job", job.id}, {"user", job.user}, {"name", job.name}, {"gpu_hours", hours_json(job.gpu_time)}});
    }
    issues.push_back({{"issue", fleet::name_of(line.issue)},
                      {"why", fleet::explain(line.issue)},
                      {"jobs", line.jobs},
                      {"gpu_hours", hours_json(line.lost)},
                      {"spend_usd", jobs.priced > 0 ? json_number(in_usd(line.spend)) : Json(nullptr)},
                      {"examples", std::move(examples)}});
  }
  return {{"count", jobs.jobs},
          {"priced", jobs.priced},
          {"measured", jobs.measured},
          {"without_gpu", jobs.without_gpu},
          {"never_started", jobs.never_started},
          {"gpu_hours", hours_json(jobs.gpu_time)},
          {"spend_usd", jobs.priced > 0 ? json_number(in_usd(jobs.spend)) : Json(nullptr)},
          {"issues", std::move(issues)}};
}

Json totals_json(const FleetResult& result) {
  const fleet::Totals& t = result.analysis.totals;
  return {{"gpus", t.gpus},
          {"gpus_priced", t.priced},
          {"gpu_hours", hours_json(t.gpu_time)},
          {"spend_usd", json_number(in_usd(t.spend))},
          {"waste_usd", json_number(in_usd(t.waste))},
          {"waste_share", json_number(t.waste_share())},
          {"idle_gpu_hours", hours_json(t.idle)},
          {"usd_per_month", json_number(in_usd_per_month(t.spend_rate))},
          {"savings_usd_per_month", json_number(in_usd_per_month(t.saving))},
          {"savings_bound_usd_per_month", json_number(in_usd_per_month(t.saving_bound))},
          {"remedies_considered", t.remedies},
          {"window_seconds", json_number(in_seconds(t.window))},
          {"share_read", json_number(result.share_read)}};
}

// users[], accounts[], partitions[] and states[] of a job log; namespaces[], workloads[] and labels of pods.
void add_groups(Json& document, const FleetResult& result) {
  if (const std::optional<fleet::JobLedger>& jobs = result.analysis.jobs) {
    document["jobs"] = jobs_json(*jobs);
    document["users"] = job_lines_json(jobs->users, jobs->priced > 0);
    document["accounts"] = job_lines_json(jobs->accounts, jobs->priced > 0);
    document["partitions"] = job_lines_json(jobs->partitions, jobs->priced > 0);
    document["states"] = job_lines_json(jobs->states, jobs->priced > 0);
  }
  for (const auto& [title, lines] : result.groups) {
    Json list = Json::array();
    for (const fleet::OwnerLine& line : lines) list.push_back(owner_json(line, "name"));
    if (title == "namespaces" || title == "workloads" || title == "users") {
      document[title] = std::move(list);
    } else {
      document["labels"][title] = std::move(list);
    }
  }
}

}  // namespace

std::string time_text(TimePoint time) {
  const double day = std::floor(in_days(time.since_epoch()));
  const int minute = static_cast<int>((in_unix_seconds(time) - day * 86400) / 60);
  return fmt::format("{}T{:02}:{:02}Z", format_date(Date{static_cast<int>(day)}), minute / 60, minute % 60);
}

Json fleet_document(const FleetResult& result) {
  const FleetAnalysis& a = result.analysis;
  Json document = {{"schema", "rightsize/fleet/1"}, {"totals", totals_json(result)}};
  Json ledger = Json::array(), owners = Json::array(), actions = Json::array(), gpus = Json::array();
  for (const fleet::LedgerLine& line : a.ledger) {
    ledger.push_back({{"category", fleet::name_of(line.category)},
                      {"gpu_hours", hours_json(line.gpu_time)},
                      {"usd", json_number(in_usd(line.spend))},
                      {"share", a.totals.spend > Usd{} ? json_number(line.spend / a.totals.spend) : Json(nullptr)},
                      {"gpus", line.gpus},
                      {"rule", fleet::rule_of(line.category)},
                      {"confidence", json_number(line.confidence)}});
  }
  for (const fleet::OwnerLine& line : a.owners) {
    Json owner = owner_json(line, "owner");
    owner["team"] = line.team.empty() ? Json(nullptr) : Json(line.team);
    owners.push_back(std::move(owner));
  }
  for (const Action& action : a.actions) actions.push_back(action_json(action, a));
  for (const GpuRow& gpu : a.gpus) gpus.push_back(gpu_json(gpu));
  Json unplanned = Json::array();
  for (const fleet::UnplannedWaste& waste : a.unplanned) {
    unplanned.push_back({{"owner", waste.owner},
                         {"gpus", waste.gpus},
                         {"waste_usd_per_month", json_number(in_usd_per_month(waste.rate))},
                         {"verdict", diagnose::name_of(waste.verdict)},
                         {"next", next_step(waste.verdict)}});
  }
  Json metrics = Json::object();
  for (const auto& [metric, source] : result.sources) metrics[std::string(telemetry::name_of(metric))] = source.name;
  document["ledger"] = std::move(ledger);
  document["owners"] = std::move(owners);
  add_groups(document, result);
  document["actions"] = std::move(actions);
  document["without_action"] = std::move(unplanned);
  document["gpus"] = std::move(gpus);
  document["metrics_found"] = std::move(metrics);
  document["read"] = result.read;
  document["notes"] = a.notes;
  document["failures"] = result.failures;
  document["misleading"] = result.misleading;
  return document;
}

Json fleet_timelines(const FleetResult& result) {
  const auto list = [](const std::vector<float>& values) {
    Json numbers = Json::array();
    for (const float value : values) numbers.push_back(json_number(std::round(1000.0 * value) / 1000.0));
    return numbers;
  };
  Json timelines = Json::array();
  for (const GpuRow& gpu : result.analysis.gpus) {
    const fleet::Profile& profile = gpu.use.profile;
    if (profile.steps() == 0) continue;
    const fleet::VerdictsOverTime over_time = fleet::verdicts_over_time(gpu);
    Json verdicts = Json::array();
    for (const auto& verdict : over_time.verdicts)
      verdicts.push_back(verdict ? Json(std::string(diagnose::name_of(*verdict))) : Json(nullptr));
    timelines.push_back({{"id", gpu.use.device.key()},
                         {"start", time_text(profile.start)},
                         {"step_seconds", json_number(in_seconds(profile.width))},
                         {"activity", list(profile.activity.mean)},
                         {"idle", list(profile.idle)},
                         {"verdict_seconds", json_number(in_seconds(over_time.width))},
                         {"verdicts", std::move(verdicts)}});
  }
  return timelines;
}

}  // namespace rightsize::app
