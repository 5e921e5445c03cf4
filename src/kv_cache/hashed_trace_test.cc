#include "kv_cache/hashed_trace.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace rightsize::kv_cache {
namespace {

struct Seen {
  double at_ms;
  std::int64_t input, output;
  std::vector<std::uint64_t> blocks;
};

Result<std::vector<Seen>> read(std::string_view text) {
  std::vector<Seen> seen;
  const std::unique_ptr<ByteSource> source = bytes_of(text);
  const Result<> done = each_request(*source, "t.jsonl", [&](const HashedRequest& r) {
    seen.push_back({r.at_ms, r.input, r.output, {r.blocks.begin(), r.blocks.end()}});
  });
  if (!done) return fail(done.error());
  return seen;
}

TEST(HashedTrace, ReadsMooncakesLines) {
  const auto seen = read(
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 20, \"hash_ids\": [1, 2]}\n"
      "{\"hash_ids\": [1, 3], \"extra\": {\"a\": [1]}, \"timestamp\": 12.5, \"input_length\": 900, \"output_length\": "
      "0}");
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->size(), 2u);
  EXPECT_EQ(seen->front().input, 600);
  EXPECT_EQ(seen->back().at_ms, 12.5);
  EXPECT_EQ(seen->back().output, 1) << "every request gives at least one token";
  EXPECT_EQ(seen->front().blocks[0], seen->back().blocks[0]);
  EXPECT_NE(seen->front().blocks[1], seen->back().blocks[1]);
}

TEST(HashedTrace, HashesMayBeText) {
  const auto seen =
      read("{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 20, \"hash_ids\": [\"a1\", \"b2\", \"a1\"]}");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->front().blocks[0], seen->front().blocks[2]);
  EXPECT_NE(seen->front().blocks[0], seen->front().blocks[1]);
}

// Whatever the form of the log, prompts share blocks as far as their texts are the same.
TEST(HashedTrace, LogsOfChatsHaveTheBlocksOfTheirTexts) {
  const std::string system(4000, 's'), tail(600, 't');
  const auto line = [&](const char* time, const std::string& end) {
    return "{\"created_at\": " + std::string(time) +
           ", \"request\": {\"messages\": [{\"role\": \"system\", \"content\": \"" + system +
           "\"}, {\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"" + end +
           "\"}]}]}, \"response\": {\"usage\": {\"prompt_tokens\": 1150, \"completion_tokens\": 30}}}\n";
  };
  for (const auto& [first, second] :
       {std::pair{"0.5", "11.5"}, {"\"2025-10-01T09:30:00.500Z\"", "\"2025-10-01T09:30:11.5Z\""}}) {
    const auto seen = read(line(second, tail + " and another question") + line(first, tail));
    ASSERT_TRUE(seen) << describe({seen.error()});
    const auto &a = seen->front(), &b = seen->back();
    EXPECT_DOUBLE_EQ(b.at_ms - a.at_ms, 11'000);
    EXPECT_EQ(a.input, 1150);
    EXPECT_EQ(a.output, 30);
    EXPECT_NEAR(static_cast<double>(a.blocks.size()), 1150 / 16.0, 1);
    const auto differ = std::mismatch(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end());
    EXPECT_GE(differ.first - a.blocks.begin(), static_cast<std::ptrdiff_t>(a.blocks.size()) - 2);
  }
  const auto plain = read("{\"timestamp\": 1, \"prompt\": \"" + std::string(640, 'p') + "\"}");
  ASSERT_TRUE(plain) << describe({plain.error()});
  EXPECT_EQ(plain->front().input, 161) << "4 characters each, with the end of the line";
}

TEST(HashedTrace, ErrorsDescribeTheWrongRequest) {
  const auto message = [](std::string_view text) { return describe({read(text).error()}); };
  EXPECT_NE(message("{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 2}").find("no hash_ids"),
            std::string::npos);
  EXPECT_NE(
      message("{\"timestamp\": -1, \"input_length\": 5, \"output_length\": 2, \"hash_ids\": []}").find("timestamp"),
      std::string::npos);
  EXPECT_NE(message("{\"timestamp\": 5, \"input_length\": 5, \"output_length\": 2, \"hash_ids\": [1]}\n"
                    "{\"timestamp\": 4, \"input_length\": 5, \"output_length\": 2, \"hash_ids\": [1]}")
                .find("request 2"),
            std::string::npos);
  EXPECT_NE(
      message("{\"timestamp\": 1, \"input_length\": -5, \"output_length\": 2, \"hash_ids\": [1]}").find("input_length"),
      std::string::npos);
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_FALSE(read("[1]"));
  EXPECT_FALSE(read("{\"timestamp\": 1, \"hash_ids\": [1"));
}

}  // namespace
}  // namespace rightsize::kv_cache
