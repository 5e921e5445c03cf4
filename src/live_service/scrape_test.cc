#include "live_service/scrape.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::live_service {
namespace {

TEST(Scrape, SamplesAreReadWithLabelsValuesAndTimes) {
  const auto samples = parse_scrape("m", R"(# HELP vllm:num_requests_running Number of requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a \"b\"\\c"} 3.0
tgi_queue_size 2 1790000000000

x_bucket{le="+Inf",} 1e+03
y NaN
)");
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 3u);
  EXPECT_EQ((*samples)[0].labels.at("model_name"), "a \"b\"\\c");
  EXPECT_EQ((*samples)[0].value, 3);
  EXPECT_EQ((*samples)[1].time, unix_seconds(1790000000));
  EXPECT_EQ((*samples)[2].labels.at("le"), "+Inf");
  EXPECT_EQ((*samples)[2].value, 1000);
}

// Lines of one series share their name and labels, and are read as if each were alone.
TEST(Scrape, ALineDoesNotDependOnTheLinesBefore) {
  const std::vector<std::string> heads = {"a", "ab", "a{x=\"1\"}", "a{x=\"1\",}", "a{x=\"12\"}", "ab{x=\"1\"}", "a{}"};
  const std::vector<std::string> values = {" 1", " 2.5 1790000000000", " NaN", " +Inf", "\t3"};
  std::mt19937 random(1);
  std::string text;
  std::vector<ScrapedSample> alone;
  for (int i = 0; i < 500; ++i) {
    const std::string line = heads[random() % heads.size()] + values[random() % values.size()] + "\n";
    text += line;
    const auto one = parse_scrape("m", line);
    ASSERT_TRUE(one) << line;
    alone.insert(alone.end(), one->begin(), one->end());
  }
  const auto all = parse_scrape("m", text);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ((*all)[i].name, alone[i].name);
    EXPECT_EQ((*all)[i].labels, alone[i].labels);
    EXPECT_EQ((*all)[i].value, alone[i].value);
    EXPECT_EQ((*all)[i].time, alone[i].time);
  }
}

TEST(Scrape, InvalidLinesAreRefusedWithTheirPlace) {
  for (const char* text : {"a 1\nb{x=\"1\" 2\n", "a 1\nb one\n", "a 1\n{x=\"1\"} 2\n", "a 1\nb{x=1} 2\n", "a 1\nb\n"}) {
    const auto samples = parse_scrape("m", text);
    ASSERT_FALSE(samples) << text;
    EXPECT_EQ(samples.error().place.line, 2) << text;
  }
}

}  // namespace
}  // namespace rightsize::live_service
