// Cells of comma-separated text. Commas are searched for eight characters at a time.
//
// Eight bytes are loaded at once, so kSlack bytes after a line must be readable; their content does not matter.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/decimal.h"

namespace rightsize::telemetry {

inline constexpr std::size_t kSlack = 16;

namespace cell_scan {

inline constexpr std::uint64_t kOnes = 0x0101010101010101;

inline std::uint64_t load(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The position of the first byte equal to `c`; 8 if there is none.
inline std::size_t first_of(std::uint64_t word, char c) {
  const std::uint64_t zeroed = word ^ (kOnes * static_cast<unsigned char>(c));
  const std::uint64_t marks = (zeroed - kOnes) & ~zeroed & (kOnes << 7);
  return static_cast<std::size_t>(std::countr_zero(marks)) / 8;
}

}  // namespace cell_scan

// The first comma, or `last`.
inline const char* find_comma(const char* at, const char* last) {
  for (; at < last; at += 8) {
    const std::size_t place = cell_scan::first_of(cell_scan::load(at), ',');
    if (place < 8) return at + place < last ? at + place : last;
  }
  return last;
}

// A cell of one to seven characters with its comma, as a number to compare with others; 0 for any other cell.
inline std::uint64_t short_cell(const char* at, const char* last) {
  const std::uint64_t word = cell_scan::load(at);
  const std::size_t size = cell_scan::first_of(word, ',');
  if (size == 0 || size > 7 || size >= static_cast<std::size_t>(last - at)) return 0;
  return word & (~std::uint64_t{0} >> (56 - 8 * size));
}
// The size including the comma.
inline std::size_t short_cell_size(std::uint64_t cell) {
  return 8 - static_cast<std::size_t>(std::countl_zero(cell)) / 8;
}

// A cell that is a plain decimal number: its end (a comma, or `last`), or null for any other cell.
[[gnu::always_inline]] inline const char* number_cell(const char* at, const char* last, double& value) {
  const char* after = plain_number(at, last, value);
  return after != nullptr && (after == last || *after == ',') ? after : nullptr;
}

}  // namespace rightsize::telemetry
