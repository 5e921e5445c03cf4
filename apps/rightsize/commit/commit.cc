// rightsize commit: how much capacity to commit to, for how long, and what that risks.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "rightsize/commit/report.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {
namespace {

using market::CommitmentMix;
using market::CommitmentPlanner;
using market::Future;

void decide(CommitPlan& plan, const market::Demand& demand, const std::vector<Future>& futures, int step) {
  const CommitmentPlanner planner(demand, plan.prices, futures);
  const CommitmentMix exact = planner.best();
  // GPUs are sold as whole GPUs or machines, so take the cheapest rounding.
  plan.mix = {};
  plan.cost = planner.cost({});
  plan.uncommitted = plan.years == 1 ? planner.cost({}).first_year : planner.uncommitted();
  for (const double one : {0.0, std::floor(exact.one_year / step) * step, std::ceil(exact.one_year / step) * step}) {
    for (const double three :
         {0.0, std::floor(exact.three_years / step) * step, std::ceil(exact.three_years / step) * step}) {
      const market::MixCost cost = planner.cost({one, three});
      if (plan.cost_over(cost) >= plan.expected() * (1 - 1e-12)) continue;
      plan.cost = cost;
      plan.mix = {one, three};
    }
  }
}

// Every dollar spent at the provider counts towards a spend commitment, whatever it buys.
void draw(const market::PriceBook& book, CommitPlan& plan) {
  if (plan.on_demand)
    plan.draws =
        book.committed().draws(*plan.on_demand, usd(plan.expected()), kYear * static_cast<double>(plan.years), false);
}

Outcome no_price() {
  Outcome outcome{{.title = "Commitments", .document = empty_commit_document()}};
  outcome.report.say("No provider has an on-demand price for this GPU.");
  outcome.exit_code = kNoFeasibleAnswer;
  return outcome;
}

Checked<Outcome> run_commit(const CommitFlags& typed) {
  const CommitFlags flags = with_terms(typed);
  if (Result<> checked = check(flags); !checked) return fail(checked.error());
  RIGHTSIZE_TRY(const DemandHistory usage, usage_of(flags));
  RIGHTSIZE_TRY(const std::vector<Future> futures, futures_of(flags));
  RIGHTSIZE_TRY(const catalog::Catalog catalog, open_catalog(flags.catalog));
  const market::PriceBook book(catalog);
  const catalog::Gpu* gpu = nullptr;
  if (!flags.gpu.empty()) {
    RIGHTSIZE_TRY(gpu, named_gpu(catalog, flags.gpu));
  }
  RIGHTSIZE_TRY(std::vector<CommitPlan> plans, candidates(flags, book, gpu));
  if (plans.empty()) return no_price();
  const market::Demand demand{usage.gpus, flags.spot_share};
  for (CommitPlan& plan : plans) {
    decide(plan, demand, futures, flags.step.value_or(plan.machine_gpus));
    draw(book, plan);
  }
  std::set<std::string> with_terms;
  for (const CommitPlan& plan : plans) {
    if (plan.has_term()) with_terms.insert(plan.provider);
  }
  for (CommitPlan& plan : plans) plan.has_terms = with_terms.contains(plan.provider);
  // As in recommendations, an unconfirmed price, or one more than a year old, never comes first.
  std::ranges::stable_sort(plans, [](const CommitPlan& a, const CommitPlan& b) {
    return std::pair(!a.may_lead, a.new_money()) < std::pair(!b.may_lead, b.new_money());
  });
  // The best machine and region of each provider.
  std::set<std::string> seen;
  std::erase_if(plans, [&](const CommitPlan& plan) { return !seen.insert(plan.provider).second; });
  return Outcome{commit_report(plans, flags, usage, demand, futures, catalog)};
}

}  // namespace

Run add_commit(FlagSet& command) {
  auto flags = std::make_shared<CommitFlags>();
  add_commit_flags(command, *flags);
  return [flags] { return run_commit(*flags); };
}

}  // namespace rightsize::app
