#include "base/located_json.h"

#include <string>

#include <gtest/gtest.h>

namespace rightsize {
namespace {

Errors errors_of(std::string text) {
  Checked<LocatedJson> json = LocatedJson::parse("m.json", std::move(text));
  return json ? Errors{} : json.error();
}

TEST(LocatedJson, KeepsValuesOfEveryTypeWithTheirOffsets) {
  Checked<LocatedJson> json =
      LocatedJson::parse("m.json", R"({"a": 1, "b": [true, null, "x\ny"], "c": {"d": 2.5}, "e": 3e2})");
  ASSERT_TRUE(json);
  const JsonValue& root = json->root();
  ASSERT_EQ(root.members.size(), 4u);
  EXPECT_EQ(root.find("a")->value.integer, 1);
  EXPECT_EQ(root.find("a")->value.offset, 6u);
  const JsonValue& list = root.find("b")->value;
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_TRUE(list.items[0].boolean);
  EXPECT_EQ(list.items[1].type, JsonType::kNull);
  EXPECT_EQ(list.items[2].text, "x\ny");
  EXPECT_DOUBLE_EQ(root.find("c")->value.find("d")->value.number, 2.5);
  EXPECT_FALSE(root.find("c")->value.find("d")->value.integer);
  EXPECT_EQ(root.find("e")->value.integer, 300);
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(LocatedJson, ViewsSurviveAMove) {
  Checked<LocatedJson> json = LocatedJson::parse("m.json", R"({"key": 7})");
  ASSERT_TRUE(json);
  const JsonValue& value = json->root().find("key")->value;
  LocatedJson moved = *std::move(json);
  EXPECT_EQ(moved.place(value).column, 9);
}

TEST(LocatedJson, ByteOrderMarkIsIgnored) { EXPECT_TRUE(errors_of("\xef\xbb\xbf{\"a\": 1}").empty()); }

struct BadText {
  const char* name;
  std::string text;
  const char* message;
  int line;
  int column;
};

class LocatedJsonBad : public testing::TestWithParam<BadText> {};

TEST_P(LocatedJsonBad, MalformedJsonIsRefusedAtItsPlace) {
  const BadText& bad = GetParam();
  Errors errors = errors_of(bad.text);
  ASSERT_FALSE(errors.empty());
  EXPECT_NE(errors[0].message.find(bad.message), std::string::npos) << describe(errors);
  if (bad.line > 0) {
    EXPECT_EQ(errors[0].place.line, bad.line) << describe(errors);
  }
  if (bad.column > 0) {
    EXPECT_EQ(errors[0].place.column, bad.column) << describe(errors);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, LocatedJsonBad,
    testing::Values(BadText{"Empty", "", "empty", 1, 1}, BadText{"Blank", " \n ", "empty", 0, 0},
                    BadText{"Scalar", "42", "object", 1, 1}, BadText{"BareString", "\"x\"", "object", 1, 1},
                    BadText{"UnclosedString", "{\"a\": \"x", "not closed", 1, 0},
                    BadText{"UnclosedObject", "{\"a\": 1", "missing", 1, 0},
                    BadText{"UnclosedArray", "{\"a\": [1, 2", "missing", 1, 0},
                    BadText{"NotANumber", "{\n \"a\": NaN}", "'NaN' is not a JSON value", 2, 7},
                    BadText{"Infinity", "{\"a\": -Infinity}", "'-Infinity' is not a JSON number", 1, 7},
                    BadText{"Python", "{\"a\": True}", "'True' is not a JSON value", 1, 7},
                    BadText{"TooLarge", "{\"a\": 1e400}", "too large", 1, 7},
                    BadText{"LeadingZero", "{\"a\": 012}", "not a JSON number", 1, 7},
                    BadText{"MissingComma", "{\"a\": 1\n\"b\": 2}", "expected ','", 2, 1},
                    BadText{"MissingColon", "{\"a\" 1}", "expected ':'", 1, 6},
                    BadText{"TrailingComma", "{\"a\": 1,}", "expected a name", 1, 9},
                    BadText{"MoreText", "{\"a\": 1} {\"b\": 2}", "unexpected text", 1, 10},
                    BadText{"Twice", "{\"a\": 1,\n \"b\": 2, \"a\": 3}", "'a' is given twice", 2, 10},
                    BadText{"Deep", "{\"a\": " + std::string(5000, '[') + std::string(5000, ']') + "}", "nested", 1, 0},
                    BadText{"NotUtf8", "{\"a\": \"\xff\xfe\"}", "UTF-8", 0, 0}),
    [](const auto& test) { return test.param.name; });

TEST(LocatedJson, ADuplicateMemberNamesTheFirst) {
  Errors errors = errors_of("{\"a\": 1,\n \"a\": 3,\n \"a\": 4}");
  ASSERT_EQ(errors.size(), 2u);
  ASSERT_EQ(errors[0].hints.size(), 1u);
  EXPECT_NE(errors[0].hints[0].find("line 1"), std::string::npos);
}

class JsonObjectTest : public testing::Test {
 protected:
  JsonObject object(std::string text) {
    Checked<LocatedJson> parsed = LocatedJson::parse("m.json", std::move(text));
    EXPECT_TRUE(parsed);
    document_ = *std::move(parsed);
    return JsonObject(document_, document_.root(), errors_);
  }

  LocatedJson document_;
  Errors errors_;
};

TEST_F(JsonObjectTest, OutOfRangeIsShownWithACaret) {
  object("{\n  \"num_hidden_layers\": -3\n}").get_int("num_hidden_layers", 1, 1000);
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(describe(errors_),
            "error: m.json:2:24: 'num_hidden_layers' must be a whole number from 1 to 1000, not -3\n"
            "    \"num_hidden_layers\": -3\n"
            "                         ^~\n");
}

TEST_F(JsonObjectTest, EveryWrongTypeIsNotedAndReadingGoesOn) {
  JsonObject json = object(R"({"a": "four", "b": 1.5, "c": 1, "d": [1, "x"], "e": {}, "f": 2})");
  EXPECT_FALSE(json.get_int("a", 0, 9));
  EXPECT_FALSE(json.get_int("b", 0, 9));
  EXPECT_FALSE(json.get_bool("c"));
  EXPECT_FALSE(json.get_ints("d", 0, 9));
  EXPECT_FALSE(json.get_string("e"));
  EXPECT_FALSE(json.get_object("f"));
  EXPECT_FALSE(json.get_number("a", 0, 1));
  EXPECT_EQ(json.get_int("f", 0, 9), 2);
  ASSERT_EQ(errors_.size(), 7u);
  EXPECT_EQ(errors_[0].message, "'a' must be a whole number from 0 to 9, not the string \"four\"");
  EXPECT_EQ(errors_[1].message, "'b' must be a whole number from 0 to 9, not 1.5");
  EXPECT_EQ(errors_[2].message, "'c' must be true or false, not 1");
}

TEST_F(JsonObjectTest, NullAndAbsentAreTheSame) {
  JsonObject json = object(R"({"a": null})");
  EXPECT_FALSE(json.get_int("a", 0, 9));
  EXPECT_FALSE(json.has("a"));
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(json.require_int("a", 1, 9), 1);
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(errors_[0].message, "'a' is missing");
}

TEST_F(JsonObjectTest, TheFirstNameThatIsPresentIsRead) {
  EXPECT_EQ(object(R"({"hidden_size": 8})").get_int({"n_embd", "hidden_size"}, 1, 9), 8);
}

TEST_F(JsonObjectTest, AMisspeltRequiredFieldIsPointedOut) {
  JsonObject json = object("{\"hidden_size\": 8,\n \"num_hiden_layers\": 2}");
  json.require_int("num_hidden_layers", 1, 1000);
  json.refuse_misspelt();
  ASSERT_EQ(errors_.size(), 1u) << describe(errors_);
  EXPECT_EQ(describe(errors_[0]),
            "error: m.json:2:2: 'num_hidden_layers' is missing\n"
            "   \"num_hiden_layers\": 2}\n"
            "   ^~~~~~~~~~~~~~~~~~\n"
            "hint: is 'num_hiden_layers' meant to be 'num_hidden_layers'?\n");
}

TEST_F(JsonObjectTest, AMisspeltOptionalFieldIsNotSilentlyIgnored) {
  JsonObject json = object(R"({"tie_word_embedings": true, "something_else": 1})");
  json.get_bool("tie_word_embeddings");
  json.refuse_misspelt();
  ASSERT_EQ(errors_.size(), 1u);
  EXPECT_EQ(errors_[0].message, "unknown field 'tie_word_embedings'");
  EXPECT_EQ(errors_[0].hints.at(0), "did you mean 'tie_word_embeddings'?");
}

TEST_F(JsonObjectTest, HugeNumbersAreRefusedNotWrapped) {
  JsonObject json = object(R"({"b": 99999999999999999999, "c": 9223372036854775807})");
  EXPECT_FALSE(json.get_int("b", 0, 1000));
  EXPECT_FALSE(json.get_int("c", 0, 1000));
  EXPECT_EQ(errors_.size(), 2u);
}

TEST(LocatedJson, AnyPrefixOfAValidTextIsAnErrorNotACrash) {
  const std::string text = R"({"a": {"b": [1, -2.5e3, true, "q\"\u00e9"]}, "c": null, "d": false})";
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(errors_of(text.substr(0, length)).empty()) << length;
  }
  EXPECT_TRUE(errors_of(text).empty());
}

}  // namespace
}  // namespace rightsize
