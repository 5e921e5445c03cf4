#include "fleet/attribute.h"

#include "fleet/test_fleet.h"

namespace rightsize::fleet {
namespace {

TEST(Attribute, JobsByIdAndByTime) {
  Accumulator sum({});
  live(sum, {.uuid = "A", .team = ""}, kDay, mornings);
  std::vector<GpuUse> gpus = sum.finish();
  gpus.push_back(gpus[0]);
  gpus[1].device.uuid = "B";
  gpus[1].tenancies = {{{"", "", "", "7"}, 86400, 0, kStart, kStart + 86400}};
  telemetry::JobTable table;
  // Twelve hours of the first GPU, of which it worked eight.
  telemetry::Job job_7{.id = "7", .user = "ann", .account = "vision", .name = "train"};
  job_7.start = kStart;
  job_7.end = kStart + 12 * 3600;
  job_7.elapsed = hours(12);
  job_7.gpus = {{.host = "n1", .index = 0}};
  table.jobs.push_back(job_7);
  gpus[0].device.host = "n1.cluster.local";
  const Attribution done = attribute_jobs(gpus, table);
  EXPECT_EQ(done.by_time, 1u);
  EXPECT_EQ(done.by_job, 1u);
  ASSERT_EQ(gpus[0].tenancies.size(), 2u);
  const Tenancy& job = gpus[0].tenancies[gpus[0].tenancies[0].owner.empty() ? 1 : 0];
  EXPECT_EQ(job.owner.shown(), "vision/train");
  EXPECT_NEAR(job.seconds, 12 * 3600, 61);
  EXPECT_NEAR(job.idle_seconds, 4 * 3600, 301);
  EXPECT_NEAR(gpus[0].tenancies[0].seconds + gpus[0].tenancies[1].seconds, 86400, 1);
  EXPECT_EQ(gpus[1].tenancies[0].owner.user, "ann");
}

// Three of a node's four GPUs, nobody knows which: three quarters of the node's hours.
TEST(Attribute, JobsOnSharedNodesHaveEqualPartsOfTheirGpus) {
  Accumulator sum({});
  for (int i = 0; i < 4; ++i) live(sum, {.uuid = "G" + std::to_string(i), .team = "", .index = i}, kDay, busy);
  std::vector<GpuUse> gpus = sum.finish();
  telemetry::JobTable table;
  telemetry::Job job{.id = "7", .user = "ann", .account = "vision", .name = "train"};
  job.start = kStart;
  job.end = kStart + 12 * 3600;
  job.elapsed = hours(12);
  job.gpus.assign(3, {.host = "n1"});
  table.jobs.push_back(job);
  job.id = "8";
  job.account = "nlp";
  job.gpus.assign(1, {.host = "n1"});
  table.jobs.push_back(job);
  EXPECT_EQ(attribute_jobs(gpus, table).by_time, 4u);
  const PriceBook book = book_at(1);
  const FleetAnalysis a = analyse(std::move(gpus), book, {});
  double vision = 0, nlp = 0, nobody = 0;
  for (const OwnerLine& line : a.owners) {
    (line.team == "vision" ? vision : line.team == "nlp" ? nlp : nobody) += line.gpu_hours;
  }
  EXPECT_NEAR(vision, 36, 0.1);
  EXPECT_NEAR(nlp, 12, 0.1);
  EXPECT_NEAR(nobody, 48, 0.1);
}

}  // namespace
}  // namespace rightsize::fleet
