// Lines that ask for GPUs in some way, whatever the tool: what a reader of this module should have understood. A file
// with such a line and without a request is reported, so that no change passes in silence.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "manifests/compare.h"

namespace rightsize::manifests {

struct Mention {
  int line = 0;  // from 1
  std::string text = {};
};

// Numbers and types of GPUs: keys such as nvidia.com/gpu, num_gpus or accelerator_type with a value, machine types with
// GPUs, options of Slurm. Tolerations, comments, memory limits and the like are not requests.
std::vector<Mention> gpu_mentions(std::string_view file, std::string_view text);

// What changed between two versions and asks for GPUs, or counts what does, but belongs to no request that differs; one
// note for each file. Files that are the same in both versions are not looked at.
using Texts = std::map<std::string, std::string>;  // by path
std::vector<std::string> unread_changes(const Texts& before, const Texts& after,
                                        const std::vector<RequestChange>& changes);

}  // namespace rightsize::manifests
