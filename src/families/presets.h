// The built-in models, from data/models.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "families/read_model.h"
#include "model/model_shape.h"

namespace rightsize::model {

// The facts of data/models.json about a model besides its configuration.
struct Preset {
  std::string name;  // lower case: "llama-3.1-8b"
  std::vector<std::string> aliases;
  std::optional<std::int64_t> published_parameters;  // unset if no count was published
  bool rounded = false;                              // published with a few digits only
  bool unverified = false;                           // the framework has not counted this configuration
  std::string source;
  std::string date;  // when the entry was last checked, ISO
};

// All models in the order of the file: by family, small before large.
std::vector<Preset> presets();
std::vector<std::string> preset_names();

// The Hub ID ("owner/name") of the model that the user typed: a typed ID or address of the Hub as it is, since a chat
// model has the shape of its base model but other weights; a built-in model's own ID for its names. Empty for paths,
// and for names such as "llama-2-13b-chat", whose shape is built in but whose ID is not.
std::string hub_id(std::string_view typed);

// The shape of a built-in model by name or alias (case, '-' and '_' do not matter), or of the config.json at a path:
// anything with a '/', ending in ".json", "-" for standard input, a file, or a folder that holds a config.json. A text
// that begins with '{' is a configuration itself.
// Models that generate images include their text encoders and image decoder.
// Fails with every mistake of the file, or for an unknown name with similar names. Builds only the one shape.
Checked<ModelShape> find_model(std::string_view name_or_path, const ReadOptions& options = {});

}  // namespace rightsize::model
