// The time of a replica from its start to its first request, by stage. The facts are rows of data/startup.csv.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace rightsize::autoscale {

enum class WeightSource { kHub, kStream, kDisk, kMemory, kPinned };
enum class Compilation { kCold, kCached, kNone };
enum class ImageSource { kCached, kPull, kStream };

struct StartupOptions {
  WeightSource weights = WeightSource::kHub;
  bool sharded = false;  // the checkpoint is stored in one part per GPU
  Compilation compile = Compilation::kCold;
  std::string node = {};                  // a new machine of this kind, a case in data/startup.csv; empty: none needed
  std::optional<ImageSource> image = {};  // the container image; empty: pulled by a new machine, otherwise present
  bool wake = false;                      // the process is asleep with its graphs, the weights in host memory
};

// "weights=hub|stream|disk|memory|pinned,sharded=yes|no,compile=cold|cached|none,node=eks|gke|aks|other,
// image=cached|pull|stream,wake=yes"; each part may be absent.
Result<StartupOptions> parse_startup(std::string_view text);

struct Stage {
  std::string name;
  Seconds time, low, high;
  std::string source = {};  // of the fact that decides it; empty: stated by the user
};

struct Startup {
  std::vector<Stage> stages;

  Seconds sum(Seconds Stage::*of) const;
  Seconds total() const { return sum(&Stage::time); }
  Seconds low() const { return sum(&Stage::low); }
  Seconds high() const { return sum(&Stage::high); }
};

// The replica: its published weights, its layers and the GPUs that share it.
struct StartedModel {
  Bytes weights;
  int layers = 0;
  int gpus = 1;
  std::optional<Bytes> image = {};  // compressed; empty: unknown and not counted
};

Startup startup_of(const StartedModel& model, const StartupOptions& options);
// A time that the user stated.
Startup stated_startup(Seconds time);

}  // namespace rightsize::autoscale
