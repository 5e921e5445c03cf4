// Other tools' names for our commands, flags and values, and words for jobs and amounts: the rows of
// data/other_names.csv, which explains them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rightsize::app {

struct NameRow {
  std::string_view names, meant, more;  // names are separated by spaces
};
// The rows of a kind: "flag", "command", "key", "job" ...
std::span<const NameRow> names_of(std::string_view kind);
// The first row of a kind that lists this name; nullptr if there is none.
const NameRow* row_of(std::string_view kind, std::string_view name);

std::string_view listed(std::string_view name);  // the words of a row of kind "list"

// Our spelling of a value: `--precision bfloat16` is bf16, `--job inference` is serve. Other values are unchanged.
std::string meant_value(std::string_view flag, const std::string& typed);

}  // namespace rightsize::app
