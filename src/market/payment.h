// Ways to pay for a commitment: monthly, half upfront or all upfront. Money paid upfront costs interest.
#pragma once

#include <string>
#include <vector>

namespace rightsize::market {

struct Payment {
  std::string name;             // "monthly", "half upfront", "all upfront"
  double upfront = 0;           // share of the bill paid at the start, 0-1
  double usd_per_gpu_hour = 0;  // the whole bill over the hours of the term
};

// The monthly price that is worth the same to a company whose capital costs `interest` per year (0.08).
double paid_monthly(const Payment& payment, int years, double interest);

// The cheapest by that measure; of equals the one with less upfront. `payments` is not empty.
const Payment& cheapest_payment(const std::vector<Payment>& payments, int years, double interest);

}  // namespace rightsize::market
