#include "market/committed_spend.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "market/price_book.h"

namespace rightsize::market {
namespace {

const Date kDay = *parse_date("2026-11-15");
Date day(int later) { return {kDay.day + later}; }

struct Commitments {
  catalog::Catalog catalog = *catalog::load_catalog("");

  explicit Commitments(std::vector<catalog::CommittedSpend> pools) { catalog.committed = std::move(pools); }
  Offer h100() const {
    const PriceBook book(catalog);
    return *book.cheapest_offer("h100-sxm", {.providers = {"aws"}, .purchases = {catalog::Purchase::kOnDemand}});
  }
  double drawn(double bill, Seconds time, bool goes_on) const {
    return in_usd(sum_of(CommittedSpends(catalog, kDay).draws(h100(), usd(bill), time, goes_on)));
  }
};

catalog::CommittedSpend pool(const char* provider, double left, Date until) {
  return {"prod", provider, "", "", "", {}, usd(left), until};
}

TEST(CommittedSpend, AJobDrawsUntilThePoolIsUsedUp) {
  const Commitments commitments({pool("aws", 1000, day(364))});
  EXPECT_DOUBLE_EQ(commitments.drawn(400, days(3), false), 400);
  EXPECT_DOUBLE_EQ(commitments.drawn(4000, days(3), false), 1000);
}

TEST(CommittedSpend, AServiceDrawsEvenlyUntilTheLastDay) {
  const Commitments commitments({pool("aws", 1200, day(364))});  // 365 days with the last
  EXPECT_NEAR(commitments.drawn(4000, days(36.5), true), 120, 1e-9);
  EXPECT_DOUBLE_EQ(commitments.drawn(50, days(36.5), true), 50);
}

TEST(CommittedSpend, PaymentsAfterTheLastDayAreNotDrawn) {
  const Commitments commitments({pool("aws", 1e6, day(9))});
  EXPECT_DOUBLE_EQ(commitments.drawn(400, days(40), false), 100);
}

TEST(CommittedSpend, OtherProvidersAndEndedPoolsDoNotCount) {
  const Commitments commitments({pool("gcp", 1000, day(100)), pool("aws", 1000, day(-1))});
  EXPECT_DOUBLE_EQ(commitments.drawn(400, days(3), false), 0);
}

TEST(CommittedSpend, ThePoolThatEndsFirstIsDrawnFirst) {
  const Commitments commitments({pool("aws", 1000, day(300)), pool("aws", 100, day(30))});
  const auto draws = CommittedSpends(commitments.catalog, kDay).draws(commitments.h100(), usd(400), days(3), false);
  ASSERT_EQ(draws.size(), 2U);
  EXPECT_DOUBLE_EQ(in_usd(draws[0].amount), 100);
  EXPECT_DOUBLE_EQ(in_usd(draws[1].amount), 300);
}

RC_GTEST_PROP(CommittedSpend, DrawsAreBoundedAndGrowWithTheRemainingAmount,
              (std::vector<std::pair<std::uint16_t, std::uint8_t>> pools, std::uint16_t bill, bool goes_on)) {
  static const Commitments kPlain({});
  const Offer offer = kPlain.h100();
  const Seconds time = days(*rc::gen::inRange(1, 400));
  const auto drawn = [&](double times) {
    catalog::Catalog catalog;
    double left = 0;
    for (const auto& [amount, until] : pools) {
      catalog.committed.push_back(pool("aws", times * amount, day(until)));
      left += times * amount;
    }
    const double sum = in_usd(sum_of(CommittedSpends(catalog, kDay).draws(offer, usd(bill), time, goes_on)));
    RC_ASSERT(sum <= std::min<double>(left, bill) * (1 + 1e-12));
    return sum;
  };
  RC_ASSERT(drawn(1) <= drawn(1.5) * (1 + 1e-12));
}

}  // namespace
}  // namespace rightsize::market
