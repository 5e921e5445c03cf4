#include "market/payment.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::market {
namespace {

TEST(Payment, WithoutInterestWhenItIsPaidDoesNotMatter) {
  EXPECT_DOUBLE_EQ(paid_monthly({"all upfront", 1, 2.5}, 3, 0), 2.5);
}

TEST(Payment, AllUpfrontForThreeYearsAtEightPercentMustSaveAnEighth) {
  EXPECT_NEAR(paid_monthly({"all upfront", 1, 1}, 3, 0.08), 1.125, 0.001);
}

RC_GTEST_PROP(Payment, TheCheapestIsTheOneWhosePresentValueIsLeast, ()) {
  const double interest = *rc::gen::inRange(0, 30) / 100.0;
  const int years = *rc::gen::element(1, 3);
  std::vector<Payment> payments;
  for (double upfront : {0.0, 0.5, 1.0}) payments.push_back({"", upfront, 1 + *rc::gen::inRange(0, 100) / 100.0});
  // Twelve payments per year, each at mid-month.
  const auto present_value = [&](const Payment& p) {
    double sum = p.upfront * years;
    for (int month = 0; month < 12 * years; ++month)
      sum += (1 - p.upfront) / 12 * std::exp(-interest * (month + 0.5) / 12);
    return p.usd_per_gpu_hour * sum;
  };
  const Payment& chosen = cheapest_payment(payments, years, interest);
  for (const Payment& other : payments) RC_ASSERT(present_value(chosen) <= present_value(other) * 1.0001);
}

}  // namespace
}  // namespace rightsize::market
