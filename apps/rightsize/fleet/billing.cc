#include "rightsize/fleet/billing.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/format.h"
#include "bill/budget.h"
#include "bill/focus_writer.h"

namespace rightsize::app {
namespace {

using bill::Difference;
using bill::Reconciliation;
using fleet::GpuRow;
using report::cut;
using report::Fields;

constexpr double kSecondsPerDay = 86400;

struct Window {
  double begin = 0, end = 0;  // seconds since 1970
};
Window window_of(const fleet::FleetAnalysis& analysis) {
  Window window;
  for (const GpuRow& gpu : analysis.gpus) {
    const double begin = in_seconds(gpu.use.first - TimePoint()), end = in_seconds(gpu.use.end() - TimePoint());
    window.begin = window.begin == 0 ? begin : std::min(window.begin, begin);
    window.end = std::max(window.end, end);
  }
  return window;
}

Reconciliation reconcile_fleet(const fleet::FleetAnalysis& analysis, const bill::Bill& bill) {
  std::vector<bill::SeenHost> seen;
  for (const GpuRow& gpu : analysis.gpus) {
    seen.push_back({gpu.use.device.host, gpu.price.gpu == nullptr ? gpu.use.device.name : gpu.price.gpu->name,
                    in_gpu_hours(gpu.gpu_time), gpu.spend ? in_usd(*gpu.spend) : 0});
  }
  const Window window = window_of(analysis);
  return bill::reconcile(bill, seen, window.begin / kSecondsPerDay, window.end / kSecondsPerDay);
}

const Fields<Difference> kDifferenceFields = {
    {"what", "difference", "kind of difference", &Difference::what},
    {"why", "why", "one sentence", &Difference::why},
    {"usd", "dollars", "in the window", [](const Difference& d) { return usd(d.usd); }},
};

}  // namespace

const Fields<FleetBudget> kFleetBudgetFields = {
    {"team", "team", "the team; * for all", &FleetBudget::team},
    {"budget_usd", "budget", "per month", &FleetBudget::budget},
    {"forecast_usd", "forecast", "per month, at the rate of the window", &FleetBudget::forecast},
    {"over", "whether the forecast exceeds the budget", &FleetBudget::is_over},
};

const Fields<Reconciliation> kReconciliationFields = {
    {"fleet_usd", "cost according to this report", [](const Reconciliation& r) { return usd(r.fleet_usd); }},
    {"bill_usd", "effective cost of GPU machines on the bill in the same days, unused commitments included",
     [](const Reconciliation& r) { return usd(r.bill_gpu_usd); }},
    {"overlaps", "whether the bill has days within the window of the telemetry", &Reconciliation::overlaps},
    {"explained_share", "share of the bill that the fleet and the differences explain", &Reconciliation::explained},
    {"differences", "what leads from one to the other", kDifferenceFields, &Reconciliation::parts},
    {"beside", "charges that are not for GPU machines", kDifferenceFields, &Reconciliation::beside},
    {"hosts_on_bill", "hosts with telemetry that the bill names", &Reconciliation::matched_hosts},
    {"machines_without_telemetry", "GPU machines on the bill without telemetry", &Reconciliation::unmatched_machines},
};

Checked<FleetBilling> bill_fleet(const fleet::FleetAnalysis& analysis, const std::vector<fleet::GroupLine>& teams,
                                 const catalog::Catalog& catalog, const PriceFlag& prices,
                                 const std::vector<std::string>& budgets) {
  FleetBilling billing;
  RIGHTSIZE_TRY(const std::vector<bill::Budget> wanted, bill::parse_budgets(budgets));
  const double months = analysis.totals.window / kMonth;
  for (const bill::Budget& budget : wanted) {
    const auto team = std::ranges::find(teams, budget.team, &fleet::GroupLine::name);
    const Usd spend = budget.team == "*" ? analysis.totals.spend : team == teams.end() ? Usd{} : team->spend;
    billing.budgets.push_back({budget.team, budget.monthly, months > 0 ? spend / months : Usd{}});
  }
  if (prices.bills.empty()) return billing;
  RIGHTSIZE_TRY(const auto bill, open_bill(catalog, prices.bills));
  billing.reconciliation = reconcile_fleet(analysis, *bill);
  return billing;
}

std::string emit_focus(const fleet::FleetAnalysis& analysis) {
  std::vector<bill::Allocation> rows;
  for (const GpuRow& gpu : analysis.gpus) {
    if (!gpu.spend) continue;
    bill::Allocation row;
    row.gpu = gpu.price.gpu == nullptr ? gpu.use.device.name : gpu.price.gpu->name;
    row.host = gpu.use.device.host;
    row.gpu_id = gpu.use.device.key();
    row.provider = gpu.price.provider;
    row.region = gpu.price.region;
    if (gpu.price.machine != nullptr) row.machine = gpu.price.machine->instance;
    double all = 0;
    for (const fleet::Tenancy& tenancy : gpu.use.tenancies) all += in_seconds(tenancy.time);
    // The last owner gets the rounding difference, to make the rows add up.
    bill::Money left = bill::Money::of(in_usd(*gpu.spend));
    for (std::size_t i = 0; i < gpu.use.tenancies.size() && all > 0; ++i) {
      const fleet::Tenancy& tenancy = gpu.use.tenancies[i];
      const double share = in_seconds(tenancy.time) / all;
      row.team = tenancy.owner.team;
      row.workload = tenancy.owner.workload;
      row.user = tenancy.owner.user;
      row.gpu_hours = in_gpu_hours(gpu.gpu_time) * share;
      const bool last = i + 1 == gpu.use.tenancies.size();
      row.cost = last ? left : bill::Money::of(in_usd(*gpu.spend) * share);
      left -= row.cost;
      rows.push_back(row);
    }
    if (all > 0) continue;
    row.gpu_hours = in_gpu_hours(gpu.gpu_time);
    row.cost = left;
    rows.push_back(row);
  }
  const Window window = window_of(analysis);
  return bill::write_focus(rows, window.begin, window.end);
}

void add_billing(const FleetBilling& billing, report::Report& report) {
  for (const FleetBudget& budget : billing.budgets) {
    report.say(fmt::format("{} spends at a rate of {}/month, {} its budget of {}.",
                           budget.team == "*" ? "The fleet" : budget.team, format_usd(budget.forecast),
                           budget.is_over() ? "over" : "within", format_usd(budget.budget)));
  }
  if (!billing.reconciliation) return;
  const Reconciliation& r = *billing.reconciliation;
  if (!r.overlaps)
    return report.say("The bill has no charges in the time of the telemetry, so they cannot be compared.");
  report.say(fmt::format(
      "The bill has {} for GPU machines in the same days, this report {}; {} of the bill is explained.",
      format_usd(usd(r.bill_gpu_usd)), format_usd(usd(r.fleet_usd)), format_percent(Ratio::fraction(r.explained))));
  if (r.parts.empty()) return;
  report::Table table = report::table_of(kDifferenceFields, r.parts, {"what", cut("why", 60), "usd"});
  table.title = "From this report to the bill";
  report.blocks.emplace_back(std::move(table));
}

}  // namespace rightsize::app
