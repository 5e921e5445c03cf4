#include "rightsize/exporter/metrics_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MetricsPage, UnhealthyBeforeTheFirstMeasurement) {
  const MetricsPage page(seconds(60));
  EXPECT_FALSE(page.health(unix_seconds(1000)).good);
  EXPECT_THAT(page.metrics(unix_seconds(1000)), HasSubstr("rightsize_failed_measurements_total 0\n"));
  EXPECT_THAT(page.metrics(unix_seconds(1000)), Not(HasSubstr("last_success")));
}

TEST(MetricsPage, FailuresAreCountedAndStaleValuesWithdrawn) {
  MetricsPage page(seconds(60));
  page.succeeded("rightsize_fleet_gpus 8\n", unix_seconds(1000), seconds(2));
  EXPECT_TRUE(page.health(unix_seconds(1010)).good);
  page.failed("connection refused", unix_seconds(1030));
  EXPECT_THAT(page.metrics(unix_seconds(1031)), HasSubstr("rightsize_failed_measurements_total 1\n"));
  EXPECT_THAT(page.metrics(unix_seconds(1031)), HasSubstr("rightsize_last_measurement_success 0\n"));
  EXPECT_THAT(page.metrics(unix_seconds(1031)), HasSubstr("rightsize_last_success_timestamp_seconds 1000\n"));
  EXPECT_THAT(page.metrics(unix_seconds(1031)), HasSubstr("rightsize_fleet_gpus 8"));  // not stale yet
  EXPECT_TRUE(page.health(unix_seconds(1031)).good);
  EXPECT_THAT(page.metrics(unix_seconds(1061)), Not(HasSubstr("rightsize_fleet_gpus")));
  EXPECT_FALSE(page.health(unix_seconds(1061)).good);
  EXPECT_THAT(page.health(unix_seconds(1061)).text, HasSubstr("connection refused"));
  page.succeeded("rightsize_fleet_gpus 9\n", unix_seconds(1070), seconds(2));
  EXPECT_TRUE(page.health(unix_seconds(1071)).good);
  EXPECT_THAT(page.metrics(unix_seconds(1071)), HasSubstr("rightsize_fleet_gpus 9"));
  EXPECT_THAT(page.metrics(unix_seconds(1071)), HasSubstr("rightsize_failed_measurements_total 1\n"));
}

}  // namespace
}  // namespace rightsize::app
