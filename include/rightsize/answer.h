// A value, or an error that says what is wrong, where, and what to try. Nothing of this library throws, but for
// std::bad_alloc and the accessors of an empty Answer, which are as undefined as those of std::optional.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace rightsize::v1 {

// `text` is what the program prints: every mistake at once, with places, carets and hints.
struct Error {
  enum class Code {
    kInput,   // a setting, a model or a file that cannot be as given
    kSource,  // a file, server or device that could not be read
    kBug,     // a mistake of the library
  };
  Code code = Code::kInput;
  std::string text;
};

template <class T>
class [[nodiscard]] Answer {
 public:
  Answer(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Answer(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return held_.index() == 0; }
  T& operator*() & { return *std::get_if<0>(&held_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&held_)); }
  const T& operator*() const& { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

}  // namespace rightsize::v1
