// What `rightsize mig` is asked: flags, and what they name.
#pragma once

#include <string>
#include <vector>

#include "mig/current.h"
#include "mig/plan.h"
#include "rightsize/input/price_flag.h"

namespace rightsize::app {

struct MigFlags {
  std::string workloads;
  std::vector<std::string> gpus;
  PriceFlag prices;
  std::string purchase = "on-demand", headroom = "20%";
  std::string check, current, make_room, verify, out, catalog;
  int gpus_per_node = 8;
  bool list_layouts = false, repack = false, share = false;
};

// The allowed GPUs with their prices: those of the command line, else of the file, else all that can be cut and bought.
Result<std::vector<mig::GpuType>> allowed_types(const MigFlags& flags, const mig::WorkloadFile& file,
                                                const market::PriceBook& prices, catalog::Purchase purchase);

// "20%" or "0.2", up to ten times the load.
Result<Ratio> parse_headroom(const std::string& text);

// The GPU a question is about: the one named, or with `--current nvml` the first of this machine that is cut.
Result<mig::Geometry> geometry_asked_about(const MigFlags& flags, const catalog::Catalog& catalog);

// What --current names: a file, or with "nvml" this machine.
Checked<mig::Fleet> read_fleet(const mig::Geometry& geometry, const std::string& current);

}  // namespace rightsize::app
