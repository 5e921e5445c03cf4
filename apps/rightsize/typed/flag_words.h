// Flags by the meaning of their words: --power-limit is --power-cap, --history-duration is --window.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rightsize/flags.h"

namespace rightsize::app {

// The only declared flag with a name, or another tool's name, of the same meaning word for word. As in the alias table,
// it may include a value: "--recompute=full". Empty if there is none or several, or if the flag does not accept
// `value`.
std::string flag_by_words(const std::string& typed, const std::string& value, const std::deque<FlagInfo>& declared,
                          bool serving);

// --min-price is the opposite of --max-price, however similar.
bool is_opposite(std::string_view one, std::string_view other);
// The column that a name means in other words: vram is memory. Empty if there is none.
std::string column_called(const std::string& name, const std::vector<std::string>& columns);
bool is_accepted(const FlagInfo& flag, const std::string& value);
// Declared flags within a typing error of this name that accept the value, nearest first; a switch accepts none.
// --power-cost is not a misspelt --power-cap, nor --dp a misspelt --tp.
std::vector<std::string> flags_spelled_like(const std::string& typed, const std::optional<std::string>& value,
                                            const std::deque<FlagInfo>& declared);

// A flag's or a column's name without its unit, and the unit: --latency-ms is --latency and ms, --rate-per-s is --rate
// and /s. No unit: empty.
std::pair<std::string, std::string> split_unit(std::string_view typed);

}  // namespace rightsize::app
