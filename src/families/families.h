// The families of models. Each file of families/ reads the configurations of a few, declares their weights and writes
// their forward pass, and lists them; the table of all is made from the files' names when the program is configured
// (cmake/rightsize.cmake), so that a new family is a new file.
//
// Defaults and tensors are those of the transformers, diffusers and torchvision classes of the same name.
#pragma once

#include <string_view>
#include <vector>

#include "families/config.h"
#include "model/model_shape.h"

namespace rightsize::model {

struct Family {
  std::string_view name;  // model_type of config.json
  std::string_view summary;
  // Fills the sizes, the weights and the forward pass of `shape`, noting mistakes in `config`.
  void (*read)(const Config& config, ModelShape& shape);
  std::vector<std::string_view> other_names = {};  // spellings found in published files
  std::string_view class_name = {};                // _class_name of diffusers, which has no model_type
};
using Families = std::vector<Family>;

// Of all files, by name.
const Families& all_families();
// By model_type, other spellings too; nullptr where nobody has it.
const Family* find_family(std::string_view model_type);

}  // namespace rightsize::model
