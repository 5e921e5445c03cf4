// The current workloads as a file for `rightsize portfolio`: pools, and workloads with the options to run each.
// docs/portfolio.md describes the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rightsize::hand_over {

struct OrganisationFile {
  struct Pool {
    std::string name, gpu;                   // `gpu` by its catalogue name
    std::optional<double> usd_per_gpu_hour;  // on demand; empty: nothing can be rented there
    int gpus_per_machine = 1;
    int reserved = 0;
    double reserved_usd = 0;  // per month
    bool mig = false;
    std::string region, comment;
  };
  struct Option {
    std::string where;          // a pool, or a place outside the pools
    std::vector<int> gpus;      // by hour of the day, or one number for all; empty: not in a pool
    std::string slices;         // instead of GPUs: "1g.10gb: 2"
    std::optional<double> usd;  // per month
    std::string how, comment;   // `how` may be empty
  };
  struct Workload {
    std::string name, team;
    std::string small;            // instead of options: "memory: 6GiB, load: 12%"
    std::vector<Option> options;  // the first is the one in use
    std::string comment;
  };
  std::vector<std::string> comments;  // lines at the top
  std::vector<Pool> pools;
  std::vector<Workload> workloads;
};

// Hours of the day in which no option differs become one block.
std::string write_organisation(const OrganisationFile& file);

}  // namespace rightsize::hand_over
