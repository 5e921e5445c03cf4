// The names of one Terraform module: variables with their defaults and given values, locals.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "manifests/hcl.h"

namespace rightsize::manifests {

class HclScope {
 public:
  void add_file(const HclValue& root, bool values_only);  // values_only: a .tfvars file

  // A literal: the value itself, or that of a variable, a local, or text that contains them. Nothing: unknown.
  std::optional<HclValue> resolve(const HclValue& value) const { return resolve(value, 0); }

 private:
  std::optional<HclValue> resolve(const HclValue& value, int depth) const;
  std::optional<HclValue> follow(std::string_view path, int depth) const;
  std::optional<HclValue> interpolate(std::string_view quoted, int depth) const;

  std::map<std::string, HclValue, std::less<>> defaults_, given_, locals_;
};

}  // namespace rightsize::manifests
