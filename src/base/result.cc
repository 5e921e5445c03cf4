#include "base/result.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "base/utf8.h"

namespace rightsize {
namespace {

constexpr std::size_t kExcerptWidth = 160;

// Text that a terminal can show safely. Control characters become `control`, or an escape such as \x1b if that is
// empty; bytes that are not UTF-8 become '?' or an escape.
std::string printable(std::string_view text, std::string_view control) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    const auto first = static_cast<unsigned char>(text[at]);
    // C1 controls are two bytes in UTF-8: c2 80 to c2 9f.
    const bool c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    const bool shown = control.empty();
    const bool line_end = shown && first == '\n';
    if (length == 0 || c1 || (length == 1 && !line_end && (first < 0x20 || first == 0x7f))) {
      out += shown ? fmt::format("\\x{:02x}", first) : length == 0 ? "?" : std::string(control);
      at += c1 ? 2 : 1;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

// The part of the line around the column that a terminal can show, and the column inside that part.
struct Window {
  std::string text;
  std::size_t column;  // from 0
};

Window window_of(std::string_view line, std::size_t column) {
  std::size_t begin = 0;
  if (column > kExcerptWidth - 40) begin = column - (kExcerptWidth - 40);
  // Tabs and control bytes would move the caret, so each is shown as one column.
  std::string text = printable(line.substr(std::min(begin, line.size()), kExcerptWidth), " ");
  const std::size_t before = display_width(printable(line.substr(std::min(begin, line.size()), column - begin), " "));
  return {std::move(text), before};
}

}  // namespace

Place place_in(std::string_view file, std::string_view text, std::size_t offset, std::size_t length) {
  offset = std::min(offset, text.size());
  std::size_t line_start = text.rfind('\n', offset == 0 ? 0 : offset - 1);
  line_start = (offset == 0 || line_start == std::string_view::npos) ? 0 : line_start + 1;
  std::size_t line_end = text.find('\n', offset);
  if (line_end == std::string_view::npos) line_end = text.size();
  std::string_view line = text.substr(line_start, line_end - line_start);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);

  Place place;
  place.file = file;
  place.line =
      1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line_start), '\n'));
  place.column = 1 + static_cast<int>(offset - line_start);
  place.length = static_cast<int>(std::max<std::size_t>(1, std::min(length, line_end - offset)));
  place.excerpt = line;
  return place;
}

std::string describe(const Error& error) {
  std::string out = error.code == ErrorCode::kBug ? "error: internal: " : "error: ";
  const Place& place = error.place;
  if (!place.file.empty()) {
    out += place.file;
    if (place.line > 0) out += fmt::format(":{}", place.line);
    if (place.column > 0) out += fmt::format(":{}", place.column);
    out += ": ";
  }
  out += printable(error.message, "") + '\n';
  if (place.line > 0 && place.column > 0 && !place.excerpt.empty()) {
    Window window = window_of(place.excerpt, static_cast<std::size_t>(place.column - 1));
    std::size_t room = window.text.size() > window.column ? window.text.size() - window.column : 1;
    std::size_t underline = std::min(static_cast<std::size_t>(place.length), room);
    out +=
        fmt::format("  {}\n  {}^{}\n", window.text, std::string(window.column, ' '), std::string(underline - 1, '~'));
  }
  for (const std::string& hint : error.hints) out += "hint: " + printable(hint, "") + '\n';
  return out;
}

std::string describe(const Errors& errors) {
  std::string out;
  for (auto error = errors.begin(); error != errors.end(); ++error) {
    // An unknown column of a table is one mistake, not one per row.
    const auto same = [&](const Error& other) { return other.message == error->message; };
    if (!error->message.starts_with("unknown ") || std::none_of(errors.begin(), error, same)) out += describe(*error);
  }
  return out;
}

int exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::kBadInput:
      return 1;
    case ErrorCode::kUnreadableSource:
      return 3;
    case ErrorCode::kBug:
      return 70;
  }
  return 70;
}

}  // namespace rightsize
