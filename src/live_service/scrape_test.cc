#include "live_service/scrape.h"

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

TEST(Scrape, InvalidLinesAreRefusedWithTheirPlace) {
  for (const char* text : {"a 1\nb{x=\"1\" 2\n", "a 1\nb one\n", "a 1\n{x=\"1\"} 2\n", "a 1\nb{x=1} 2\n", "a 1\nb\n"}) {
    const auto samples = parse_scrape("m", text);
    ASSERT_FALSE(samples) << text;
    EXPECT_EQ(samples.error().place.line, 2) << text;
  }
}

}  // namespace
}  // namespace rightsize::live_service
