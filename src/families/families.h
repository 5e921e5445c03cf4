// The families of models. Each file of language/ and vision/ reads the configurations of related families, declares
// their weights, writes their forward pass, and lists them in a function of the file's name. CMake collects these
// functions (cmake/rightsize.cmake), so a new file needs no registration.
//
// Defaults and tensors are those of the transformers, diffusers and torchvision classes of the same name.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "families/config.h"
#include "model/model_shape.h"

namespace rightsize::model {

struct Family {
  std::string_view name;  // model_type of config.json
  std::string_view summary;
  // Fills the sizes, the weights and the forward pass of `shape`, and notes mistakes in `config`.
  void (*read)(const Config& config, ModelShape& shape);
  std::vector<std::string_view> other_names = {};  // spellings found in published files
  std::string_view class_name = {};                // _class_name of diffusers, which has no model_type

  bool is_also(std::string_view spelling) const {
    return std::ranges::find(other_names, spelling) != other_names.end();
  }
};
using Families = std::vector<Family>;

// All families, sorted by name.
const Families& all_families();
// By model_type or one of its other spellings; nullptr if it is unknown.
const Family* find_family(std::string_view model_type);

}  // namespace rightsize::model
