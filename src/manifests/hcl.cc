#include "manifests/hcl.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::manifests {
namespace {

constexpr int kDeepest = 64;

bool starts_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_word(char c) { return starts_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-'; }

class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  Result<HclValue> parse() {
    HclValue root;
    root.kind = HclValue::Kind::kObject;
    root.line = 1;
    body(root, 0, false);
    if (!mistake_.empty()) return fail(bad_input(mistake_).at(place_in(file_, text_, mistake_at_)));
    return root;
  }

 private:
  bool done() const { return at_ >= text_.size() || !mistake_.empty(); }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }
  void step() {
    if (here() == '\n') ++line_;
    ++at_;
  }
  void wrong(std::string what, std::size_t where) {
    if (!mistake_.empty()) return;
    mistake_ = std::move(what);
    mistake_at_ = where;
  }

  bool comment() {
    if (here() == '#' || (here() == '/' && next() == '/')) {
      while (at_ < text_.size() && here() != '\n') step();
      return true;
    }
    if (here() != '/' || next() != '*') return false;
    const std::size_t begin = at_;
    for (at_ += 2; !(here() == '*' && next() == '/'); step()) {
      if (at_ >= text_.size()) {
        wrong("a comment never ends", begin);
        return true;
      }
    }
    at_ += 2;
    return true;
  }
  void skip(bool lines) {
    while (!done()) {
      if (comment()) continue;
      if (here() == '\n' ? !lines : here() != ' ' && here() != '\t' && here() != '\r') return;
      step();
    }
  }

  std::string word() {
    const std::size_t begin = at_;
    while (in_word(here())) step();
    return std::string(text_.substr(begin, at_ - begin));
  }

  // Skips from the opening quote to after the closing one. ${ } holds an expression that may itself contain quotes.
  void pass_string() {
    const std::size_t begin = at_;
    step();
    while (!done() && here() != '"') {
      if (here() == '\\') {
        step();
        if (at_ < text_.size()) step();
      } else if ((here() == '$' || here() == '%') && next() == '{') {
        at_ += 2;
        pass_until('}', begin);
      } else if (here() == '\n') {
        break;
      } else {
        step();
      }
    }
    if (here() != '"') return wrong("a string never ends", begin);
    step();
  }
  // Skips to after the matching closing bracket.
  void pass_until(char close, std::size_t begin) {
    if (++depth_ > kDeepest) return wrong("brackets are nested too deeply", begin);
    while (!done() && here() != close) {
      if (comment()) continue;
      pass_one(begin);
    }
    --depth_;
    if (done()) return wrong("a bracket is never closed", begin);
    step();
  }
  void pass_one(std::size_t begin) {
    const char c = here();
    if (c == '"') return pass_string();
    if (c == '<' && next() == '<') return (void)heredoc();
    step();
    if (c == '{') return pass_until('}', begin);
    if (c == '[') return pass_until(']', begin);
    if (c == '(') return pass_until(')', begin);
  }

  // <<EOT ... EOT, <<-EOT. Its text; empty if this is not a heredoc.
  std::string heredoc() {
    const std::size_t begin = at_;
    at_ += 2;
    if (here() == '-') step();
    const std::string mark = word();
    if (mark.empty()) return {};
    while (at_ < text_.size() && here() != '\n') step();
    if (at_ < text_.size()) step();
    const std::size_t first = at_;
    while (at_ < text_.size()) {
      const std::size_t line_begin = at_;
      while (at_ < text_.size() && here() != '\n') step();
      if (trim(text_.substr(line_begin, at_ - line_begin)) == mark) {
        return std::string(text_.substr(first, line_begin - first));
      }
      if (at_ < text_.size()) step();
    }
    wrong(fmt::format("text after <<{} never ends", mark), begin);
    return {};
  }

  static std::string unescaped(std::string_view inner) {
    std::string plain;
    for (std::size_t i = 0; i < inner.size(); ++i) {
      if (inner[i] != '\\' || i + 1 == inner.size()) {
        plain += inner[i];
        continue;
      }
      const char escaped = inner[++i];
      plain += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
    return plain;
  }

  // Whether an expression ends here: only a comment, a comma or a closing bracket may follow on the line.
  bool at_end() const {
    const char c = here();
    return at_ >= text_.size() || c == '\n' || c == ',' || c == ']' || c == '}' || c == ')' || c == '#' ||
           (c == '/' && (next() == '/' || next() == '*'));
  }

  HclValue expression() {
    HclValue value;
    value.line = line_;
    const std::size_t begin = at_;
    const int begin_line = line_;
    if (literal(value)) {
      skip(false);
      if (at_end()) return value;
    }
    // Not a literal: kept as written, to the end of the line or of the enclosing brackets.
    at_ = begin, line_ = begin_line;
    value = {};
    value.kind = HclValue::Kind::kExpression;
    value.line = begin_line;
    while (!done() && !at_end()) pass_one(begin);
    value.text = trim(text_.substr(begin, at_ - begin));
    return value;
  }

  bool literal(HclValue& value) {
    const char c = here();
    if (c == '"') return string(value);
    if (c == '<' && next() == '<') {
      value.kind = HclValue::Kind::kString;
      value.text = heredoc();
      return true;
    }
    if (c == '[') return list(value);
    if (c == '{') return object(value);
    if (starts_word(c)) return keyword(value);
    const std::size_t begin = at_;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value.number);
    if (error != std::errc{}) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    value.kind = HclValue::Kind::kNumber;
    value.text = text_.substr(begin, at_ - begin);
    return true;
  }

  bool string(HclValue& value) {
    const std::size_t begin = at_;
    pass_string();
    if (!mistake_.empty()) return true;
    const std::string_view inner = text_.substr(begin + 1, at_ - begin - 2);
    const bool templated = inner.find("${") != std::string_view::npos || inner.find("%{") != std::string_view::npos;
    value.kind = templated ? HclValue::Kind::kExpression : HclValue::Kind::kString;
    value.text = templated ? std::string(text_.substr(begin, at_ - begin)) : unescaped(inner);
    return true;
  }

  bool keyword(HclValue& value) {
    const std::string name = word();
    if (name == "null")
      value.kind = HclValue::Kind::kNull;
    else if (name == "true" || name == "false")
      value.kind = HclValue::Kind::kBool, value.boolean = name == "true";
    else
      return false;
    return true;
  }

  // [for x in y : z] is an expression.
  bool is_for() {
    const std::size_t at = at_;
    const int line = line_;
    skip(true);
    const bool found = text_.substr(at_).starts_with("for ");
    at_ = at, line_ = line;
    return found;
  }

  // Entries up to the closing bracket, each read by `entry`. False if it is not a literal.
  template <class Entry>
  bool bracketed(HclValue& value, HclValue::Kind kind, char close, const Entry& read_entry) {
    const std::size_t begin = at_;
    step();
    if (is_for() || ++depth_ > kDeepest) return false;
    value.kind = kind;
    for (skip(true); !done() && here() != close; skip(true)) {
      const std::size_t before = at_;
      read_entry();
      if (here() == ',') step();
      if (at_ == before) step();
    }
    --depth_;
    if (done()) return wrong("a bracket is never closed", begin), true;
    step();
    return true;
  }

  bool list(HclValue& value) {
    return bracketed(value, HclValue::Kind::kList, ']', [&] {
      value.items.push_back(expression());
      skip(true);
    });
  }

  bool object(HclValue& value) {
    return bracketed(value, HclValue::Kind::kObject, '}', [&] {
      std::string key = object_key();
      skip(false);
      if (here() != '=' && here() != ':') return;
      step();
      skip(false);
      value.members.emplace_back(std::move(key), expression());
      skip(false);
    });
  }

  std::string object_key() {
    const std::size_t begin = at_;
    if (here() == '"') {
      pass_string();
      return mistake_.empty() ? std::string(text_.substr(begin + 1, at_ - begin - 2)) : std::string();
    }
    if (here() == '(') {
      pass_one(begin);
      return std::string(text_.substr(begin, at_ - begin));
    }
    return word();
  }

  void body(HclValue& into, int depth, bool closes) {
    const std::size_t begin = at_;
    if (depth > kDeepest) return wrong("blocks are nested too deeply", begin);
    for (skip(true); !done(); skip(true)) {
      if (here() == '}' && closes) {
        step();
        return;
      }
      const std::size_t before = at_;
      entry(into, depth);
      if (at_ == before) step();
    }
    if (closes && mistake_.empty()) wrong("a block is never closed", begin == 0 ? 0 : begin - 1);
  }

  // An attribute, or a block.
  void entry(HclValue& into, int depth) {
    const int line = line_;
    const std::string name = here() == '"' ? object_key() : word();
    if (name.empty()) return;
    skip(false);
    if (here() == '=' && next() != '=') {
      step();
      skip(false);
      into.members.emplace_back(name, expression());
      return;
    }
    HclValue block;
    block.kind = HclValue::Kind::kObject;
    block.is_block = true;
    block.line = line;
    while (!done() && here() != '{' && here() != '\n') {
      if (here() == '"' || starts_word(here())) {
        block.labels.push_back(here() == '"' ? object_key() : word());
      } else {
        step();
      }
      skip(false);
    }
    if (here() != '{') return;
    step();
    body(block, depth + 1, true);
    into.members.emplace_back(name, std::move(block));
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, depth_ = 0;
  std::string mistake_;
  std::size_t mistake_at_ = 0;
};

}  // namespace

const HclValue* HclValue::find(std::string_view name) const {
  const auto found =
      std::ranges::find(members, name, [](const auto& member) { return std::string_view(member.first); });
  return found == members.end() ? nullptr : &found->second;
}

Result<HclValue> parse_hcl(const std::string& file, std::string_view text) { return Parser(file, text).parse(); }

}  // namespace rightsize::manifests
