// The errors of a set of outcomes, and how to print them.
#pragma once

#include <string>

#include "stages.h"

namespace rightsize::fit {

// Errors are predicted / measured - 1 of a time, as shares.
struct Score {
  int n = 0;
  double mean = 0, median = 0, bias = 0;  // |error|, |error|, signed median
  double inside = 0;                      // share inside the stated 80 % interval
  double width = 0;                       // 80 % of |log error|
};

Score score_of(const Outcomes& outcomes, const std::string& metric = "");

// "  4.7   2.9  +0.4" in percent.
std::string percents(const Score& score);

}  // namespace rightsize::fit
