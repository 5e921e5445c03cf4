// Which model a served name means: "meta-llama/Llama-3.1-8B-Instruct-FP8" is llama-3.1-8b in fp8.
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
  model::Precision precision = model::Precision::kBf16;  // of the weights, by the name's ending
  bool precision_named = false;
};

// A built-in model by its name or by that of a checkpoint of it (owner, "-Instruct", "-it", formats such as "-FP8" or
// "-AWQ" are left out), or a config.json. Fails for names that are none: a user may serve a model under any name.
Checked<ServedModel> find_served_model(std::string_view served);

}  // namespace rightsize::live_service
