// Any bytes as a Kubernetes, SkyPilot, Slurm or Nomad file: named requests, or notes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/slurm_time.h"
#include "manifests/read.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* file : {"fuzz.yaml", "fuzz.sh", "fuzz.nomad"}) {
    const manifests::Found found = manifests::read_files({{file, text}});
    for (const manifests::GpuRequest& request : found.requests) {
      if (request.resource.empty()) std::abort();
      if (request.per_unit && *request.per_unit < 0) std::abort();
    }
  }
  (void)parse_slurm_time(text);
  return 0;
}
