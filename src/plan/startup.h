// From the order of a machine to its first step: the machine and its processes, the container image, the weights.
#pragma once

#include <optional>
#include <string>

#include "plan/request.h"

namespace rightsize::plan {

// The container image the work runs in, as it is handed over; `data/images.csv` knows its size.
std::string image_for(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu);

struct Startup {
  Seconds machine;                  // until it is there, and its processes' own start
  std::string image;                // by its name
  std::optional<Bytes> image_size;  // compressed; nothing: not known, and not counted
  Seconds image_pull;               // with its unpacking
  Bytes weights_size;               // as published
  Seconds weights;                  // from storage

  Seconds total() const { return machine + image_pull + weights; }
};
Startup startup_on(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu);

// The request's assumptions, with start-up and restart as they are on this GPU unless the user said how long they take.
market::JobAssumptions assumptions_on(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu);

}  // namespace rightsize::plan
