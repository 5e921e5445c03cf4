// A JSON document to be written, such as the output of a command. Members keep the order in which they were added.
// base/located_json.h reads JSON.
//
// Braces nest as the document does: {{"name", "a"}, {"sizes", {1, 2}}}. A list in which every entry is a pair that
// begins with text is an object; any other list is an array. An empty one is written as array() or object().
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

  // The member of that name, added as null if there is none. A null becomes an object; any other value is replaced by
  // an empty object.
  Json& operator[](std::string_view name);
  // The number of items or members; 0 for anything but arrays and objects.
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  // A null becomes an array; any other value is replaced by an empty array.
  void push_back(Json item);

  // The content if it has this type; otherwise null.
  const Json* find(std::string_view name) const;
  const Array* items() const;
  const std::string* text() const;

  // Calls the visitor with the content: nullptr, bool, std::int64_t, std::uint64_t, double, std::string, Array or
  // Object.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(std::forward<Visitor>(visitor), value_);
  }

  bool operator==(const Json& other) const;

  // Indents each level by two spaces. Numbers that are not finite become null; bytes that are not UTF-8 become U+FFFD.
  std::string dump() const;

 private:
  // A value of exactly this type: C++'s conversions between numbers must not choose another constructor.
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

// One entry of a braced list that can be moved out of it; a plain std::initializer_list would copy every level.
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
