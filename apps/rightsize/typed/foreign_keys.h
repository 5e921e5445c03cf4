// What the keys in other tools' files mean: one table for all tools.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rightsize/flags.h"
#include "rightsize/typed/foreign_text.h"

namespace rightsize::app {

bool is_any(const std::string& value);  // of GPUs, places and sellers: as without it; --device cuda
bool is_off(const std::string& value);  // "false", "none", "0": switched off

// Whether a path is one of these names, separated by spaces, or ends with one.
bool ends_with_name(std::string_view path, std::string_view names);

// The value of the first of these names that the file has; nullptr or empty if it has none.
const std::string* find(const Entries& entries, std::string_view names);
std::string text_of(const Entries& entries, std::string_view names);

// Whether a key describes the job, not a port, a probe or a logger.
bool is_setting_of_job(const std::string& key);

// What a key became: a flag with its value, nothing because it has no effect here, or a value that no flag accepts.
struct Meaning {
  std::string flag = {};
  enum class Kind { kFlag, kNoEffect, kUnclear, kUnknown } kind = Kind::kUnknown;
};
Meaning meaning_of(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared,
                   bool serving);
// The same for the name of a flag, ours or another tool's.
Meaning flag_for(const std::string& name, const std::string& value, const std::deque<FlagInfo>& declared, bool serving);

// The flag that a key of a workload file means, "traffic.rps" as --rps; groups of keys are joined by dots.
std::string flag_of_key(const std::string& key, const std::string& value, const std::deque<FlagInfo>& declared);

// The first keys, for a note: "a, b and 3 more".
std::string shown_keys(const std::vector<std::string>& keys);

}  // namespace rightsize::app
