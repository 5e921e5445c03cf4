#include "base/yaml.h"

#include <set>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace rightsize {
namespace {

struct Refused {
  YAML::Mark mark;
  std::string why;
};

// Builds our own tree from yaml-cpp's events: faster than its node graph, and nothing of it outlives the parse.
class Builder : public YAML::EventHandler {
 public:
  YamlValue root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark&, const std::string&) override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(make(YamlValue::Kind::kNull, mark)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw Refused{mark, "aliases (*name) are not read"}; }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
    YamlValue scalar = make(YamlValue::Kind::kScalar, mark);
    const bool plain = tag == "?";  // quoted ones have the tag "!"
    if (plain && (value.empty() || value == "~" || value == "null")) scalar.kind = YamlValue::Kind::kNull;
    scalar.scalar = value;
    add(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open_.push_back(make(YamlValue::Kind::kList, mark));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open_.push_back(make(YamlValue::Kind::kMapping, mark));
    open_keys_.emplace_back();
  }
  void OnMapEnd() override {
    open_keys_.pop_back();
    close();
  }

 private:
  static YamlValue make(YamlValue::Kind kind, const YAML::Mark& mark) {
    YamlValue value;
    value.kind = kind;
    value.line = mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line);
    value.column = mark.column < 0 ? 0 : static_cast<std::size_t>(mark.column);
    return value;
  }
  void close() {
    YamlValue done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done));
  }
  void add(YamlValue value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().kind == YamlValue::Kind::kList) {
      open_.back().list.push_back(std::move(value));
    } else if (std::vector<YamlValue>& key = open_keys_.back(); key.empty()) {
      key.push_back(std::move(value));
    } else {
      open_.back().mapping.emplace_back(std::move(key.front()), std::move(value));
      key.clear();
    }
  }

  std::vector<YamlValue> open_;
  std::vector<std::vector<YamlValue>> open_keys_;  // of every open mapping: the key waiting for its value
};

}  // namespace

std::string_view name_of(YamlValue::Kind kind) {
  switch (kind) {
    case YamlValue::Kind::kNull:
      return "nothing";
    case YamlValue::Kind::kScalar:
      return "a single value";
    case YamlValue::Kind::kList:
      return "a list";
    case YamlValue::Kind::kMapping:
      return "a mapping";
  }
  return "";
}

const YamlValue* YamlValue::find(std::string_view key) const {
  for (const auto& [name, value] : mapping) {
    if (name.kind == Kind::kScalar && name.scalar == key) return &value;
  }
  return nullptr;
}

Result<YamlDocument> YamlDocument::parse(std::string file, std::string text) {
  YamlDocument document;
  document.file_ = std::move(file);
  document.text_ = std::move(text);
  document.line_starts_.push_back(0);
  for (std::size_t i = 0; i < document.text_.size(); ++i) {
    if (document.text_[i] == '\n') document.line_starts_.push_back(i + 1);
  }
  auto refuse = [&](const YAML::Mark& mark, const std::string& why) {
    YamlValue at;
    at.line = mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line);
    at.column = mark.column < 0 ? 0 : static_cast<std::size_t>(mark.column);
    return fail(bad_input("not YAML we can read: " + why).at(document.place(at)));
  };
  try {
    std::istringstream stream(document.text_);
    YAML::Parser parser(stream);
    Builder builder;
    parser.HandleNextDocument(builder);
    document.root_ = std::move(builder.root);
  } catch (const Refused& refused) {
    return refuse(refused.mark, refused.why);
  } catch (const YAML::Exception& exception) {
    return refuse(exception.mark, exception.msg);
  } catch (const std::exception& exception) {
    return fail(bad_input(std::string("not YAML we can read: ") + exception.what()));
  }
  return document;
}

Place YamlDocument::place(const YamlValue& value) const {
  if (value.line >= line_starts_.size()) return {file_, 0, 0, 1, {}};
  const std::size_t begin = line_starts_[value.line];
  const std::size_t end = value.line + 1 < line_starts_.size() ? line_starts_[value.line + 1] - 1 : text_.size();
  Place place{file_, static_cast<int>(value.line) + 1, static_cast<int>(value.column) + 1, 1,
              text_.substr(begin, end - begin)};
  if (!place.excerpt.empty() && place.excerpt.back() == '\r') place.excerpt.pop_back();
  const std::size_t left = place.excerpt.size() > value.column ? place.excerpt.size() - value.column : 1;
  place.length = static_cast<int>(std::max<std::size_t>(1, std::min(left, value.scalar.size())));
  return place;
}

void for_each_entry(const YamlDocument& document, const YamlValue& mapping, Errors& errors,
                    const std::function<void(const YamlValue& key, const YamlValue& value)>& read) {
  std::set<std::string_view> seen;
  for (const auto& [key, value] : mapping.mapping) {
    if (key.kind != YamlValue::Kind::kScalar) {
      errors.push_back(
          bad_input(fmt::format("a key must be a word, not {}", name_of(key.kind))).at(document.place(key)));
    } else if (!seen.insert(key.scalar).second) {
      errors.push_back(bad_input(fmt::format("'{}' is written twice", key.scalar)).at(document.place(key)));
    } else {
      read(key, value);
    }
  }
}

}  // namespace rightsize
