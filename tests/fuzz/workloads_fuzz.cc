// Any bytes as a MIG workload file: a checked file, or errors.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "mig/workloads.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.find("model") != std::string::npos && text.find('/') != std::string::npos) return 0;  // would open files
  Checked<mig::WorkloadFile> file = mig::read_workloads("fuzz.yaml", text, kCatalog, Ratio::percent(20));
  if (!file) {
    if (file.error().empty() || describe(file.error()).empty()) std::abort();
    return 0;
  }
  if (file->workloads.empty() || file->replicas() > mig::kMostReplicas) std::abort();
  for (const mig::Workload& w : file->workloads) {
    if (w.name.empty() || !(w.memory > Bytes{}) || w.replicas < 1 || !(w.load.fraction() >= 0)) std::abort();
  }
  return 0;
}
