// What is on the GPUs now: from nvidia-smi's tables, a YAML file, or layouts one GPU a line.
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
  std::string workload;  // empty: an instance nobody uses
};

struct RunningGpu {
  std::string name;  // "0", or what the file says
  std::vector<RunningInstance> instances;

  Layout layout() const;
};

using Fleet = std::vector<RunningGpu>;

// Tells the three forms apart by looking at the text:
//   the table `nvidia-smi mig -lgi` prints (every instance counts as used, named gpu0-gi9 after its ids),
//   gpus: [{name: node1-0, instances: [{profile: 1g.10gb, start: 4, workload: chat}]}],
//   3g.40gb@0=chat, 1g.10gb@4        one line a GPU, '=' names who uses it.
// Fails on overlaps, unknown profiles, illegal starts, each at its place.
Checked<Fleet> read_current(const std::string& file, const std::string& text, const Geometry& geometry);

// One row of `nvidia-smi mig -lgip` with its placements of `-lgipp` where these follow in the same text.
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

// What a driver's list says otherwise than our table; empty when they agree.
std::vector<std::string> differences(const std::vector<ListedProfile>& listed, const Geometry& geometry);

// Room that is there but cannot be used: "6 of 8 memory slices are free, yet no 3g.40gb fits (1 would, repacked)".
struct Fragmentation {
  int free_memory_slices = 0;
  int free_compute_slices = 0;
  struct Row {
    int profile = 0;
    int fits_now = 0;
    int fits_repacked = 0;
  };
  std::vector<Row> rows;  // one a plain profile
  std::string sentence;   // the largest loss; empty when nothing is lost
};
Fragmentation fragmentation(const Geometry& geometry, const Layout& occupied);

}  // namespace rightsize::mig
