// From a Hugging Face config.json to a ModelShape with exact parameter counts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/located_json.h"
#include "base/result.h"
#include "model/model_shape.h"

namespace rightsize::model {

struct ModelFamily {
  std::string_view name;         // model_type
  std::string_view description;  // one line for `rightsize models`
};

// Every family that read_model() supports, sorted by name.
std::vector<ModelFamily> model_families();

struct ReadOptions {
  std::optional<ImageSize> resolution = {};  // of the images; unset: the configuration's
  std::optional<int> frames = {};            // of a video; unset: the family's usual number
};

// Reads a configuration. Absent fields have the default of the family's configuration class, except layers and width,
// which are required. Fails with every mistake at once, each at its place in `file`.
Checked<ModelShape> read_model(std::string file, std::string json_text, const ReadOptions& options = {});

// The same for an object inside a parsed document; `name` becomes the shape's name.
Checked<ModelShape> read_model(const LocatedJson& document, const JsonValue& config, std::string name,
                               const ReadOptions& options = {});

}  // namespace rightsize::model
