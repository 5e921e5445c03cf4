#include "base/json_reader.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/decimal.h"

namespace rightsize {
namespace {

// Returns one byte at a time: blocks end at every position.
class Drip : public ByteSource {
 public:
  explicit Drip(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<char> to) override {
    if (at_ == text_.size() || to.empty()) return 0;
    to[0] = text_[at_++];
    return 1;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

TEST(JsonReader, ReadsNestedObjectsAndArrays) {
  Drip source(
      R"( {"a": [1, -2.5e3, "3", null], "b": {"c": "x\"\\\u00e9\ud83d\ude00"}, "d": [[1,"NaN"], [2.5, "+Inf"]]} )");
  JsonReader json(source, "t");
  std::string name, text;
  std::vector<std::optional<double>> numbers;
  std::vector<std::pair<double, double>> pairs;
  for (json.enter_object(); json.next_member(name);) {
    if (name == "a") {
      for (json.enter_array(); json.next_item();) numbers.push_back(json.read_number());
    } else if (name == "b") {
      for (json.enter_object(); json.next_member(name);) json.read_string(text);
    } else {
      for (json.enter_array(); json.next_item();) {
        JsonReader::Pair pair;
        if (json.read_pair(pair)) pairs.emplace_back(pair.first, pair.second);
      }
    }
  }
  ASSERT_FALSE(json.failed()) << json.error().message;
  EXPECT_EQ(numbers, (std::vector<std::optional<double>>{1, -2500, 3, std::nullopt}));
  EXPECT_EQ(text, "x\"\\\xC3\xA9\xF0\x9F\x98\x80");
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(std::isnan(pairs[0].second));
  EXPECT_TRUE(std::isinf(pairs[1].second));
  EXPECT_TRUE(json.at_end());
}

TEST(JsonReader, ErrorsNameTheirPlace) {
  for (const char* text :
       {"{\"a\" 1}", "{\"a\": [1, 2", "{\"a\": \"x", "{\"a\": tru\x01}", "[1,,2]", "{\"a\": \"\\q\"}"}) {
    std::unique_ptr<ByteSource> source = bytes_of(text);
    JsonReader json(*source, "t.json");
    json.skip();
    std::string name;
    std::unique_ptr<ByteSource> again = bytes_of(text);
    JsonReader walked(*again, "t.json");
    if (walked.peek() == '{') {
      for (walked.enter_object(); walked.next_member(name);) {
        if (walked.peek() == '"') {
          walked.read_string(name);
        } else if (walked.peek() == '[') {
          for (walked.enter_array(); walked.next_item();) walked.read_number();
        } else {
          walked.read_number();
        }
      }
    } else {
      for (walked.enter_array(); walked.next_item();) walked.read_number();
    }
    ASSERT_TRUE(walked.failed()) << text;
    EXPECT_EQ(walked.error().place.file, "t.json");
    EXPECT_EQ(walked.error().place.line, 1) << walked.error().message;
    EXPECT_GT(walked.error().place.column, 1) << walked.error().message;
  }
}

TEST(JsonReader, RefusesTooDeepNesting) {
  const std::string deep(200, '[');
  std::unique_ptr<ByteSource> source = bytes_of(deep);
  JsonReader json(*source, "t");
  json.skip();
  EXPECT_TRUE(json.failed());
}

TEST(JsonReader, ReadingPairsInBlocksEqualsOneByOne) {
  std::string text = "[";
  for (int i = 0; i < 2000; ++i)
    text += (i > 0 ? (i % 7 == 0 ? " , " : ",") : "") + ("[" + std::to_string(1760000000 + 30 * i)) + ",\"0." +
            std::to_string(i) + "\"]";
  text += "]";
  Drip drip(text);
  JsonReader json(drip, "t");
  ASSERT_TRUE(json.enter_array());
  std::vector<JsonReader::Pair> all;
  std::array<JsonReader::Pair, 64> block;
  for (bool more = true; more;) {
    std::size_t count = 0;
    more = json.read_pairs(block, count);
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  }
  ASSERT_FALSE(json.failed());
  ASSERT_EQ(all.size(), 2000u);
  EXPECT_EQ(all[1999].first, 1760000000 + 30 * 1999);
  EXPECT_EQ(all[1999].second, 0.1999);
  EXPECT_TRUE(json.at_end());
}

// Short decimals have a fast path, which must agree with the standard library.
RC_GTEST_PROP(ParseDecimal, ParsesLikeTheStandardLibrary, (std::int64_t whole, std::uint32_t part)) {
  const std::string text = std::to_string(whole) + "." + std::to_string(part);
  double ours = 0;
  const char* stop = parse_decimal(text.data(), text.data() + text.size(), ours);
  RC_ASSERT(stop == text.data() + text.size());
  RC_ASSERT(ours == std::strtod(text.c_str(), nullptr));
}

// Agrees with the standard library for any number of digits before and after the point.
RC_GTEST_PROP(PlainNumber, ParsesLikeTheStandardLibrary, ()) {
  const auto digits = [](std::size_t most) {
    return *rc::gen::container<std::string>(*rc::gen::inRange<std::size_t>(0, most), rc::gen::inRange('0', ':'));
  };
  const std::string text = digits(17) + (*rc::gen::arbitrary<bool>() ? "." + digits(10) : "");
  const bool some_digit = text.find_first_not_of('.') != std::string::npos;
  double ours = -1, theirs = 0;
  const char* stop = plain_number(text.data(), text.data() + text.size(), ours);
  RC_ASSERT((stop != nullptr) == (text.size() <= 15 && some_digit));
  if (stop == nullptr) return;
  RC_ASSERT(stop == text.data() + text.size());
  std::from_chars(text.data(), stop, theirs);
  RC_ASSERT(ours == theirs);
}

// With pairs of every spelling in one list, the fast path and the general one agree.
RC_GTEST_PROP(JsonReader, PairsOfAnySpellingReadAsTheirNumbers, ()) {
  const auto times =
      rc::gen::element<std::string>("1760000000", "1760000030.781", "0", "17600000301", "1.76e9", "5.25");
  const auto values = rc::gen::element<std::string>("0", "0.9850", "98", "-1.5", "1e-7", "NaN", "+Inf", "79872.125",
                                                    "0.30000000000000004", "123456789012345", "655.1");
  const auto list = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(rc::gen::pair(times, values));
  std::string text = "[";
  for (const auto& [time, value] : list) text += fmt::format("{}[{},\"{}\"]", text.size() > 1 ? "," : "", time, value);
  text += "]";
  Drip drip(text);
  JsonReader json(drip, "t");
  json.enter_array();
  std::vector<JsonReader::Pair> all;
  std::array<JsonReader::Pair, 7> block;
  for (bool more = true; more;) {
    std::size_t count = 0;
    more = json.read_pairs(block, count);
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  }
  RC_ASSERT(!json.failed());
  RC_ASSERT(all.size() == list.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double value = *parse_sample_value(list[i].second);
    RC_ASSERT(all[i].first == std::strtod(list[i].first.c_str(), nullptr));
    RC_ASSERT(all[i].second == value || (std::isnan(value) && std::isnan(all[i].second)));
  }
}

TEST(ParseDecimal, ReadsLongAndExponentNumbersAndRefusesText) {
  auto parse = [](std::string_view text) {
    double value = -1;
    const char* stop = parse_decimal(text.data(), text.data() + text.size(), value);
    return stop == nullptr ? std::pair(-1.0, std::ptrdiff_t{-1}) : std::pair(value, stop - text.data());
  };
  EXPECT_EQ(parse("1760000000,"), std::pair(1760000000.0, std::ptrdiff_t{10}));
  EXPECT_EQ(parse("12345678"), std::pair(12345678.0, std::ptrdiff_t{8}));
  EXPECT_EQ(parse("9223372036854775794"), std::pair(9223372036854775794.0, std::ptrdiff_t{19}));
  EXPECT_EQ(parse("1e-7").first, 1e-7);
  EXPECT_EQ(parse("-0.25").first, -0.25);
  EXPECT_EQ(parse("x").second, -1);
  EXPECT_EQ(parse("").second, -1);
}

}  // namespace
}  // namespace rightsize
