// Types of GPUs in schedulers that name a MIG profile.
#pragma once

#include <string>
#include <string_view>

namespace rightsize {

struct MigType {
  std::string gpu = {};      // without separators at its end; empty if the type names only a profile
  std::string profile = {};  // empty: a whole GPU
};

// "nvidia_h100_80gb_hbm3_1g.10gb" is a 1g.10gb of "nvidia_h100_80gb_hbm3"; "1g.10gb" names no GPU.
MigType split_mig_type(std::string_view type);

}  // namespace rightsize
