// Any bytes as the output of kubectl: nodes with GPUs and pods with requests, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "telemetry/feeds/kubernetes.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto source = bytes_of(text);
  auto state = telemetry::read_cluster(*source, "fuzz");
  if (!state) {
    if (describe(state.error()).empty()) std::abort();
    return 0;
  }
  for (const telemetry::ClusterNode& node : state->nodes) {
    if (!(node.gpus > 0) || !(node.shares >= 1)) std::abort();
  }
  for (const telemetry::ClusterPod& pod : state->pods) {
    if (!(pod.requested > 0)) std::abort();
  }
  return 0;
}
