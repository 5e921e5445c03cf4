// A value, or an error with its place and a hint. The library throws only std::bad_alloc. As with std::optional,
// reading the value of an error, or the error of a value, is undefined.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace rightsize::v1 {

// `text` is what the program prints: every mistake, with places and hints.
struct Error {
  enum class Code {
    kInput,   // an invalid setting, model or file
    kSource,  // a file, server or device that could not be read
    kBug,     // a bug in the library
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
