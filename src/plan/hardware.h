// Machines that are alike for the work, and in which numbers they may be taken.
#pragma once

#include <optional>
#include <vector>

#include "market/interruptions.h"
#include "market/offers.h"
#include "market/price_book.h"
#include "perf/perf.h"
#include "plan/request.h"

namespace rightsize::plan {

// Machines with the same GPUs, links and network: the work runs the same on all of them, only the price differs.
struct MachineClass {
  const catalog::Gpu* gpu = nullptr;
  perf::GpuSpeed speed;
  perf::Cluster cluster;
  int gpus = 1;                                     // of one machine
  bool networked = false;                           // several can work on one job: the network between them is known
  int most_machines = 0;                            // 0: no limit
  std::vector<market::Offer> offers;                // of each machine and terms where it will likely cost least
  std::vector<market::PriceOutlook> outlooks = {};  // what each will likely cost
  double all_offers = 0;                            // before regions were compared
};

// In the order of the offers. `job`: how long the work may take, over which a price may move.
std::vector<MachineClass> machine_classes(const std::vector<market::Offer>& offers, const market::PriceBook& book,
                                          Seconds job, const perf::Constants& constants,
                                          const std::vector<market::OwnHardware>& own);

// Whether an engine runs on a GPU at all: what is too old for it, or of another vendor, is not.
bool engine_runs_on(model::Stack engine, const catalog::Gpu& gpu);

// How many machines of this class are tried together, as far as the limits go. Of one job that all work on, every
// number; machines whose network nobody documents work alone. Of work in parts, whose cost does not depend on their
// number but for start-up, powers of two and three times powers of two. With exactly `gpus`: as few as hold them.
std::vector<int> machine_counts(const MachineClass& machines, const Limits& limits, bool work_together);

}  // namespace rightsize::plan
