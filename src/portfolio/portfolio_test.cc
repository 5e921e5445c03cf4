// Random organisations: compares the optimum, its bound and shadow prices with exhaustive search.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "catalog/test_catalog.h"
#include "perf/test_constants.h"
#include "plan/plan.h"
#include "plan/read_request.h"
#include "plan/widen.h"
#include "portfolio/descent.h"
#include "portfolio/moves.h"
#include "portfolio/optimum.h"
#include "portfolio/relaxation.h"
#include "portfolio/reservations.h"
#include "portfolio/small_models.h"
#include "portfolio/work_options.h"

namespace rightsize::portfolio {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int below(int n) { return std::min(n - 1, static_cast<int>(random_.uniform() * n)); }
  bool chance(double share) { return random_.uniform() < share; }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }

 private:
  Random random_;
};

std::string random_text(std::uint64_t seed, int workloads, bool rules) {
  Dice dice(seed);
  const bool two = dice.chance(0.5);
  std::string text = two ? "blocks: [{name: day, hours: 240}, {name: night, hours: 490}]\n" : "";
  text += "pools:\n";
  const int pools = 2 + dice.below(2);
  for (int p = 0; p < pools; ++p) {
    text += fmt::format("  - {{name: p{}, gpu: h100-sxm, usd_per_gpu_hour: {:.2f}, gpus_per_machine: {}, mig: true", p,
                        dice.between(1, 4), 1 << dice.below(4));
    if (dice.chance(0.6)) text += fmt::format(", reserved: {0}, reserved_usd_per_month: {0}000", 1 + dice.below(8));
    if (dice.chance(0.4)) text += fmt::format(", quota: {}", 2 << dice.below(3));
    text += fmt::format(", region: {}}}\n", p % 2 == 0 ? "eu-west" : "us-east");
  }
  if (rules && dice.chance(0.5)) text += fmt::format("moves: {}\n", dice.below(3));
  text += "workloads:\n";
  constexpr const char* kSlices[] = {"1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"};
  for (int w = 0; w < workloads; ++w) {
    text += fmt::format("  - name: w{}\n", w);
    if (rules && dice.chance(0.3)) text += "    apart: replicas\n";
    if (rules && dice.chance(0.3)) text += "    regions: [eu]\n";
    if (rules && dice.chance(0.5)) text += "    now: 0\n";
    text += fmt::format("    options:\n      - {{where: api, usd_per_month: {:.2f}, region: eu}}\n",
                        dice.between(500, 9000));
    for (int i = 0; i < 1 + dice.below(3); ++i) {
      const std::string use = dice.chance(0.4)
                                  ? fmt::format("needs: {{{}: {}}}", kSlices[dice.below(6)], 1 + dice.below(3))
                              : two ? fmt::format("gpus: {{day: {}, night: {}}}", dice.below(6), 1 + dice.below(6))
                                    : fmt::format("gpus: {}", 1 + dice.below(8));
      text += fmt::format("      - {{where: p{}, {}, usd_per_month: {}}}\n", dice.below(pools), use, dice.below(200));
    }
  }
  return text;
}

Organisation random_organisation(std::uint64_t seed, int workloads = 5, bool rules = false) {
  Checked<Organisation> made =
      read_organisation("random.yaml", random_text(seed, workloads, rules), built_in_catalog());
  EXPECT_TRUE(made) << describe(made.error()) << random_text(seed, workloads, rules);
  return *std::move(made);
}

double brute_force(const Organisation& organisation) {
  const CostModel costs(organisation);
  Choice choice(organisation.workloads.size(), 0);
  double best = std::numeric_limits<double>::infinity();
  for (;;) {
    if (const std::optional<double> cost = costs.cost(choice)) best = std::min(best, *cost);
    std::size_t at = 0;
    while (at < choice.size() && ++choice[at] == static_cast<int>(organisation.workloads[at].options.size()))
      choice[at++] = 0;
    if (at == choice.size()) return best;
  }
}

TEST(Portfolio, FindsTheCheapestChoiceAndProvesIt) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Organisation organisation = random_organisation(seed, 5, seed % 2 == 0);
    const CostModel costs(organisation);
    const double truth = brute_force(organisation);
    const Result<Optimum> found = find_optimum(costs, {});
    ASSERT_TRUE(found) << describe(found.error());
    ASSERT_EQ(found->found(), std::isfinite(truth));
    if (!found->found()) {
      EXPECT_TRUE(found->infeasible);
      continue;
    }
    EXPECT_NEAR(found->usd, truth, 0.01);
    EXPECT_NEAR(*costs.cost(found->choice), found->usd, 1e-6);
    EXPECT_LE(found->bound, truth + 0.01);
    EXPECT_TRUE(found->proved());
  }
}

// Workloads listed below their team are those of the list with `team:`.
TEST(Portfolio, TeamsMayListTheirWorkloads) {
  const std::string pools = "pools:\n  - {name: p, gpu: h100-sxm, usd_per_gpu_hour: 2}\n";
  const auto work = [](const char* name, const char* team) {
    return fmt::format("{{name: {}{}, options: [{{where: p, gpus: 2}}]}}", name, team);
  };
  const auto nested =
      read_organisation("o.yaml",
                        pools + "teams:\n  - {name: a, budget: 9k/month, workloads: [" + work("x", "") +
                            "]}\n  - {name: b, quota: {h100: 16}, workloads: [" + work("y", "") + "]}\n",
                        built_in_catalog());
  const auto flat =
      read_organisation("o.yaml",
                        pools + "teams:\n  - {name: a, budget_usd_per_month: 9000}\n  - {name: b}\nworkloads: [" +
                            work("x", ", team: a") + ", " + work("y", ", team: b") + "]\n",
                        built_in_catalog());
  ASSERT_TRUE(nested) << describe(nested.error());
  ASSERT_TRUE(flat) << describe(flat.error());
  ASSERT_EQ(nested->workloads.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(nested->workloads[i].name, flat->workloads[i].name);
    EXPECT_EQ(nested->workloads[i].team, flat->workloads[i].team);
  }
  EXPECT_EQ(nested->teams[0].budget, flat->teams[0].budget);
  EXPECT_EQ(nested->notes.size(), 1u);  // the quota
  EXPECT_TRUE(flat->notes.empty());
}

TEST(Portfolio, ShadowPricesAreTheSavingOfOneMore) {
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Organisation organisation = random_organisation(seed, 4);
    const CostModel costs(organisation);
    const Optimum optimum = *find_optimum(costs, {});
    const Organisation before = organisation;  // NOLINT(performance-unnecessary-copy-initialization)
    const Result<std::vector<ShadowPrice>> prices = shadow_prices(costs, optimum, {});
    ASSERT_TRUE(prices);
    for (const ShadowPrice& price : *prices) {
      const std::string pool = price.what.substr(price.what.find(':') + 1);
      const auto at = static_cast<std::size_t>(pool[1] - '0');
      Organisation more = before;
      price.what.starts_with("quota") ? ++*more.pools[at].quota : ++more.pools[at].reserved;
      EXPECT_NEAR(price.usd, optimum.usd - brute_force(more), 0.01) << price.what;
      EXPECT_TRUE(price.exact);
    }
  }
}

TEST(Portfolio, SharesAddUpAndNoWorkloadPaysMoreThanAlone) {
  for (std::uint64_t seed = 200; seed < 260; ++seed) {
    SCOPED_TRACE(seed);
    const Organisation organisation = random_organisation(seed, 6);
    const CostModel costs(organisation);
    const Optimum optimum = *find_optimum(costs, {});
    const std::vector<double> shares = cost_shares(costs, optimum.choice);
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), optimum.usd, 1e-6 * optimum.usd);
    double alone = 0;
    for (const Workload& w : organisation.workloads) alone += costs.alone(w);
    const double factor = std::max(1.0, optimum.usd / alone);
    for (std::size_t w = 0; w < shares.size(); ++w) {
      EXPECT_GE(shares[w], 0);
      EXPECT_LE(shares[w], factor * costs.alone(organisation.workloads[w]) * (1 + 1e-9) + 1e-9);
    }
  }
}

TEST(Portfolio, TheRelaxationNeverExceedsTheOptimum) {
  for (std::uint64_t seed = 300; seed < 340; ++seed) {
    SCOPED_TRACE(seed);
    const Organisation organisation = random_organisation(seed, 6, seed % 2 == 0);
    const double truth = brute_force(organisation);
    if (!std::isfinite(truth)) continue;
    const CostModel costs(organisation);
    const RatePrices rates = find_rate_prices(costs, truth, [] { return false; });
    EXPECT_LE(rates.bound, truth + 0.01);
    Relaxation relaxation(costs, rates);
    relaxation.improve(truth, 0, [] { return false; });
    EXPECT_LE(relaxation.bound(), truth + 0.01);
    EXPECT_GE(relaxation.bound(), rates.bound);
  }
}

// Compares the best set of workloads for a pool at random prices with exhaustive search.
TEST(Portfolio, PoolsArePricedExactly) {
  int sets = 0;
  for (std::uint64_t seed = 800; seed < 840; ++seed) {
    SCOPED_TRACE(seed);
    const Organisation organisation = random_organisation(seed, 9, seed % 2 == 0);
    const CostModel costs(organisation);
    Dice dice(seed);
    std::vector<double> prices;
    for (const Workload& w : organisation.workloads) prices.push_back(costs.alone(w) * dice.between(0.1, 1.2));
    const std::vector<std::vector<User>> users = users_by_pool(organisation);
    for (std::size_t p = 0; p < users.size(); ++p) {
      double truth = 0;
      const std::function<void(std::size_t, std::vector<User>&)> extend = [&](std::size_t at, std::vector<User>& set) {
        PoolUse use = costs.no_use(p);
        double value = 0;
        std::set<std::string> apart;
        bool allowed = true;
        for (const User& user : set) {
          const std::string& word = organisation.workloads[user.workload].apart;
          allowed = allowed && (word.empty() || apart.insert(word).second);
          costs.add(costs.option(user), use);
          value += prices[user.workload] - costs.option(user).usd;
        }
        const PoolCost cost = costs.cost(p, use);
        if (allowed && cost.excess <= 0) truth = std::max(truth, value - cost.usd);
        for (std::size_t i = at; i < users[p].size(); ++i) {
          if (!set.empty() && set.back().workload == users[p][i].workload) continue;
          set.push_back(users[p][i]);
          extend(i + 1, set);
          set.pop_back();
        }
      };
      std::vector<User> none;
      extend(0, none);
      const PricedSet found = PoolPricing(costs, p, users[p]).best(prices, 1'000'000);
      EXPECT_NEAR(found.value, truth, 1e-6 * (1 + truth));
      EXPECT_GE(found.bound, truth - 1e-6);
      // A search that is cut short still has a bound.
      EXPECT_GE(PoolPricing(costs, p, users[p]).best(prices, 2).bound, truth - 1e-6);
      sets += truth > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(sets, 40);
}

TEST(Portfolio, LocalSearchReturnsFeasibleChoices) {
  for (std::uint64_t seed = 400; seed < 440; ++seed) {
    SCOPED_TRACE(seed);
    const Organisation organisation = random_organisation(seed, 30, true);
    const CostModel costs(organisation);
    Descent descent(costs);
    descent.build();
    descent.perturb(10, [] { return false; });
    if (descent.best().empty()) continue;
    const std::optional<double> cost = costs.cost(descent.best());
    ASSERT_TRUE(cost);
    EXPECT_NEAR(*cost, descent.best_cost(), 1e-6 * *cost);
  }
}

TEST(Portfolio, TheFewestGpusHoldAllSlices) {
  const mig::Geometry geometry = *mig::Geometry::of(built_in_catalog(), **built_in_catalog().find_gpu("h100-sxm"));
  SliceCounter counter(geometry);
  const std::size_t profiles = geometry.plain_profiles().size();
  // A GPU holds exactly the combinations of the geometry, and one more of anything on a full GPU needs a second one.
  for (const mig::SliceSet& set : geometry.combinations()) {
    EXPECT_EQ(counter.fewest(set.counts), 1);
    if (!set.maximal) continue;
    for (std::size_t i = 0; i < profiles; ++i) {
      std::vector<int> more = set.counts;
      ++more[i];
      EXPECT_EQ(counter.fewest(more), 2);
    }
  }
  // The solver, used for many instances, agrees with the search, used for few.
  Dice dice(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<int> few(profiles, 0);
    for (int i = 0; i < 8; ++i) ++few[static_cast<std::size_t>(dice.below(static_cast<int>(profiles)))];
    std::vector<int> many = few;
    for (int& count : many) count *= 3;
    EXPECT_LE(counter.fewest(many), 3 * counter.fewest(few));
    EXPECT_GE(counter.fewest(many), counter.fewest(few));
  }
}

TEST(Portfolio, RecommendedReservationsSaveTheStatedAmount) {
  int bought = 0;
  for (std::uint64_t seed = 600; seed < 615; ++seed) {
    SCOPED_TRACE(seed);
    Organisation organisation = random_organisation(seed, 4);
    for (Pool& pool : organisation.pools) pool.offer_usd = 0.6 * 730 * pool.usd_per_gpu_hour;
    const CostModel costs(organisation);
    const Optimum optimum = *find_optimum(costs, {});
    const Result<std::vector<Purchase>> purchases = what_to_reserve(costs, optimum, {});
    ASSERT_TRUE(purchases);
    Organisation more = organisation;
    double saved = 0;
    for (const Purchase& purchase : *purchases) {
      Pool& pool = more.pools[purchase.pool];
      pool.reserved += purchase.gpus, pool.reserved_usd += purchase.gpus * *pool.offer_usd;
      saved += purchase.saves;
      EXPECT_GT(purchase.saves, 0);
      ++bought;
    }
    EXPECT_NEAR(optimum.usd - brute_force(more), saved, 0.01);
  }
  EXPECT_GT(bought, 3);
}

// Reservations for a range of demand have the stated value in every case, and no neighbouring reservation saves more.
TEST(Portfolio, ReservationsForARangeAreComparedWithTheOptimumOfEveryCase) {
  int bought = 0, risky = 0;
  for (std::uint64_t seed = 650; seed < 662; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Organisation organisation = random_organisation(seed, 4);
    organisation.demand = DemandRange{dice.between(0.3, 0.9), 1, dice.between(1, 2)};
    for (Pool& pool : organisation.pools) {
      pool.quota.reset();
      pool.offer_usd = dice.between(0.4, 0.9) * 730 * pool.usd_per_gpu_hour;
      if (dice.chance(0.5)) pool.long_offer_usd = 0.7 * *pool.offer_usd;
    }
    const Result<std::optional<ReservationPlan>> plan = reserve_for_range(organisation, {});
    ASSERT_TRUE(plan);
    ASSERT_TRUE(*plan);
    double saving = 0, risk = 0;
    for (const DemandCase& c : (*plan)->cases) {
      Organisation now = scaled(organisation, c.factor);
      EXPECT_NEAR(c.without, brute_force(now), 0.01);
      for (const Reservation& r : (*plan)->reservations) {
        Pool& pool = now.pools[r.pool];
        pool.reserved += r.gpus();
        pool.reserved_usd += r.one_year * *pool.offer_usd + r.three_years * pool.long_offer_usd.value_or(0);
        EXPECT_GT(r.gpus(), 0);
      }
      EXPECT_NEAR(c.with, brute_force(now), 0.01);
      saving += c.probability * (c.without - c.with);
      risk = std::max(risk, c.with - c.without);
    }
    EXPECT_NEAR((*plan)->expected_saving(), saving, 0.01);
    EXPECT_NEAR((*plan)->at_risk(), risk, 0.01);
    EXPECT_GE(saving, 0);
    bought += (*plan)->reservations.empty() ? 0 : 1;
    risky += risk > 1 ? 1 : 0;
  }
  EXPECT_GT(bought, 3);
  EXPECT_GT(risky, 0);
}

// Compares the value of a later deadline or a longer SLO with a plan of the file with that limit.
TEST(Portfolio, TheValueOfALimitIsTheSavingOfMovingIt) {
  const market::PriceBook book(built_in_catalog());
  const perf::Constants& constants = built_in_constants();
  for (std::uint64_t seed = 900; seed < 903; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const double deadline = dice.between(5, 40), slo = dice.between(0.02, 0.06);
    const int reserved = 4 << dice.below(2);
    const auto optimum_of = [&](double hours, double tpot, Organisation& made) {
      const std::string text = fmt::format(
          "pools: [{{name: a, gpu: h100-sxm, usd_per_gpu_hour: 2.5, gpus_per_machine: 8, reserved: {0}, "
          "reserved_usd_per_month: {0}000, quota: 8}}]\nworkloads:\n"
          "  - {{name: tune, model: llama-3.1-8b, tokens: 200M, method: lora, deadline: {1:.6f}h, gpu: h100-sxm}}\n"
          "  - {{name: chat, model: llama-3.1-8b, rate: 8/s, slo: {{tpot: {2:.6f}s}}, gpu: h100-sxm}}\n",
          reserved, hours, tpot);
      made = *read_organisation("work.yaml", text, built_in_catalog());
      EXPECT_TRUE(add_work_options(made, book, constants));
      return *find_optimum(CostModel(made), {});
    };
    Organisation organisation, moved;
    const Optimum now = optimum_of(deadline, slo, organisation);
    ASSERT_TRUE(now.proved());
    const Checked<std::vector<RelaxedLimit>> limits = relaxed_limits(organisation, book, constants);
    ASSERT_TRUE(limits);
    ASSERT_EQ(limits->size(), 2U);
    for (const RelaxedLimit& limit : *limits) {
      const bool later = limit.what.starts_with("deadline");
      const double price = now.usd - find_optimum(CostModel(limit.organisation), {}, now.choice)->usd;
      const Optimum then = optimum_of(deadline + (later ? 1 : 0), slo + (later ? 0 : 0.01), moved);
      EXPECT_NEAR(price, std::max(0.0, now.usd - then.usd), 0.01 * now.usd) << limit.what;
      EXPECT_GE(price, -0.01);
    }
  }
}

TEST(Portfolio, MovesNeverBreakAQuotaAndEndAtThePlan) {
  int moved = 0;
  for (std::uint64_t seed = 500; seed < 560; ++seed) {
    SCOPED_TRACE(seed);
    Organisation organisation = random_organisation(seed, 6);
    Dice dice(seed);
    for (Workload& w : organisation.workloads) w.now = dice.below(static_cast<int>(w.options.size()));
    const CostModel costs(organisation);
    const Optimum optimum = *find_optimum(costs, {});
    Choice at;
    for (const Workload& w : organisation.workloads) at.push_back(*w.now);
    if (!costs.cost(at)) continue;  // over a quota already
    const MovePath path = plan_moves(costs, optimum.choice);
    double saved = 0;
    const double before = *costs.cost(at);
    for (const Move& move : path.moves) {
      ASSERT_EQ(at[move.workload], move.from);
      at[move.workload] = move.to;
      ASSERT_TRUE(costs.cost(at)) << "a step breaks a quota";
      saved += move.saves;
      ++moved;
    }
    EXPECT_NEAR(before - *costs.cost(at), saved, 0.01);
    EXPECT_EQ(at == optimum.choice, path.blocked.empty());
  }
  EXPECT_GT(moved, 100);
}

TEST(Portfolio, IsNeverWorseThanTheRecommendations) {
  const market::PriceBook book(built_in_catalog());
  const perf::Constants constants = *perf::load_constants("");
  const std::string pool =
      "pools: [{name: a, gpu: h100-sxm, usd_per_gpu_hour: 2.5, gpus_per_machine: 8, reserved: 2, "
      "reserved_usd_per_month: 3000}]\n";
  const std::vector<std::vector<model::Setting>> work = {
      {{"model", "llama-3.1-8b", {}}, {"rate", "5/s", {}}, {"isl", "500", {}}, {"osl", "100", {}}},
      {{"model", "llama-3.1-8b", {}}, {"tokens", "100M", {}}, {"method", "lora", {}}},
  };
  std::string text = pool + "workloads:\n";
  double recommended = 3000;
  for (std::size_t w = 0; w < work.size(); ++w) {
    text += fmt::format("  - name: w{}\n", w);
    for (const model::Setting& setting : work[w]) text += fmt::format("    {}: {}\n", setting.name, setting.value);
    const plan::Recommendation found =
        plan::recommend(*plan::read_request(work[w], built_in_catalog()), book, constants);
    recommended += in_usd(found.best()->cost);
  }
  Organisation organisation = *read_organisation("work.yaml", text, built_in_catalog());
  const Checked<> made = add_work_options(organisation, book, constants);
  ASSERT_TRUE(made) << describe(made.error());
  const Result<Optimum> optimum = find_optimum(CostModel(organisation), {});
  ASSERT_TRUE(optimum);
  EXPECT_LE(optimum->usd, recommended + 0.01);
}

// A cheaper plan on a GPU without a benchmark is named, not chosen, as in the recommendation.
TEST(Portfolio, ChoosesOnlyWhatARecommendationWouldPutFirst) {
  const market::PriceBook book(built_in_catalog());
  const perf::Constants constants = *perf::load_constants("");
  const std::vector<std::vector<model::Setting>> work = {
      {{"model", "llama-2-7b", {}}, {"tokens", "1B", {}}, {"deadline", "7d", {}}},
      {{"model", "llama-3.1-8b", {}}, {"rate", "5/s", {}}, {"ttft-slo", "1s", {}}},
      {{"model", "qwen2.5-32b", {}}, {"tokens", "200M", {}}, {"method", "lora", {}}},
      {{"model", "bert-large", {}}, {"job", "serve", {}}, {"rate", "300/s", {}}, {"latency-slo", "100ms", {}}},
  };
  int left_out = 0;
  for (const std::vector<model::Setting>& settings : work) {
    plan::Request request = *plan::read_request(settings, built_in_catalog());
    const plan::Recommendation found = plan::recommend_widely(request, book, constants);
    std::string text = "workloads:\n  - name: w\n";
    for (const model::Setting& setting : settings) text += fmt::format("    {}: {}\n", setting.name, setting.value);
    Organisation organisation = *read_organisation("work.yaml", text, built_in_catalog());
    ASSERT_TRUE(add_work_options(organisation, book, constants));
    const Workload& workload = organisation.workloads.front();
    ASSERT_FALSE(workload.options.empty());
    for (const Option& option : workload.options) {
      const auto plan = std::ranges::find_if(
          found.plans, [&](const plan::Plan& p) { return std::abs(in_usd(p.cost) - option.usd) < 1e-6; });
      if (plan == found.plans.end()) continue;  // the text shows more plans than the portfolio considers, or fewer
      EXPECT_TRUE(plan == found.plans.begin() || found.is_sound(*plan)) << settings[0].value << ": " << option.where;
    }
    left_out += workload.left_out.empty() ? 0 : 1;
  }
  EXPECT_GT(left_out, 0);
}

// A job that runs every day costs as much as its runs, and a service does not run "every day".
TEST(Portfolio, RecurringJobsCostAsMuchAsTheirRuns) {
  const market::PriceBook book(built_in_catalog());
  const perf::Constants constants = *perf::load_constants("");
  const auto cost_of = [&](const std::string& every) {
    Organisation made = *read_organisation(
        "work.yaml", "workloads: [{name: w, model: llama-3.1-8b, tokens: 10M, method: lora" + every + "}]\n",
        built_in_catalog());
    EXPECT_TRUE(add_work_options(made, book, constants));
    return find_optimum(CostModel(made), {})->usd;
  };
  const double once = cost_of("");
  for (const auto& [text, hours_between] :
       {std::pair{"1d", 24.0}, {"day", 24.0}, {"nightly", 24.0}, {"12h", 12.0}, {"week", 168.0}, {"2 weeks", 336.0}})
    EXPECT_NEAR(cost_of(fmt::format(", every: {}", text)), once * 730 / hours_between, once * 0.01) << text;
  Organisation service = *read_organisation(
      "work.yaml", "workloads: [{name: w, model: llama-3.1-8b, rate: 1/s, every: 1d}]\n", built_in_catalog());
  EXPECT_FALSE(add_work_options(service, book, constants));
}

TEST(Portfolio, SmallModelsOnSharedGpusAreInOneGroupAndMeetTheirLimits) {
  const perf::Constants constants = *perf::load_constants("");
  const perf::SpeedTable speeds(built_in_catalog(), constants);
  int grouped = 0;
  for (std::uint64_t seed = 700; seed < 715; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    std::string text =
        "pools:\n  - {name: a, gpu: h100-sxm, usd_per_gpu_hour: 2.5, mig: true}\n"
        "  - {name: b, gpu: l40s, usd_per_gpu_hour: 1}\nworkloads:\n";
    const int count = 3 + dice.below(5);
    for (int w = 0; w < count; ++w) {
      const double rate = std::exp(dice.between(-6, 2));
      text += fmt::format(
          "  - {{name: w{}, small: {{memory: {:.1f}GiB, rate: {:.4f}/s, service: {:.3f}s, latency: {:.3f}s}}}}\n", w,
          dice.between(1, 25), rate, 0.05 / rate, 0.05 / rate * dice.between(8, 400));
    }
    Organisation organisation = *read_organisation("small.yaml", text, built_in_catalog());
    ASSERT_TRUE(add_small_options(organisation, speeds)) << text;
    const Result<std::optional<Organisation>> shared = with_shared_gpus(organisation, speeds);
    ASSERT_TRUE(shared);
    if (!*shared) continue;
    std::vector<int> members(organisation.workloads.size(), 0);
    for (const Workload& w : (*shared)->workloads) {
      for (std::size_t i = 0; i < w.members.size(); ++i) {
        ++members[w.members[i]];
        if (w.members.size() == 1) continue;
        for (const Option& option : w.options)
          EXPECT_LE(*option.p95[i], *organisation.workloads[w.members[i]].small->latency * (1 + 1e-6));
        ++grouped;
      }
    }
    EXPECT_EQ(std::ranges::count(members, 1), static_cast<std::ptrdiff_t>(members.size()));
    const CostModel costs(**shared);
    EXPECT_TRUE(find_optimum(costs, {})->proved());
  }
  EXPECT_GT(grouped, 15);
}

TEST(Portfolio, ABudgetIsReadWithItsUnit) {
  const std::string rest =
      "\npools: [{name: p, gpu: h100-sxm, usd_per_gpu_hour: 2}]\n"
      "workloads:\n- {name: a, options: [{where: p, gpus: 1}]}\n";
  for (const char* text : {"60000", "60k", "$60,000", "60k/month", "60000 USD/month"})
    EXPECT_EQ(read_organisation("o.yaml", fmt::format("budget: '{}'", text) + rest, built_in_catalog())->budget, 60000)
        << text;
  EXPECT_FALSE(read_organisation("o.yaml", "budget: much" + rest, built_in_catalog()));
}

TEST(Portfolio, MistakesInAFileHavePlacesAndSuggestions) {
  const auto errors = [](const std::string& text) {
    const Checked<Organisation> read = read_organisation("o.yaml", text, built_in_catalog());
    return read ? std::string() : describe(read.error());
  };
  const std::string pool = "pools: [{name: a, gpu: h100-sxm, usd_per_gpu_hour: 2, mig: true}]\n";
  const std::string work = "workloads: [{name: w, options: [{where: a, gpus: 1}]}]\n";
  EXPECT_EQ(errors(pool + work), "");
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"pools: [{name: a, gpu: h100-sxm}]\n" + work, "no usd_per_gpu_hour"},
           {pool + "workloads: [{name: w, options: [{where: b, gpus: 1}]}]\n", "unknown pool 'b'"},
           {pool + "workloads: [{name: w, options: [{where: b}]}]\n", "needs usd_per_month"},
           {pool + "workloads: [{name: w, options: [{where: a, needs: {9g.1gb: 1}}]}]\n", "9g.1gb"},
           {pool + "workloads: [{name: w, options: [{where: a, gpus: {noon: 1}}]}]\n", "unknown block 'noon'"},
           {pool + "workloads: [{name: w, options: [{where: a, gpus: -1}]}]\n", "not a number of GPUs"},
           {pool + "workloads: [{name: w, regions: [eu], options: [{where: a, gpus: 1}]}]\n", "regions and blocks"},
           {pool + "workload: []\n" + work, "did you mean 'workloads'"},
           {pool, "'workloads' is missing"},
           {"blocks: [{name: day, hours: 900}]\n" + pool + work, "hours"},
           {"demand: {low: 2, high: 1}\n" + pool + work, "low <= likely <= high"},
           {"demand: {low: 0}\n" + pool + work, "not a factor"},
           {pool + "workloads: [{name: w, model: llama-3.1-8b, rate: 1/s, slo: 2s}]\n", "which time it limits"},
       }) {
    const std::string found = errors(text);
    EXPECT_NE(found.find(wanted), std::string::npos) << text << found;
    EXPECT_NE(found.find("o.yaml:"), std::string::npos) << found;
  }
}

// A reservation is a pool that is paid for and cannot grow.
TEST(Reservations, ArePoolsOfTheirOwn) {
  for (const int count : {1, 8, 64}) {
    for (const double price : {0.5, 2.1}) {
      const std::string text = fmt::format(
          "reservations: [{{gpu: h100, count: {}, price: {}}}]\nworkloads: [{{name: a, options: [{{where: "
          "h100-sxm-reserved, gpus: 1}}]}}]\n",
          count, price);
      const auto read = read_organisation("r.yaml", text, built_in_catalog());
      ASSERT_TRUE(read) << describe(read.error());
      const Pool& pool = read->pools.at(0);
      EXPECT_EQ(pool.gpu->name, "h100-sxm");
      EXPECT_EQ(pool.reserved, count);
      EXPECT_EQ(pool.quota, 0);
      EXPECT_NEAR(pool.reserved_usd, price * count * in_hours(kMonth), 1e-6);
    }
  }
}

}  // namespace
}  // namespace rightsize::portfolio
