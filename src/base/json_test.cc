#include "base/json.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/located_json.h"

namespace rightsize {
namespace {

TEST(Json, BracesOfPairsAreAnObjectInTheirOrder) {
  const Json json = {{"b", 1}, {"a", {{"inner", nullptr}}}};
  EXPECT_EQ(json.dump(), "{\n  \"b\": 1,\n  \"a\": {\n    \"inner\": null\n  }\n}");
}

TEST(Json, OtherBracesAreAnArray) {
  const Json json = {1, "two", true};
  EXPECT_EQ(json.dump(), "[\n  1,\n  \"two\",\n  true\n]");
}

TEST(Json, EmptyArraysAndObjectsKeepTheirType) {
  EXPECT_EQ(Json::array().dump(), "[]");
  EXPECT_EQ(Json::object().dump(), "{}");
  EXPECT_EQ(Json().dump(), "null");
}

TEST(Json, AnArrayOfOneObjectStaysAnArray) {
  EXPECT_EQ(Json::array({{{"a", 1}}}).dump(), "[\n  {\n    \"a\": 1\n  }\n]");
}

TEST(Json, NamingAMemberAddsIt) {
  Json json;
  json["list"].push_back(2);
  json["list"].push_back(std::string("x"));
  json["list"].push_back(std::vector<int>{});
  EXPECT_EQ(json, (Json{{"list", {2, "x", Json::array()}}}));
  ASSERT_NE(json.find("list"), nullptr);
  EXPECT_EQ(json.find("list")->size(), 3u);
  EXPECT_EQ(json.find("other"), nullptr);
}

TEST(Json, NumbersAreTheShortestThatReadBack) {
  EXPECT_EQ(Json(0.1).dump(), "0.1");
  EXPECT_EQ(Json(2.0).dump(), "2.0");
  EXPECT_EQ(Json(1e300).dump(), "1e+300");
  EXPECT_EQ(Json(std::uint64_t{18446744073709551615u}).dump(), "18446744073709551615");
  EXPECT_EQ(Json(-3).dump(), "-3");
}

TEST(Json, NumbersThatAreNotFiniteAreNull) {
  EXPECT_EQ(Json(NAN).dump(), "null");
  EXPECT_EQ(Json(INFINITY).dump(), "null");
}

TEST(Json, TextIsEscaped) { EXPECT_EQ(Json("a\"\\\n\t\x01 é").dump(), R"("a\"\\\n\t\u0001 é")"); }

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Json("\xff|\xc3").dump(), "\"\uFFFD|\uFFFD\"");
  EXPECT_EQ(Json("\xed\xa0\x80").dump(), "\"\uFFFD\uFFFD\uFFFD\"");  // a surrogate
}

RC_GTEST_PROP(Json, AnyTextReadsBackAsItself, ()) {
  const auto ascii = *rc::gen::container<std::string>(rc::gen::inRange<char>(0, 127));
  const std::string text = ascii + *rc::gen::element<std::string>("", "é", "日本", "\U0001F600");
  const auto read = LocatedJson::parse("test", Json{{"text", text}}.dump());
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->root().find("text")->value.text == text);
}

RC_GTEST_PROP(Json, AnyNumberReadsBackAsItself, (double number)) {
  const auto read = LocatedJson::parse("test", Json{{"number", number}}.dump());
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->root().find("number")->value.number == number);
}

}  // namespace
}  // namespace rightsize
