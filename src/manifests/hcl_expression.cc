#include "manifests/hcl_expression.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "manifests/hcl_functions.h"

namespace rightsize::manifests {
namespace {

using Kind = HclValue::Kind;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

}  // namespace

HclExpression::Maybe HclExpression::value() {
  Maybe found = condition();
  skip();
  return at_ == text_.size() && !broken_ ? found : std::nullopt;
}

void HclExpression::skip() {
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

bool HclExpression::take(std::string_view token) {
  skip();
  if (!text_.substr(at_).starts_with(token)) return false;
  at_ += token.size();
  return true;
}

bool HclExpression::take_word(std::string_view word) {
  skip();
  if (!text_.substr(at_).starts_with(word)) return false;
  if (at_ + word.size() < text_.size() && in_name(text_[at_ + word.size()])) return false;
  at_ += word.size();
  return true;
}

HclExpression::Maybe HclExpression::fail() {
  broken_ = true;
  at_ = text_.size();
  return std::nullopt;
}

HclExpression::Maybe HclExpression::with_members() {
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

HclExpression::Maybe HclExpression::member(const Maybe& of, const std::string& name) {
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

std::string HclExpression::word() {
  const std::size_t begin = at_;
  while (in_name(here())) ++at_;
  return std::string(text_.substr(begin, at_ - begin));
}

HclExpression::Maybe HclExpression::primary() {
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

HclExpression::Maybe HclExpression::named() {
  const std::string name = word();
  if (name == "true" || name == "false") return hcl_bool(name == "true");
  if (name == "null") return HclValue{};
  if (here() == '(') return call(name);
  if (const auto found = names_.find(name); found != names_.end()) return settled(found->second);
  if (!scope_.bare_names_ && ((name != "var" && name != "local") || here() != '.')) return std::nullopt;
  if (!scope_.bare_names_) ++at_;
  const std::string which = scope_.bare_names_ ? name : word();
  const auto look = [&](const HclScope::Names& names) -> Maybe {
    const auto found = names.find(which);
    if (found == names.end()) return std::nullopt;
    if (found->second.kind != Kind::kExpression) return found->second;
    return HclExpression(scope_, found->second.text, {}, depth_ + 1, budget_).value();
  };
  if (name == "local" || (scope_.bare_names_ && scope_.locals_.contains(which))) return look(scope_.locals_);
  return scope_.given_.contains(which) ? look(scope_.given_) : look(scope_.defaults_);
}

HclExpression::Maybe HclExpression::settled(const HclValue& value) {
  if (value.kind != Kind::kExpression) return value;
  return HclExpression(scope_, value.text, names_, depth_ + 1, budget_).value();
}

HclExpression::Maybe HclExpression::call(const std::string& name) {
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

HclExpression::Maybe HclExpression::string() {
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

HclValue HclExpression::part() {
  skip();
  const std::size_t begin = at_;
  Maybe value = condition();
  if (value) return *std::move(value);
  HclValue open;
  open.kind = Kind::kExpression;
  open.text = trim(text_.substr(begin, at_ - begin));
  return open;
}

HclExpression::Maybe HclExpression::list() {
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

HclExpression::Maybe HclExpression::object() {
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

HclExpression::Maybe HclExpression::each_of(char close) {
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
      // The first pass only finds the end of the body.
      known = known && (item == nullptr || truth.has_value());
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

}  // namespace rightsize::manifests
