#include "manifests/hcl_scope.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "manifests/hcl_functions.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;
using Maybe = std::optional<HclValue>;

constexpr int kDeepest = 48;         // nested brackets, and steps from one name to the next
constexpr int kMostValues = 20'000;  // of one expression: names that refer to each other can grow without end

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

}  // namespace

// Reads one expression and its value at the same time. A part without a value is still read to its end.
class HclExpression {
 public:
  HclExpression(const HclScope& scope, std::string_view text, HclScope::Names names, int depth, int& budget)
      : scope_(scope), text_(text), names_(std::move(names)), depth_(depth), budget_(budget) {}

  Maybe value() {
    Maybe found = condition();
    skip();
    return at_ == text_.size() && !broken_ ? found : std::nullopt;
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(here())) != 0) {
        ++at_;
      } else if (here() == '#' || text_.substr(at_).starts_with("//")) {
        while (at_ < text_.size() && here() != '\n') ++at_;
      } else if (text_.substr(at_).starts_with("/*")) {
        at_ = std::min(text_.size(),
                       text_.find("*/", at_) == std::string_view::npos ? text_.size() : text_.find("*/", at_) + 2);
      } else {
        return;
      }
    }
  }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  bool take_word(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    if (at_ + word.size() < text_.size() && in_name(text_[at_ + word.size()])) return false;
    at_ += word.size();
    return true;
  }
  Maybe fail() {
    broken_ = true;
    at_ = text_.size();
    return std::nullopt;
  }

  Maybe condition() {
    if (++depth_ > kDeepest || --budget_ < 0) return fail();
    Maybe test = any_of();
    if (take("?")) {
      Maybe yes = condition();
      if (!take(":")) return fail();
      Maybe no = condition();
      const std::optional<bool> truth = test ? truth_of(*test) : std::nullopt;
      test = truth ? (*truth ? yes : no) : std::nullopt;
    }
    --depth_;
    return test;
  }
  Maybe any_of() {
    Maybe left = all_of();
    while (take("||")) {
      const Maybe right = all_of();
      const auto a = left ? truth_of(*left) : std::nullopt, b = right ? truth_of(*right) : std::nullopt;
      left = (a && *a) || (b && *b) ? Maybe(hcl_bool(true)) : a && b ? Maybe(hcl_bool(false)) : std::nullopt;
    }
    return left;
  }
  Maybe all_of() {
    Maybe left = compared();
    while (take("&&")) {
      const Maybe right = compared();
      const auto a = left ? truth_of(*left) : std::nullopt, b = right ? truth_of(*right) : std::nullopt;
      left = (a && !*a) || (b && !*b) ? Maybe(hcl_bool(false)) : a && b ? Maybe(hcl_bool(true)) : std::nullopt;
    }
    return left;
  }
  Maybe compared() {
    Maybe left = sum();
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!take(sign)) continue;
      const Maybe right = sum();
      if (!left || !right) return std::nullopt;
      if (sign == "==" || sign == "!=") return hcl_bool((text_of(*left) == text_of(*right)) == (sign == "=="));
      const auto a = number_of(*left), b = number_of(*right);
      if (!a || !b) return std::nullopt;
      return hcl_bool(sign == "<" ? *a < *b : sign == ">" ? *a > *b : sign == "<=" ? *a <= *b : *a >= *b);
    }
    return left;
  }
  static Maybe computed(const Maybe& left, char sign, const Maybe& right) {
    const double a = left ? number_of(*left).value_or(NAN) : NAN, b = right ? number_of(*right).value_or(NAN) : NAN;
    if (std::isnan(a) || std::isnan(b) || ((sign == '/' || sign == '%') && b == 0)) return std::nullopt;
    return hcl_number(sign == '+'   ? a + b
                      : sign == '-' ? a - b
                      : sign == '*' ? a * b
                      : sign == '/' ? a / b
                                    : std::fmod(a, b));
  }
  Maybe sum() {
    Maybe left = product();
    while (true) {
      if (take("+"))
        left = computed(left, '+', product());
      else if (take("-"))
        left = computed(left, '-', product());
      else
        return left;
    }
  }
  Maybe product() {
    Maybe left = with_sign();
    while (true) {
      if (take("*"))
        left = computed(left, '*', with_sign());
      else if (take("/"))
        left = computed(left, '/', with_sign());
      else if (take("%"))
        left = computed(left, '%', with_sign());
      else
        return left;
    }
  }
  Maybe with_sign() {
    if (depth_ > kDeepest) return fail();
    if (take("-")) return computed(hcl_number(0), '-', with_sign());
    if (take("!")) {
      const Maybe inner = with_sign();
      const std::optional<bool> truth = inner ? truth_of(*inner) : std::nullopt;
      return truth ? Maybe(hcl_bool(!*truth)) : std::nullopt;
    }
    return with_members();
  }

  // a.b, a["b"], a[0]
  Maybe with_members() {
    Maybe value = primary();
    while (at_ < text_.size() && !broken_) {
      if (here() == '.') {
        ++at_;
        if (here() == '*') {
          ++at_;
          value = std::nullopt;
          continue;
        }
        value = member(value, word());
      } else if (here() == '[') {
        ++at_;
        skip();
        if (take("*")) {
          value = std::nullopt;
        } else {
          const Maybe index = condition();
          value = index ? member(value, text_of(*index)) : std::nullopt;
        }
        if (!take("]")) return fail();
      } else {
        break;
      }
    }
    return value;
  }
  Maybe member(const Maybe& of, const std::string& name) {
    if (!of) return std::nullopt;
    if (of->kind == Kind::kObject) {
      const HclValue* found = of->find(name);
      return found == nullptr ? std::nullopt : settled(*found);
    }
    std::size_t index = 0;
    const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), index);
    if (of->kind != Kind::kList || problem != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return index < of->items.size() ? settled(of->items[index]) : std::nullopt;
  }

  std::string word() {
    const std::size_t begin = at_;
    while (in_name(here())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Maybe primary() {
    skip();
    const char c = here();
    if (c == '"') return string();
    if (c == '(') {
      ++at_;
      Maybe inner = condition();
      return take(")") ? inner : fail();
    }
    if (c == '[') return list();
    if (c == '{') return object();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      double number = 0;
      const auto [end, problem] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
      if (problem != std::errc()) return fail();
      at_ = static_cast<std::size_t>(end - text_.data());
      return hcl_number(number);
    }
    if (std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '_') return fail();
    return named();
  }

  Maybe named() {
    const std::string name = word();
    if (name == "true" || name == "false") return hcl_bool(name == "true");
    if (name == "null") return HclValue{};
    if (here() == '(') return call(name);
    if (const auto found = names_.find(name); found != names_.end()) return settled(found->second);
    if ((name != "var" && name != "local") || here() != '.') return std::nullopt;
    ++at_;
    const std::string which = word();
    const auto look = [&](const HclScope::Names& names) -> Maybe {
      const auto found = names.find(which);
      if (found == names.end()) return std::nullopt;
      if (found->second.kind != Kind::kExpression) return found->second;
      return HclExpression(scope_, found->second.text, {}, depth_ + 1, budget_).value();
    };
    if (name == "local") return look(scope_.locals_);
    return scope_.given_.contains(which) ? look(scope_.given_) : look(scope_.defaults_);
  }

  // The value of a part that may itself be an expression.
  Maybe settled(const HclValue& value) {
    if (value.kind != Kind::kExpression) return value;
    return HclExpression(scope_, value.text, names_, depth_ + 1, budget_).value();
  }

  Maybe call(const std::string& name) {
    ++at_;
    std::vector<Maybe> arguments;
    while (!take(")")) {
      Maybe argument = condition();
      const bool rest = take("...");
      // merge(list...) takes the items as arguments.
      if (rest && argument && argument->kind == Kind::kList) {
        for (const HclValue& item : argument->items) arguments.push_back(settled(item));
      } else {
        arguments.push_back(rest ? std::nullopt : std::move(argument));
      }
      if (broken_ || (!take(",") && here() != ')')) return fail();
    }
    return hcl_call(name, std::move(arguments), [this](const HclValue& value) { return settled(value); });
  }

  Maybe string() {
    ++at_;
    HclValue value;
    value.kind = Kind::kString;
    bool known = true;
    while (here() != '"') {
      if (at_ >= text_.size()) return fail();
      if (here() == '\\' && at_ + 1 < text_.size()) {
        const char escaped = text_[at_ + 1];
        value.text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
        at_ += 2;
      } else if (text_.substr(at_).starts_with("${")) {
        at_ += 2;
        const Maybe part = condition();
        if (!take("}")) return fail();
        known = known && part && part->kind != Kind::kList && part->kind != Kind::kObject;
        if (known) value.text += text_of(*part);
      } else if (text_.substr(at_).starts_with("%{")) {
        const std::size_t close = text_.find('}', at_);
        if (close == std::string_view::npos) return fail();
        at_ = close + 1;
        known = false;
      } else {
        value.text += text_[at_++];
      }
    }
    ++at_;
    return known ? Maybe(value) : std::nullopt;
  }

  // A member whose value is unknown stays an expression.
  HclValue part() {
    skip();
    const std::size_t begin = at_;
    Maybe value = condition();
    if (value) return *std::move(value);
    HclValue open;
    open.kind = Kind::kExpression;
    open.text = trim(text_.substr(begin, at_ - begin));
    return open;
  }

  Maybe list() {
    ++at_;
    if (take_word("for")) return each_of(']');
    HclValue value;
    value.kind = Kind::kList;
    while (!take("]")) {
      value.items.push_back(part());
      if (broken_ || at_ >= text_.size()) return fail();
      (void)take(",");
    }
    return value;
  }

  Maybe object() {
    ++at_;
    if (take_word("for")) return each_of('}');
    HclValue value;
    value.kind = Kind::kObject;
    while (!take("}")) {
      skip();
      const std::size_t begin = at_;
      std::string key;
      if (here() == '"' || here() == '(') {
        const Maybe name = primary();
        key = name ? text_of(*name) : std::string(text_.substr(begin, at_ - begin));
      } else {
        key = word();
      }
      if (key.empty() || (!take("=") && !take(":"))) return fail();
      value.members.emplace_back(std::move(key), part());
      if (broken_ || at_ >= text_.size()) return fail();
      (void)take(",");
    }
    return value;
  }

  // [for v in list : value if test], {for k, v in map : key => value if test}
  Maybe each_of(char close) {
    skip();
    std::string key, name = word();
    if (take(",")) {
      skip();
      key = name;
      name = word();
    }
    if (!take_word("in")) return fail();
    const Maybe all = condition();
    if (!take(":")) return fail();
    const std::size_t body = at_;
    HclValue made;
    made.kind = close == ']' ? Kind::kList : Kind::kObject;
    bool known = all.has_value();
    const auto once = [&](const HclValue* index, const HclValue* item) {
      at_ = body;
      const HclScope::Names outer = names_;
      names_.erase(name), names_.erase(key);
      if (item != nullptr) names_[name] = *item;
      if (index != nullptr && !key.empty()) names_[key] = *index;
      HclValue first = part(), second;
      if (close == '}') {
        if (!take("=>")) (void)fail();
        second = part();
        if (take("...")) known = false;
      }
      bool wanted = true;
      if (take_word("if")) {
        const Maybe test = condition();
        const std::optional<bool> truth = test ? truth_of(*test) : std::nullopt;
        known = known && truth.has_value();
        wanted = truth.value_or(false);
      }
      names_ = outer;
      if (item == nullptr || !wanted) return;
      if (close == ']')
        made.items.push_back(std::move(first));
      else
        made.members.emplace_back(text_of(first), std::move(second));
    };
    once(nullptr, nullptr);
    if (all && !broken_) {
      for (std::size_t i = 0; i < all->items.size() && !broken_; ++i) {
        const HclValue index = hcl_number(static_cast<double>(i));
        const Maybe item = settled(all->items[i]);
        once(&index, item ? &*item : &all->items[i]);
      }
      for (const auto& [member_name, member_value] : all->members) {
        if (broken_) break;
        const HclValue index = hcl_string(member_name);
        once(&index, &member_value);
      }
    }
    if (!take(std::string_view(&close, 1))) return fail();
    return known ? Maybe(made) : std::nullopt;
  }

  const HclScope& scope_;
  std::string_view text_;
  HclScope::Names names_;
  std::size_t at_ = 0;
  int depth_;
  int& budget_;
  bool broken_ = false;
};

namespace {

void set_lines(HclValue& value, int line) {
  value.line = line;
  for (HclValue& item : value.items) set_lines(item, line);
  for (auto& [name, member] : value.members) set_lines(member, line);
}

}  // namespace

void HclScope::add_file(const HclValue& root, bool values_only) {
  for (const auto& [name, value] : root.members) {
    if (values_only) {
      given_[name] = value;
    } else if (name == "variable" && value.labels.size() == 1) {
      const HclValue* otherwise = value.find("default");
      if (otherwise != nullptr && otherwise->kind != Kind::kNull) defaults_[value.labels[0]] = *otherwise;
    } else if (name == "locals") {
      for (const auto& [local, expression] : value.members) locals_[local] = expression;
    }
  }
}

// Text after <<EOT with its ${...}, those without a value as they are.
std::string HclScope::filled_in(std::string_view text, int& budget) const {
  std::string filled;
  while (true) {
    const std::size_t open = text.find("${");
    filled += text.substr(0, open);
    if (open == std::string_view::npos) return filled;
    std::size_t close = open + 2;
    for (int depth = 1; close < text.size() && text[close] != '\n'; ++close) {
      if (text[close] == '{') ++depth;
      if (text[close] == '}' && --depth == 0) break;
    }
    if (close >= text.size() || text[close] != '}') return filled += text.substr(open);
    const Maybe value = HclExpression(*this, text.substr(open + 2, close - open - 2), bound_, 0, budget).value();
    const bool scalar = value && value->kind != Kind::kList && value->kind != Kind::kObject;
    filled += scalar ? text_of(*value) : std::string(text.substr(open, close + 1 - open));
    text.remove_prefix(close + 1);
  }
}

std::optional<HclValue> HclScope::resolve(const HclValue& value) const {
  if (value.kind != Kind::kExpression) return value;
  int budget = kMostValues;
  return HclExpression(*this, value.text, bound_, 0, budget).value();
}

HclValue HclScope::expanded(const HclValue& value) const {
  int budget = kMostValues;
  const auto expand = [&](const auto& self, const HclValue& one, int depth) -> HclValue {
    if (depth > kDeepest || --budget < 0) return one;
    HclValue whole = one;
    if (one.kind == Kind::kString && one.text.find("${") != std::string::npos) whole.text = filled_in(one.text, budget);
    if (one.kind == Kind::kExpression) {
      Maybe known = HclExpression(*this, one.text, bound_, 0, budget).value();
      if (!known) return one;
      whole = *std::move(known);
      set_lines(whole, one.line);
    }
    for (HclValue& item : whole.items) item = self(self, item, depth + 1);
    for (auto& [name, member] : whole.members) member = self(self, member, depth + 1);
    return whole;
  };
  return expand(expand, value, 0);
}

}  // namespace rightsize::manifests
