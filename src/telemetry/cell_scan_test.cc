#include "telemetry/formats/cell_scan.h"

#include <charconv>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace rightsize::telemetry {
namespace {

// A line followed by characters that would change the result if they were read.
struct Padded {
  explicit Padded(const std::string& line) : text(line + std::string("7,7.7,77,777.777")), size(line.size()) {}
  const char* begin() const { return text.data(); }
  const char* end() const { return text.data() + size; }
  std::string text;
  std::size_t size;
};

std::optional<double> number_of(const std::string& cell, const std::string& behind) {
  const Padded line(cell + behind);
  double value = 0;
  const char* stop = number_cell(line.begin(), line.end(), value);
  if (stop == nullptr) return std::nullopt;
  EXPECT_EQ(stop - line.begin(), static_cast<std::ptrdiff_t>(cell.size())) << cell;
  return value;
}

TEST(NumberCell, ParsesLikeFromChars) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200000; ++round) {
    const std::size_t digits = 1 + random() % 15;
    std::string cell;
    for (std::size_t i = 0; i < digits; ++i) cell += static_cast<char>('0' + random() % 10);
    if (digits < 15 && random() % 4 != 0) cell.insert(random() % (digits + 1), ".");
    double expected = 0;
    ASSERT_EQ(std::from_chars(cell.data(), cell.data() + cell.size(), expected).ec, std::errc()) << cell;
    ASSERT_EQ(number_of(cell, ""), expected) << cell;
    ASSERT_EQ(number_of(cell, ",12.5"), expected) << cell;
  }
}

TEST(NumberCell, RefusesAnythingButPlainNumbers) {
  for (const char* cell : {"", ".", "-1", "+1", "1e5", "0x10", "1 ", " 1", "1.2.3", "nan", "N/A", "12a4", "1\n2",
                           "12:30", "1234567890123456", "12345678/1", "\xff\xff\xff"}) {
    EXPECT_EQ(number_of(cell, ""), std::nullopt) << cell;
    EXPECT_EQ(number_of(cell, ",1"), std::nullopt) << cell;
  }
}

TEST(FindComma, StopsAtTheEndOfTheLine) {
  for (std::size_t size = 0; size < 40; ++size) {
    const Padded without(std::string(size, 'x'));
    EXPECT_EQ(find_comma(without.begin(), without.end()), without.end());
    const Padded with(std::string(size, 'x') + ",y,");
    EXPECT_EQ(find_comma(with.begin(), with.end()) - with.begin(), static_cast<std::ptrdiff_t>(size));
  }
}

TEST(ShortCell, IsOneToSevenCharactersAndAComma) {
  for (std::size_t size = 0; size < 12; ++size) {
    const Padded line(std::string(size, '5') + ",");
    const std::uint64_t cell = short_cell(line.begin(), line.end());
    EXPECT_EQ(cell != 0, size >= 1 && size <= 7) << size;
    if (cell != 0) {
      EXPECT_EQ(short_cell_size(cell), size + 1);
    }
    const Padded last(std::string(size, '5'));
    EXPECT_EQ(short_cell(last.begin(), last.end()), 0u) << "the last cell has no comma";
  }
}

}  // namespace
}  // namespace rightsize::telemetry
