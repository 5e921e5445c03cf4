#include "rightsize/typed/things.h"

#include <algorithm>

#include "base/suggest.h"
#include "catalog/gpu_words.h"
#include "catalog/hardware.h"
#include "families/presets.h"

namespace rightsize::app {

Thing thing_named(std::string_view word) {
  static const Checked<catalog::Catalog> kFacts = catalog::load_hardware("");
  if (kFacts) {
    if (kFacts->match_gpus(catalog::split_gpu_count(word).name)) return Thing::kGpu;
  }
  return is_model_name(word) ? Thing::kModel : Thing::kNothing;
}

bool is_model_name(std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);  // an organisation of the Hub in front
  for (const model::Preset& preset : model::presets()) {
    const auto is_it = [&](const std::string& known) { return fold_name(known) == fold_name(name); };
    if (is_it(preset.name) || std::any_of(preset.aliases.begin(), preset.aliases.end(), is_it)) return true;
  }
  return false;
}

}  // namespace rightsize::app
