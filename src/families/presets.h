// The built-in models: data/models.json, inside the program.
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

// What data/models.json says of a model besides its configuration.
struct Preset {
  std::string name;  // lower case: "llama-3.1-8b"
  std::vector<std::string> aliases;
  std::optional<std::int64_t> published_parameters;  // nothing where no count was published
  bool rounded = false;                              // published to a few digits only
  bool unverified = false;                           // the framework has not counted this very configuration
  std::string source;
  std::string date;  // when the entry was last checked, ISO
};

// All of them, in the order of the file: families together, small before large.
std::vector<Preset> presets();
std::vector<std::string> preset_names();

// The shape of a built-in model by name or alias (case, '-' and '_' do not matter), or of the config.json at a path:
// anything with a '/', ending in ".json", "-" for standard input, a file, or a folder that holds a config.json. A text
// that begins with '{' is a configuration itself.
// Models that make images come with those that run beside them.
// Fails with every mistake of the file, or for an unknown name with the nearest ones. Builds only the one shape.
Checked<ModelShape> find_model(std::string_view name_or_path, const ReadOptions& options = {});

}  // namespace rightsize::model
