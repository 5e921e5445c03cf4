#include "base/yaml.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize {
namespace {

using testing::HasSubstr;

YamlDocument::Several all(const std::string& text) { return YamlDocument::parse_all("a.yaml", text); }

TEST(Yaml, EmptyDocumentsAreOmitted) {
  const YamlDocument::Several several = all("a: 1\n---\n---\nb: 2\n...\n---\n~\n");
  EXPECT_FALSE(several.mistake);
  ASSERT_EQ(several.documents.size(), 2u);
  EXPECT_EQ(several.documents[0].root().find("a")->scalar, "1");
  EXPECT_EQ(several.documents[1].root().find("b")->scalar, "2");
}

TEST(Yaml, ErrorsNameThePlaceWhereNoDocumentCanBegin) {
  for (const std::string text : {"a: 1\n---\n,", ", a: 1\n", "a: 1\n---\n]", "}\n", "---\n,{}\n---\nb: 2\n"}) {
    const YamlDocument::Several several = all(text);
    ASSERT_TRUE(several.mistake) << text;
    EXPECT_GT(several.mistake->place.line, 0) << text;
    EXPECT_FALSE(YamlDocument::parse("a.yaml", text)) << text;
  }
}

TEST(Yaml, DocumentsBeforeAnErrorAreRead) {
  const YamlDocument::Several several = all("a: 1\n---\nb: [1, 2\n");
  EXPECT_EQ(several.documents.size(), 1u);
  ASSERT_TRUE(several.mistake);
  EXPECT_THAT(several.mistake->message, HasSubstr("cannot read this YAML"));
}

TEST(Yaml, AliasesAreExpandedAndMergedKeysDoNotReplace) {
  const YamlDocument::Several several = all("base: &b {x: 1, y: 2}\nuse: {<<: *b, y: 3}\nsame: *b\n");
  ASSERT_EQ(several.documents.size(), 1u);
  const YamlValue& root = several.documents[0].root();
  EXPECT_EQ(root.find("use")->find("x")->scalar, "1");
  EXPECT_EQ(root.find("use")->find("y")->scalar, "3");
  EXPECT_EQ(root.find("same")->find("y")->scalar, "2");
}

TEST(Yaml, AliasesThatExpandTooFarAreRefused) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    text += "]\n";
  }
  const YamlDocument::Several several = all(text);
  ASSERT_TRUE(several.mistake);
  EXPECT_THAT(several.mistake->message, HasSubstr("100,000"));
  EXPECT_THAT(all("a: &a [*a]").mistake->message, HasSubstr("inside the value it refers to"));
}

TEST(Yaml, OurOwnFilesHaveNoAliases) {
  const Result<YamlDocument> document = YamlDocument::parse("a.yaml", "a: &x 1\nb: *x\n");
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().place.line, 2);
}

TEST(Yaml, OurOwnFilesAreOneDocument) {
  EXPECT_TRUE(YamlDocument::parse("a.yaml", "---\na: 1\n---\n"));
  EXPECT_TRUE(YamlDocument::parse("a.yaml", "a: 1\n...\n"));
  EXPECT_TRUE(YamlDocument::parse("a.yaml", "# nothing\n"));
  for (const std::string text : {"a: 1\n---\nb: 2\n", "a: 1\n---\n---\n- 2\n"}) {
    const Result<YamlDocument> document = YamlDocument::parse("a.yaml", text);
    ASSERT_FALSE(document) << text;
    EXPECT_THAT(document.error().message, HasSubstr("one document")) << text;
  }
}

// A few megabytes must not take hundreds of megabytes and seconds before they are refused.
TEST(Yaml, DeepAndLongLinesAreRefusedAtOnce) {
  for (const std::string unit : {"{a: ", "[", "- [", "[{", "[],", "{},"}) {
    for (const std::string start : {"", "a: ", "["}) {
      std::string text = start;
      while (text.size() < 4'000'000) text += unit;
      const auto begun = std::chrono::steady_clock::now();
      const Result<YamlDocument> document = YamlDocument::parse("a.yaml", text);
      ASSERT_FALSE(document) << unit;
      EXPECT_GT(document.error().place.column, 0) << unit;
      EXPECT_LT(document.error().message.size(), 200u);
      EXPECT_TRUE(all(text).mistake) << unit;
      EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5)) << unit;
    }
  }
  std::string deep(400, '[');
  EXPECT_TRUE(YamlDocument::parse("a.yaml", deep + std::string(400, ']')));
}

TEST(Yaml, AQuotedEmptyValueIsText) {
  const Result<YamlDocument> document = YamlDocument::parse("a.yaml", "a: null\nb: \"null\"\nc: ~\nd: ''\n");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().find("a")->kind, YamlValue::Kind::kNull);
  EXPECT_EQ(document->root().find("b")->kind, YamlValue::Kind::kScalar);
  EXPECT_EQ(document->root().find("c")->kind, YamlValue::Kind::kNull);
  EXPECT_EQ(document->root().find("d")->kind, YamlValue::Kind::kScalar);
}

}  // namespace
}  // namespace rightsize
