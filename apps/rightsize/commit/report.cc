#include "rightsize/commit/report.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "catalog/words.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using market::CommitmentPlanner;
using market::Draw;
using market::Future;
using market::Payment;
using report::Fields;
using report::when;

// The tables show everything about the best provider, and a summary of the others.
struct TermView {
  const char* term;
  double gpus;
  UsdPerGpuSecond price;
  double break_even;
  Usd per_year, total;
};

struct PaymentView {
  const char* term;
  std::string payment;
  UsdPerGpuSecond price, monthly;
  Usd upfront;
  bool cheapest;
};

struct FutureView {
  std::string name;
  double weight;
  Usd cost, uncommitted, regret, laddered;
};

struct CommitView {
  const std::vector<CommitPlan>& plans;
  const CommitFlags& flags;
  const DemandHistory& usage;
  std::vector<TermView> terms;
  std::vector<PaymentView> payments;
  std::vector<FutureView> futures;

  const CommitPlan& best() const { return plans.front(); }
};

const char* length_of(const CommitPlan& plan) { return plan.years == 1 ? "one year" : "three years"; }
std::string number(double gpus) { return fmt::format("{:g}", gpus); }
std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string hourly(UsdPerGpuSecond price) { return format_usd_per_hour(price); }

std::optional<std::string> named(const std::string& text) { return when(!text.empty(), text); }

const Fields<TermView> kTermFields = {
    {"term", "term", "1y or 3y", &TermView::term},
    {"gpus", "GPUs", "GPUs to commit to now", &TermView::gpus, number},
    {"usd_per_gpu_hour", "$/GPU-h", "price as if paid monthly", &TermView::price, hourly},
    {"break_even_utilization", "break-even use", "use above which it pays off", &TermView::break_even, percent},
    {"usd_per_year", "$/year", "cost per year", &TermView::per_year, format_usd},
    {"total_usd", "total", "cost over the whole term", &TermView::total, format_usd},
};

const Fields<PaymentView> kPaymentFields = {
    {"term", "term", "1y or 3y", &PaymentView::term},
    {"payment", "payment", "monthly, half upfront or all upfront", &PaymentView::payment},
    {"usd_per_gpu_hour", "$/GPU-h", "the bill over the hours of the term", &PaymentView::price, hourly},
    {"monthly_usd_per_gpu_hour", "as if monthly", "the same with interest", &PaymentView::monthly, hourly},
    {"upfront_usd", "paid now", "paid at the start", &PaymentView::upfront, format_usd},
    {"cheapest", "", "whether it costs least", &PaymentView::cheapest,
     [](bool best) { return best ? "cheapest" : ""; }},
};

const Fields<FutureView> kFutureFields = {
    {"name", "scenario", "what happens", &FutureView::name},
    {"weight", "weight", "its weight", &FutureView::weight, [](double w) { return w > 0 ? number(w) : "-"; }},
    {"usd", "this mix", "cost over the years planned with this mix", &FutureView::cost, format_usd},
    {"uncommitted_usd", "no commitment", "without any commitment", &FutureView::uncommitted, format_usd},
    {"regret_usd", "regret", "more than the best mix for this scenario", &FutureView::regret, format_usd},
    {"laddered_usd", "in steps", "with commitments bought in steps over a year", &FutureView::laddered, format_usd},
};

const Fields<CommitPlan> kProviderFields = {
    {"provider", "provider", "the provider", &CommitPlan::provider},
    {"instance?", "machine", "machine of all its prices", [](const CommitPlan& p) { return named(p.instance); }},
    {"region?", "region", "region of all its prices", [](const CommitPlan& p) { return named(p.region); }},
    {"one_year_gpus", "1y", "GPUs for one year", [](const CommitPlan& p) { return p.mix.one_year; }, number},
    {"three_year_gpus", "3y", "GPUs for three years", [](const CommitPlan& p) { return p.mix.three_years; }, number},
    {"years", "years planned: 1 or 3", &CommitPlan::years},
    {"total_usd", "cost", "expected cost over these years", [](const CommitPlan& p) { return usd(p.expected()); },
     format_usd},
    {"uncommitted_usd", "no commitment", "without any", [](const CommitPlan& p) { return usd(p.uncommitted); },
     format_usd},
    {"new_money_usd?", "new money", "beyond what is committed already",
     [](const CommitPlan& p) { return when(!p.draws.empty(), usd(p.new_money())); }, format_usd},
};

const Fields<Draw> kDrawFields = {
    {"account", "account of the spend commitment", [](const Draw& d) { return d.from->account; }},
    {"provider", "its provider", [](const Draw& d) { return d.from->provider; }},
    {"drawn_usd", "what this plan draws", &Draw::amount},
    {"left_usd", "what is left to spend", [](const Draw& d) { return d.from->left; }},
    {"until", "when it ends", [](const Draw& d) { return d.from->until; }},
};

const Fields<CommitPlan> kBestFields = {
    {kProviderFields, [](const CommitPlan& p) { return std::cref(p); }},
    {"on_demand_usd_per_gpu_hour", "on-demand price", [](const CommitPlan& p) { return p.prices.on_demand; }},
    {"spot_usd_per_gpu_hour", "spot price", [](const CommitPlan& p) { return p.prices.spot; }},
    {"saving_usd", "saved over the years planned", [](const CommitPlan& p) { return p.uncommitted - p.expected(); }},
    {"first_year_usd", "expected cost of the first year", [](const CommitPlan& p) { return p.cost.first_year; }},
    {"coverage", "share of the first year's demand under commitment",
     [](const CommitPlan& p) { return p.cost.first_year_covered; }},
    {"utilization", "share of the first year's commitments in use",
     [](const CommitPlan& p) { return p.cost.first_year_used; }},
    {"committed_spend?", "drawn from spend commitments", kDrawFields, &CommitPlan::draws},
};

const Fields<CommitView> kCommitFields = {
    {kBestFields, [](const CommitView& v) { return v.plans.empty() ? nullptr : &v.plans.front(); }},
    {"gpu", "GPU by its catalogue name", [](const CommitView& v) { return v.flags.gpu; }},
    {"usage", "where the demand comes from", [](const CommitView& v) { return v.usage.source; }},
    {"terms", "what to buy now", kTermFields, &CommitView::terms},
    {"payments", "ways to pay", kPaymentFields, &CommitView::payments},
    {"futures?", "scenarios", kFutureFields, &CommitView::futures},
    {"providers?", "all providers, best first", kProviderFields,
     [](const CommitView& v) { return v.plans.size() > 1 ? v.plans : std::vector<CommitPlan>{}; }},
};

const report::Document<CommitView> kCommitDocument("commit", "How much capacity to commit to", kCommitFields);

bool commits(const CommitPlan& plan) { return plan.mix.one_year + plan.mix.three_years > 0; }

std::string from(const CommitPlan& plan) {
  if (plan.provider == kOwnPrices) return "at your prices";
  if (plan.instance.empty()) return "from " + plan.provider;
  return fmt::format("from {} ({}{})", plan.provider, plan.instance, plan.region == "any" ? "" : " in " + plan.region);
}

void add_term(CommitView& view, const char* term, double gpus, const std::vector<Payment>& ways,
              const std::optional<double>& price, int years) {
  if (!price) return;
  const double interest = view.flags.interest, hours = in_hours(kYear), year = gpus * *price * hours;
  view.terms.push_back({term, gpus, usd_per_gpu_hour(*price),
                        market::break_even_use(*price, view.best().prices.on_demand), usd(year), usd(year * years)});
  if (ways.size() < 2) return;
  const Payment& best = market::cheapest_payment(ways, years, interest);
  for (const Payment& way : ways)
    view.payments.push_back({term, way.name, usd_per_gpu_hour(way.usd_per_gpu_hour),
                             usd_per_gpu_hour(market::paid_monthly(way, years, interest)),
                             usd(gpus * way.upfront * way.usd_per_gpu_hour * hours * years), &way == &best});
}

void add_futures(CommitView& view, const market::Demand& demand, std::vector<Future> futures) {
  const CommitPlan& best = view.best();
  const CommitmentPlanner planner(demand, best.prices, futures);
  futures.push_back({"demand falls by 20 % at once", 0, {0.8, 0.8, 0.8}, {1, 1, 1}});
  futures.push_back({"demand falls by half at once", 0, {0.5, 0.5, 0.5}, {1, 1, 1}});
  for (Future& future : futures) {
    const double weight = std::exchange(future.probability, 1);
    const CommitmentPlanner certain(demand, best.prices, {future});
    const market::MixCost cost = certain.cost(best.mix);
    // Years beyond the plan cost the same with and without today's commitment.
    const double later = cost.total - best.cost_over(cost);
    view.futures.push_back({future.name, weight, usd(cost.total - later),
                            usd(best.years == 1 ? certain.cost({}).first_year : certain.uncommitted()),
                            usd(planner.regret(best.mix, future)),
                            usd(planner.laddered_cost(best.mix, view.flags.ladder, future) - later)});
  }
}

// The smallest discount from on-demand at which the best mix commits to this many GPUs.
double break_even_discount(const CommitPlan& plan, const market::Demand& demand, const std::vector<Future>& futures,
                           bool three_years, double gpus) {
  double low = 0, high = 1;
  for (int i = 0; i < 20; ++i) {
    const double middle = (low + high) / 2;
    market::CommitmentPrices prices = plan.prices;
    (three_years ? prices.three_years : prices.one_year) = (1 - middle) * prices.on_demand;
    const market::CommitmentMix mix = CommitmentPlanner(demand, prices, futures).best();
    ((three_years ? mix.three_years : mix.one_year) >= gpus * (1 - 1e-9) ? high : low) = middle;
  }
  return high;
}

// The share of demand that is bought on spot: what may be interrupted, where spot costs less.
double spot_share(const CommitPlan& plan, const market::Demand& demand) {
  return plan.prices.spot && *plan.prices.spot < plan.prices.on_demand ? demand.interruptible : 0;
}

// What is paid for GPUs that are not committed: "On demand, the GPUs cost $2.37/GPU-h".
std::string without_commitment(const CommitPlan& plan, const market::Demand& demand) {
  const double share = spot_share(plan, demand);
  const std::string listed = format_usd_per_hour(plan.prices.on_demand);
  if (share == 0) return fmt::format("On demand, the GPUs cost {}/GPU-h", listed);
  const std::string spot = format_usd_per_hour(*plan.prices.spot);
  return share == 1 ? fmt::format("On spot, the GPUs cost {}/GPU-h (on demand: {})", spot, listed)
                    : fmt::format("The GPUs cost {}/GPU-h on demand and {} on spot, for the {} that may be interrupted",
                                  listed, spot, percent(share));
}

// Without a price on file there is no verdict, only the discount from which a commitment pays off.
std::string without_price(const std::vector<CommitPlan>& plans, const CommitFlags& flags, const market::Demand& demand,
                          const std::vector<Future>& futures) {
  const CommitPlan& best = plans.front();
  const Result<std::vector<catalog::Purchase>> asked = catalog::read_purchases(flags.purchase);
  const bool three = asked && !asked->empty() && std::ranges::count(*asked, catalog::Purchase::kThreeYears) > 0 &&
                     std::ranges::count(*asked, catalog::Purchase::kOneYear) == 0;
  const char* term = three ? "3-year" : "1-year";
  const bool others = std::ranges::any_of(plans, &CommitPlan::has_terms);
  const std::string of = best.provider == kOwnPrices ? "" : " from " + best.provider;
  std::string text =
      fmt::format("{}o {} price{} is on file. {}: {} over {}.",
                  others ? fmt::format("{} from {} costs less than every commitment on file, but n",
                                       spot_share(best, demand) == 1 ? "Spot" : "On demand", best.provider)
                         : "N",
                  term, of, without_commitment(best, demand), format_usd(usd(best.expected())), length_of(best));
  double base = 0, peak = 0;
  for (const double gpus : demand.gpus) {
    if (gpus > 0 && (base == 0 || gpus < base)) base = gpus;
    peak = std::max(peak, gpus);
  }
  if (!(peak > 0)) return text;
  const auto pays = [&](double gpus) {
    const double discount = break_even_discount(best, demand, futures, three, gpus);
    return discount < 0.005 ? std::string("at any discount") : "at a discount above " + percent(discount);
  };
  text += fmt::format(" A {} commitment pays off for {:.4g} GPU{} {}", term, base, base == 1 ? "" : "s", pays(base));
  if (peak > base) text += fmt::format(", for all {:.4g} {}", peak, pays(peak));
  return text + fmt::format(". Add the price or the discount that you are offered, for example {} 40%.",
                            three ? "--three-years" : "--one-year");
}

// "Commit to 8 GPUs for three years from gcp: ..."
std::string conclusion(const CommitPlan& best, const market::Demand& demand) {
  const bool spot = spot_share(best, demand) == 1;
  if (!commits(best))
    return fmt::format(
        "Stay on {} of {}. Expected cost over {}: {}.",
        spot ? "spot: no commitment costs less than that" : "demand: demand is too low for the commitments",
        best.provider, length_of(best), format_usd(usd(best.expected())));
  std::vector<std::string> terms;
  for (const auto& [gpus, length] :
       {std::pair{best.mix.one_year, "one year"}, std::pair{best.mix.three_years, "three years"}})
    if (gpus > 0) terms.push_back(fmt::format("{:g} GPU{} for {}", gpus, gpus == 1 ? "" : "s", length));
  const double saved = best.uncommitted - best.expected();
  return fmt::format(
      "Commit to {} {}: expected cost over {} {} instead of {}, {} less ({:.0f} %), weighted over the scenarios below.",
      fmt::join(terms, " and "), from(best), length_of(best), format_usd(usd(best.expected())),
      format_usd(usd(best.uncommitted)), format_usd(usd(saved)), 100 * saved / best.uncommitted);
}

std::string usage_line(const CommitPlan& best, const DemandHistory& usage, const market::Demand& demand) {
  std::string text = fmt::format("Usage: {}. {}", usage.source, without_commitment(best, demand));
  if (commits(best))
    text += fmt::format(". In the first year, commitments cover {} of demand and are {} used",
                        percent(best.cost.first_year_covered), percent(best.cost.first_year_used));
  return text + ".";
}

std::string draws_line(const CommitPlan& best) {
  std::vector<std::string> draws;
  for (const Draw& draw : best.draws)
    draws.push_back(fmt::format("{} from {}", format_usd(draw.amount), market::describe(*draw.from)));
  return draws.empty() ? ""
                       : fmt::format("Committed spend: {}; new money over {}: {}.", fmt::join(draws, ", "),
                                     length_of(best), format_usd(usd(best.new_money())));
}

// Providers that are cheaper at a price that is old or unconfirmed.
std::string passed_over(const std::vector<CommitPlan>& plans) {
  std::vector<std::string> names;
  for (const CommitPlan& plan : plans) {
    if (plans.front().may_lead && !plan.may_lead && plan.new_money() < plans.front().new_money())
      names.push_back(plan.provider);
  }
  return names.empty()
             ? ""
             : fmt::format("{} may be cheaper, but its price is old or unconfirmed: check it with the provider.",
                           fmt::join(names, ", "));
}

// Providers without a commitment price on file, and their published statements about one.
std::string not_on_file(const std::vector<CommitPlan>& plans, const catalog::Catalog& catalog) {
  std::vector<std::string> names;
  for (const CommitPlan& plan : plans) {
    if (plan.has_terms || plan.provider == kOwnPrices) continue;
    const catalog::ProviderFacts* facts = catalog.find_provider(plan.provider);
    const bool said = facts != nullptr && !facts->commitment.empty();
    names.push_back(plan.provider + (said ? fmt::format(" ({})", facts->commitment) : ""));
  }
  return names.empty() ? "" : fmt::format("No commitment price on file: {}.", fmt::join(names, ", "));
}

}  // namespace

report::Json empty_commit_document() { return kCommitDocument.of({{}, {}, {}, {}, {}, {}}); }

report::Report commit_report(const std::vector<CommitPlan>& plans, const CommitFlags& flags, const DemandHistory& usage,
                             const market::Demand& demand, const std::vector<Future>& futures,
                             const catalog::Catalog& catalog) {
  const CommitPlan& best = plans.front();
  CommitView view{plans, flags, usage, {}, {}, {}};
  add_term(view, "1y", best.mix.one_year, best.one_year, best.prices.one_year, 1);
  add_term(view, "3y", best.mix.three_years, best.three_years, best.prices.three_years, market::kPlanYears);
  if (commits(best)) add_futures(view, demand, futures);
  report::Report report{.title = "Commitments", .document = kCommitDocument.of(view)};
  const auto show = [&](std::string title, report::Table table) {
    if (!table.rows.empty()) report.show(std::move(title), std::move(table));
  };
  report.say(best.has_terms ? conclusion(best, demand) : without_price(plans, flags, demand, futures));
  report.say(passed_over(plans));
  report.say(usage_line(best, usage, demand));
  report.say(draws_line(best));
  show(fmt::format("What to buy now, {}", from(best)),
       table_of(kTermFields, view.terms,
                {"term", "gpus", "usd_per_gpu_hour", "break_even_utilization", "usd_per_year",
                 report::renamed("total_usd", "usd_total")}));
  show(fmt::format("How to pay, with capital at {:g} % per year", 100 * flags.interest),
       table_of(kPaymentFields, view.payments,
                {"term", "payment", "usd_per_gpu_hour", "monthly_usd_per_gpu_hour", "upfront_usd",
                 report::renamed("cheapest", "choice")}));
  show(fmt::format("Scenarios: cost over {} (steps: {} purchases over a year)", length_of(best), flags.ladder),
       table_of(kFutureFields, view.futures,
                {report::renamed("name", "future"), "weight", "usd", "uncommitted_usd", "regret_usd", "laddered_usd"}));
  if (plans.size() > 1) {
    std::vector<report::ColumnOf> columns = {"provider",        "instance",  "region",         "one_year_gpus",
                                             "three_year_gpus", "total_usd", "uncommitted_usd"};
    if (std::ranges::any_of(plans, [](const CommitPlan& p) { return !p.draws.empty(); }))
      columns.emplace_back("new_money_usd");
    // The chosen plan comes first; the others by cost, even if their price is old or unconfirmed.
    std::vector<CommitPlan> by_cost = plans;
    std::ranges::stable_sort(by_cost.begin() + 1, by_cost.end(), {}, &CommitPlan::new_money);
    show(fmt::format("All providers, cost over {}", length_of(best)), table_of(kProviderFields, by_cost, columns));
  }
  report.say(not_on_file(plans, catalog));
  report.say(
      fmt::format("{}The scenario weights are our judgement; --future replaces them. Commitments cannot be cancelled; "
                  "one-year commitments for later years are bought once the scenario is known.",
                  best.sources.empty() ? "" : fmt::format("Prices: {}. ", fmt::join(best.sources, "; "))));
  return report;
}

}  // namespace rightsize::app
