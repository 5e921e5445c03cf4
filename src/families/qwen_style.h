// Common parts of the configuration classes of Qwen 1.5 to 3.
#pragma once

#include "families/decoder.h"

namespace rightsize::model {

inline DecoderStyle qwen_style(const Config& config) {
  DecoderStyle style = {.vocabulary = 151'936, .context = 32'768};
  // Qwen configurations contain a window even if it is off. The first max_window_layers layers stay full, which is
  // every layer of every published model.
  if (config.flag("use_sliding_window", false)) style.window = 4'096;
  return style;
}

}  // namespace rightsize::model
