// Finds the model behind a served name: "meta-llama/Llama-3.1-8B-Instruct-FP8" is llama-3.1-8b in fp8.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "model/model_shape.h"

namespace rightsize::live_service {

struct ServedModel {
  std::string name;  // built-in name, or the path of a config.json
  model::ModelShape shape;
  model::Precision precision = model::Precision::kBf16;  // of the weights, from the suffix of the name
  bool precision_named = false;
};

// A built-in model by its name or the name of a checkpoint (without owner, "-Instruct", "-it", and formats such as
// "-FP8" or "-AWQ"), or a config.json. Fails for other names: a user may serve a model under any name.
Checked<ServedModel> find_served_model(std::string_view served);

}  // namespace rightsize::live_service
