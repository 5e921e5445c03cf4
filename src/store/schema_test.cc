#include "store/schema.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace rightsize::store {
namespace {

class SchemaTest : public testing::Test {
 protected:
  void SetUp() override { path_ = testing::TempDir() + "schema-" + std::to_string(getpid()) + "/a.db"; }
  void TearDown() override { std::filesystem::remove_all(std::filesystem::path(path_).parent_path()); }

  const Schema first_{"v", {"t"}, {{"CREATE TABLE t (id BIGINT)"}}};
  const Schema second_{
      "v",
      {"t", "u"},
      {{"CREATE TABLE t (id BIGINT)"}, {"CREATE TABLE u (id BIGINT)", "INSERT INTO u SELECT id FROM t"}}};
  std::string path_;
};

TEST_F(SchemaTest, AnEmptyStoreNeedsNoCopy) {
  auto database = *open(path_);
  const auto ready = bring_up_to_date(*database, second_);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->was, 0);
  EXPECT_TRUE(ready->backup.empty());
  EXPECT_EQ(*version_of(*database, second_), 2);
}

TEST_F(SchemaTest, AStepThatFailsChangesNothing) {
  auto database = *open(path_);
  ASSERT_TRUE(bring_up_to_date(*database, first_));
  ASSERT_TRUE(database->run("INSERT INTO t VALUES (7)"));
  Schema broken = second_;
  broken.steps[1].push_back("INSERT INTO nowhere VALUES (1)");
  EXPECT_FALSE(bring_up_to_date(*database, broken));
  EXPECT_EQ(*version_of(*database, second_), 1);
  EXPECT_FALSE(database->run("SELECT * FROM u"));
  const auto ready = bring_up_to_date(*database, second_);
  ASSERT_TRUE(ready);
  EXPECT_TRUE(std::filesystem::exists(ready->backup));
  std::int64_t copied = 0;
  ASSERT_TRUE(database->query("SELECT id FROM u", {}, [&](const Row& row) { copied = row.integer(0); }));
  EXPECT_EQ(copied, 7);
}

TEST_F(SchemaTest, ReadOnlyMediaAreRead) {
  { ASSERT_TRUE(bring_up_to_date(**open(path_), first_)); }
  auto database = open(path_, Access::kRead);
  ASSERT_TRUE(database);
  EXPECT_EQ(*version_of(**database, first_), 1);
  EXPECT_FALSE((*database)->run("INSERT INTO t VALUES (1)"));
  EXPECT_FALSE(open(path_ + "-none", Access::kRead));
}

}  // namespace
}  // namespace rightsize::store
