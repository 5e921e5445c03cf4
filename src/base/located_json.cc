#include "base/located_json.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/json_reader.h"
#include "base/suggest.h"
#include "base/utf8.h"

namespace rightsize {
namespace {

constexpr std::size_t kLongestText = 64u << 20;
constexpr std::size_t kLongestShown = 40;

std::size_t first_that_is_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    const std::size_t length = ascii ? 1 : utf8_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

// Adds an error for every duplicate name in an object.
void refuse_duplicates(const LocatedJson& json, const JsonValue& value, Errors& errors) {
  for (const JsonValue& item : value.items) refuse_duplicates(json, item, errors);
  std::unordered_map<std::string_view, const JsonMember*> seen;
  for (const JsonMember& member : value.members) {
    const auto [first, added] = seen.emplace(member.name, &member);
    if (!added) {
      errors.push_back(
          bad_input(fmt::format("'{}' is given twice", member.name.substr(0, kLongestShown)))
              .at(json.place(member))
              .with_hint(fmt::format("it was first given on line {}; keep only one", json.place(*first->second).line)));
    }
    refuse_duplicates(json, member.value, errors);
  }
}

}  // namespace

const JsonMember* JsonValue::find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const JsonMember& m) { return m.name == name; });
  return found == members.end() ? nullptr : &*found;
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
  LocatedJson document;
  auto content = std::make_shared<Content>();
  // Replaced by spaces, which keeps the offsets of the file. Terminals do not show the mark.
  if (text.starts_with("\xef\xbb\xbf")) text.replace(0, 3, "   ");
  content->file = std::move(file);
  content->text = std::move(text);
  document.content_ = content;
  const auto refused = [&](std::size_t offset, const char* message) {
    return fail(bad_input(message).at(place_in(content->file, content->text, offset)));
  };
  if (content->text.size() > kLongestText) return refused(0, "larger than 64 MiB: this is not a configuration file");
  if (const std::size_t at = first_that_is_not_utf8(content->text); at != std::string_view::npos)
    return refused(at, "the text is not valid UTF-8");
  const std::unique_ptr<ByteSource> source = bytes_of(content->text);
  JsonReader reader(*source, content->file);
  const char first = reader.peek();
  if (first == '\0' && reader.at_end()) return refused(0, "the file is empty: a JSON object was expected");
  if (first != '{' && first != '[') return refused(content->text.find(first), "a JSON object '{...}' was expected");
  if (!reader.read_value(content->root)) return fail(reader.error());
  reader.expect_end();
  if (reader.failed()) return fail(reader.error());
  Errors errors;
  refuse_duplicates(document, content->root, errors);
  if (!errors.empty()) return fail(std::move(errors));
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
  constexpr std::size_t kShortestName = 6;  // two valid names shorter than this may be one letter apart
  auto asked = [&](std::string_view name) {
    return std::find(asked_->names.begin(), asked_->names.end(), name) != asked_->names.end();
  };
  for (const JsonMember& member : object_->members) {
    if (member.name.size() < kShortestName || member.name.size() > 64 || asked(member.name)) continue;
    for (const std::string& wanted : asked_->absent) {
      if (wanted.size() < kShortestName || object_->find(wanted) || edit_distance(member.name, wanted) != 1) continue;
      Place where = document_->place(member);
      // The error for a missing required field already points here.
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
