// Cells of comma-separated text and of JSON, eight characters at a time.
//
// A cell of a recording is a number of a few digits; read a character at a time, its unpredictable length costs more
// than its value. Here the mark behind it is found and the digits are added up within one or two machine words.
//
// Words are loaded whole, so kSlack bytes behind a line must be readable; what is in them does not matter.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace rightsize::telemetry {

inline constexpr std::size_t kSlack = 16;

// Not within the functions that use it: there it would be built anew for every cell.
inline constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

namespace cell_scan {

inline constexpr std::uint64_t kOnes = 0x0101010101010101, kZeros = 0x30 * kOnes;

inline std::uint64_t load(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The place of the first byte equal to `c`, 8 when there is none.
inline std::size_t first_of(std::uint64_t word, char c) {
  const std::uint64_t zeroed = word ^ (kOnes * static_cast<unsigned char>(c));
  const std::uint64_t marks = (zeroed - kOnes) & ~zeroed & (kOnes << 7);
  return static_cast<std::size_t>(std::countr_zero(marks)) / 8;
}

inline std::uint64_t low_bytes(std::size_t count) { return (std::uint64_t{1} << (8 * count)) - 1; }

inline bool all_digits(std::uint64_t word) {
  constexpr std::uint64_t kHigh = 0xF0 * kOnes;
  return (((word & kHigh) | (((word + 0x06 * kOnes) & kHigh) >> 4)) == (0x33 * kOnes));
}

// "00012345" -> 12345: neighbours are joined to numbers of two, four and eight digits.
inline std::uint64_t eight_digits(std::uint64_t word) {
  word -= kZeros;
  word = word * 10 + (word >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FF;
  constexpr std::uint64_t kFirst = 100 + (std::uint64_t{1000000} << 32), kSecond = 1 + (std::uint64_t{10000} << 32);
  return ((word & kPairs) * kFirst + ((word >> 16) & kPairs) * kSecond) >> 32;
}

// Up to 16 characters in two words.
struct Text16 {
  std::uint64_t low = 0, high = 0;

  std::size_t first(char c) const {
    const std::size_t at = first_of(low, c);
    return at < 8 ? at : 8 + first_of(high, c);
  }
  void remove(std::size_t at) {
    if (at < 8) {
      const std::uint64_t kept = low_bytes(at);
      low = (low & kept) | (((low >> 8) | (high << 56)) & ~kept);
      high >>= 8;
    } else {
      const std::uint64_t kept = low_bytes(at - 8);
      high = (high & kept) | ((high >> 8) & ~kept);
    }
  }
  // The first `size` (1-15) characters moved to the end, zeros before them.
  void align(std::size_t size) {
    const std::size_t shift = 16 - size;
    if (shift >= 8) {
      const std::size_t bits = 8 * (shift - 8);
      high = (low << bits) | (kZeros & low_bytes(shift - 8));
      low = kZeros;
    } else {
      const std::size_t bits = 8 * shift;
      high = (high << bits) | (low >> (64 - bits));
      low = (low << bits) | (kZeros & low_bytes(shift));
    }
  }
};

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
// With its comma.
inline std::size_t short_cell_size(std::uint64_t cell) {
  return 8 - static_cast<std::size_t>(std::countl_zero(cell)) / 8;
}

namespace cell_scan {

// number_text() of 1-8 characters.
[[gnu::always_inline]] inline bool short_number(const char* at, std::size_t size, double& value) {
  std::uint64_t word = load(at);
  const std::size_t point = first_of(word, '.');
  const bool whole = point >= size;
  const std::size_t digits = whole ? size : size - 1;
  if (digits == 0) return false;
  if (!whole) word = (word & low_bytes(point)) | ((word >> 8) & ~low_bytes(point));
  word = (word << (64 - 8 * digits)) | (kZeros & low_bytes(8 - digits));
  if (!all_digits(word)) return false;
  value = static_cast<double>(eight_digits(word));
  if (!whole) value /= kPowersOfTen[digits - point];
  return true;
}

// number_text() of 9-15 characters.
inline bool long_number(const char* at, std::size_t size, double& value) {
  Text16 text{load(at), load(at + 8)};
  const std::size_t point = text.first('.');
  const bool whole = point >= size;
  const std::size_t digits = whole ? size : size - 1;
  if (!whole) text.remove(point);
  text.align(digits);
  if (!all_digits(text.high) || !all_digits(text.low)) return false;
  value = static_cast<double>(eight_digits(text.low) * 100000000 + eight_digits(text.high));
  if (!whole) value /= kPowersOfTen[digits - point];
  return true;
}

}  // namespace cell_scan

// Text of `size` characters that is nothing but a decimal number, of at most 15; false for any other. The mantissa and
// the power of ten are exact doubles then, and their quotient is the nearest double.
[[gnu::always_inline]] inline bool number_text(const char* at, std::size_t size, double& value) {
  if (size - 1 < 8) return cell_scan::short_number(at, size, value);
  return size - 1 < 15 && cell_scan::long_number(at, size, value);
}

// A cell that is such a number: its end (a comma, or `last`), or null for any other cell.
[[gnu::always_inline]] inline const char* number_cell(const char* at, const char* last, double& value) {
  const auto rest = static_cast<std::size_t>(last - at);
  std::size_t size = cell_scan::first_of(cell_scan::load(at), ',');
  if (size == 8) size += cell_scan::first_of(cell_scan::load(at + 8), ',');
  size = std::min(size, rest);
  return number_text(at, size, value) ? at + size : nullptr;
}

// A number with `mark` behind it: its end, or null. Where the mark was behind the number before (`size`, which is kept
// up to date) is looked first: a guess that is usually right lets the processor go on with what follows.
[[gnu::always_inline]] inline const char* number_before(char mark, const char* at, std::size_t& size, double& value) {
  if (at[size] != mark) {
    const cell_scan::Text16 text{cell_scan::load(at), cell_scan::load(at + 8)};
    const std::size_t found = text.first(mark);
    if (found > 15) return nullptr;
    size = found;
  }
  return number_text(at, size, value) ? at + size : nullptr;
}

}  // namespace rightsize::telemetry
