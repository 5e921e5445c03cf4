// Reads JSON from beginning to end in bounded memory, and small parts of it as trees.
//
// Exports of metrics stores and price lists are single documents of several gigabytes. A caller walks down to the list
// that matters and reads one entry at a time:
//
//   JsonReader json(source, "export.json");
//   json.each_member([&](const std::string& name) {
//     if (name != "Items") return json.skip();
//     json.each_item([&] {
//       JsonValue item;
//       if (json.read_value(item)) currencies.insert(text_at(item, "price.currency"));
//     });
//   });
//   if (json.failed()) return fail(json.error());
//
// After the first error every call returns false or an empty result, so loops end by themselves and one check at the
// end is enough. Strings and numbers may be 1 MiB long, nesting 64 levels deep, and a tree may have 4 million values;
// anything beyond is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/located_json.h"
#include "base/raw_bytes.h"
#include "base/result.h"

namespace rightsize {

// Parts of a tree, for readers that treat a missing value like one of another type.
//
// The value at a path of names separated by dots, "pricing.unit.price", or null.
const JsonValue* value_at(const JsonValue& value, std::string_view path);
// The text at a path; empty if there is none.
const std::string& text_at(const JsonValue& value, std::string_view path);
// The number at a path, which may be written as a string ("12", "NaN", "+Inf").
std::optional<double> number_at(const JsonValue& value, std::string_view path);
// The items of the array at a path; empty if there is none.
const std::vector<JsonValue>& items_at(const JsonValue& value, std::string_view path);

// "NaN", "+Inf", "-Inf", "12.5" as metrics stores write them.
std::optional<double> parse_sample_value(std::string_view text);

class JsonReader {
 public:
  // The source must outlive the reader. `file` is only used in errors.
  JsonReader(ByteSource& source, std::string file);

  // Calls `read` with the name of every member of the next object; `read` must read or skip the value. Anything but an
  // object is skipped, and the result is false.
  template <class Read>
  bool each_member(const Read& read) {
    if (!is_next('{') || !enter_object()) return false;
    for (std::string name; next_member(name);) read(name);
    return true;
  }
  // The same for the items of an array.
  template <class Read>
  bool each_item(const Read& read) {
    if (!is_next('[') || !enter_array()) return false;
    while (next_item()) read();
    return true;
  }

  bool enter_object() { return enter('{'); }
  // The next member's name; the caller then reads or skips its value. False at the '}', which is consumed.
  bool next_member(std::string& name);
  bool enter_array() { return enter('['); }
  bool next_item() { return next(']'); }

  // The next character that is not a space, without consuming it; 0 at the end or after an error.
  char peek();
  bool at_end() { return peek() == '\0' && begin_ == end_; }

  // The next value as a tree, with offsets counted from the beginning of the source.
  bool read_value(JsonValue& value);
  // A number, which may be written as a string; empty for null.
  std::optional<double> read_number();
  bool read_string(std::string& text);
  void skip();

  // [time, "value"] as Prometheus writes points. A null is read as NaN.
  struct Pair {
    double first = 0, second = 0;
  };
  bool read_pair(Pair& pair);
  // [[time, "value"], ...], the innermost loop of every fleet report. Fills the beginning of `into`. At the end of the
  // list, consumes the ']' and returns false. Call after enter_array().
  bool read_pairs(std::span<Pair> into, std::size_t& count);

  // Whether another document follows (NDJSON, concatenated pages). Resets the nesting.
  bool next_document();
  // Fails if another document follows.
  void expect_end();

  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  // Records an error about the content, without a place: "the server answered: ...".
  void refuse(const std::string& message);

 private:
  bool ensure(std::size_t bytes);
  void skip_spaces();
  bool is_next(char opening);
  bool enter(char opening);
  bool expect(char wanted);
  bool next(char closing);
  bool skip_string();
  bool read_escape(std::string& text);
  bool read_tree(JsonValue& value);
  bool read_word(JsonValue& value);
  std::size_t offset() const { return consumed_ + begin_; }
  void fail_here(std::string message) { fail_at(offset(), std::move(message)); }
  void fail_at(std::size_t offset, std::string message, std::size_t length = 1);

  ByteSource& source_;
  std::string file_;
  RawBytes buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the unread bytes of buffer_, followed by a zero
  std::size_t consumed_ = 0;         // bytes of the document before buffer_[0]
  std::size_t lines_ = 0;            // line ends among them
  std::size_t line_start_ = 0;       // the offset after the last of them
  bool exhausted_ = false;
  std::vector<bool> first_;      // by depth: whether no item has been read yet
  std::size_t values_left_ = 0;  // of the tree being read
  std::string scratch_;
  std::optional<Error> error_;
};

}  // namespace rightsize
