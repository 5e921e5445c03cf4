// Classes of machines that are equivalent for the work, and the numbers of them to try.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "market/interruptions.h"
#include "market/offers.h"
#include "market/price_book.h"
#include "perf/perf.h"
#include "plan/request.h"

namespace rightsize::plan {

// Machines with the same GPUs, links and network: the work runs equally fast on all of them; only the price differs.
struct MachineClass {
  const catalog::Gpu* gpu = nullptr;
  perf::GpuSpeed speed;
  perf::Cluster cluster;
  int gpus = 1;                              // of one machine
  bool networked = false;                    // several machines can work on one job
  bool rdma = false;                         // GPUs reach the network without copies through the host
  int most_machines = 0;                     // 0: no limit
  std::optional<int> affordable = {};        // machines that the budget pays for; empty: not known before simulation
  const market::OwnHardware* own = nullptr;  // the user's machines; null: rented
  std::vector<market::Offer> offers;  // the likely cheapest of each machine and terms, and the cheapest doubtful one
  std::vector<market::PriceOutlook> outlooks = {};  // of each offer
  double all_offers = 0;                            // before regions were compared

  UsdPerMachineSecond least_price() const {
    UsdPerMachineSecond least = outlooks.front().likely;
    for (const market::PriceOutlook& outlook : outlooks) least = std::min(least, outlook.likely);
    return least;
  }
};

// In the order of the offers. `job`: the time over which prices are predicted.
std::vector<MachineClass> machine_classes(const std::vector<market::Offer>& offers, const market::PriceBook& book,
                                          Seconds job, const perf::Constants& constants,
                                          const std::vector<market::OwnHardware>& own);

// Whether prompts are known, so that a prefix cache is simulated: conversations, and traces with hashes.
inline bool simulates_cache(const Request& request) { return request.work.trace && request.work.trace->prompts; }

// A budget is compared in cents.
inline constexpr Usd kHalfACent = usd(0.005);

// Conversations are simulated in all layouts, and for longer the more machines there are: not for more machines than
// the budget pays for.
void limit_by_budget(const Request& request, const market::PriceBook& book, std::vector<MachineClass>& classes);

// Whether an engine supports the GPU: some GPUs are too old or from another vendor.
bool engine_runs_on(model::Stack engine, const catalog::Gpu& gpu);

// Machines without RDMA that may work on one job. Every step of a data-parallel run waits for all gradients, and TCP
// through the host is several times slower; public multi-machine runs beyond this size all use RDMA.
inline constexpr int kMostWithoutRdma = 4;

// Whether an engine starts: its KV cache must hold the longest request it accepts (--max-model-len).
bool engine_starts(const Request& request, const model::Job& job, const catalog::Gpu& gpu);

// The numbers of machines of this class to try within the limits. For one job on all machines: every number or, if
// `sparsely`, eight per octave above 16. Machines without a documented network work alone, and those without RDMA in
// small numbers. For work in parts, the number hardly changes the cost: powers of two and three times powers of two.
// With exactly `gpus`: the fewest machines with that many GPUs.
std::vector<int> machine_counts(const MachineClass& machines, const PlanLimits& limits, bool work_together,
                                bool sparsely = false);

}  // namespace rightsize::plan
