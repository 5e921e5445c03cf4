// JSON in which every value knows its place, so errors in a user's file name the line and column.
//
// parse() returns a tree. JsonObject wraps one of its objects with typed getters, which append an Error for each value
// that has the wrong type or is out of range, and continue, so one run reports every error. null counts as absent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rightsize {

enum class JsonType { kNull, kBool, kNumber, kString, kArray, kObject };

struct JsonMember;

struct JsonValue {
  JsonType type = JsonType::kNull;
  bool boolean = false;
  double number = 0;
  std::optional<std::int64_t> integer;  // whole numbers that fit: 3, 3.0, 3e2
  std::string text;                     // strings, unescaped
  std::vector<JsonValue> items;         // arrays
  std::vector<JsonMember> members;      // objects, in the order of the text, without duplicate names
  std::size_t offset = 0;               // of the first character in the text
  std::size_t length = 1;               // characters to underline; 1 for arrays and objects

  // The member of that name, or null if there is none or this is not an object.
  const JsonMember* find(std::string_view name) const;
};

struct JsonMember {
  std::string name;
  std::size_t offset = 0;  // of the name's opening quote
  std::size_t length = 0;  // with its quotes
  JsonValue value;
};

// "an object", "the string 'abc'", "-3": how an error names a value.
std::string describe_value(const JsonValue& value);

// A parsed text. Moving it keeps views and references into it valid.
class LocatedJson {
 public:
  // Fails on text that is not JSON (the place is where reading stopped), on duplicate names in one object, on nesting
  // deeper than 64 levels, on texts over 64 MiB and on more than 4 million values. A byte-order mark is ignored. `file`
  // is only used in places.
  static Checked<LocatedJson> parse(std::string file, std::string text);

  const JsonValue& root() const { return content_->root; }
  const std::string& file() const { return content_->file; }

  Place place(const JsonValue& value) const;
  Place place(const JsonMember& member) const;  // of its name

 private:
  struct Content {
    std::string file;
    std::string text;
    JsonValue root;
  };
  std::shared_ptr<const Content> content_;
};

// The names of a field: {"n_embd", "hidden_size"}. Errors use the first one.
class FieldNames {
 public:
  FieldNames(const char* name) : names_{name} {}
  FieldNames(std::string_view name) : names_{name} {}
  FieldNames(std::initializer_list<std::string_view> names) : names_(names) {}
  bool empty() const { return names_.empty(); }
  std::string_view first() const { return names_.front(); }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::vector<std::string_view> names_;
};

// One object of a document, read field by field. Errors are appended to `errors`, which must outlive this object.
class JsonObject {
 public:
  JsonObject(const LocatedJson& document, const JsonValue& object, Errors& errors);

  // Empty if the value is absent, null or wrong; a wrong value also adds an Error.
  std::optional<std::int64_t> get_int(const FieldNames& names, std::int64_t min, std::int64_t max) const;
  std::optional<double> get_number(const FieldNames& names, double min, double max) const;
  std::optional<bool> get_bool(const FieldNames& names) const;
  std::optional<std::string> get_string(const FieldNames& names) const;
  std::optional<JsonObject> get_object(const FieldNames& names) const;
  JsonObject get_object_or_empty(const FieldNames& names) const;  // without members if absent, so all defaults apply
  std::optional<std::vector<std::int64_t>> get_ints(const FieldNames& names, std::int64_t min, std::int64_t max) const;
  std::optional<std::vector<std::string>> get_strings(const FieldNames& names) const;

  // A required value. If it is absent or wrong, adds an Error and returns `min`, to continue without follow-up errors.
  std::int64_t require_int(const FieldNames& names, std::int64_t min, std::int64_t max) const;

  // The member itself, of any type; null if it is absent or null.
  const JsonMember* find(const FieldNames& names) const;
  bool has(const FieldNames& names) const { return find(names) != nullptr; }

  // Adds an error at the field's value, or at the object if the field is absent. Does nothing if that value already has
  // an error: the second would only follow from the first.
  void fail_at(const FieldNames& names, std::string message, std::string hint = {}) const;

  // Whether the field's value has an error, or the field is required and missing.
  bool is_wrong(const FieldNames& names) const;

  // Adds an Error for each unread member with a name one letter away from an absent field that was looked up. Call it
  // after reading: a misspelt optional field would otherwise be ignored silently.
  void refuse_misspelt() const;

  Place place() const { return document_->place(*object_); }
  const JsonValue& value() const { return *object_; }

 private:
  void note(Place place, std::string message, std::string hint = {}) const;
  void note_missing(const FieldNames& names) const;
  void note_wrong(const JsonMember& member, const std::string& wanted) const;

  const LocatedJson* document_;
  const JsonValue* object_;
  Errors* errors_;
  // Shared by copies of this view.
  struct Asked {
    std::vector<std::string> names;    // every name looked up so far
    std::vector<std::string> absent;   // the names of fields that are absent under all of their names
    std::vector<std::string> missing;  // first names of required fields that are absent
  };
  std::shared_ptr<Asked> asked_;
};

}  // namespace rightsize
