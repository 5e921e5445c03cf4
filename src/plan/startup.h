// Start-up time from ordering a machine to the first step: machine and processes, container image, weights.
#pragma once

#include <optional>
#include <string>

#include "plan/request.h"

namespace rightsize::plan {

// The container image of the work; its size is in `data/images.csv`.
std::string image_for(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu);

std::string serving_image(model::Stack stack, bool amd);
// Compressed; empty: unknown.
std::optional<Bytes> image_size(std::string_view image);

struct Startup {
  Seconds machine;                  // until it is available and its processes run
  std::string image;                // its name
  std::optional<Bytes> image_size;  // compressed; empty: unknown and not counted
  Seconds image_pull;               // including unpacking
  Bytes weights_size;               // as published
  Seconds weights;                  // from storage

  Seconds total() const { return machine + image_pull + weights; }
};
Startup startup_on(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu);

// The request's assumptions, with start-up and restart times for this GPU unless the user gave them.
market::JobAssumptions assumptions_on(const Request& request, const perf::ModelWork& work, const catalog::Gpu& gpu);

}  // namespace rightsize::plan
