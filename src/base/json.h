// A JSON document to be written: what a command hands to scripts. Members keep the order in which they were added.
//
// Braces nest as the document does: {{"name", "a"}, {"sizes", {1, 2}}}. A list whose every entry is a pair that begins
// with text is an object, any other list is an array; array() and object() say which an empty one is. Reading JSON is
// base/located_json.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rightsize {

class JsonItem;

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json();  // null
  Json(std::nullptr_t) : Json() {}
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  template <class Number>
  requires std::is_arithmetic_v<Number> Json(Number value) : Json(Exact<Number>{value}) {}
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  template <class T>
  Json(const std::vector<T>& items) : Json(Array(items.begin(), items.end())) {}
  Json(Array items);
  Json(std::initializer_list<JsonItem> list);

  static Json array(std::initializer_list<JsonItem> list = {});
  static Json object();

  // The member of that name, added as null where there is none. A null becomes an object; anything else that is not one
  // is replaced by an empty object.
  Json& operator[](std::string_view name);
  // Of arrays and objects; 0 for anything else.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // A null becomes an array; anything else that is not one is replaced by an empty array.
  void push_back(Json item);

  // What it holds; null where it holds something else.
  const Json* find(std::string_view name) const;
  const Array* items() const;
  const std::string* text() const;

  // Calls the visitor with what it holds: nullptr, bool, std::int64_t, std::uint64_t, double, std::string, Array or
  // Object.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), value_);
  }

  bool operator==(const Json& other) const;

  // Indented by two spaces a level. Numbers that are not finite are written as null, bytes that are not UTF-8 as
  // U+FFFD.
  std::string dump() const;

 private:
  // A value of exactly this type: none of C++'s conversions between numbers may choose.
  template <class T>
  struct Only {
    T value;
  };
  template <class Number>
  using Exact = Only<std::conditional_t<
      std::same_as<Number, bool>, bool,
      std::conditional_t<std::floating_point<Number>, double,
                         std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>>>;
  explicit Json(Only<bool> value);
  explicit Json(Only<std::int64_t> value);
  explicit Json(Only<std::uint64_t> value);
  explicit Json(Only<double> value);
  void write(std::string& out, std::size_t indent) const;

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;

  friend class JsonItem;
};

// One entry of a braced list, movable out of it: std::initializer_list alone would copy every level again.
class JsonItem {
 public:
  template <class T>
  requires std::constructible_from<Json, T> JsonItem(T&& value) : value_(std::forward<T>(value)) {}
  JsonItem(std::initializer_list<JsonItem> list) : value_(list) {}

 private:
  mutable Json value_;

  friend class Json;
};

}  // namespace rightsize
