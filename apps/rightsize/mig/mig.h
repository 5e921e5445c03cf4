// What the two files of `rightsize mig` share.
#pragma once

#include <string>
#include <vector>

#include "mig/geometry.h"
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

// The questions about one GPU: --list-layouts, --check, --current, --repack, --verify.
Checked<Outcome> list_layouts(const mig::Geometry& geometry);
Checked<Outcome> check_layout(const mig::Geometry& geometry, const MigFlags& flags);
Checked<Outcome> show_current(const mig::Geometry& geometry, const MigFlags& flags);
Checked<Outcome> repack_fleet(const mig::Geometry& geometry, const MigFlags& flags);
Checked<Outcome> verify_table(const mig::Geometry& geometry, const MigFlags& flags);

}  // namespace rightsize::app
