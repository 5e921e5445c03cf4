// The slices GPUs have now, read from nvidia-smi's tables, a YAML file, or a layout per line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "mig/geometry.h"

namespace rightsize::mig {

struct RunningInstance {
  Instance where;
  std::string workload;  // empty: unused
};

struct RunningGpu {
  std::string name;  // "0", or the name given in the file
  std::vector<RunningInstance> instances;

  Layout layout() const;
};

using RunningGpus = std::vector<RunningGpu>;

// The first GPU in the list that `nvidia-smi -L` prints; empty for other texts.
std::string listed_gpu(std::string_view text);

// Recognizes four formats:
//   the table `nvidia-smi mig -lgi` prints (every instance counts as used, named gpu0-gi9 after its ids),
//   the list `nvidia-smi -L` prints (the same; the driver's usual placement is assumed),
//   gpus: [{name: node1-0, instances: [{profile: 1g.10gb, start: 4, workload: chat}]}],
//   3g.40gb@0=chat, 1g.10gb@4        one line per GPU, '=' names the workload.
// Fails on overlaps, unknown profiles and illegal starts, each with its place.
Checked<RunningGpus> read_current(const std::string& file, const std::string& text, const Geometry& geometry);

// A configuration of mig-parted: what GPUs with these numbers get.
struct PartedLayout {
  std::string name, devices;  // "all-balanced", "all" or "0, 1"
  Layout layout;
  std::string problem;  // of a profile that this GPU does not have; empty: none
};
bool is_mig_parted(const std::string& text);
Checked<std::vector<PartedLayout>> read_mig_parted(const std::string& file, const std::string& text,
                                                   const Geometry& geometry);

// One row of `nvidia-smi mig -lgip`, with its placements if the output of `-lgipp` follows.
struct ListedProfile {
  std::string name;
  int id = 0;
  int free = 0, total = 0;
  Bytes memory;
  int sms = 0;
  std::vector<int> placements;
  int size = 0;
};
Checked<std::vector<ListedProfile>> read_profile_list(const std::string& file, const std::string& text);

// The differences between a driver's list and our table.
std::vector<std::string> differences(const std::vector<ListedProfile>& listed, const Geometry& geometry);

// Free capacity that cannot be used: "6 of 8 memory slices are free, but no 3g.40gb fits (1 would, repacked)".
struct Fragmentation {
  int free_memory_slices = 0;
  int free_compute_slices = 0;
  struct Row {
    std::string profile;
    int fits_now = 0;
    int fits_repacked = 0;
  };
  std::vector<Row> rows;  // one per plain profile
  std::string sentence;   // the largest loss; empty: none
};
Fragmentation fragmentation(const Geometry& geometry, const Layout& occupied);

}  // namespace rightsize::mig
