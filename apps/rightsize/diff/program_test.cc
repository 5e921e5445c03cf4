#include "rightsize/diff/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rightsize::app {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A patch that shows whole files gives back both of their versions, with indentation and blank lines.
RC_GTEST_PROP(VersionsIn, APatchIsItsTwoSides, ()) {
  const auto line =
      rc::gen::element<std::string>("spec:", "  replicas: 2", "", "    nvidia.com/gpu: 4", "---", "- a", "+ b");
  const auto lines = rc::gen::container<std::vector<std::string>>(line);
  const std::vector<std::string> same = *rc::gen::nonEmpty(lines), removed = *lines, added = *lines, after = *lines;
  std::string patch =
      "diff --git a/k8s/chat.yaml b/k8s/chat.yaml\nindex 1..2 100644\n--- a/k8s/chat.yaml\n+++ b/k8s/chat.yaml\n@@ -1 "
      "+1 @@\n";
  for (const std::string& each : same) patch += " " + each + "\n";
  for (const std::string& each : removed) patch += "-" + each + "\n";
  for (const std::string& each : added) patch += "+" + each + "\n";
  for (const std::string& each : after) patch += " " + each + "\n";
  const std::optional<TwoVersions> found = versions_in("pr.patch", patch);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->before.at("k8s/chat.yaml") == joined(same) + joined(removed) + joined(after));
  RC_ASSERT(found->after.at("k8s/chat.yaml") == joined(same) + joined(added) + joined(after));
}

// Each resource is on the sides where it exists.
TEST(VersionsIn, APlanOfTerraformIsItsTwoSides) {
  const std::optional<TwoVersions> found = versions_in("plan.json", R"({"format_version": "1.2", "resource_changes": [
      {"address": "aws_instance.a", "type": "aws_instance", "name": "a", "change": {"actions": ["update"],
       "before": {"instance_type": "g5.12xlarge"}, "after": {"instance_type": "p5.48xlarge"}}},
      {"address": "aws_instance.b", "type": "aws_instance", "name": "b", "change": {"actions": ["delete"],
       "before": {"instance_type": "p4d.24xlarge"}, "after": null}}]})");
  ASSERT_TRUE(found);
  EXPECT_THAT(found->before.at("plan.json"),
              testing::AllOf(testing::HasSubstr("g5.12xlarge"), testing::HasSubstr("p4d.24xlarge")));
  EXPECT_THAT(found->after.at("plan.json"), testing::HasSubstr("p5.48xlarge"));
  EXPECT_THAT(found->after.at("plan.json"), testing::Not(testing::HasSubstr("p4d.24xlarge")));
  EXPECT_FALSE(versions_in("plan.json", "{\"resource_changes\": [")) << "damaged";
  EXPECT_FALSE(versions_in("values.yaml", "replicas: 2\n"));
}

}  // namespace
}  // namespace rightsize::app
