#include "base/located_json.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/suggest.h"

namespace rightsize {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kDeepestNesting = 64;
constexpr std::size_t kLongestText = 64u << 20;
constexpr std::size_t kLongestShown = 40;

// simdjson's codes in words a person can act on.
std::string explain(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
      return "the file is empty: a JSON object was expected";
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed: its final '\"' is missing";
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character: write it as an escape such as \\n";
    case simdjson::UTF8_ERROR:
      return "the text is not valid UTF-8";
    case simdjson::STRING_ERROR:
      return "a string holds an escape JSON does not know";
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "the text ends too early: a ']' or '}' is missing";
    case simdjson::N_ATOM_ERROR:
      return "this is not a JSON value ('null' is; NaN is not)";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
      return "this is not a JSON value ('true' and 'false' are, in lower case)";
    case simdjson::MEMALLOC:
      return "not enough memory to read this JSON";
    default:
      return "this is not valid JSON: a comma, colon, quote or bracket is missing or too many";
  }
}

// Builds the tree from one forward pass of simdjson. simdjson hands out raw tokens as pointers into its buffer; their
// distance from its start is the offset in our text, which is what places are made of.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view file, std::string_view text) : file_(file), text_(text), padded_(text) {}

  JsonValue build() {
    JsonValue root;
    ondemand::parser parser;
    ondemand::document document;
    if (auto code = parser.iterate(padded_).get(document)) {
      // The first pass over the text knows no place of its own; an unclosed string or early end is an end-of-text
      // mistake.
      fail(code == simdjson::EMPTY ? 0 : end_of_text(), 1, explain(code));
      return root;
    }
    document_ = &document;
    if (is_scalar(document)) {
      fail(0, 1, "a JSON object '{...}' was expected");
      return root;
    }
    ondemand::value top;
    if (auto code = document.get_value().get(top)) {
      fail_here(code);
      return root;
    }
    read(top, root, 0);
    const char* rest = nullptr;
    bool more = errors.empty() && document.current_location().get(rest) == simdjson::SUCCESS;
    if (more) fail_here(simdjson::TAPE_ERROR, "there is more text after the end of the object");
    return root;
  }

  Errors errors;

 private:
  // A number or string as the whole document; simdjson reads those through another interface, and no file of ours is
  // one.
  bool is_scalar(ondemand::document& document) const {
    bool scalar = false;
    return document.is_scalar().get(scalar) == simdjson::SUCCESS && scalar;
  }

  std::size_t end_of_text() const {
    std::size_t last = text_.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? 0 : last;
  }

  void fail(std::size_t offset, std::size_t length, std::string message, std::string hint = {}) {
    errors.push_back(
        bad_input(std::move(message)).at(place_in(file_, text_, offset, length)).with_hint(std::move(hint)));
  }

  // At the token simdjson stopped at; at the end of the text when it cannot say.
  bool fail_here(simdjson::error_code code, const char* message = nullptr) {
    const char* location = nullptr;
    std::size_t offset = end_of_text();
    if (document_->current_location().get(location) == simdjson::SUCCESS && location >= padded_.data() &&
        location < padded_.data() + text_.size()) {
      offset = static_cast<std::size_t>(location - padded_.data());
    }
    fail(offset, 1, message ? message : explain(code));
    return false;
  }

  // At a value. One that runs into the end of the text was cut off, whatever it would have become.
  bool fail_at(const JsonValue& value, simdjson::error_code code) {
    const bool cut_off = value.offset + value.length > end_of_text();
    const std::string_view token = text_.substr(value.offset, std::min(value.length, kLongestShown));
    if (cut_off) {
      fail(value.offset, value.length, explain(simdjson::INCOMPLETE_ARRAY_OR_OBJECT));
    } else if (value.type == JsonType::kNumber) {
      fail(value.offset, value.length, fmt::format("'{}' is not a JSON number, or one too large to hold", token));
    } else {
      fail(value.offset, value.length, explain(code));
    }
    return false;
  }

  std::size_t offset_of(const char* inside) const { return static_cast<std::size_t>(inside - padded_.data()); }

  // Every reader returns false once the text cannot be followed any further.
  bool read(ondemand::value value, JsonValue& into, int depth) {
    std::string_view token = value.raw_json_token();
    into.offset = offset_of(token.data());
    while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
    into.length = std::max<std::size_t>(1, token.size());
    ondemand::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS) {
      fail(into.offset, into.length, fmt::format("'{}' is not a JSON value", token.substr(0, kLongestShown)));
      return false;
    }
    switch (type) {
      case ondemand::json_type::object:
        return read_object(value, into, depth);
      case ondemand::json_type::array:
        return read_array(value, into, depth);
      case ondemand::json_type::string:
        return read_string(value, into);
      case ondemand::json_type::number:
        return read_number(value, into);
      case ondemand::json_type::boolean:
        return read_bool(value, into);
      default:
        return read_null(value, into);
    }
  }

  bool too_deep(const JsonValue& at, int depth) {
    if (depth < kDeepestNesting) return false;
    fail(at.offset, 1, fmt::format("nested more than {} levels deep", kDeepestNesting));
    return true;
  }

  bool read_array(ondemand::value value, JsonValue& into, int depth) {
    into.type = JsonType::kArray;
    into.length = 1;
    if (too_deep(into, depth)) return false;
    ondemand::array array;
    if (auto code = value.get_array().get(array)) return fail_here(code);
    for (simdjson::simdjson_result<ondemand::value> element : array) {
      ondemand::value item;
      if (auto code = element.get(item)) return fail_here(code);
      if (!read(item, into.items.emplace_back(), depth + 1)) return false;
    }
    return true;
  }

  bool read_object(ondemand::value value, JsonValue& into, int depth) {
    into.type = JsonType::kObject;
    into.length = 1;
    if (too_deep(into, depth)) return false;
    ondemand::object object;
    if (auto code = value.get_object().get(object)) return fail_here(code);
    std::unordered_map<std::string, std::size_t> seen;
    for (simdjson::simdjson_result<ondemand::field> entry : object) {
      ondemand::field field;
      if (auto code = std::move(entry).get(field)) return fail_here(code);
      JsonMember& member = into.members.emplace_back();
      if (!read_name(field, member)) return false;
      if (!read(field.value(), member.value, depth + 1)) return false;
      auto [first, added] = seen.emplace(member.name, member.offset);
      if (!added) refuse_duplicate(into, first->second);
    }
    return true;
  }

  bool read_name(ondemand::field& field, JsonMember& member) {
    const char* raw = field.key().raw();
    member.offset = offset_of(raw) - 1;
    std::size_t end = offset_of(raw);
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    member.length = end + 1 - member.offset;
    std::string_view name;
    if (auto code = field.unescaped_key().get(name)) {
      fail(member.offset, member.length, explain(code));
      return false;
    }
    member.name = name;
    return true;
  }

  // Keeps the first of the two: the error ends the reading anyway.
  void refuse_duplicate(JsonValue& object, std::size_t first_offset) {
    const JsonMember& again = object.members.back();
    int line = place_in(file_, text_, first_offset).line;
    fail(again.offset, again.length, fmt::format("'{}' is given twice", again.name.substr(0, kLongestShown)),
         fmt::format("it was given first on line {}: keep one of the two", line));
    object.members.pop_back();
  }

  bool read_string(ondemand::value& value, JsonValue& into) {
    into.type = JsonType::kString;
    std::string_view text;
    if (auto code = value.get_string().get(text)) return fail_at(into, code);
    into.text = text;
    return true;
  }

  bool read_number(ondemand::value& value, JsonValue& into) {
    into.type = JsonType::kNumber;
    std::int64_t whole = 0;
    if (value.get_int64().get(whole) == simdjson::SUCCESS) {
      into.integer = whole;
      into.number = static_cast<double>(whole);
      return true;
    }
    if (auto code = value.get_double().get(into.number)) return fail_at(into, code);
    // Exact up to 2^53: beyond that a double may not be the number that was written.
    constexpr double kExact = 9007199254740992.0;
    if (std::abs(into.number) <= kExact && into.number == std::floor(into.number)) {
      into.integer = static_cast<std::int64_t>(into.number);
    }
    return true;
  }

  bool read_bool(ondemand::value& value, JsonValue& into) {
    into.type = JsonType::kBool;
    if (auto code = value.get_bool().get(into.boolean)) return fail_at(into, code);
    return true;
  }

  bool read_null(ondemand::value& value, JsonValue& into) {
    bool null = false;
    if (auto code = value.is_null().get(null)) return fail_at(into, code);
    return null ? true : fail_at(into, simdjson::N_ATOM_ERROR);
  }

  std::string_view file_;
  std::string_view text_;
  simdjson::padded_string padded_;
  ondemand::document* document_ = nullptr;
};

}  // namespace

const JsonMember* JsonValue::find(std::string_view name) const {
  for (const JsonMember& member : members) {
    if (member.name == name) return &member;
  }
  return nullptr;
}

std::string describe_value(const JsonValue& value) {
  switch (value.type) {
    case JsonType::kNull:
      return "null";
    case JsonType::kBool:
      return value.boolean ? "true" : "false";
    case JsonType::kNumber:
      return value.integer ? fmt::format("{}", *value.integer) : fmt::format("{}", value.number);
    case JsonType::kString: {
      bool cut = value.text.size() > kLongestShown;
      return fmt::format("the string \"{}{}\"", value.text.substr(0, kLongestShown), cut ? "..." : "");
    }
    case JsonType::kArray:
      return "a list";
    case JsonType::kObject:
      return "an object";
  }
  return "";
}

Checked<LocatedJson> LocatedJson::parse(std::string file, std::string text) {
  if (text.size() > kLongestText) {
    Place place;
    place.file = std::move(file);
    return rightsize::fail(
        Errors{bad_input("larger than 64 MiB: this is not a configuration file").at(std::move(place))});
  }
  // Blanked rather than cut, so that offsets stay those of the file; a terminal shows the mark as nothing.
  if (text.starts_with("\xef\xbb\xbf")) text.replace(0, 3, "   ");
  auto content = std::make_shared<Content>();
  content->file = std::move(file);
  content->text = std::move(text);
  TreeBuilder builder(content->file, content->text);
  content->root = builder.build();
  if (!builder.errors.empty()) return rightsize::fail(std::move(builder.errors));
  LocatedJson document;
  document.content_ = std::move(content);
  return document;
}

Place LocatedJson::place(const JsonValue& value) const {
  return place_in(content_->file, content_->text, value.offset, value.length);
}

Place LocatedJson::place(const JsonMember& member) const {
  return place_in(content_->file, content_->text, member.offset, member.length);
}

JsonObject::JsonObject(const LocatedJson& document, const JsonValue& object, Errors& errors)
    : document_(&document), object_(&object), errors_(&errors), asked_(std::make_shared<Asked>()) {}

const JsonMember* JsonObject::find(const FieldNames& names) const {
  const JsonMember* found = nullptr;
  for (std::string_view name : names) {
    asked_->names.emplace_back(name);
    const JsonMember* member = object_->find(name);
    if (!found && member && member->value.type != JsonType::kNull) found = member;
  }
  if (!found) asked_->absent.insert(asked_->absent.end(), names.begin(), names.end());
  return found;
}

void JsonObject::note(Place place, std::string message, std::string hint) const {
  errors_->push_back(bad_input(std::move(message)).at(std::move(place)).with_hint(std::move(hint)));
}

void JsonObject::note_wrong(const JsonMember& member, const std::string& wanted) const {
  note(document_->place(member.value),
       fmt::format("'{}' must be {}, not {}", member.name, wanted, describe_value(member.value)));
}

void JsonObject::note_missing(const FieldNames& names) const {
  asked_->missing.emplace_back(names.first());
  std::vector<std::string> present;
  for (const JsonMember& member : object_->members) present.push_back(member.name);
  for (std::string_view name : names) {
    std::vector<std::string> near = suggest(name, present, 1);
    if (near.empty() || object_->find(name)) continue;
    note(document_->place(*object_->find(near[0])), fmt::format("'{}' is missing", names.first()),
         fmt::format("is '{}' meant to be '{}'?", near[0], name));
    return;
  }
  const JsonMember* null_member = object_->find(names.first());
  note(null_member ? document_->place(null_member->value) : place(), fmt::format("'{}' is missing", names.first()));
}

void JsonObject::fail_at(const FieldNames& names, std::string message, std::string hint) const {
  if (is_wrong(names)) return;
  const JsonMember* member = find(names);
  note(member ? document_->place(member->value) : place(), std::move(message), std::move(hint));
}

bool JsonObject::is_wrong(const FieldNames& names) const {
  if (const JsonMember* member = find(names)) {
    const Place where = document_->place(member->value);
    return std::any_of(errors_->begin(), errors_->end(), [&](const Error& error) { return error.place == where; });
  }
  const std::vector<std::string>& missing = asked_->missing;
  return std::find(missing.begin(), missing.end(), names.first()) != missing.end();
}

std::optional<std::int64_t> JsonObject::get_int(const FieldNames& names, std::int64_t min, std::int64_t max) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  const std::optional<std::int64_t>& integer = member->value.integer;
  if (integer && *integer >= min && *integer <= max) return integer;
  note_wrong(*member, fmt::format("a whole number from {} to {}", min, max));
  return std::nullopt;
}

std::optional<double> JsonObject::get_number(const FieldNames& names, double min, double max) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  const JsonValue& value = member->value;
  if (value.type == JsonType::kNumber && value.number >= min && value.number <= max) return value.number;
  note_wrong(*member, fmt::format("a number from {} to {}", min, max));
  return std::nullopt;
}

std::optional<bool> JsonObject::get_bool(const FieldNames& names) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  if (member->value.type == JsonType::kBool) return member->value.boolean;
  note_wrong(*member, "true or false");
  return std::nullopt;
}

std::optional<std::string> JsonObject::get_string(const FieldNames& names) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  if (member->value.type == JsonType::kString) return member->value.text;
  note_wrong(*member, "a string");
  return std::nullopt;
}

std::optional<JsonObject> JsonObject::get_object(const FieldNames& names) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  if (member->value.type == JsonType::kObject) return JsonObject(*document_, member->value, *errors_);
  note_wrong(*member, "an object");
  return std::nullopt;
}

JsonObject JsonObject::get_object_or_empty(const FieldNames& names) const {
  static const JsonValue kEmpty = [] {
    JsonValue value;
    value.type = JsonType::kObject;
    return value;
  }();
  return get_object(names).value_or(JsonObject(*document_, kEmpty, *errors_));
}

std::optional<std::vector<std::int64_t>> JsonObject::get_ints(const FieldNames& names, std::int64_t min,
                                                              std::int64_t max) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  if (member->value.type != JsonType::kArray) {
    note_wrong(*member, "a list of whole numbers");
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers;
  for (const JsonValue& item : member->value.items) {
    if (item.integer && *item.integer >= min && *item.integer <= max) {
      numbers.push_back(*item.integer);
      continue;
    }
    note(document_->place(item), fmt::format("every number in '{}' must be a whole number from {} to {}, not {}",
                                             member->name, min, max, describe_value(item)));
    return std::nullopt;
  }
  return numbers;
}

std::optional<std::vector<std::string>> JsonObject::get_strings(const FieldNames& names) const {
  const JsonMember* member = find(names);
  if (!member) return std::nullopt;
  std::vector<std::string> strings;
  for (const JsonValue& item : member->value.items) {
    if (item.type == JsonType::kString) strings.push_back(item.text);
  }
  if (member->value.type == JsonType::kArray && strings.size() == member->value.items.size()) return strings;
  note_wrong(*member, "a list of strings");
  return std::nullopt;
}

std::int64_t JsonObject::require_int(const FieldNames& names, std::int64_t min, std::int64_t max) const {
  if (!find(names)) {
    note_missing(names);
    return min;
  }
  return get_int(names, min, max).value_or(min);
}

void JsonObject::refuse_misspelt() const {
  constexpr std::size_t kShortestName = 6;  // below this two sound names may be one letter apart
  auto asked = [&](std::string_view name) {
    return std::find(asked_->names.begin(), asked_->names.end(), name) != asked_->names.end();
  };
  for (const JsonMember& member : object_->members) {
    if (member.name.size() < kShortestName || member.name.size() > 64 || asked(member.name)) continue;
    for (const std::string& wanted : asked_->absent) {
      if (wanted.size() < kShortestName || object_->find(wanted) || edit_distance(member.name, wanted) != 1) continue;
      Place where = document_->place(member);
      // A required field that is missing already points here.
      bool noted = std::any_of(errors_->begin(), errors_->end(), [&](const Error& e) { return e.place == where; });
      if (!noted) {
        note(std::move(where), fmt::format("unknown field '{}'", member.name),
             fmt::format("did you mean '{}'?", wanted));
      }
      break;
    }
  }
}

}  // namespace rightsize
