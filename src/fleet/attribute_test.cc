#include "fleet/jobs.h"
#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

TEST(Attribute, JobsAreMatchedByIdAndByTime) {
  UseAccumulator sum({});
  live(sum, {.uuid = "A", .team = ""}, kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  gpus.push_back(gpus[0]);
  gpus[1].device.uuid = "B";
  gpus[1].tenancies = {{{"", "", "", "7"}, days(1), {}, kStart, kStart + days(1)}};
  telemetry::JobTable table;
  // Twelve hours on the first GPU, eight of them active.
  telemetry::SlurmJob job_7{.id = "7", .user = "ann", .account = "vision", .name = "train"};
  job_7.start = kStart;
  job_7.end = kStart + hours(12);
  job_7.elapsed = hours(12);
  job_7.gpu_count = 1;
  job_7.known_gpus =
      std::make_shared<const std::vector<telemetry::JobGpu>>(1, telemetry::JobGpu{.host = "n1", .index = 0});
  table.jobs.push_back(job_7);
  gpus[0].device.host = "n1.cluster.local";
  const Attribution done = attribute_jobs(gpus, table);
  EXPECT_EQ(done.by_time, 1u);
  EXPECT_EQ(done.by_job, 1u);
  ASSERT_EQ(gpus[0].tenancies.size(), 2u);
  const Tenancy& job = gpus[0].tenancies[gpus[0].tenancies[0].owner.empty() ? 1 : 0];
  EXPECT_EQ(job.owner.shown(), "vision/train");
  EXPECT_NEAR(in_seconds(job.time), 12 * 3600, 61);
  EXPECT_NEAR(in_seconds(job.idle), 4 * 3600, 301);
  EXPECT_NEAR(in_seconds(gpus[0].tenancies[0].time + gpus[0].tenancies[1].time), 86400, 1);
  EXPECT_EQ(gpus[1].tenancies[0].owner.user, "ann");
}

// Three unknown GPUs out of a node's four: three quarters of the node's hours.
TEST(Attribute, JobsWithUnknownGpusShareTheirHostEqually) {
  UseAccumulator sum({});
  for (int i = 0; i < 4; ++i) live(sum, {.uuid = "G" + std::to_string(i), .team = "", .index = i}, kDay, busy);
  std::vector<GpuUse> gpus = sum.finish();
  telemetry::JobTable table;
  telemetry::SlurmJob job{.id = "7", .user = "ann", .account = "vision", .name = "train"};
  job.start = kStart;
  job.end = kStart + hours(12);
  job.elapsed = hours(12);
  job.gpu_count = 3;
  job.nodes = "n1";
  table.jobs.push_back(job);
  job.id = "8";
  job.account = "nlp";
  job.gpu_count = 1;
  table.jobs.push_back(job);
  EXPECT_EQ(attribute_jobs(gpus, table).by_time, 4u);
  const DevicePrices book = book_at(1);
  const FleetAnalysis a = analyse(std::move(gpus), {book, speeds()});
  double vision = 0, nlp = 0, nobody = 0;
  for (const GroupLine& line : a.owners) {
    (line.team == "vision" ? vision : line.team == "nlp" ? nlp : nobody) += in_gpu_hours(line.gpu_time);
  }
  EXPECT_NEAR(vision, 36, 0.1);
  EXPECT_NEAR(nlp, 12, 0.1);
  EXPECT_NEAR(nobody, 48, 0.1);
}

// Jobs that ended before the readings began match no GPU, whatever their host.
TEST(Attribute, OnlyJobsOfTheSameTimeCount) {
  UseAccumulator sum({});
  live(sum, {.uuid = "G0", .team = ""}, kDay, busy);
  std::vector<GpuUse> gpus = sum.finish();
  telemetry::JobTable table;
  telemetry::SlurmJob job{.id = "7", .user = "ann"};
  job.end = kStart - hours(1);
  job.start = job.end - hours(12);
  job.elapsed = hours(12);
  job.gpu_count = 1;
  job.nodes = "n1";
  table.jobs.push_back(job);
  EXPECT_EQ(attribute_jobs(gpus, table).by_time, 0u);
  EXPECT_TRUE(gpus.front().tenancies.empty() || gpus.front().tenancies.front().owner.empty());
}

}  // namespace
}  // namespace rightsize::fleet
