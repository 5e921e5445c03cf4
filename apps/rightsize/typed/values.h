// Values as they were typed -> flags and values as the command takes them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rightsize::app {

struct MeantFlag {
  std::string flag, value;
};
struct MeantValues {
  std::vector<MeantFlag> flags;  // none: the value says what leaving the flag out says
  std::string note = {};         // to be said beside the answer; empty: nothing
};
using HasFlag = std::function<bool(const std::string&)>;

// `flag` as the command calls it, `typed` as it was written: --gpu any, --infra gcp/us-central1, --gpus H100:8,A100:8,
// --format plan.json (refused: a format is meant). Everything else is one flag with meant_value().
Result<MeantValues> meant_values(const std::string& flag, std::string_view typed, const std::string& value,
                                 const HasFlag& has);

// --filter gpu=h100, --filters Name=instance-type,Values=p5.48xlarge: the flag that is meant. Nothing where the command
// has none for it.
std::optional<MeantFlag> meant_filter(const std::string& text, const HasFlag& has);

bool is_number(std::string_view text);

}  // namespace rightsize::app
