#include <gtest/gtest.h>

#include "base/random.h"
#include "perf/test_constants.h"
#include "plan/plan.h"
#include "plan/read_request.h"

namespace rightsize::plan {
namespace {

// A commitment with one provider, a year to go.
catalog::Catalog committed(const char* provider, double left, const char* region = "") {
  catalog::Catalog catalog = *catalog::load_catalog("");
  catalog.committed = {{"prod", provider, "", "", region, {}, usd(left), Date{today().day + 364}}};
  return catalog;
}

Request train(const catalog::Catalog& catalog) {
  return *read_request({{"model", "llama-3.2-1b", {}}, {"tokens", "5B", {}}}, catalog);
}
Request serve(const catalog::Catalog& catalog) {
  return *read_request({{"model", "llama-3.1-8b", {}},
                        {"job", "serve", {}},
                        {"rate", "5/s", {}},
                        {"ttft-slo", "1s", {}},
                        {"tpot-slo", "50ms", {}}},
                       catalog);
}

Plan best(Request request, const catalog::Catalog& catalog) {
  request.plans_only = true;
  const market::PriceBook book(catalog);
  Plan plan = recommend(request, book, built_in_constants()).plans.at(0);
  for (market::Draw& draw : plan.draws) draw.from = nullptr;  // dangling: the catalogue is gone
  return plan;
}
Usd new_money(const Plan& plan) { return plan.cost - market::sum_of(plan.draws); }

TEST(CommittedSpend, CommittedSpendIsUsedFirst) {
  const catalog::Catalog plain = committed("aws", 0), pool = committed("azure", 1e6);
  const Plan without = best(train(plain), plain), with = best(train(pool), pool);
  EXPECT_NE(without.offer.machine->provider, "azure");
  EXPECT_GT(with.cost, without.cost);  // the bill is higher, but nothing of it is new money
  EXPECT_EQ(new_money(with), Usd{});
}

TEST(CommittedSpend, ALimitedPoolPaysUpToItsBalance) {
  const Plan plan = [] {
    const catalog::Catalog catalog = committed("lambda", 3);
    return best(train(catalog), catalog);
  }();
  for (const market::Draw& draw : plan.draws) EXPECT_LE(in_usd(draw.amount), 3);
}

TEST(CommittedSpend, MoreCommittedSpendNeverRaisesTheCost) {
  Random random(15);
  const std::vector<const char*> providers{"aws", "azure", "gcp", "lambda", "runpod"};
  for (int i = 0; i < 16; ++i) {
    const char* provider = providers[static_cast<std::size_t>(random.uniform() * 5)];
    const double less = 200 * random.uniform(), more = less + 2000 * random.uniform();
    const catalog::Catalog few = committed(provider, less), many = committed(provider, more);
    EXPECT_LE(new_money(best(train(many), many)), new_money(best(train(few), few)) + usd(1e-9)) << provider;
    if (i % 4 != 0) continue;  // services are simulated, which takes longer
    EXPECT_LE(new_money(best(serve(many), many)), new_money(best(serve(few), few)) + usd(1e-9)) << provider;
  }
}

}  // namespace
}  // namespace rightsize::plan
