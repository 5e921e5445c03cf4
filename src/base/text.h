// Small text functions.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace rightsize {

// Removes spaces, tabs and line ends from both ends.
std::string_view trim(std::string_view text);

// The parts between separators, trimmed; empty parts are dropped, so "" gives none.
std::vector<std::string_view> split_list(std::string_view text, char separator);
// The parts of a temporary string would point to freed memory in a range-based for loop.
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split_list(Temporary&& text, char separator) = delete;

// ASCII only, whatever the locale.
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string to_lower(std::string_view text);

// Terminal columns of UTF-8 text: code points without colour codes. Double-width characters are not supported.
std::size_t display_width(std::string_view utf8);

}  // namespace rightsize
