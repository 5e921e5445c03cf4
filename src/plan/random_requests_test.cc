// Properties of every recommendation, tested on random requests: a few in every test run, and RIGHTSIZE_RANDOM_REQUESTS
// in `make check`.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "plan/candidates.h"
#include "plan/explain.h"
#include "plan/test_draws.h"
#include "plan/test_requests.h"
#include "plan/test_services.h"

namespace rightsize::plan {
namespace {

// The same prices, 10 % higher.
const market::PriceBook& dearer_book() {
  static const catalog::Catalog kDearer = [] {
    catalog::Catalog catalog = built_in_catalog();
    for (catalog::Price& price : catalog.prices) price.machine_price = price.machine_price * 1.1;
    return catalog;
  }();
  static const market::PriceBook kBook(kDearer);
  return kBook;
}

std::string few_gpus(Draw& draw) {
  return draw.one_of(
      {"l4,h100-sxm", "a100-80gb-sxm,l40s", "h200-sxm,mi300x", "rtx-pro-6000,b200-sxm", "t4,mi300x,a100-40gb-sxm"});
}

Given training(Draw& draw) {
  Given given = {{"model", draw.one_of({"llama-3.2-1b", "gpt2-xl", "llama-3.1-8b", "qwen2.5-1.5b"})},
                 {"tokens", draw.whole(1e7, 1e10)},
                 {"method", draw.one_of({"full", "lora", "full,lora"})},
                 {"global-batch", draw.one_of({"32", "96", "128", "100"})},
                 {"purchase", draw.one_of({"on-demand", "spot", "on-demand,spot"})},
                 {"egress", draw.one_of({"0GB", "100GB"})},
                 {"deadline", draw.whole(20, 2000) + "h"},
                 {"gpu", few_gpus(draw)},
                 {"max-gpus", draw.one_of({"8", "32"})}};
  if (const std::string storage = draw.one_of({"", "0GB", "500GB"}); !storage.empty())
    given.emplace_back("storage", storage);
  return given;
}

// Models that only pipelines hold: the micro-batches in flight decide whether a plan fits.
Given large_training(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.1-70b", "qwen2.5-32b", "qwen3-30b-a3b", "mixtral-8x7b"})},
          {"tokens", draw.whole(1e9, 3e11)},
          {"seq", draw.one_of({"2048", "4096", "8192"})},
          {"stack", draw.one_of({"megatron", "torchtitan"})},
          {"global-batch", draw.one_of({"256", "1024"})},
          {"deadline", draw.whole(300, 3000) + "h"},
          {"gpu", draw.one_of({"b200-sxm", "h100-sxm,h200-sxm", "a100-80gb-sxm,rtx-pro-6000"})},
          {"max-gpus", "128"}};
}

Given serving(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.2-1b", "llama-3.1-8b", "qwen2.5-1.5b"})},
          {"job", "serve"},
          {"rate", std::to_string(draw.between(0.5, 30)) + "/s"},
          {"isl", draw.whole(64, 4000)},
          {"osl", draw.whole(8, 500)},
          {"ttft-slo", draw.whole(300, 3000) + "ms"},
          {"tpot-slo", draw.whole(20, 120) + "ms"},
          {"slo-percentile", draw.one_of({"50", "95", "99"})},
          {"gpu", few_gpus(draw)},
          {"max-gpus", "64"},
          {"top", "2"}};
}

Given encoding(Draw& draw) {
  return {{"model", draw.one_of({"bert-base", "bert-large", "vit-l-16"})},
          {"job", "serve"},
          {"rate", draw.whole(1, 2000) + "/s"},
          {"ttft-slo", draw.whole(10, 300) + "ms"},
          {"slo-percentile", draw.one_of({"95", "99"})},
          {"gpu", few_gpus(draw)},
          {"top", "2"}};
}

double best_cost(const Recommendation& found) {
  return found.plans.empty() ? std::numeric_limits<double>::infinity() : in_usd(found.plans.front().cost);
}

// Simulations end when a percentile is known to 3 %; training has one answer.
double tie(const Request& request) { return request.work.kind == WorkKind::kServing ? 1.02 : 1 + 1e-9; }

// The score decides the rank, so relaxed requests cannot raise it; the cost may differ by what other merits are worth.
// The merits of a service change with its load, so its ranked cost counts.
double best_rank(const Request& request, const Recommendation& found) {
  double best = std::numeric_limits<double>::infinity();
  for (const Plan& p : found.plans)
    if (p.price.may_lead() == found.plans.front().price.may_lead())
      best = std::min(best, request.work.kind == WorkKind::kServing ? p.ranked_cost : p.score);
  return best;
}

// An extrapolation leads only if even its high end scores better than every plan with benchmarks.
void expect_measured_first(const Recommendation& found) {
  if (found.plans.empty() || !found.plans.front().extrapolated) return;
  for (const Plan& p : found.plans) {
    if (p.extrapolated || p.job.serve.disaggregated || !p.price.may_lead()) continue;
    EXPECT_LE(found.plans.front().score, p.score * (1 + 1e-9));
  }
}

// No other plan with a sound price is cheaper and sooner with as much evidence and as much margin to its limits.
void expect_not_dominated(const Request& request, const Recommendation& found) {
  if (found.plans.empty()) return;
  const Plan& first = found.plans.front();
  const auto wait = [&](const Plan& p) { return request.work.kind == WorkKind::kServing ? p.latency : p.elapsed(); };
  const auto fresh = [](const Plan& p) { return !p.price.age || *p.price.age <= days(market::kAgedDays); };
  for (const Plan& p : found.plans) {
    const bool as_good = p.benchmarked >= first.benchmarked && p.basis <= first.basis && fresh(p) >= fresh(first) &&
                         !p.extrapolated && p.price.may_lead() && limit_used(request, p) <= limit_used(request, first);
    EXPECT_FALSE(as_good && p.cost < first.cost * 0.99 && wait(p) < wait(first))
        << p.offer.gpu->name << " costs less and takes less time";
  }
}

// Hours times the price of whole machines, plus storage and egress, from the request's own figures.
void expect_total(const Request& request, const Plan& p) {
  const double month_hours = 730, cent = 0.005 + 1e-9 * in_usd(p.cost);
  const double machine = in_usd_per_machine_hour(p.price.likely) * p.machines;
  if (request.work.kind == WorkKind::kServing) {
    EXPECT_NEAR(in_usd(p.cost), machine * month_hours, cent);
    return;
  }
  const double work = request.work.amount / p.units_per_second / 3600;
  const double hours = work + in_hours(p.time.startup) + in_hours(p.time.saving) + in_hours(p.time.redoing);
  const market::JobAssumptions& a = request.assumptions;
  const Bytes stored = a.storage.value_or(stored_bytes(request, perf::work_of(request.model), p.job));
  const double storage = in_bytes(stored) / 1e9 * a.storage_usd_per_gb_month * hours / month_hours;
  const double egress = in_bytes(a.egress) / 1e9 * a.egress_usd_per_gb;
  EXPECT_NEAR(in_usd(p.cost), machine * hours + storage + egress, cent);
  EXPECT_LE(in_usd(p.cost_low), in_usd(p.cost) + cent);
  EXPECT_GE(in_usd(p.cost_high), in_usd(p.cost) - cent);
}

// The reported values meet the limits, even when simulated again with other random numbers.
void expect_kept(const Request& request, const Plan& p) {
  const auto again = run_again(request, built_in_constants(), p, 77);
  ASSERT_TRUE(again.has_value());
  EXPECT_LE(again->load, request.limits.max_load + 1e-9);
  ASSERT_GE(p.machines, 2);
  EXPECT_LE(p.load * p.machines / (p.machines - 1), capacity::kLoadAfterLoss + 1e-6) << "with a machine down";
  for (const capacity::Slo& slo : service_of(request, perf::work_of(request.model), 1).slos) {
    const Seconds told = slo.quantity == capacity::Quantity::kTpot ? p.tpot : p.ttft;
    EXPECT_LE(in_seconds(told), in_seconds(slo.limit));
    EXPECT_LE(in_seconds(least_seen(*again, slo)), in_seconds(slo.limit));
  }
}

// A more demanding request: a shorter deadline, tighter SLOs, 50 % more work.
Request tighter(Request request) {
  PlanLimits& l = request.limits;
  if (l.deadline) l.deadline = *l.deadline * 0.6;
  if (l.ttft) l.ttft = *l.ttft * 0.7;
  if (l.tpot) l.tpot = *l.tpot * 0.7;
  return request;
}
Request wider(Request request) {
  request.limits.max_gpus *= 2;
  return request;
}
Request larger(Request request) {
  request.work.amount *= 1.5;
  request.work.rate = request.work.rate * 1.5;
  return request;
}

// If nothing meets the limits but more GPUs would, the answer gives the number; a request with that number returns that
// plan.
void expect_way_out(const Request& request, const Recommendation& found) {
  if (!found.plans.empty()) return;
  const auto more = std::find_if(found.changes.begin(), found.changes.end(), [](const RequestChange& change) {
    return change.kind == RequestChangeKind::kMoreGpus;
  });
  Request with_more = request;
  with_more.limits.max_gpus = more == found.changes.end() ? 1024 : more->plan.gpus;
  const double best = best_cost(recommend(with_more, built_in_prices(), built_in_constants()));
  if (more == found.changes.end())
    EXPECT_TRUE(std::isinf(best)) << "more GPUs would do";
  else
    EXPECT_EQ(best, in_usd(more->plan.cost)) << more->flags;
}

// Relaxed limits are shown if they save something, and never rank lower.
void expect_relaxing_saves(const Recommendation& found) {
  for (const RequestChange& change : found.changes) {
    if (!relaxes(change.kind) || found.plans.empty()) continue;
    EXPECT_LT(change.plan.cost, found.plans.front().cost) << change.flags;
    EXPECT_LE(change.plan.score, found.plans.front().score) << change.flags;
  }
}

// A list of plans alone has the same order as the full answer.
void expect_same_order(Request request, const Recommendation& found) {
  request.plans_only = true;
  const Recommendation quick = recommend(request, built_in_prices(), built_in_constants());
  ASSERT_EQ(quick.plans.size(), found.plans.size());
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    EXPECT_EQ(quick.plans[i].offer.price, found.plans[i].offer.price) << i;
    EXPECT_EQ(in_usd(quick.plans[i].cost), in_usd(found.plans[i].cost)) << i;
  }
}

TEST(RandomRequests, LargeTrainingPlansFitInMemoryAndALaterDeadlineCostsNoMore) {
  Draw draw(first_seed());
  for (int i = 0; i < std::max(6, requests_to_try() / 5); ++i) {
    const Request request = request_of(large_training(draw));
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    for (const Plan& p : found.plans) {
      EXPECT_LE(in_gib(p.memory.high), in_gib(p.fit.capacity)) << p.gpus << " x " << p.offer.gpu->name;
      EXPECT_EQ(p.fit.verdict, memory::Verdict::kFits);
    }
    expect_relaxing_saves(found);
  }
}

TEST(RandomRequests, MeetTheirLimitsAddUpAndCostMoreIfMoreDemanding) {
  int answered = 0;
  for (int i = 0; i < requests_to_try(); ++i) {
    Draw draw(first_seed() + static_cast<std::uint64_t>(i));
    const Given settings = i % 3 == 0 ? training(draw) : i % 3 == 1 ? serving(draw) : encoding(draw);
    SCOPED_TRACE(shown(settings));
    const Request request = request_of(settings);
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    for (const Plan& p : found.plans) {
      expect_total(request, p);
      if (request.work.kind == WorkKind::kServing) expect_kept(request, p);
    }
    answered += found.plans.empty() ? 0 : 1;
    expect_measured_first(found);
    expect_not_dominated(request, found);
    expect_relaxing_saves(found);
    expect_same_order(request, found);
    // Doubtful prices are ranked last whatever their cost, so the order changes only among equals.
    const double best = best_rank(request, found), least = best / tie(request), most = best * tie(request);
    EXPECT_GE(best_rank(request, recommend(request, dearer_book(), built_in_constants())), least) << "at higher prices";
    const Recommendation narrow = recommend(tighter(request), built_in_prices(), built_in_constants());
    EXPECT_GE(best_rank(request, narrow), least) << "with tighter limits";
    expect_way_out(tighter(request), narrow);
    EXPECT_GE(best_rank(request, recommend(larger(request), built_in_prices(), built_in_constants())), least)
        << "with more work";
    EXPECT_LE(best_rank(request, recommend(wider(request), built_in_prices(), built_in_constants())), most)
        << "with more GPUs";
  }
  EXPECT_GT(answered, requests_to_try() / 2);
}

}  // namespace
}  // namespace rightsize::plan
