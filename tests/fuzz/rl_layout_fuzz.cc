// Any text as a layout of reinforcement learning: either GPUs on both sides that survive a round trip through their
// description, or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "rl/rl.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<int> given = size % 2 == 0 ? std::optional<int>() : std::optional<int>(16);
  const Result<rl::Layout> layout = rl::parse_layout(text, given);
  if (!layout) {
    if (layout.error().message.empty()) std::abort();
    return 0;
  }
  if (layout->train < 1 || layout->rollout < 1 || layout->gpus() < 1) std::abort();
  const Result<rl::Layout> again = rl::parse_layout(rl::describe(*layout), layout->gpus());
  if (!again || !(*again == *layout)) std::abort();
  return 0;
}
