#include "manifests/hcl.h"

#include <gtest/gtest.h>

#include "manifests/hcl_functions.h"
#include "manifests/hcl_scope.h"

namespace rightsize::manifests {
namespace {

TEST(Hcl, BlocksLabelsAndLiterals) {
  const auto root = parse_hcl("a.tf", R"(
# comment
resource "aws_instance" "train" {  // another
  count         = 2
  instance_type = "p5.48xlarge"
  spot          = true
  tags          = { Name = "x", "a b" : null }
  list = [
    "a", # one
    "b",
  ]
  ebs { size = 100 }
})");
  ASSERT_TRUE(root);
  ASSERT_EQ(root->members.size(), 1u);
  EXPECT_EQ(root->members[0].first, "resource");
  const HclValue& block = root->members[0].second;
  EXPECT_EQ(block.labels, (std::vector<std::string>{"aws_instance", "train"}));
  EXPECT_EQ(block.find("count")->number, 2);
  EXPECT_EQ(block.find("instance_type")->text, "p5.48xlarge");
  EXPECT_TRUE(block.find("spot")->boolean);
  EXPECT_EQ(block.find("tags")->find("Name")->text, "x");
  EXPECT_EQ(block.find("tags")->find("a b")->kind, HclValue::Kind::kNull);
  ASSERT_EQ(block.find("list")->items.size(), 2u);
  EXPECT_EQ(block.find("list")->items[1].text, "b");
  EXPECT_EQ(block.find("ebs")->find("size")->number, 100);
  EXPECT_EQ(block.line, 3);
}

TEST(Hcl, ExpressionsAreKeptAsWritten) {
  const auto root = parse_hcl("a.tf", R"(
a = var.size
b = "x-${var.size}"
c = var.gpu ? "p5.48xlarge" : "m5.large"
d = [for x in var.list : upper(x)]
e = max(1, 2) + 3
f = {
  x = var.y
}
g = <<-EOT
  text = { not an attribute
EOT
h = 1
)");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("a")->text, "var.size");
  EXPECT_EQ(root->find("b")->text, "\"x-${var.size}\"");
  EXPECT_EQ(root->find("c")->text, "var.gpu ? \"p5.48xlarge\" : \"m5.large\"");
  for (const char* name : {"a", "b", "c", "d", "e"})
    EXPECT_EQ(root->find(name)->kind, HclValue::Kind::kExpression) << name;
  EXPECT_EQ(root->find("f")->find("x")->text, "var.y");
  EXPECT_EQ(root->find("g")->kind, HclValue::Kind::kString);
  EXPECT_EQ(root->find("h")->number, 1);
}

TEST(Hcl, TextThatNeverEndsIsAMistakeWithItsPlace) {
  for (const char* text : {"a = \"x", "a {", "a = [1, 2", "a = {", "/* x", "a = <<EOT\nx\n", "a = \"${x\""}) {
    const auto root = parse_hcl("a.tf", text);
    ASSERT_FALSE(root) << text;
    EXPECT_EQ(root.error().place.file, "a.tf");
    EXPECT_EQ(root.error().place.line, 1) << text;
  }
}

// The value of an expression with some variables and locals, as text; "?" if files do not determine it.
std::string value_of(const std::string& expression) {
  const auto root =
      parse_hcl("a.tf",
                "variable \"n\" { default = 3 }\nvariable \"open\" {}\nlocals {\n  sizes = { a = 2, b = 5 }\n  list "
                "= [\"x\", \"y\"]\n  self = local.self\n  grow = [local.grow, local.grow]\n  value = " +
                    expression + "\n}\n");
  if (!root) return "unreadable";
  HclScope scope;
  scope.add_file(*root, false);
  HclValue local;
  local.kind = HclValue::Kind::kExpression;
  local.text = "local.value";
  const auto found = scope.resolve(local);
  if (!found) return "?";
  if (found->kind == HclValue::Kind::kList) return "list of " + std::to_string(found->items.size());
  return found->kind == HclValue::Kind::kObject ? "object of " + std::to_string(found->members.size())
                                                : text_of(*found);
}

TEST(HclScope, EvaluatesWhatFilesDetermine) {
  EXPECT_EQ(value_of("var.n * (2 + 1) - 1"), "8");
  EXPECT_EQ(value_of("var.n > 2 ? \"big\" : \"small\""), "big");
  EXPECT_EQ(value_of("\"a3-${local.list[1]}-${var.n}g\""), "a3-y-3g");
  EXPECT_EQ(value_of("local.sizes[\"b\"]"), "5");
  EXPECT_EQ(value_of("lookup(local.sizes, \"c\", 7)"), "7");
  EXPECT_EQ(value_of("try(local.sizes.c, 4)"), "4");
  EXPECT_EQ(value_of("max(1, var.n, 2)"), "3");
  EXPECT_EQ(value_of("{ for k, v in local.sizes : \"p-${k}\" => v if v > 2 }"), "object of 1");
  EXPECT_EQ(value_of("[for x in local.list : \"${x}!\"]"), "list of 2");
  EXPECT_EQ(value_of("merge(local.sizes, { c = 1 }, var.open)"), "object of 3");
  EXPECT_EQ(value_of("length(concat(local.list, [\"z\"]))"), "3");
  // Everything else stays unknown.
  EXPECT_EQ(value_of("var.open"), "?");
  EXPECT_EQ(value_of("var.open ? 1 : 2"), "?");
  EXPECT_EQ(value_of("data.aws_ami.gpu.id"), "?");
  EXPECT_EQ(value_of("local.self"), "?");
  EXPECT_EQ(value_of("1 / 0"), "?");
}

}  // namespace
}  // namespace rightsize::manifests
