#include "rightsize/input/named_gpu.h"

#include <iostream>

#include <fmt/format.h>

#include "catalog/words.h"

namespace rightsize::app {

void note(const std::string& text) { std::cerr << "note: " << text << '\n'; }

Result<const catalog::Gpu*> named_gpu(const catalog::Catalog& catalog, const std::string& text) {
  if (text.find(',') != std::string::npos) {
    return fail(
        bad_input(fmt::format("one GPU at a time, not '{}'", text))
            .with_hint("'memory MODEL' compares every GPU; 'recommend MODEL --gpu h100,a100' ranks them by cost"));
  }
  const catalog::CountedGpu wanted = catalog::split_gpu_count(text);
  RIGHTSIZE_TRY(const catalog::UsualGpu usual, catalog::usual_gpu(catalog, wanted.name));
  if (!usual.others.empty()) {
    note(fmt::format("'{}' is taken as {}; for another: {}", wanted.name, usual.gpu->name,
                     fmt::join(usual.others, ", ")));
  }
  if (wanted.count) note(fmt::format("the number {} in '{}' is not used here", *wanted.count, text));
  return usual.gpu;
}

}  // namespace rightsize::app
