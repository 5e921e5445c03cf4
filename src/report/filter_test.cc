#include "report/filter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace rightsize::report {
namespace {

struct Card {
  std::string name, maker;
  Bytes memory = {};
  BytesPerSecond link = {};
  FlopsPerSecond rate = {};
  std::optional<Watts> power = {};
  int year = 0;
  bool coherent = false;
};
const Fields<Card> kFields = {
    {"name", "card", "its name", &Card::name},
    {"maker", "who makes it", &Card::maker},
    {"memory_bytes", "memory", "its memory", &Card::memory},
    {"link_bytes_per_second?", "link to others", &Card::link},
    {"fp8_flops", "fp8 rate", &Card::rate},
    {"tdp_watts", "power limit", &Card::power},
    {"year", "year of release", &Card::year},
    {"coherent", "shares memory with the host", &Card::coherent},
};

bool holds(const std::string& text, const Card& card) { return matching(kFields, std::vector{card}, {text})->front(); }

TEST(Filter, ColumnsAreNamedWithoutTheirUnits) {
  EXPECT_THAT(filter_columns(kFields),
              testing::ElementsAre("name", "maker", "memory", "link", "fp8", "tdp", "year", "coherent"));
}

// Every sign, for random numbers in the unit of data sheets and with a unit.
TEST(Filter, ComparesNumbersInTheUnitOfTheColumn) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    const double held = 1 + std::floor(random.uniform() * 4), wanted = 1 + std::floor(random.uniform() * 4);
    const Card card{"a", "b", gib(held), gb_per_s(held), tflop_per_s(held), watts(held), static_cast<int>(held)};
    const std::pair<const char*, bool> signs[] = {{">=", held >= wanted}, {">", held > wanted},
                                                  {"<=", held <= wanted}, {"<", held < wanted},
                                                  {"=", held == wanted},  {"!=", held != wanted}};
    const std::pair<const char*, const char*> columns[] = {{"memory", "GB"},   {"memory", "GiB"}, {"link", "GB/s"},
                                                           {"fp8", "TFLOP/s"}, {"tdp", "W"},      {"year", ""}};
    for (const auto& [sign, expected] : signs) {
      for (const auto& [column, unit] : columns) {
        for (const char* given : {"", unit}) {
          const std::string text = fmt::format("{} {} {}{}", column, sign, wanted, given);
          EXPECT_EQ(holds(text, card), expected) << text << ", held " << held;
        }
      }
    }
  }
}

TEST(Filter, ANameAloneAsksForAValue) {
  const Card some{"a", "b", gib(8), gb_per_s(1), tflop_per_s(1), watts(70), 2020, true}, none{"", "none"};
  for (const std::string& column : filter_columns(kFields)) {
    EXPECT_TRUE(holds(column, some)) << column;
    EXPECT_FALSE(holds(column, none)) << column;
  }
  EXPECT_TRUE(holds("coherent=yes", some));
  EXPECT_TRUE(holds("link=no", none));
  EXPECT_FALSE(holds("link=no", some));
  EXPECT_FALSE(holds("tdp>=1", none));  // unknown
}

TEST(Filter, TextIsFoundInAnyCase) {
  const Card card{"H100 SXM", "NVIDIA"};
  EXPECT_TRUE(holds("name=h100", card));
  EXPECT_TRUE(holds("maker = nvidia", card));
  EXPECT_FALSE(holds("maker!=nvidia", card));
}

TEST(Filter, RefusesOtherColumnsAndValues) {
  const auto error = [](const char* text) { return matching(kFields, std::vector<Card>{}, {text}).error(); };
  EXPECT_THAT(error("memry>=80").hints, testing::Contains("did you mean 'memory'?"));
  EXPECT_THAT(error("memory>=banana").message, testing::HasSubstr("banana"));
}

}  // namespace
}  // namespace rightsize::report
