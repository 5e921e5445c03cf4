#include "market/payment.h"

#include <algorithm>
#include <cmath>

namespace rightsize::market {

double paid_monthly(const Payment& payment, int years, double interest) {
  // What one dollar per year, paid throughout the term, is worth at its start.
  const double annuity = interest > 0 ? -std::expm1(-interest * years) / interest : years;
  const double rest = 1 - payment.upfront;
  return payment.usd_per_gpu_hour * (payment.upfront * years / annuity + rest);
}

const Payment& cheapest_payment(const std::vector<Payment>& payments, int years, double interest) {
  return *std::min_element(payments.begin(), payments.end(), [&](const Payment& a, const Payment& b) {
    const double x = paid_monthly(a, years, interest), y = paid_monthly(b, years, interest);
    return x != y ? x < y : a.upfront < b.upfront;
  });
}

}  // namespace rightsize::market
