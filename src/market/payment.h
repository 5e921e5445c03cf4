// Ways to pay for a commitment: by the month, a part before, or all before. Money paid before costs interest.
#pragma once

#include <string>
#include <vector>

namespace rightsize::market {

struct Payment {
  std::string name;             // "monthly", "half upfront", "all upfront"
  double upfront = 0;           // share of the bill paid at the start, 0-1
  double usd_per_gpu_hour = 0;  // the whole bill over the hours of the term
};

// The price by the month that is worth the same to a company that pays `interest` a year (0.08) for its money.
double paid_monthly(const Payment& payment, int years, double interest);

// The one that costs least by that measure; of equals the one that asks for less upfront. `payments` is not empty.
const Payment& cheapest_payment(const std::vector<Payment>& payments, int years, double interest);

}  // namespace rightsize::market
