// Lines that request GPUs in the files of any tool: lines that a reader of this module should have understood. A file
// with such a line but without a request is reported; no change may go unnoticed.
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
// GPUs, options of Slurm. Tolerations, comments, memory limits and similar lines are not requests.
std::vector<Mention> gpu_mentions(std::string_view file, std::string_view text);

// Changes between two versions that request GPUs, or count such requests, but belong to no differing request; one note
// per file. Files that are the same in both versions are skipped.
using Texts = std::map<std::string, std::string>;  // by path
std::vector<std::string> unread_changes(const Texts& before, const Texts& after,
                                        const std::vector<RequestChange>& changes);

}  // namespace rightsize::manifests
