// Compares a fleet's cost with the bill: the part of the GPU bill that telemetry explains, and the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bill/bill.h"

namespace rightsize::bill {

// The telemetry of one kind of GPU on one host.
struct SeenHost {
  std::string host, gpu;  // the catalogue's name of the GPU
  double gpu_hours = 0;
  double usd = 0;  // at the fleet's prices
};

struct Difference {
  std::string what;  // "measured", "price", "idle-nodes", "no-telemetry", "commitments-unused", ...
  std::string why;   // one sentence
  double usd = 0;
};

struct Reconciliation {
  double fleet_usd = 0;            // from the fleet's report
  double bill_gpu_usd = 0;         // effective cost of GPU machines in the same days, unused commitments included
  std::vector<Difference> parts;   // add up to bill_gpu_usd - fleet_usd
  std::vector<Difference> beside;  // not in the GPU bill: storage, network, tax
  double explained = 0;            // share of the GPU bill, 0-1
  bool overlaps = false;           // whether the bill has days within the window
  std::size_t matched_hosts = 0, unmatched_machines = 0;
};

// `first` and `last`: the window in days since 1970-01-01, with fractions. Billed days that the window covers in part
// count in part. Machines are matched to hosts by the last part of their ID or by their name.
Reconciliation reconcile(const Bill& bill, const std::vector<SeenHost>& fleet, double first, double last);

}  // namespace rightsize::bill
