// Evidence decides the first plan: unproven plans and gambles, unconfirmed prices, the chance of breaking a limit, and
// the high end of a range under any limit, over random requests.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "plan/explain.h"
#include "plan/limit_risk.h"
#include "plan/test_draws.h"

namespace rightsize::plan {
namespace {

constexpr double kMerits = 1.07;  // what other merits of a plan may be worth

int tries() { return std::max(6, requests_to_try() / 4); }

Recommendation answer(const Request& request, const market::PriceBook& book = built_in_prices()) {
  return recommend(request, book, built_in_constants());
}

bool is_tested(const Plan& p) { return p.benchmarked && !p.extrapolated; }

// GPUs with and without benchmarks, with fresh and with old prices.
std::string mixed_gpus(Draw& draw) {
  return draw.one_of(
      {"a40,gh200-96gb,l40s", "a40,rtx-6000-ada,h100-sxm", "rtx-5090,l40s,rtx-3090", "mi300x,h200-sxm,a40"});
}

Given training(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.2-1b", "llama-3.1-8b", "mistral-7b"})},
          {"tokens", draw.whole(1e8, 5e9)},
          {"method", draw.one_of({"full", "lora"})},
          {"gpu", mixed_gpus(draw)}};
}

Given service(Draw& draw) {
  return {{"model", draw.one_of({"llama-3.1-8b", "qwen2.5-14b", "llama-3.2-3b"})},
          {"job", "serve"},
          {"rate", std::to_string(draw.between(2, 40)) + "/s"},
          {"isl", draw.whole(200, 4000)},
          {"osl", draw.whole(30, 400)},
          {"ttft-slo", draw.whole(500, 4000) + "ms"},
          {"tpot-slo", draw.whole(15, 80) + "ms"},
          {"gpu", mixed_gpus(draw)}};
}

Given either(std::uint64_t seed, Draw& draw) { return seed % 2 == 0 ? service(draw) : training(draw); }

// The catalogue with every price of one GPU multiplied.
catalog::Catalog with_prices(const std::string& gpu, double factor) {
  catalog::Catalog catalog = built_in_catalog();
  for (catalog::Price& price : catalog.prices) {
    const auto machine = std::find_if(catalog.machines.begin(), catalog.machines.end(), [&](const auto& m) {
      return m.provider == price.provider && m.instance == price.instance;
    });
    if (machine != catalog.machines.end() && machine->gpu == gpu) price.machine_price = price.machine_price * factor;
  }
  return catalog;
}

// A GPU without benchmarks at an old price of one source leads only if it costs over 10 % less than what is better
// known, at any price level.
TEST(Evidence, AnUnprovenPlanLeadsOnlyIfClearlyCheaper) {
  int led = 0, cheaper_but_lower = 0;
  for (int i = 0; i < tries(); ++i) {
    Draw draw(20'000 + first_seed() + static_cast<std::uint64_t>(i));
    Given given = training(draw);
    given.back().second = "a40,gh200-96gb,h100-sxm";
    SCOPED_TRACE(shown(given));
    const Request request = request_of(given);
    for (const double factor : {0.5, 0.65, 0.8, 0.9, 1.0, 1.15}) {
      const catalog::Catalog catalog = with_prices("a40", factor);
      const market::PriceBook book(catalog);
      const Recommendation found = answer(request, book);
      if (found.plans.empty()) continue;
      const Plan& first = *found.best();
      const auto proven = std::ranges::find_if(
          found.plans, [&](const Plan& p) { return !p.is_unproven() && !p.extrapolated && p.price.may_lead(); });
      if (proven == found.plans.end()) continue;
      if (first.is_unproven()) {
        EXPECT_LE(in_usd(first.cost) * 1.1, proven->ranked_cost * kMerits) << factor;
        ++led;
      } else {
        cheaper_but_lower += std::ranges::any_of(
            found.plans, [&](const Plan& p) { return p.is_unproven() && p.price.may_lead() && p.cost < first.cost; });
      }
    }
  }
  EXPECT_GT(led, 0);
  EXPECT_GT(cheaper_but_lower, 0);
}

// A job on a GPU without benchmarks leads only if the slow end of its speed meets the deadline, or nothing with a
// benchmark meets it at all.
TEST(Evidence, AGambleNeverLeadsWhereAMeasuredPlanMeetsTheDeadline) {
  int gambles = 0;
  for (int i = 0; i < 2 * tries(); ++i) {
    Draw draw(21'000 + first_seed() + static_cast<std::uint64_t>(i));
    Request request = request_of(training(draw));
    const Recommendation open = answer(request);
    for (const Plan& unknown : open.plans) {
      if (is_tested(unknown)) continue;
      request.limits.deadline = unknown.elapsed() * draw.between(1.001, unknown.speed.high);
      const Recommendation found = answer(request);
      if (found.plans.empty()) continue;
      const Plan& first = *found.best();
      for (const Plan& p : found.plans) {
        gambles += !is_tested(p) && p.misses_if_slow ? 1 : 0;
        EXPECT_FALSE(!is_tested(first) && first.misses_if_slow && is_tested(p) &&
                     p.price.may_lead() >= first.price.may_lead())
            << first.offer.gpu->name << " before " << p.offer.gpu->name;
      }
    }
  }
  EXPECT_GT(gambles, 0);
}

// Whatever the limits, a chance of 10 % or more to break one is in the plan's sentence, and no clear verdict has it.
TEST(Evidence, AChanceOfBreakingALimitIsAlwaysStated) {
  int stated = 0;
  for (int i = 0; i < 2 * tries(); ++i) {
    Draw draw(22'000 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given = either(static_cast<std::uint64_t>(i), draw);
    SCOPED_TRACE(shown(given));
    Request request = request_of(given);
    const bool serving = request.work.kind == WorkKind::kServing;
    if (const Recommendation open = answer(request); !serving && !open.plans.empty())
      request.limits.deadline = open.best()->elapsed() * draw.between(1.001, 1.5);
    const Recommendation found = answer(request);
    for (const Plan& p : found.plans) {
      EXPECT_EQ(limit_risk(request, p).empty(), p.resizing < kRisky);
      EXPECT_LE(p.resizing, 0.5 + 1e-9);
      EXPECT_TRUE(!p.misses_if_slow || p.resizing >= kRisky) << p.offer.gpu->name;
      if (!serving) {
        EXPECT_EQ(p.misses_if_slow, !keeps_limits_if_slow(request, p)) << p.offer.gpu->name;
        EXPECT_NEAR(p.resizing >= kRisky, p.misses_if_slow, p.resizing > 0.099 && p.resizing < 0.101) << p.resizing;
      }
      stated += p.resizing >= kRisky ? 1 : 0;
    }
    if (found.plans.empty()) continue;
    EXPECT_FALSE(found.decision() == Decision::kClear && found.best()->misses_if_slow);
  }
  EXPECT_GT(stated, 0);
}

// A limit that a service just meets leaves the high end of its cost as it is, and says that the limit may be missed.
TEST(Evidence, ALimitNeverCutsTheHighEndOfARange) {
  int wide = 0;
  for (int i = 0; i < 2 * tries(); ++i) {
    Draw draw(23'000 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given = service(draw);
    SCOPED_TRACE(shown(given));
    const Request request = request_of(given);
    const Recommendation found = answer(request);
    if (found.plans.empty() || found.best()->extrapolated || found.best()->misses_if_slow) continue;
    const Plan& first = *found.best();
    Request fewer = request, cheaper = request;
    fewer.limits.max_gpus = first.machines * first.offer.machine->gpus;
    cheaper.limits.budget = first.cost * 1.0001;
    for (const Request& tighter : {fewer, cheaper}) {
      const Recommendation then = answer(tighter);
      ASSERT_FALSE(then.plans.empty());
      const Plan& same = *then.best();
      if (same.offer.price != first.offer.price || same.machines != first.machines) continue;
      EXPECT_GE(in_usd(same.cost_high), 0.97 * in_usd(first.cost_high));
      if (same.machines_if_slow <= same.machines) continue;
      // Another layout of its kind may be enough at the slow end: its cost is then the high end.
      if (same.cost_high < same.cost * (0.99 * same.machines_if_slow / same.machines)) continue;
      EXPECT_TRUE(same.misses_if_slow) << same.machines_if_slow;
      EXPECT_FALSE(limit_risk(tighter, same).empty());
      EXPECT_NE(then.decision(), Decision::kClear);
      ++wide;
    }
  }
  EXPECT_GT(wide, 0);
}

// Beside a first plan whose price is in doubt stands the cheapest one whose price is not.
TEST(Evidence, ADoubtfulFirstPriceHasAConfirmedOneBesideIt) {
  int doubtful = 0;
  for (int i = 0; i < 2 * tries(); ++i) {
    Draw draw(24'000 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given = either(static_cast<std::uint64_t>(i), draw);
    SCOPED_TRACE(shown(given));
    const Recommendation found = answer(request_of(given));
    if (found.plans.empty()) continue;
    EXPECT_FALSE(found.confirmed && !found.best()->price.in_doubt());
    if (!found.best()->price.in_doubt()) continue;
    ++doubtful;
    for (const Plan& p : found.plans) {
      if (p.price.in_doubt() || p.extrapolated) continue;
      ASSERT_TRUE(found.confirmed);
      EXPECT_FALSE(found.confirmed->price.in_doubt());
      EXPECT_LE(in_usd(found.confirmed->cost), 1.02 * in_usd(p.cost)) << p.offer.gpu->name;
    }
  }
  EXPECT_GT(doubtful, 0);
}

// The next GPU is the cheapest other one, whatever its price.
TEST(Evidence, TheNextGpuIsTheCheapestOther) {
  for (int i = 0; i < 2 * tries(); ++i) {
    Draw draw(25'000 + first_seed() + static_cast<std::uint64_t>(i));
    Given given = either(static_cast<std::uint64_t>(i), draw);
    given.back() = {"regions", draw.one_of({"eu", "us", "eu-central-1"})};
    SCOPED_TRACE(shown(given));
    const Recommendation found = answer(request_of(given));
    for (const Plan& p : found.plans) {
      if (p.offer.gpu == found.best()->offer.gpu) continue;
      ASSERT_NE(found.next_gpu(), nullptr);
      EXPECT_LE(found.next_gpu()->cost, p.cost) << p.offer.gpu->name;
    }
    if (found.plans.empty() || found.breakpoints.empty() || found.breakpoints.front().cost_ratio == 0) continue;
    for (const Plan& p : found.plans)
      if (p.offer.gpu != found.best()->offer.gpu && p.cost >= found.best()->cost) {
        EXPECT_LE(found.breakpoints.front().plan.cost, p.cost) << p.offer.gpu->name;
      }
  }
}

// An old price of one source is held back only for a fresh one that the request could pay instead.
TEST(Evidence, OnlyPricesOfTheRequestHoldAnOldOneBack) {
  int old = 0, held = 0;
  for (int i = 0; i < 4 * tries(); ++i) {
    Draw draw(26'000 + first_seed() + static_cast<std::uint64_t>(i));
    const Request request =
        request_of({{"model", "llama-3.2-1b"},
                    {"tokens", "1B"},
                    {"purchase", draw.one_of({"on-demand", "spot", "on-demand,1y"})},
                    {"providers", draw.one_of({"aws", "aws,gcp", "runpod,verda", "seeweb,lambda"})}});
    const std::vector<market::Offer> offers = built_in_prices().offers(request.filter);
    const auto is_fresh = [&](const market::Offer& like) {
      return std::ranges::any_of(offers, [&](const market::Offer& o) {
        const auto price = built_in_prices().outlook(o, days(1));
        return o.gpu == like.gpu && o.price->purchase == like.price->purchase && !price.unconfirmed &&
               price.age.value_or(Seconds{}) <= days(market::kAgedDays);
      });
    };
    for (const MachineClass& c : machine_classes(offers, built_in_prices(), days(1), built_in_constants(), {})) {
      for (std::size_t k = 0; k < c.offers.size(); ++k) {
        if (!c.outlooks[k].is_old()) continue;
        ++old;
        const bool commits = term_of(c.offers[k].price->purchase) > Seconds{};
        EXPECT_EQ(c.outlooks[k].aged, commits || is_fresh(c.offers[k])) << c.offers[k].machine->instance;
        EXPECT_TRUE(c.outlooks[k].in_doubt());
        held += c.outlooks[k].aged ? 1 : 0;
      }
    }
  }
  EXPECT_GT(old, held);
  EXPECT_GT(held, 0);
}

// The reason of a refusal is a GPU that can run the work, if there is one.
TEST(Evidence, ARefusalNamesAGpuThatCanRunTheWork) {
  int refused = 0;
  for (int i = 0; i < 2 * tries(); ++i) {
    Draw draw(27'000 + first_seed() + static_cast<std::uint64_t>(i));
    const Given given{{"model", draw.one_of({"deepseek-v3", "llama-3.1-405b", "qwen3-235b-a22b"})},
                      {"job", "serve"},
                      {"rate", draw.whole(4, 40) + "/s"},
                      {"max-gpus", draw.one_of({"8", "16"})}};
    SCOPED_TRACE(shown(given));
    const Recommendation found = answer(request_of(given));
    const auto counts = [](const Rejection& r) { return !r.partly && r.stage != RejectionStage::kPrice; };
    const auto runs = [&](const Rejection& r) { return counts(r) && r.stage > RejectionStage::kMemory; };
    const auto named = std::ranges::find_if(found.rejected, counts);
    if (!found.plans.empty() || named == found.rejected.end()) continue;
    EXPECT_EQ(runs(*named), std::ranges::any_of(found.rejected, runs)) << named->gpu;
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace rightsize::plan
