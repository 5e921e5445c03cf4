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
  bool rounded = false;                              // published with only a few digits
  bool unverified = false;                           // the framework has not counted this configuration
  std::string source;
  std::string date;  // when the entry was last checked, ISO
};

// All models in the order of the file: by family, small before large.
std::vector<Preset> presets();
std::vector<std::string> preset_names();

// The Hub ID ("owner/name") of the model that the user typed. A typed ID or Hub address is kept, because a chat model
// has the shape of its base model but other weights. The names of a built-in model, including short ones, give its own
// ID. Empty for paths, and for names such as "llama-2-13b-chat", which have a built-in shape but no known ID.
std::string hub_id(std::string_view typed);

// How a name that is not built in was interpreted, as a sentence without a full stop: "X has the shape of qwen2.5-32b
// by its name; its config.json was not checked". Empty for built-in models, files and unknown names.
std::string note_on_name(std::string_view name);

// Whether find_model() would find a model of this name without reading a file.
bool is_known_name(std::string_view name);

// The shape of a built-in model by name or alias (case, '-' and '_' do not matter), or of the config.json at a path:
// anything with a '/', ending in ".json", "-" for standard input, a file, or a folder that holds a config.json. A text
// that begins with '{' is a configuration itself. Fine-tunes and quantized copies on the Hub have the shape of a
// built-in model (hub_names.h). "34B like llama" is a built-in model scaled to that size, and so is an unknown name of
// the Hub that contains a size. Models that generate images include their text encoders and image decoder. Fails with
// every mistake of the file, or for an unknown name with similar names. Builds only the one shape.
Checked<ModelShape> find_model(std::string_view name_or_path, const ReadOptions& options = {});

}  // namespace rightsize::model
