#include "rightsize/manual/schemas.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/fields.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;

// Every property of a schema and of the objects within it.
void for_each_property(const Json& schema, const std::string& path, const auto& use) {
  for (const char* inside : {"items", "additionalProperties"}) {
    if (const Json* inner = schema.find(inside)) for_each_property(*inner, path, use);
  }
  const Json* properties = schema.find("properties");
  if (properties == nullptr) return;
  properties->visit([&](const auto& members) {
    if constexpr (std::is_same_v<std::decay_t<decltype(members)>, Json::Object>) {
      for (const auto& [name, property] : members) {
        use(path + "." + name, name, property);
        for_each_property(property, path + "." + name, use);
      }
    }
  });
}

TEST(Schemas, EveryFieldHasAPlainNameAndAMeaning) {
  for (const report::DocumentType* document : report::DocumentType::all()) {
    for_each_property(document->schema(), std::string(document->name()),
                      [](const std::string& path, const std::string& name, const Json& property) {
                        EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                        })) << path;
                        EXPECT_TRUE(property.find("const") != nullptr || property.find("$ref") != nullptr ||
                                    property.find("description") != nullptr)
                            << path;
                      });
  }
}

TEST(Schemas, NamesAreUniqueAndListedInOrder) {
  const std::vector<std::string> names = document_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_THAT(schema_text("").value(), HasSubstr("  gpus  "));
}

TEST(Schemas, AnUnknownNameGetsASuggestion) { EXPECT_THAT(describe(schema_text("gpu").error()), HasSubstr("gpus")); }

TEST(Schemas, CommandsAreDescribedWithTheirFlags) {
  const std::string text = schema_text("commands").value();
  EXPECT_THAT(text, HasSubstr("--min-memory"));
  EXPECT_THAT(text, HasSubstr("\"minimum\": 1,"));
  EXPECT_THAT(text, HasSubstr("\"type\": \"integer\""));
}

}  // namespace
}  // namespace rightsize::app
