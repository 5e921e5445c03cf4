// The flags of `rightsize mig`, and the input they describe.
#pragma once

#include <string>
#include <vector>

#include "mig/current.h"
#include "mig/plan.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct MigFlags {
  std::string workloads;
  std::vector<std::string> gpus, models;
  PriceFlag prices;
  std::string purchase, check, current, make_room, verify, out, catalog;
  Ratio headroom;
  std::size_t gpus_per_node = 8;
  bool list_layouts = false, repack = false, share = false;
};

// A key of a workload, from what others call it: "utilization" is "load".
std::string workload_key(const std::string& key);

// The workloads that an argument names: a YAML file, a table (CSV with a header: name, memory, load, ...), or sizes
// such as "3x10GB, 2x5GB".
struct WorkloadsText {
  std::string text;           // YAML
  std::vector<Place> places;  // of a table: the cell that each line was written from

  // From the YAML to the table.
  void move(Place& place) const;
};
Result<WorkloadsText> workloads_text(const std::string& typed);

// A word of a sentence without the marks around it.
std::string_view without_marks(std::string_view word);

// "two 3g.40gb and one 1g.10gb": the slices that a sentence names, as --check reads them; empty without any.
std::string slices_in(std::string_view sentence);

// The text of a workload file with a workload for each model; a model that is named twice has two replicas.
std::string workloads_of(const std::vector<std::string>& models);

// The allowed GPUs with their prices: from the command line, else from the file, else all GPUs with MIG and a price.
Result<std::vector<mig::GpuType>> allowed_types(const MigFlags& flags, const mig::WorkloadFile& file,
                                                const market::PriceBook& prices, catalog::Purchase purchase);

// The GPU of --gpu or, with `--current nvml`, this machine's first GPU in MIG mode.
Result<mig::Geometry> chosen_geometry(const MigFlags& flags, const catalog::Catalog& catalog);

// Reads --current: a file, or with "nvml" this machine.
Checked<mig::RunningGpus> read_current_gpus(const mig::Geometry& geometry, const std::string& current);

}  // namespace rightsize::app
