// Our allocation of GPU cost as rows of FOCUS 1.3, which other FinOps tools import.
#pragma once

#include <string>
#include <vector>

#include "bill/money.h"

namespace rightsize::bill {

struct Allocation {
  std::string team, workload, user;  // empty: unknown
  std::string gpu, host, gpu_id;
  std::string provider, region, machine;  // empty: unknown
  double gpu_hours = 0;
  Money cost;
};

// A header and one row for each allocation, in order; times are UTC seconds since 1970.
std::string write_focus(const std::vector<Allocation>& rows, double begin, double end);

}  // namespace rightsize::bill
