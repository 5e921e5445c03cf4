// A tolerant reader of HashiCorp's configuration language: blocks, attributes, literals. Anything that is not a literal
// is kept as text, and the caller can report it as unknown. Only text that cannot be parsed (a string or bracket that
// never ends) is a mistake.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace rightsize::manifests {

struct HclValue {
  enum class Kind { kString, kNumber, kBool, kNull, kList, kObject, kExpression };
  Kind kind = Kind::kNull;
  std::string text = {};  // strings, unescaped; expressions as written
  double number = 0;
  bool boolean = false;
  std::vector<HclValue> items = {};
  // Of objects and blocks. A block is an object under its type; several of one type are several members.
  std::vector<std::pair<std::string, HclValue>> members = {};
  bool is_block = false;
  std::vector<std::string> labels = {};  // of blocks: resource "aws_instance" "train"
  int line = 0;

  // The first member of that name, or null.
  const HclValue* find(std::string_view name) const;
};

// The file as an object.
Result<HclValue> parse_hcl(const std::string& file, std::string_view text);

}  // namespace rightsize::manifests
