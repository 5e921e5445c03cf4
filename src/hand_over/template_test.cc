#include "hand_over/template.h"

#include <cstdio>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/embedded.h"
#include "base/yaml.h"

namespace rightsize::hand_over {
namespace {

TEST(Template, ReplacesValuesAndQuotesThem) {
  const Facts facts = Facts().set("a", "x \"y\"\n'z'").set("n", 3).set("r", 0.5);
  EXPECT_EQ(fill_in_text("{{a}}|{{n}}|{{r}}", facts), "x \"y\" 'z'|3|0.5");
  EXPECT_EQ(fill_in_text("{{\"a\"}}", facts), R"("x \"y\" 'z'")");
  EXPECT_EQ(fill_in_text("{{'a'}}", facts), R"('x "y" '\''z'\''')");
  EXPECT_EQ(fill_in_text("{{missing}}", facts), "REPLACE-BY-missing");
  EXPECT_EQ(fill_in_text("{{ $labels.gpu }} {{n}}", facts), "{{ $labels.gpu }} 3");
}

TEST(Template, SectionsDependOnTheValueAndRepeatForLists) {
  const Facts facts = Facts()
                          .set("yes", true)
                          .set("no", false)
                          .set("zero", 0)
                          .set("name", "outer")
                          .set("list", std::vector{Facts().set("name", "a"), Facts().set("name", "b")});
  EXPECT_EQ(
      fill_in_text("{{#yes}}1{{/yes}}{{#no}}2{{/no}}{{#zero}}3{{/zero}}{{^zero}}4{{/zero}}{{^gone}}5{{/gone}}", facts),
      "145");
  EXPECT_EQ(fill_in_text("{{#list}}[{{name}}]{{/list}}{{name}}", facts), "[a][b]outer");
  EXPECT_EQ(fill_in_text("a\n  {{#yes}}\n  b\n  {{/yes}}\n{{#no}}\nc\n{{/no}}\nd\n", facts), "a\n  b\nd\n");
  EXPECT_EQ(fill_in_text("{{#yes}}{{#no}}x{{/no}}y{{/yes}}", facts), "y");
}

TEST(Template, BlocksAreIndentedLikeTheirTag) {
  const Facts facts = Facts().set("text", "a\n\nb").set("sharers", 2);
  EXPECT_EQ(fill_in_text("x:\n  {{&text}}\ny\n", facts), "x:\n  a\n\n  b\ny\n");
  EXPECT_TRUE(fill_in_text("  {{>kubernetes/time_slicing.yaml}}\n", facts).ends_with("          replicas: 2\n"));
}

// Every section of every template is closed, and every included template exists.
TEST(Template, EveryTemplateIsWellFormed) {
  int seen = 0;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.starts_with("templates/")) continue;
    ++seen;
    std::vector<std::string> open;
    for (std::size_t at = file.content.find("{{"); at != file.content.npos; at = file.content.find("{{", at + 2)) {
      const std::size_t end = file.content.find("}}", at);
      ASSERT_NE(end, file.content.npos) << file.name;
      const std::string tag(file.content.substr(at + 2, end - at - 2));
      if (tag[0] == '#' || tag[0] == '^') open.push_back(tag.substr(1));
      if (tag[0] == '/') {
        ASSERT_FALSE(open.empty()) << file.name << " " << tag;
        EXPECT_EQ(open.back(), tag.substr(1)) << file.name;
        open.pop_back();
      }
      if (tag[0] == '>') {
        EXPECT_FALSE(embedded_file("templates/" + tag.substr(1)).empty()) << file.name << " " << tag;
      }
    }
    EXPECT_TRUE(open.empty()) << file.name;
  }
  EXPECT_GT(seen, 20);
}

TEST(ObjectName, IsAValidKubernetesName) {
  EXPECT_EQ(object_name("llama-3.1-8b"), "llama-3-1-8b");
  EXPECT_EQ(object_name("  My Model / v2!"), "my-model-v2");
  EXPECT_EQ(object_name("7B fine-tune"), "work-7b-fine-tune");
  EXPECT_EQ(object_name(""), "work");
  EXPECT_EQ(object_name("Überläufer\n---"), "berl-ufer");
  EXPECT_EQ(object_name(std::string(49, 'a') + " b"), std::string(49, 'a'));
}

// Any text survives as one YAML scalar and as a shell argument.
RC_GTEST_PROP(Quoting, TextSurvivesYamlAndTheShell, ()) {
  const std::string text =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \"'\\$`!#:{}[]&*?|<>%@,-~=+\n\t")));
  std::string expected = text;
  for (char& c : expected) c = c == '\n' || c == '\t' ? ' ' : c;
  const Result<YamlDocument> yaml = YamlDocument::parse("made", "a: " + double_quoted(text) + "\n");
  RC_ASSERT(yaml);
  RC_ASSERT(yaml->root().find("a")->scalar == expected);
  FILE* pipe = popen(("printf %s " + single_quoted(text)).c_str(), "r");
  std::string printed(expected.size() + 1, '\0');
  printed.resize(fread(printed.data(), 1, printed.size(), pipe));
  pclose(pipe);
  RC_ASSERT(printed == expected);
}

// Any user text becomes a valid DNS-1123 label.
RC_GTEST_PROP(ObjectName, IsAlwaysALabel, (const std::string& text)) {
  const std::string name = object_name(text);
  RC_ASSERT(!name.empty() && name.size() <= 63);
  RC_ASSERT(name.front() >= 'a' && name.front() <= 'z');
  RC_ASSERT(name.back() != '-');
  RC_ASSERT(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == name.npos);
}

}  // namespace
}  // namespace rightsize::hand_over
