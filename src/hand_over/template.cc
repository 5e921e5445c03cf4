#include "hand_over/template.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/embedded.h"
#include "base/text.h"

namespace rightsize::hand_over {
namespace {

std::string on_one_line(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return out;
}

// A tag and the part of the text it replaces: the whole line if the tag is alone on it.
struct Tag {
  char kind = ' ';  // ' ' for a plain value
  std::string_view name, indent;
  std::size_t begin = 0, end = 0;
};

// Tags that take their whole line when they are alone on it.
constexpr std::string_view kTakesLine = "#^/&>";

std::optional<Tag> next_tag(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("{{", from); at != text.npos; at = text.find("{{", at + 1)) {
    const std::size_t close = text.find("}}", at);
    if (close == text.npos) return std::nullopt;
    std::string_view inside = text.substr(at + 2, close - at - 2);
    if (inside.empty() || inside.front() == ' ') continue;
    Tag tag{' ', inside, {}, at, close + 2};
    if (std::isalpha(static_cast<unsigned char>(inside.front())) == 0) {
      tag.kind = inside.front();
      tag.name = inside.substr(1, inside.size() - (tag.kind == '"' || tag.kind == '\'' ? 2 : 1));
    }
    const std::size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;  // npos + 1 is 0
    const std::size_t rest = std::min(text.find('\n', tag.end), text.size());
    const bool alone = trim(text.substr(line, at - line)).empty() && trim(text.substr(tag.end, rest - tag.end)).empty();
    if (alone && kTakesLine.find(tag.kind) != kTakesLine.npos) {
      tag.indent = text.substr(line, at - line);
      tag.begin = line;
      tag.end = std::min(rest + 1, text.size());
    }
    return tag;
  }
  return std::nullopt;
}

}  // namespace

class Filler {
 public:
  explicit Filler(const Facts& facts) : scopes_{&facts} {}

  std::string fill(std::string_view text) {
    std::string out;
    std::size_t at = 0;
    while (const std::optional<Tag> tag = next_tag(text, at)) {
      out += text.substr(at, tag->begin - at);
      at = tag->end;
      if (tag->kind != '#' && tag->kind != '^') {
        out += value(*tag);
        continue;
      }
      const Tag close = closing(text, tag->end);
      out += section(*tag, text.substr(tag->end, close.begin - tag->end));
      at = close.end;
    }
    return out.append(text.substr(at));
  }

 private:
  const Facts::Value* find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = (*scope)->values_.find(name);
      if (found != (*scope)->values_.end()) return &found->second;
    }
    return nullptr;
  }

  std::string value(const Tag& tag) {
    if (tag.kind == '>') return block(fill(embedded_file(fmt::format("templates/{}", tag.name))), tag.indent);
    const Facts::Value* found = find(tag.name);
    const std::string text = found != nullptr ? found->text : fmt::format("REPLACE-BY-{}", tag.name);
    switch (tag.kind) {
      case '"':
        return double_quoted(text);
      case '\'':
        return single_quoted(text);
      case '&':
        return block(text, tag.indent);
      default:
        return on_one_line(text);
    }
  }

  static std::string block(const std::string& text, std::string_view indent) {
    const bool ends = text.empty() || text.back() == '\n';
    return indented(ends ? text : text + "\n", indent);
  }

  std::string section(const Tag& tag, std::string_view body) {
    const Facts::Value* found = find(tag.name);
    const bool is_true = found != nullptr && found->is_true;
    if (is_true != (tag.kind == '#')) return {};
    if (!is_true || found->list.empty()) return fill(body);
    std::string out;
    for (const Facts& entry : found->list) {
      scopes_.push_back(&entry);
      out += fill(body);
      scopes_.pop_back();
    }
    return out;
  }

  // The closing tag of the section that begins at `from`.
  static Tag closing(std::string_view text, std::size_t from) {
    int depth = 1;
    while (const std::optional<Tag> tag = next_tag(text, from)) {
      from = tag->end;
      if (tag->kind == '#' || tag->kind == '^') ++depth;
      if (tag->kind == '/' && --depth == 0) return *tag;
    }
    return {'/', {}, {}, text.size(), text.size()};
  }

  std::vector<const Facts*> scopes_;
};

Facts& Facts::set(std::string name, std::string text) {
  const bool is_true = !text.empty();
  values_[std::move(name)] = {std::move(text), {}, is_true};
  return *this;
}

Facts& Facts::set(std::string name, std::vector<Facts> list) {
  const bool is_true = !list.empty();
  values_[std::move(name)] = {{}, std::move(list), is_true};
  return *this;
}

std::string fill_in_text(std::string_view text, const Facts& facts) { return Filler(facts).fill(text); }

std::string fill_in(std::string_view name, const Facts& facts) {
  return fill_in_text(embedded_file(fmt::format("templates/{}", name)), facts);
}

std::string command(std::string_view name, const Facts& facts, std::string_view joined_by) {
  const std::string text = fill_in(name, facts);
  return fmt::format("{}\n", fmt::join(split_list(text, '\n'), joined_by));
}

std::string object_name(std::string_view text) {
  constexpr std::size_t kLongest = 50;  // of the 63 allowed: controllers append suffixes
  std::string name;
  for (char c : to_lower(text)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min(name.size(), kLongest));
  while (!name.empty() && name.back() == '-') name.pop_back();
  if (name.empty()) return "work";
  // The name of a Service must begin with a letter.
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "work-" + name : name;
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : on_one_line(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : on_one_line(text)) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  bool begins = true;
  for (char c : text) {
    if (begins && c != '\n') out += indent;
    out += c;
    begins = c == '\n';
  }
  return out;
}

}  // namespace rightsize::hand_over
