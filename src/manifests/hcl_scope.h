// The values of Terraform expressions, as far as files determine them: variables, locals, conditions, `for`, indexes
// and the common functions. Whatever depends on a cloud, a state file or another module has no value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "manifests/hcl.h"

namespace rightsize::manifests {

class HclScope {
 public:
  using Names = std::map<std::string, HclValue, std::less<>>;

  void add_file(const HclValue& root, bool values_only);  // values_only: a .tfvars file
  // Azure's templates have names without a prefix: size instead of var.size.
  void use_bare_names() { bare_names_ = true; }
  void give(const std::string& variable, HclValue value) { given_[variable] = std::move(value); }

  // Names without a prefix, such as `each` within a resource with for_each.
  void bind(const std::string& name, HclValue value) { bound_[name] = std::move(value); }
  void unbind(const std::string& name) { bound_.erase(name); }

  // The value itself, or that of an expression. Members of lists and objects may still be expressions. Empty: unknown.
  std::optional<HclValue> resolve(const HclValue& value) const;

  // The value with every inner expression replaced if it has a value. Values from other places get the line of the
  // expression that refers to them.
  HclValue expanded(const HclValue& value) const;

 private:
  friend class HclExpression;
  std::string filled_in(std::string_view text, int& budget) const;

  Names defaults_, given_, locals_, bound_;
  bool bare_names_ = false;
};

}  // namespace rightsize::manifests
