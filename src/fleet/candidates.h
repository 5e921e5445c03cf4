// Cures looked for one kind at a time; plan_actions() then resolves which of them may stand together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnose/project.h"
#include "fleet/fleet.h"

namespace rightsize::fleet {

// A cure before it is known whether another one for the same GPUs saves more. Savings of `separable` ones belong to
// single GPUs, so that some of these can be taken away; the others stand or fall whole.
struct Candidate {
  Action action;
  std::vector<double> saving_each;  // dollars a month, one per GPU of the action
  bool separable = true;
};

struct CureInput {
  const std::vector<GpuRow>& gpus;
  const PriceBook& book;
  const Thresholds& thresholds;
  const perf::SpeedTable& speeds;  // of the price book's catalogue
  bool across_teams = false;       // whether jobs of different teams may share a GPU
};

std::vector<Candidate> find_stops(const CureInput& input);
std::vector<Candidate> find_downsizes(const CureInput& input);
std::vector<Candidate> find_quantizations(const CureInput& input);
std::vector<Candidate> find_commitments(const CureInput& input, const std::vector<bool>& taken);
std::vector<Candidate> find_replica_cuts(const CureInput& input);
std::vector<Candidate> find_consolidations(const CureInput& input);
std::vector<Candidate> find_partitions(const CureInput& input);

// A cheaper GPU that carries a share of this one's memory, arithmetic and traffic (1 of each: the same work).
struct Smaller {
  market::Offer offer;
  double load = 0;  // what the new GPU's busiest resource would be used at the work's 95th percentile
};
std::optional<Smaller> find_smaller(const GpuRow& gpu, const CureInput& input, double memory_factor,
                                    double traffic_factor);

// What diagnose knows of a stretch of samples, from what we kept of them.
diagnose::Summary summary_of(const GpuUse& use);

// How many times longer the active time would be on other GPUs, by name, from what it was spent on (diagnose's
// projection, at its slow end). Empty where counters do not tell arithmetic from traffic, or where the work takes what
// time it can get and would only be slower.
std::map<std::string, double> projected_growth(const GpuRow& gpu, const perf::SpeedTable& speeds);

// A GPU that works but does not fill its GPU: a candidate for sharing or a smaller one.
bool has_room(const GpuRow& gpu);
// The 95th percentile of activity where known, else the mean of active time, else the maximum; 0-1.
double busy_level(const GpuRow& gpu);
double dram_level(const GpuRow& gpu);

std::string money(double usd);                                    // "$1,234"
std::string count_of(std::size_t count, std::string_view thing);  // "1 GPU", "3 GPUs"
std::string gpu_name(const GpuRow& gpu);

}  // namespace rightsize::fleet
