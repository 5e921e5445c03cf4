// Reads one expression of HashiCorp's language and its value at the same time; for HclScope.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "manifests/hcl_scope.h"

namespace rightsize::manifests {

// A part without a value is still read to its end.
class HclExpression {
 public:
  using Maybe = std::optional<HclValue>;

  static constexpr int kDeepest = 48;  // nested brackets, and steps from one name to the next

  // `budget`: how many values may still be computed; names that refer to each other can grow without end.
  HclExpression(const HclScope& scope, std::string_view text, HclScope::Names names, int depth, int& budget)
      : scope_(scope), text_(text), names_(std::move(names)), depth_(depth), budget_(budget) {}

  Maybe value();

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip();
  bool take(std::string_view token);
  bool take_word(std::string_view word);
  Maybe fail();
  Maybe condition();
  Maybe any_of();
  Maybe all_of();
  Maybe compared();
  static Maybe computed(const Maybe& left, char sign, const Maybe& right);
  Maybe sum();
  Maybe product();
  Maybe with_sign();
  // a.b, a["b"], a[0]
  Maybe with_members();
  Maybe member(const Maybe& of, const std::string& name);
  std::string word();
  Maybe primary();
  Maybe named();
  // The value of a part that may itself be an expression.
  Maybe settled(const HclValue& value);
  Maybe call(const std::string& name);
  Maybe string();
  // A member with an unknown value stays an expression.
  HclValue part();
  Maybe list();
  Maybe object();
  // [for v in list : value if test], {for k, v in map : key => value if test}
  Maybe each_of(char close);

  const HclScope& scope_;
  std::string_view text_;
  HclScope::Names names_;
  std::size_t at_ = 0;
  int depth_;
  int& budget_;
  bool broken_ = false;
};

}  // namespace rightsize::manifests
