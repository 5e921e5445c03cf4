#include "rightsize/portfolio/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/list_of.h"
#include "base/units.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using portfolio::CostModel;
using portfolio::Optimum;
using portfolio::Option;
using portfolio::Organisation;
using portfolio::Pool;
using portfolio::PoolUse;
using portfolio::ShadowPrice;
using portfolio::Workload;
using report::Fields;
using report::when;

std::string dollars(double amount) { return format_usd(usd(amount)); }
double cents(double amount) { return std::round(amount * 100) / 100; }

// Rounds amounts to cents, and their sum is the rounded total.
std::vector<double> in_cents(const std::vector<double>& amounts) {
  std::vector<double> rounded;
  double exact = 0, before = 0;
  for (double amount : amounts) {
    exact += amount;
    rounded.push_back(cents(cents(exact) - before));
    before = cents(exact);
  }
  return rounded;
}

struct WorkloadRow {
  const Workload* workload;
  const Option* option;
  int position;
  std::string takes;
  double usd, alone;
  std::vector<std::string> shares_with = {};
  std::optional<Seconds> p95 = {};
};
const Fields<WorkloadRow> kWorkloadFields = {
    {"name", "workload", "name of the workload", [](const WorkloadRow& r) { return r.workload->name; }},
    {"team?", "team", "its team",
     [](const WorkloadRow& r) { return when(!r.workload->team.empty(), r.workload->team); }},
    {"option", "position of the chosen option in the file, from 0", &WorkloadRow::position},
    {"where", "where", "pool, or where it is bought by itself", [](const WorkloadRow& r) { return r.option->where; }},
    {"how", "how", "how it shares GPUs", [](const WorkloadRow& r) { return name_of(r.option->how); }},
    {"takes", "takes", "GPUs or slices", &WorkloadRow::takes},
    {"shares_with?", "workloads on the same GPU",
     [](const WorkloadRow& r) { return when(!r.shares_with.empty(), r.shares_with); }},
    {"p95_seconds?", "p95", "p95 of a small model's requests, with waits, interference and wake-ups", &WorkloadRow::p95,
     [](const WorkloadRow& r) { return r.p95 ? format_duration(*r.p95) : "-"; }},
    {"usd_per_month", "$/month", "its share of the cost; the shares add up to the whole", &WorkloadRow::usd, dollars},
    {"alone_usd_per_month", "extra alone", "its cheapest option if nothing else ran, on top of reservations",
     &WorkloadRow::alone, dollars},
    {"left_out?", "a cheaper recommended plan that has no benchmark or a doubtful price, and is therefore no option",
     [](const WorkloadRow& r) { return when(!r.workload->left_out.empty(), r.workload->left_out); }},
    {"moves?", "whether it moves from the option in use",
     [](const WorkloadRow& r) {
       return r.workload->now ? std::optional(*r.workload->now != r.position) : std::nullopt;
     }},
};

// A pool in a block.
struct MachineRow {
  const Pool* pool;
  const portfolio::Block* block;
  int used, cut, machines;
  double usd;

  int reserved_used() const { return std::min(used, pool->reserved); }
  bool is_full() const { return pool->reserved > 0 && !(pool->usd_per_gpu_hour > 0); }
};
const Fields<MachineRow> kMachineFields = {
    {"pool", "pool", "name of the pool", [](const MachineRow& r) { return r.pool->name; }},
    {"gpu?", "GPU", "GPU by its catalogue name",
     [](const MachineRow& r) { return r.pool->gpu ? std::optional(r.pool->gpu->name) : std::nullopt; }},
    {"block", "block", "part of the month", [](const MachineRow& r) { return r.block->name; }},
    {"hours", "hours", "hours of the block", [](const MachineRow& r) { return r.block->hours; }},
    {"used_gpus", "GPUs used", "GPUs in use", &MachineRow::used},
    {"cut_gpus", "partitioned", "of these, GPUs cut into slices", &MachineRow::cut},
    {"reserved_gpus", "reserved", "reserved GPUs in use", &MachineRow::reserved_used},
    {"idle_reserved_gpus", "idle", "reserved GPUs without work",
     [](const MachineRow& r) { return r.pool->reserved - r.reserved_used(); }},
    {"machines", "rented", "on-demand machines", &MachineRow::machines},
    {"gpus_per_machine", "GPUs each", "GPUs of a machine",
     [](const MachineRow& r) { return r.pool->gpus_per_machine; }},
    {"usd_per_month", "rented $/month", "cost of the on-demand machines", &MachineRow::usd, dollars},
};

const Fields<ShadowPrice> kShadowFields = {
    {"what", "one more", "reserved:POOL or quota:POOL (a GPU), deadline:WORKLOAD (an hour), slo:WORKLOAD (10 ms)",
     &ShadowPrice::what},
    {"usd_per_month", "saves", "what one more saves", [](const ShadowPrice& s) { return cents(s.usd); }, dollars},
    {"exact", "whether it is proved; else at least this much", &ShadowPrice::exact},
};

// One move on the way to the plan.
struct MoveRow {
  std::size_t step;
  const Workload* workload;
  const portfolio::Move* move;
  std::string from, to;
};
const Fields<MoveRow> kMoveFields = {
    {"step", "step", "position in the order", &MoveRow::step},
    {"workload", "workload", "name of the workload", [](const MoveRow& r) { return r.workload->name; }},
    {"from", "from", "where it runs before the step; the rollback moves it back", &MoveRow::from},
    {"to", "to", "where it runs after the step", &MoveRow::to},
    {"from_option", "position of the option before", [](const MoveRow& r) { return r.move->from; }},
    {"to_option", "position of the option after", [](const MoveRow& r) { return r.move->to; }},
    {"saves_usd_per_month", "saves", "saving from this step on; negative until later steps",
     [](const MoveRow& r) { return cents(r.move->saves); }, dollars},
    {"interrupts", "whether old and new do not fit side by side", [](const MoveRow& r) { return r.move->interrupts; }},
    {"interim", "whether it only makes room and moves again", [](const MoveRow& r) { return r.move->interim; }},
    {"risk", "risk", "what the step risks",
     [](const MoveRow& r) {
       return r.move->interrupts ? "stops in between" : r.move->interim ? "moves again" : "side by side";
     },
     report::kTableOnly},
};

struct PurchaseRow {
  const Pool* pool;
  const portfolio::Purchase* purchase;
};
const Fields<PurchaseRow> kPurchaseFields = {
    {"pool", "pool", "name of the pool", [](const PurchaseRow& r) { return r.pool->name; }},
    {"gpus", "GPUs", "further GPUs to reserve", [](const PurchaseRow& r) { return r.purchase->gpus; }},
    {"usd_per_gpu_month", "$/GPU-month", "the offer", [](const PurchaseRow& r) { return *r.pool->offer_usd; }, dollars},
    {"saves_usd_per_month", "saves", "saving after what they cost",
     [](const PurchaseRow& r) { return cents(r.purchase->saves); }, dollars},
};

struct ReservationRow {
  const Pool* pool;
  portfolio::Reservation reservation;
};
const Fields<ReservationRow> kReservationFields = {
    {"pool", "pool", "name of the pool", [](const ReservationRow& r) { return r.pool->name; }},
    {"one_year_gpus", "for 1 year", "further GPUs to reserve for a year",
     [](const ReservationRow& r) { return r.reservation.one_year; }},
    {"three_years_gpus", "for 3 years", "further GPUs to reserve for three years",
     [](const ReservationRow& r) { return r.reservation.three_years; }},
    {"usd_per_month", "$/month", "what they cost, used or not",
     [](const ReservationRow& r) {
       return cents(r.reservation.one_year * r.pool->offer_usd.value_or(0) +
                    r.reservation.three_years * r.pool->long_offer_usd.value_or(0));
     },
     dollars},
};

const Fields<portfolio::DemandCase> kCaseFields = {
    {"name", "demand", "low, likely or high", &portfolio::DemandCase::name},
    {"factor", "times today's", "demand in relation to the file's", &portfolio::DemandCase::factor},
    {"probability", "its weight in the expected saving", &portfolio::DemandCase::probability},
    {"with_usd_per_month", "with them", "cost of the cheapest plan with the reservations",
     [](const portfolio::DemandCase& c) { return cents(c.with); }, dollars},
    {"without_usd_per_month", "without", "cost of the cheapest plan without them",
     [](const portfolio::DemandCase& c) { return cents(c.without); }, dollars},
};

// Where a workload runs in the likely scenario if the reservations fall through.
struct FallbackRow {
  std::string workload, from, to;
};
const Fields<FallbackRow> kFallbackFields = {
    {"workload", "workload", "name of the workload", &FallbackRow::workload},
    {"from", "with them", "where it runs with the reservations", &FallbackRow::from},
    {"to", "if they fall through", "where it runs without them", &FallbackRow::to},
};

struct RangeView {
  std::vector<ReservationRow> reservations;
  const portfolio::ReservationPlan* plan;
  std::vector<FallbackRow> fallback;
};
const Fields<RangeView> kRangeFields = {
    {"reserve", "further GPUs to reserve; empty: none pays", kReservationFields, &RangeView::reservations},
    {"cases", "what the reservations cost and save for each demand", kCaseFields,
     [](const RangeView& v) { return std::cref(v.plan->cases); }},
    {"expected_saving_usd_per_month", "saving on average",
     [](const RangeView& v) { return cents(v.plan->expected_saving()); }},
    {"at_risk_usd_per_month", "what the reservations cost more than none in the worst case",
     [](const RangeView& v) { return cents(v.plan->at_risk()); }},
    {"fallback_usd_per_month", "what the likely case costs more if the reservations fall through",
     [](const RangeView& v) { return cents(v.plan->fallback_cost()); }},
    {"fallback", "where workloads of the likely case run then", kFallbackFields, &RangeView::fallback},
};

struct TeamRow {
  std::string name;
  double usd;
  std::optional<double> budget;
};
const Fields<TeamRow> kTeamFields = {
    {"name", "team", "name of the team", &TeamRow::name},
    {"usd_per_month", "$/month", "the sum of its workloads' shares", &TeamRow::usd, dollars},
    {"budget_usd_per_month?", "budget", "its budget", &TeamRow::budget, dollars},
    {"over_budget?", "whether its share is above the budget",
     [](const TeamRow& r) { return r.budget ? std::optional(r.usd > *r.budget) : std::nullopt; }},
};

const Fields<PackedCluster> kClusterFields = {
    {"pods", "number of pods", &PackedCluster::pods},
    {"placed_pods", "pods that fit", [](const PackedCluster& c) { return c.pods - c.packed.unplaced; }},
    {"nodes", "number of nodes", &PackedCluster::nodes},
    {"used_nodes", "nodes with a pod", [](const PackedCluster& c) { return c.packed.nodes; }},
    {"gpus", "GPUs of all nodes", &PackedCluster::gpus},
    {"used_gpus", "GPUs that pods use, with their shares", [](const PackedCluster& c) { return c.packed.gpus; }},
    {"best_fit_gpus", "the same with best fit, pod by pod", [](const PackedCluster& c) { return c.best_fit.gpus; }},
    {"least_fragmentation_gpus", "the same with the least fragmentation, pod by pod",
     [](const PackedCluster& c) { return c.least_fragmentation.gpus; }},
};

// "7,912 of 8,000 pods fit on 1,180 of 1,200 nodes and use 4,378 of 4,386 GPUs."
std::string packed_line(const PackedCluster& c) {
  return fmt::format(
      "{} of {} pods fit on {} of {} nodes and use {:.1f} of {:.0f} GPUs. Pod by pod, best fit uses {:.1f} GPUs and "
      "the least fragmentation {:.1f}.",
      c.pods - c.packed.unplaced, c.pods, c.packed.nodes, c.nodes, c.packed.gpus, c.gpus, c.best_fit.gpus,
      c.least_fragmentation.gpus);
}

struct PortfolioView {
  bool feasible = false;
  Optimum optimum;
  double alone = 0, reserved = 0, rented = 0;  // rented: every workload on its own, without the reservations
  std::optional<double> budget = {};
  std::vector<WorkloadRow> workloads;
  std::vector<MachineRow> machines;
  std::vector<ShadowPrice> shadow_prices;
  std::vector<TeamRow> teams;
  std::vector<MoveRow> moves;
  std::vector<std::string> blocked;
  std::vector<PurchaseRow> purchases;
  std::optional<RangeView> range = {};
  std::optional<PackedCluster> cluster = {};
  Electricity electricity = {};
  double kwh = 0;           // per month, of the workloads with a known power
  std::size_t powered = 0;  // workloads

  // Electricity adds the cooling itself.
  Joules energy() const { return joules(kwh * 3.6e6 / electricity.pue); }
};
const Fields<PortfolioView> kPortfolioFields = {
    {"usd_per_month", "cost of the plan; null: no plan",
     [](const PortfolioView& v) { return when(v.feasible, cents(v.optimum.usd)); }},
    {"lower_bound", "no plan costs less, USD/month",
     // Rounded down to stay below the optimum.
     [](const PortfolioView& v) {
       return v.optimum.proved() ? cents(v.optimum.usd) : std::floor(v.optimum.bound * 100) / 100;
     }},
    {"budget_usd_per_month?", "budget of all workloads together", &PortfolioView::budget},
    {"proved", "whether the plan is proved to be the cheapest",
     [](const PortfolioView& v) { return v.optimum.proved(); }},
    {"alone_usd_per_month", "sum of each workload's cheapest option alone, plus reservations",
     [](const PortfolioView& v) { return cents(v.alone); }},
    {"reserved_usd_per_month", "cost of the reservations, in usd_per_month",
     [](const PortfolioView& v) { return cents(v.reserved); }},
    {"workloads", "the choice for each workload, in the order of the file", kWorkloadFields, &PortfolioView::workloads},
    {"machines", "pools in use, by block", kMachineFields, &PortfolioView::machines},
    {"shadow_prices", "what one more would save per month", kShadowFields, &PortfolioView::shadow_prices},
    {"teams?", "cost by team", kTeamFields, &PortfolioView::teams},
    {"moves?", "the way from the options in use, in an order that never breaks a quota", kMoveFields,
     &PortfolioView::moves},
    {"reserve?", "what to reserve at the pools' offers", kPurchaseFields, &PortfolioView::purchases},
    {"demand_range?", "what to reserve if demand is a range", kRangeFields, &PortfolioView::range},
    {"blocked?", "workloads that cannot move within the quotas", &PortfolioView::blocked},
    {"cluster?", "the pods of the cluster, packed", kClusterFields, &PortfolioView::cluster},
    {"energy_kwh_per_month?", "estimated energy, with hosts and cooling (--kwh-price, --carbon, --pue)",
     [](const PortfolioView& v) { return when(v.electricity.asked() && v.powered > 0, v.kwh); }},
    {"energy_usd_per_month?", "its price",
     [](const PortfolioView& v) { return v.powered > 0 ? v.electricity.cost(v.energy()) : std::nullopt; }},
    {"co2_kg_per_month?", "its carbon dioxide",
     [](const PortfolioView& v) { return v.powered > 0 ? v.electricity.co2_kg(v.energy()) : std::nullopt; }},
};
const report::Document<PortfolioView> kPortfolioDocument("portfolio", "All workloads of an organisation in one plan",
                                                         kPortfolioFields);

// Fills in the GPU that a group shares, and the names of its other members.
void fill_shared(const PlannedPortfolio& planned, const Workload& group, std::size_t member, WorkloadRow& row) {
  const std::vector<Workload>& file = planned.file.organisation().workloads;
  for (std::size_t other : group.members) {
    if (other != member) row.shares_with.push_back(file[other].name);
  }
  if (row.option->in_pool()) row.takes = fmt::format("1 GPU shared by {}", group.members.size());
}

std::vector<WorkloadRow> workload_rows(const PlannedPortfolio& planned) {
  const Organisation &organisation = planned.organisation(), &file = planned.file.organisation();
  const std::vector<double> shares = cost_shares(planned.costs, planned.optimum.choice);
  std::vector<WorkloadRow> rows(file.workloads.size());
  for (std::size_t w = 0; w < file.workloads.size(); ++w)
    rows[w] = {&file.workloads[w], nullptr, 0, "", 0, cents(planned.file.alone(file.workloads[w]))};
  for (std::size_t w = 0; w < shares.size(); ++w) {
    const Workload& workload = organisation.workloads[w];
    std::vector<std::size_t> members = workload.members;
    if (members.empty()) members.push_back(w);
    double together = 0;
    for (std::size_t m : members) together += rows[m].alone;
    for (std::size_t i = 0; i < members.size(); ++i) {
      WorkloadRow& row = rows[members[i]];
      row.option = &planned.costs.option({w, planned.optimum.choice[w]});
      row.position = planned.optimum.choice[w];
      row.takes = needs_of(organisation, *row.option);
      row.usd += shares[w] * (together > 0 ? row.alone / together : 1.0 / static_cast<double>(members.size()));
      if (i < row.option->p95.size()) row.p95 = row.option->p95[i];
      if (members.size() > 1) fill_shared(planned, workload, members[i], row);
    }
  }
  const std::vector<double> dollars_of = in_cents(list_of(rows, &WorkloadRow::usd));
  for (std::size_t w = 0; w < rows.size(); ++w) rows[w].usd = dollars_of[w];
  return rows;
}

std::vector<MachineRow> machine_rows(const PlannedPortfolio& planned) {
  const Organisation& organisation = planned.organisation();
  const std::vector<PoolUse> uses = planned.costs.uses(planned.optimum.choice);
  std::vector<MachineRow> rows;
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const Pool& pool = organisation.pools[p];
    const int cut = planned.costs.cut_gpus(p, uses[p]);
    for (std::size_t b = 0; b < organisation.blocks.size(); ++b) {
      const int used = uses[p].gpus[b] + cut, machines = planned.costs.machines(p, used);
      if (used == 0 && pool.reserved == 0) continue;
      rows.push_back({&pool, &organisation.blocks[b], used, cut, machines,
                      cents(machines * pool.gpus_per_machine * pool.usd_per_gpu_hour * organisation.blocks[b].hours)});
    }
  }
  return rows;
}

std::vector<TeamRow> team_rows(const Organisation& organisation, const std::vector<WorkloadRow>& workloads) {
  std::vector<TeamRow> rows;
  for (const portfolio::Team& team : organisation.teams) rows.push_back({team.name, 0, team.budget});
  for (const WorkloadRow& w : workloads) {
    if (w.workload->team.empty()) continue;
    auto at = std::ranges::find(rows, w.workload->team, &TeamRow::name);
    if (at == rows.end()) at = rows.insert(rows.end(), {w.workload->team, 0, {}});
    at->usd = cents(at->usd + w.usd);
  }
  return rows;
}

// "h100-eu: 4 GPUs"
std::string described(const Organisation& organisation, const Option& option) {
  const std::string takes = needs_of(organisation, option);
  return takes.empty() ? option.where : fmt::format("{}: {}", option.where, takes);
}

void add_moves(const PlannedPortfolio& planned, const portfolio::MovePath& path, PortfolioView& view) {
  const Organisation& organisation = planned.organisation();
  for (const portfolio::Move& move : path.moves) {
    const auto option = [&](int at) { return described(organisation, planned.costs.option({move.workload, at})); };
    view.moves.push_back(
        {view.moves.size() + 1, &organisation.workloads[move.workload], &move, option(move.from), option(move.to)});
  }
  for (std::size_t w : path.blocked) view.blocked.push_back(organisation.workloads[w].name);
}

RangeView range_of(const PlannedPortfolio& planned) {
  const portfolio::ReservationPlan& plan = *planned.range;
  const Organisation& organisation = planned.organisation();
  RangeView view{{}, &plan, {}};
  for (const portfolio::Reservation& r : plan.reservations)
    view.reservations.push_back({&organisation.pools[r.pool], r});
  for (std::size_t w = 0; w < plan.with.size(); ++w) {
    if (plan.with[w] == plan.without[w]) continue;
    const auto option = [&](int at) { return described(organisation, planned.costs.option({w, at})); };
    view.fallback.push_back({organisation.workloads[w].name, option(plan.with[w]), option(plan.without[w])});
  }
  return view;
}

// "Demand between 0.7 and 1.5 times today's: reserve 4 GPUs in h100-eu. ..."
void show_range(const RangeView& view, report::Report& report) {
  const std::vector<portfolio::DemandCase>& cases = view.plan->cases;
  std::string text =
      fmt::format("Demand between {:g} and {:g} times today's: ", cases.front().factor, cases.back().factor);
  if (view.reservations.empty()) return report.say(text + "no further reservation pays.");
  std::vector<std::string> parts;
  for (const ReservationRow& r : view.reservations)
    parts.push_back(
        fmt::format("{} GPU{} in {}", r.reservation.gpus(), r.reservation.gpus() == 1 ? "" : "s", r.pool->name));
  text += fmt::format("reserve {}. That saves {}/month on average", fmt::join(parts, ", "),
                      dollars(view.plan->expected_saving()));
  text += view.plan->at_risk() < 1 ? " and never costs more."
                                   : fmt::format("; in the worst case it costs {}/month more than no reservation.",
                                                 dollars(view.plan->at_risk()));
  report.say(text + fmt::format(" If it falls through, the likely demand costs {}/month more{}.",
                                dollars(view.plan->fallback_cost()),
                                view.fallback.empty() ? ", and the same GPUs are rented on demand" : ""));
  report.show("What to reserve", table_of(kReservationFields, view.reservations,
                                          {"pool", "one_year_gpus", "three_years_gpus", "usd_per_month"}));
  report.show("By demand",
              table_of(kCaseFields, cases, {"name", "factor", "with_usd_per_month", "without_usd_per_month"}));
  if (!view.fallback.empty())
    report.show("If the reservation falls through",
                table_of(kFallbackFields, view.fallback, {"workload", "from", "to"}));
}

std::string how_good(const Optimum& optimum) {
  if (optimum.proved()) return "This is the cheapest combination of these options.";
  return fmt::format("It costs at most {:.1f} % more than the cheapest possible plan{}.", 100 * optimum.gap(),
                     optimum.interrupted ? "; a longer --time-limit may find a cheaper one" : "");
}

// Reserved GPUs whose cost is not in the file.
int unpriced_gpus(const PortfolioView& view) {
  std::vector<const Pool*> pools = list_of(view.machines, &MachineRow::pool);
  std::ranges::sort(pools);
  pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
  int gpus = 0;
  for (const Pool* pool : pools) gpus += pool->reserved_usd > 0 ? 0 : pool->reserved;
  return gpus;
}

// "Run 12 workloads for $91,840/month: $8,300 (8.3 %) less than separate plans."
std::string conclusion(const PortfolioView& view) {
  const double saved = view.alone - view.optimum.usd;
  std::string text = fmt::format("Run the {} workload{} for {}/month", view.workloads.size(),
                                 view.workloads.size() == 1 ? "" : "s", dollars(view.optimum.usd));
  if (const int unpriced = unpriced_gpus(view); unpriced > 0)
    text += fmt::format(
        ", without the cost of the {} reserved GPUs: the file does not state it (reserved_usd_per_month)", unpriced);
  else if (saved >= 1)
    text += fmt::format(": {}/month ({:.0f} %) less than separate plans", dollars(saved), 100 * saved / view.alone);
  else if (saved <= -1)
    text += fmt::format(": {}/month more than each by itself, because {}", dollars(-saved),
                        std::ranges::any_of(view.machines, &MachineRow::is_full)
                            ? "the reserved GPUs do not suffice for all"
                            : "quotas and rules exclude cheaper options");
  text += ". " + how_good(view.optimum);
  if (view.reserved < 1) return text;
  text += fmt::format(" The reserved GPUs cost {}/month whether they are used or not", dollars(view.reserved));
  return text +
         (view.rented < view.optimum.usd - 1
              ? fmt::format("; without them, rented machines would do the same for {}/month.", dollars(view.rented))
              : ".");
}

// The plan is already the cheapest: if it exceeds the budget, every plan does.
std::string budget_line(const PortfolioView& view) {
  const double left = *view.budget - view.optimum.usd;
  if (left >= 0)
    return fmt::format("Within the budget of {}/month: {}/month is left.", dollars(*view.budget), dollars(left));
  double worth = 0;
  for (const ShadowPrice& price : view.shadow_prices) worth = std::max(worth, price.usd);
  return fmt::format(
      "{} the budget of {}/month: {}/month over{}.",
      view.optimum.bound > *view.budget ? "No plan of these options meets" : "This plan exceeds", dollars(*view.budget),
      dollars(-left),
      worth >= 1 ? fmt::format("; one more GPU or a looser limit saves up to {}/month (see below)", dollars(worth))
                 : ". Remove work, or allow other GPUs, providers or terms");
}

std::string worth_line(const std::vector<ShadowPrice>& prices) {
  const auto best = std::ranges::max_element(prices, {}, &ShadowPrice::usd);
  if (best == prices.end() || best->usd < 1) return "One more reserved GPU or a higher quota would save nothing.";
  const std::size_t colon = best->what.find(':');
  const std::string pool = best->what.substr(colon + 1);
  const char* what = best->what.starts_with("quota")      ? "One more GPU of quota in"
                     : best->what.starts_with("deadline") ? "One more hour until the deadline of"
                     : best->what.starts_with("slo")      ? "10 ms more in the SLO of"
                                                          : "One more reserved GPU in";
  return fmt::format("{} {} would save {}{}/month.", what, pool, best->exact ? "" : "at least ", dollars(best->usd));
}

PortfolioView view_of(const PlannedPortfolio& planned) {
  PortfolioView view;
  view.feasible = true;
  view.optimum = planned.optimum;
  view.reserved = planned.organisation().reserved_usd();
  view.budget = planned.file.organisation().budget;
  view.alone = view.reserved;
  for (const Workload& w : planned.file.organisation().workloads) {
    view.alone += planned.file.alone(w);
    view.rented += planned.file.rented(w);
  }
  view.workloads = workload_rows(planned);
  view.machines = machine_rows(planned);
  view.shadow_prices = planned.shadow_prices;
  view.teams = team_rows(planned.organisation(), view.workloads);
  for (const portfolio::Purchase& purchase : planned.purchases)
    view.purchases.push_back({&planned.organisation().pools[purchase.pool], &purchase});
  if (planned.range) view.range = range_of(planned);
  view.electricity = planned.electricity;
  for (const WorkloadRow& row : view.workloads) {
    view.kwh += row.option->kwh;
    view.powered += row.option->kwh > 0 ? 1 : 0;
  }
  return view;
}

}  // namespace

report::Report cluster_report(const PackedCluster& cluster) {
  PortfolioView view;
  view.cluster = cluster;
  report::Report report{.title = "Portfolio", .document = kPortfolioDocument.of(view)};
  report.say(packed_line(cluster));
  return report;
}

report::Report portfolio_report(const PlannedPortfolio& planned) {
  PortfolioView view = view_of(planned);
  view.cluster = planned.cluster;
  const portfolio::MovePath path = plan_moves(planned.costs, planned.optimum.choice);
  add_moves(planned, path, view);
  report::Report report{.title = "Portfolio", .document = kPortfolioDocument.of(view)};
  report.say(conclusion(view));
  if (view.budget) report.say(budget_line(view));
  if (view.electricity.asked() && view.powered == 0)
    report.say("Energy: unknown. Power is estimated for workloads with a model, and this file has none.");
  else if (view.electricity.asked())
    report.say(fmt::format("Energy: {} kWh/month with hosts and cooling, for {} of {} workloads{}.",
                           format_number(view.kwh), view.powered, view.workloads.size(),
                           view.electricity.words(view.energy())));
  report.say(worth_line(view.shadow_prices));
  std::vector<report::ColumnOf> columns = {"name"};
  if (!view.teams.empty()) columns.emplace_back("team");
  const bool small = std::ranges::any_of(view.workloads, [](const WorkloadRow& r) { return r.p95.has_value(); });
  for (const char* name : {"where", "how", "takes"}) columns.emplace_back(name);
  if (small) columns.emplace_back("p95_seconds");
  for (const char* name : {"usd_per_month", "alone_usd_per_month"}) columns.emplace_back(name);
  report.show("Workloads", table_of(kWorkloadFields, view.workloads, columns));
  std::vector<std::string> left_out;
  for (const WorkloadRow& row : view.workloads) {
    if (!row.workload->left_out.empty())
      left_out.push_back(fmt::format("{} on {}", row.workload->name, row.workload->left_out));
  }
  if (!left_out.empty())
    report.say(fmt::format("Cheaper, but left out until tested: {}. 'rightsize recommend' shows the test.",
                           fmt::join(left_out, "; ")));
  report.show("Machines",
              table_of(kMachineFields, view.machines,
                       {"pool", report::spare("gpu"), "block", "hours", "used_gpus", "cut_gpus", "reserved_gpus",
                        "idle_reserved_gpus", "machines", "gpus_per_machine", "usd_per_month"}));
  if (!view.teams.empty())
    report.show("Teams", table_of(kTeamFields, view.teams, {"name", "usd_per_month", "budget_usd_per_month"}));
  for (const TeamRow& team : view.teams) {
    if (team.budget && team.usd > *team.budget)
      report.say(fmt::format("{} is {}/month over its budget.", team.name, dollars(team.usd - *team.budget)));
  }
  if (!view.purchases.empty())
    report.show("What to reserve", table_of(kPurchaseFields, view.purchases,
                                            {"pool", "gpus", "usd_per_gpu_month", "saves_usd_per_month"}));
  if (view.range) show_range(*view.range, report);
  if (!view.moves.empty())
    report.show("Moves, in this order",
                table_of(kMoveFields, view.moves, {"step", "workload", "from", "to", "saves_usd_per_month", "risk"}));
  if (!view.blocked.empty())
    report.say(fmt::format("{} cannot move within the quotas: stop them first, or request more quota.",
                           fmt::join(view.blocked, ", ")));
  if (view.cluster) report.say(packed_line(*view.cluster));
  std::vector<ShadowPrice> worth = view.shadow_prices;
  std::erase_if(worth, [](const ShadowPrice& s) { return s.usd < 0.005; });
  if (!worth.empty()) report.show("What one more is worth", table_of(kShadowFields, worth, {"what", "usd_per_month"}));
  return report;
}

Outcome no_portfolio(const CostModel& costs, const Optimum& optimum, const Optimum& relaxed) {
  PortfolioView view;
  view.optimum = optimum;
  view.reserved = costs.organisation().reserved_usd();
  Outcome outcome{{.title = "Portfolio", .document = kPortfolioDocument.of(view)}, kNoFeasibleAnswer};
  outcome.report.say(optimum.infeasible ? "No plan meets all quotas and rules."
                                        : "No plan was found in time. Try a longer --time-limit.");
  if (!optimum.infeasible) return outcome;
  if (!relaxed.found()) {
    outcome.report.say("Even without quotas, 'apart' and 'moves' exclude every plan.");
    return outcome;
  }
  const std::vector<PoolUse> uses = costs.uses(relaxed.choice);
  for (std::size_t p = 0; p < uses.size(); ++p) {
    const Pool& pool = costs.organisation().pools[p];
    const int excess = costs.cost(p, uses[p]).excess;
    if (excess > 0)
      outcome.report.say(fmt::format("The cheapest plan without quotas ({}/month) needs {} more GPUs of quota in {}.",
                                     dollars(relaxed.usd), excess, pool.name));
  }
  return outcome;
}

}  // namespace rightsize::app
