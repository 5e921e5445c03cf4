// Whether the model that a container serves fits the GPUs that the container requests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "manifests/price.h"

namespace rightsize::app {

// The facts in an engine's command line: "vllm serve MODEL --tensor-parallel-size 4", "--model-path MODEL --tp 2".
struct EngineCommand {
  std::string model, quantization;
  int tensor_parallel = 1, pipeline_parallel = 1;
};
std::optional<EngineCommand> read_engine_command(std::string_view command);

struct ModelFit {
  std::string model, words;  // "llama-3.1-70b: 77 GiB on each of 2 GPUs, h100-sxm has 79.6 GiB: fits"
  bool fits = true;
};
// Empty if the command does not name a known model, or the GPU is unknown.
std::optional<ModelFit> model_fit(const manifests::GpuRequest& request, const manifests::Cost& cost);

}  // namespace rightsize::app
