#include "store/database.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace rightsize::store {
namespace {

// tests/market/store_test.py asks the same of a real PostgreSQL.
class SqliteTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "store-" + std::to_string(getpid()) + "/a.db";
    database_ = *open(path_);
    ASSERT_TRUE(database_->run("CREATE TABLE t (id BIGINT PRIMARY KEY, word TEXT, number DOUBLE PRECISION)"));
  }
  void TearDown() override { std::filesystem::remove_all(std::filesystem::path(path_).parent_path()); }

  std::int64_t count() {
    std::int64_t found = -1;
    EXPECT_TRUE(database_->query("SELECT COUNT(*) FROM t", {}, [&](const Row& row) { found = row.integer(0); }));
    return found;
  }

  std::string path_;
  std::unique_ptr<Database> database_;
};

TEST_F(SqliteTest, ValuesComeBackAsTheyWent) {
  ASSERT_TRUE(database_->run("INSERT INTO t VALUES ($1, $2, $3)", {std::int64_t{7}, std::string("a'b\"\t"), 0.1}));
  ASSERT_TRUE(database_->run("INSERT INTO t VALUES ($1, $2, $3)", {std::int64_t{8}, Value{}, Value{}}));
  int rows = 0;
  ASSERT_TRUE(
      database_->query("SELECT word, number FROM t WHERE id >= $1 ORDER BY id", {std::int64_t{7}}, [&](const Row& row) {
        if (rows++ == 0) {
          EXPECT_EQ(row.text(0), "a'b\"\t");
          EXPECT_DOUBLE_EQ(row.number(1), 0.1);
        } else {
          EXPECT_TRUE(row.is_null(0) && row.is_null(1));
        }
      }));
  EXPECT_EQ(rows, 2);
}

TEST_F(SqliteTest, WhatIsNotCommittedIsUndone) {
  {
    Transaction change(*database_);
    ASSERT_TRUE(change.start());
    int next = 0;
    ASSERT_TRUE(database_->insert("t", {"id", "word", "number"}, [&](std::vector<Value>& values) {
      values = {std::int64_t{next}, std::string("x"), 1.0};
      return next++ < 100;
    }));
    EXPECT_EQ(count(), 100);
  }
  EXPECT_EQ(count(), 0);
  Transaction change(*database_);
  ASSERT_TRUE(change.start());
  ASSERT_TRUE(database_->run("INSERT INTO t VALUES (1, 'x', 1)"));
  ASSERT_TRUE(change.commit());
  EXPECT_EQ(count(), 1);
}

TEST_F(SqliteTest, AMistakeIsSaidInTheDatabasesWords) {
  const Result<> wrong = database_->run("INSERT INTO absent VALUES (1)");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("no such table"), std::string::npos);
  EXPECT_EQ(wrong.error().code, ErrorCode::kUnreadableSource);
}

TEST(Open, ServersAreToldFromFiles) {
  EXPECT_TRUE(is_server("postgres://localhost/x"));
  EXPECT_FALSE(is_server("/home/me/prices.db"));
  const auto refused = open("postgres://nobody:secret@127.0.0.1:1/none?connect_timeout=2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace rightsize::store
