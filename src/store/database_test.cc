#include "store/database.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "base/url.h"

namespace rightsize::store {
namespace {

// tests/market/store_test.py tests the same with a real PostgreSQL.
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

TEST_F(SqliteTest, ValuesAreReadBackUnchanged) {
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

TEST_F(SqliteTest, AFailedTransactionIsUndone) {
  EXPECT_FALSE(in_transaction(*database_, [&]() -> Result<> {
    int next = 0;
    EXPECT_TRUE(database_->insert("t", {"id", "word", "number"}, [&](std::vector<Value>& values) {
      values = {std::int64_t{next}, std::string("x"), 1.0};
      return next++ < 100;
    }));
    EXPECT_EQ(count(), 100);
    return fail(bad_input("changed my mind"));
  }));
  EXPECT_EQ(count(), 0);
  ASSERT_TRUE(in_transaction(*database_, [&] { return database_->run("INSERT INTO t VALUES (1, 'x', 1)"); }));
  EXPECT_EQ(count(), 1);
}

TEST_F(SqliteTest, AnErrorHasTheDatabasesMessage) {
  const Result<> wrong = database_->run("INSERT INTO absent VALUES (1)");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("no such table"), std::string::npos);
  EXPECT_EQ(wrong.error().code, ErrorCode::kUnreadableSource);
}

// Characters with a special meaning in SQLite's URIs are ordinary characters in a path.
TEST_F(SqliteTest, APathMayHoldAnyCharacter) {
  for (const char* name : {"a?b.db", "a#b.db", "a%41.db", "a b.db", "a&mode=memory.db"}) {
    const std::string path = path_ + name;
    { ASSERT_TRUE((*open(path))->run("CREATE TABLE t (id BIGINT)")); }
    const auto database = open(path, Access::kRead);
    ASSERT_TRUE(database) << path;
    EXPECT_TRUE((*database)->run("SELECT * FROM t"));
    EXPECT_FALSE((*database)->run("INSERT INTO t VALUES (1)"));
    const auto unchanging = open_unchanging(path);
    ASSERT_TRUE(unchanging) << path;
    EXPECT_TRUE((*unchanging)->run("SELECT * FROM t"));
  }
}

TEST(Open, DistinguishesServersFromFiles) {
  EXPECT_TRUE(is_server("postgres://localhost/x"));
  EXPECT_FALSE(is_server("/home/me/prices.db"));
  EXPECT_FALSE(*exists("/nowhere/prices.db"));
  EXPECT_TRUE(*exists("postgres://localhost/x"));
}

// Our messages include libpq's and must not show a password, wherever it is and whatever it contains.
RC_GTEST_PROP(Open, NoErrorShowsAPassword, ()) {
  const auto special = rc::gen::element<std::string>("", "@", ":", "/", "?", "#", "&", "=", "%", " ");
  const std::string secret = "zq7" + *special + "zq8" + *special + "zq9";
  const std::string written = *rc::gen::arbitrary<bool>() ? percent_encoded(secret) : secret;
  const std::string url =
      "postgres://" + *rc::gen::element("me:" + written + "@127.0.0.1:1/none?connect_timeout=2",
                                        "127.0.0.1:1/none?connect_timeout=2&password=" + written,
                                        "127.0.0.1:1/none?password=" + written + "&connect_timeout=2",
                                        "me:" + written + "@127.0.0.1:1?connect_timeout=2");
  const auto refused = open(url);
  RC_ASSERT(!refused);
  for (const char* piece : {"zq7", "zq8", "zq9"}) RC_ASSERT(describe(refused.error()).find(piece) == std::string::npos);
}

}  // namespace
}  // namespace rightsize::store
