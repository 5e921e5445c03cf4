// Input that recommend, init and checklist share: a workload from flags, from a file, or from a file with flags that
// override it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/read_request.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct WorkloadFlags {
  std::string file;                             // "-": standard input; empty: flags alone
  std::map<std::string, std::string> settings;  // by name, as given; absent if not given
  PriceFlag prices;                             // --price, a setting that may be repeated
};

// A flag for every setting of a request and its job. `flags` must outlive the parsing.
void add_setting_flags(FlagSet& command, WorkloadFlags& flags);

// The same flags, plus the argument for the file.
void add_workload_flags(FlagSet& command, WorkloadFlags& flags);

// Our name for a key of a workload, as the flag of that name would be understood: "input_tokens" is "isl". Empty where
// there is none.
std::string our_key(const std::string& key);

// The workloads of the file, or the one that the flags describe. Flags override the file.
Checked<std::vector<std::vector<model::Setting>>> read_workloads(const WorkloadFlags& flags);

}  // namespace rightsize::app
