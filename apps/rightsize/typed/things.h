// What a bare word names, for suggestions: a GPU, a model.
#pragma once

#include <string_view>

namespace rightsize::app {

enum class Thing { kNothing, kGpu, kModel };

// Looked up among the built-in facts; costs some milliseconds, so only where a word was not understood otherwise.
Thing thing_named(std::string_view word);
bool is_model_name(std::string_view word);  // a preset, without reading about GPUs

}  // namespace rightsize::app
