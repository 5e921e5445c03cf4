// Any bytes as a workload file: requests within their ranges, or errors with places.
#include <cstdint>
#include <cstdlib>

#include "launch/write_workload_file.h"
#include "plan/read_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  static const catalog::Catalog kFacts = *catalog::load_catalog("");
  const auto workloads = plan::read_workload_file("fuzz", std::string(reinterpret_cast<const char*>(data), size));
  if (!workloads) {
    if (workloads.error().empty()) std::abort();
    return 0;
  }
  for (const auto& settings : *workloads) {
    // The name of a model may be a path; this test must not read files.
    bool file = false;
    for (const auto& setting : settings)
      file |= setting.name == "model" && setting.value.find('/') != std::string::npos;
    if (file) continue;
    const auto request = plan::read_request(settings, kFacts);
    if (!request) continue;
    if (request->work.amount < 0 || request->limits.max_gpus < 1 || request->choices.batches.empty()) std::abort();
    // A valid request can be written as a file.
    if (!plan::read_workload_file("again", launch::write_workload_file(settings))) std::abort();
  }
  return 0;
}
