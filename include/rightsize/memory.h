// GPU memory a job needs, part by part, and whether it fits: `rightsize memory`.
//
// There are three totals, which differ by gigabytes: the memory that the framework's allocator has allocated at the
// peak, the memory that it reserves from the driver, and the figure in nvidia-smi. low and high are the 80 % interval
// of the last.
#pragma once

#include <string>
#include <vector>

#include <rightsize/answer.h>
#include <rightsize/document.h>
#include <rightsize/settings.h>

namespace rightsize::v1 {

struct Memory {
  double peak_allocated_bytes = 0, reserved_bytes = 0, device_bytes = 0, low_bytes = 0, high_bytes = 0;

  struct Part {
    std::string name;  // weights, gradients, optimizer, activations, logits, kv_cache, buffers, runtime
    double bytes = 0;
  };
  std::vector<Part> parts;

  struct Fit {
    std::string gpu;
    double capacity_bytes = 0, headroom_bytes = 0, oom_probability = 0;
    std::string verdict;  // fits, tight or no
  };
  std::vector<Fit> fits;  // the named GPU, or every GPU of the catalogue

  Report report;
};

// An empty `gpu` means every GPU of the catalogue.
Answer<Memory> memory(const std::string& model, const std::string& gpu, const Settings& settings = {});

}  // namespace rightsize::v1
