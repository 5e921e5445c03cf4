// A tolerant reader of HashiCorp's configuration language: blocks, attributes, literals. What is not a literal is kept
// as its text, so that whoever needs it can say that it is not known. Only text that no reader could follow (a string
// or bracket that never ends) is a mistake.
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
  std::vector<std::pair<std::string, HclValue>> members = {};
  int line = 0;

  const HclValue* find(std::string_view name) const;
};

struct HclBlock {
  std::string type = {};
  std::vector<std::string> labels = {};
  std::vector<std::pair<std::string, HclValue>> attributes = {};
  std::vector<HclBlock> blocks = {};
  int line = 0;

  const HclValue* find(std::string_view name) const;
};

// The file as a block without type.
Result<HclBlock> parse_hcl(const std::string& file, std::string_view text);

}  // namespace rightsize::manifests
