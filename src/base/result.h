// Result<T>: a value, or an Error that says what is wrong, where, and what to write instead.
//
// Functions report failures as Errors. The few exceptions (from yaml-cpp, out of memory) are caught in the file that
// calls the library, or in main.cc. "Does not fit" and "no feasible plan" are ordinary values with reasons, not Errors;
// the program turns them into exit codes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace rightsize {

// Each code has an exit status.
enum class ErrorCode {
  kBadInput,          // the user's text or flags; exit 1
  kUnreadableSource,  // a file, server or device could not be read; exit 3
  kBug,               // a defect of the program; exit 70
};

// A place in a text that the user can open. Lines and columns count from 1; 0 means unknown. `excerpt` is the line
// itself, so an error can be shown after the text is gone; `length` is the number of characters to underline.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  int length = 1;
  std::string excerpt;

  bool operator==(const Place&) const = default;
};

struct Error {
  ErrorCode code = ErrorCode::kBadInput;
  std::string message;
  Place place;
  std::vector<std::string> hints;

  Error&& with_hint(std::string hint) && {
    if (!hint.empty()) hints.push_back(std::move(hint));
    return std::move(*this);
  }
  Error&& at(Place where) && {
    place = std::move(where);
    return std::move(*this);
  }
};

inline Error bad_input(std::string message) { return {ErrorCode::kBadInput, std::move(message), {}, {}}; }
inline Error unreadable(std::string message) { return {ErrorCode::kUnreadableSource, std::move(message), {}, {}}; }
inline Error bug(std::string message) { return {ErrorCode::kBug, std::move(message), {}, {}}; }

// All errors of one input, in order. A single Error converts, so RIGHTSIZE_TRY works on a Result in a function that
// returns Checked.
struct Errors : std::vector<Error> {
  Errors() = default;
  Errors(Error error) { push_back(std::move(error)); }
};

template <class T = void>
using Result = tl::expected<T, Error>;

// For readers of whole files: the value, or all errors.
template <class T = void>
using Checked = tl::expected<T, Errors>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Errors> fail(Errors errors) { return tl::unexpected<Errors>(std::move(errors)); }

// The place of `offset` in `text`: line, column and the line itself (cut to the width of a terminal).
Place place_in(std::string_view file, std::string_view text, std::size_t offset, std::size_t length = 1);

// "error: file:3:7: message", the line with a caret under it, then the hints. Ends with a newline.
std::string describe(const Error& error);
std::string describe(const Errors& errors);

// The exit code for an error: 1, 3 or 70.
int exit_code(const Error& error);

}  // namespace rightsize

// RIGHTSIZE_TRY(auto x, expression): x = the value of a Result, or return its error from this function.
#define RIGHTSIZE_TRY_JOIN2(a, b) a##b
#define RIGHTSIZE_TRY_JOIN(a, b) RIGHTSIZE_TRY_JOIN2(a, b)
#define RIGHTSIZE_TRY(declaration, ...)                                                  \
  auto RIGHTSIZE_TRY_JOIN(try_, __LINE__) = (__VA_ARGS__);                               \
  if (!RIGHTSIZE_TRY_JOIN(try_, __LINE__))                                               \
    return ::tl::make_unexpected(std::move(RIGHTSIZE_TRY_JOIN(try_, __LINE__)).error()); \
  declaration = *std::move(RIGHTSIZE_TRY_JOIN(try_, __LINE__))
