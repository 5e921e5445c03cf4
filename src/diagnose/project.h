// The same work on every other GPU: how fast, and at what cost.
//
// The parts of the time scale separately: arithmetic with the matrix rate, memory with bandwidth, copies with the link;
// launches and waits for data do not change with the GPU. Nothing is known here of formats the other GPU would allow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "market/price_book.h"

namespace rightsize::diagnose {

struct Projection {
  const catalog::Gpu* gpu = nullptr;
  double speed = 1;  // against this GPU: work done in the same time
  double low = 1, high = 1;
  double busy = 0;                        // share of the time it would run something
  bool fits = true;                       // the memory that was seen
  std::optional<market::GpuQuote> price;  // the user's, else the cheapest on demand; empty where nobody sells it
  std::optional<double> cost;             // of the same work, against this GPU's price
};

struct ProjectionInput {
  const Summary* summary = nullptr;
  const Diagnosis* diagnosis = nullptr;
  const catalog::Gpu* gpu = nullptr;  // the one it ran on
};

// Every other GPU of the catalogue with known rates, cheapest for the work first; those whose memory is too small, or
// that have no price, come last. When work arrives at its own pace (underused, bursty), a GPU is as fast as this one
// as long as it keeps up, and the cost is that of the hour. Without `prices` nothing is priced.
std::vector<Projection> project(const ProjectionInput& input, const catalog::Catalog& catalog,
                                const market::PriceBook* prices);

}  // namespace rightsize::diagnose
