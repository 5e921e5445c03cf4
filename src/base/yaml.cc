#include "base/yaml.h"

#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace rightsize {
namespace {

struct Refused {
  YAML::Mark mark;
  std::string why;
};

YamlValue make(YamlValue::Kind kind, const YAML::Mark& mark) {
  YamlValue value;
  value.kind = kind;
  value.line = mark.line < 0 ? 0 : static_cast<std::size_t>(mark.line);
  value.column = mark.column < 0 ? 0 : static_cast<std::size_t>(mark.column);
  return value;
}

// Builds our own tree from yaml-cpp's events, which is faster than its node graph. No yaml-cpp object outlives the
// parse.
class Builder : public YAML::EventHandler {
 public:
  YamlValue root;
  YAML::Mark start;  // of the document

  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark&, const std::string&) override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(YamlValue::Kind::kNull, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{mark, "aliases (*name) are not supported"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlValue scalar = make(YamlValue::Kind::kScalar, mark);
    const bool plain = tag == "?";  // quoted ones have the tag "!"
    if (plain && (value.empty() || value == "~" || value == "null")) scalar.kind = YamlValue::Kind::kNull;
    scalar.scalar = value;
    add(std::move(scalar), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back(make(YamlValue::Kind::kList, mark));
    open_anchors_.push_back(anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back(make(YamlValue::Kind::kMapping, mark));
    open_anchors_.push_back(anchor);
    open_keys_.emplace_back();
  }
  void OnMapEnd() override {
    open_keys_.pop_back();
    close();
  }

 protected:
  void close() {
    YamlValue done = std::move(open_.back());
    const YAML::anchor_t anchor = open_anchors_.back();
    open_.pop_back();
    open_anchors_.pop_back();
    add(std::move(done), anchor);
  }
  virtual void remember(YAML::anchor_t /*anchor*/, const YamlValue& /*value*/) {}
  void add(YamlValue value, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) remember(anchor, value);
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
  std::vector<YAML::anchor_t> open_anchors_;
  std::vector<std::vector<YamlValue>> open_keys_;  // of every open mapping: the key waiting for its value
};

std::size_t values_in(const YamlValue& value) {
  std::size_t count = 1;
  for (const YamlValue& item : value.list) count += values_in(item);
  for (const auto& [key, item] : value.mapping) count += values_in(item) + 1;
  return count;
}

// For files of other tools: replaces aliases by their values, within a limit.
class AliasBuilder : public Builder {
 public:
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    constexpr std::size_t kMost = 100'000;
    const auto found = known_.find(anchor);
    if (found == known_.end()) throw Refused{mark, "an alias (*name) inside the value it refers to"};
    copied_ += values_in(found->second);
    if (copied_ > kMost) throw Refused{mark, "aliases (*name) expand to more than 100,000 values"};
    add(found->second, YAML::NullAnchor);
  }

 private:
  void remember(YAML::anchor_t anchor, const YamlValue& value) override { known_[anchor] = value; }

  std::map<YAML::anchor_t, YamlValue> known_;
  std::size_t copied_ = 0;
};

// A file may end with `---`.
bool is_empty_end(const Builder& builder, std::string_view text) {
  return builder.root.kind == YamlValue::Kind::kNull && builder.start.pos >= 0 &&
         text.substr(std::min(text.size(), static_cast<std::size_t>(builder.start.pos))).starts_with("---");
}

// `<<: *base` adds the keys of the base that the mapping does not have.
void merge_keys(YamlValue& value) {
  for (YamlValue& item : value.list) merge_keys(item);
  for (auto& [key, item] : value.mapping) merge_keys(item);
  const YamlValue* merged = value.find("<<");
  if (merged == nullptr) return;
  const std::vector<YamlValue> bases = merged->kind == YamlValue::Kind::kList ? merged->list : std::vector{*merged};
  std::erase_if(value.mapping, [](const auto& entry) { return entry.first.scalar == "<<"; });
  for (const YamlValue& base : bases) {
    for (const auto& [key, item] : base.mapping) {
      if (value.find(key.scalar) == nullptr) value.mapping.emplace_back(key, item);
    }
  }
}

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

YamlValue::YamlValue() = default;
YamlValue::YamlValue(const YamlValue&) = default;
YamlValue::YamlValue(YamlValue&&) noexcept = default;
YamlValue& YamlValue::operator=(const YamlValue&) = default;
YamlValue& YamlValue::operator=(YamlValue&&) noexcept = default;
YamlValue::~YamlValue() = default;

const YamlValue* YamlValue::find(std::string_view key) const {
  for (const auto& [name, value] : mapping) {
    if (name.kind == Kind::kScalar && name.scalar == key) return &value;
  }
  return nullptr;
}

YamlDocument::Source::Source(std::string name, std::string content)
    : file(std::move(name)), text(std::move(content)), line_starts{0} {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') line_starts.push_back(i + 1);
  }
}

namespace {

// yaml-cpp reads a line that begins with a bracket to its end before it handles the first value, and uses a hundred
// bytes of memory for each bracket and comma.
void refuse_long_lines(std::string_view text) {
  constexpr int kDeepest = 500, kMost = 1'000'000;  // yaml-cpp itself refuses deeper nesting
  int depth = 0, signs = 0;
  YAML::Mark mark;
  for (const char c : text) {
    const int opened = c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    depth = c == '\n' ? 0 : depth + opened;
    signs = c == '\n' ? 0 : signs + (opened != 0 || c == ',' || c == ':' ? 1 : 0);
    if (depth > kDeepest) throw Refused{mark, "brackets are nested more than 500 deep"};
    if (signs > kMost) throw Refused{mark, "a line has more than a million values"};
    mark.line += c == '\n' ? 1 : 0;
    mark.column = c == '\n' ? 0 : mark.column + 1;
  }
}

// Runs `read` and turns exceptions of yaml-cpp or a builder into an error in `document`.
template <class Read>
std::optional<Error> catch_mistake(const YamlDocument& document, const Read& read) {
  const auto refuse = [&](const YAML::Mark& mark, const std::string& why) {
    return bad_input("cannot read this YAML: " + why).at(document.place(make(YamlValue::Kind::kNull, mark)));
  };
  try {
    read();
  } catch (const Refused& refused) {
    return refuse(refused.mark, refused.why);
  } catch (const YAML::Exception& exception) {
    return refuse(exception.mark, exception.msg);
  } catch (const std::exception& exception) {
    return bad_input(std::string("cannot read this YAML: ") + exception.what());
  }
  return std::nullopt;
}

}  // namespace

Result<YamlDocument> YamlDocument::parse(std::string file, std::string text) {
  YamlDocument document(std::make_shared<const Source>(std::move(file), std::move(text)));
  std::optional<Error> mistake = catch_mistake(document, [&] {
    refuse_long_lines(document.source_->text);
    std::istringstream stream(document.source_->text);
    YAML::Parser parser(stream);
    Builder builder;
    parser.HandleNextDocument(builder);
    document.root_ = std::move(builder.root);
    for (Builder more; parser.HandleNextDocument(more); more = Builder()) {
      if (!is_empty_end(more, document.source_->text))
        throw Refused{more.start, "only one document per file is supported"};
    }
  });
  if (mistake) return fail(*std::move(mistake));
  return document;
}

YamlDocument::Several YamlDocument::parse_all(std::string file, std::string text) {
  Several several;
  const YamlDocument frame(std::make_shared<const Source>(std::move(file), std::move(text)));
  several.mistake = catch_mistake(frame, [&] {
    refuse_long_lines(frame.source_->text);
    std::istringstream stream(frame.source_->text);
    YAML::Parser parser(stream);
    int previous = -1;
    for (AliasBuilder builder; parser.HandleNextDocument(builder); builder = AliasBuilder()) {
      // yaml-cpp reads a comma here as an endless series of empty documents.
      if (builder.start.pos == previous) throw Refused{builder.start, "a document cannot begin like this"};
      previous = builder.start.pos;
      merge_keys(builder.root);
      if (builder.root.kind == YamlValue::Kind::kNull) continue;
      several.documents.push_back(frame);
      several.documents.back().root_ = std::move(builder.root);
    }
  });
  return several;
}

Place YamlDocument::place(const YamlValue& value) const {
  const auto& [file, text, starts] = *source_;
  if (value.line >= starts.size()) return {file, 0, 0, 1, {}};
  const std::size_t begin = starts[value.line];
  const std::size_t end = value.line + 1 < starts.size() ? starts[value.line + 1] - 1 : text.size();
  Place place{file, static_cast<int>(value.line) + 1, static_cast<int>(value.column) + 1, 1,
              text.substr(begin, end - begin)};
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
