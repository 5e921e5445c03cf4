// What recommend, init and checklist share: a workload as flags, as a file, or as a file that flags change.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/read_request.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct WorkloadFlags {
  std::string file;                             // "-": standard input; empty: flags alone
  std::map<std::string, std::string> settings;  // by name, as given; absent when not
  PriceFlag prices;                             // --price, which is a setting, too, but may be repeated
};

// A flag for every setting of a request and its job. `flags` must outlive the parsing.
void add_setting_flags(FlagSet& command, WorkloadFlags& flags);

// The same and the file.
void add_workload_flags(FlagSet& command, WorkloadFlags& flags);

// The workloads of the file, or one of flags alone; flags win over the file.
Checked<std::vector<std::vector<model::Setting>>> read_workloads(const WorkloadFlags& flags);

}  // namespace rightsize::app
