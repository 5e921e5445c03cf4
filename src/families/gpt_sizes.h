// The fields GPT-2, GPT-J and GPT BigCode spell alike.
#pragma once

#include "families/config.h"
#include "model/model_shape.h"

namespace rightsize::model {

// With the defaults of the configuration class.
void read_gpt_sizes(const Config& config, ModelShape& shape, int heads, std::int64_t context, const char* activation);

}  // namespace rightsize::model
