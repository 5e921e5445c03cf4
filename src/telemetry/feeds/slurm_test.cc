#include "telemetry/feeds/slurm.h"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "telemetry/feeds/slurm_reports.h"

namespace rightsize::telemetry {
namespace {

// {"nodes":{"n1":{"gpu_utilization":{"0":95.0,"1":5.0},"gpu_used_memory":{"0":1073741824,"1":2147483648},
//  "gpu_total_memory":{"0":85899345920,"1":85899345920}}},"gpus":2,"total_time":3600}, packed with gzip and base64.
constexpr const char* kComment =
    "JS1:H4sIAAAAAAACA12OwQrDIBBEfyV4LmXVNWp/JgQiRYgaGnNogv/ejU1KyWV3GN7s7MZiGtzMHs3GIq/rOS3dkv3o1z77FKsH"
    "NK26w61hO0SqkKzk7IYuuJBe7x/JQUuN3Ag8eMFRo5EtmjOWU+7Ha84oY61EZcVZ9OeUcmT3ZwXJ74nsgyNDtgDlA8e4JJHNAAAA";

JobTable read(const std::string& text, bool works = true) {
  std::unique_ptr<ByteSource> source = bytes_of(text);
  Result<JobTable> table = read_jobs(*source, "sacct.txt");
  EXPECT_EQ(table.has_value(), works);
  return table ? *table : JobTable{};
}

TEST(Slurm, ExpandsHostLists) {
  EXPECT_EQ(expand_hosts("n1"), std::vector<std::string>{"n1"});
  EXPECT_EQ(expand_hosts("node[08-10,12],login"),
            (std::vector<std::string>{"node08", "node09", "node10", "node12", "login"}));
  EXPECT_TRUE(expand_hosts("").empty());
  EXPECT_LE(expand_hosts("n[0-99999999]").size(), 10'000u);
}

TEST(Slurm, ReadsJobsWithTheirGpus) {
  const JobTable table = read(
      "JobID|User|Account|JobName|Start|End|ElapsedRaw|AllocTRES|NodeList|TRESUsageInAve|AdminComment\n"
      "1|ann|vision|train|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|cpu=8,gres/gpu:a100=2,gres/gpu=2|n[1-2]|gres/"
      "gpumem=1024M,gres/gpuutil=40|\n"
      "1.batch||||2026-01-01T00:00:00|2026-01-01T01:00:00|3600|cpu=8|n1||\n"
      "2|bob|nlp|notebook|2026-01-01T00:00:00|Unknown|7200|gres/gpu=1|n3||\n"
      "3|bob|nlp|cpu|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|cpu=8|n3||\n"
      "4|bob|nlp|pending|Unknown|Unknown|0|gres/gpu=1|None||\n");
  ASSERT_EQ(table.jobs.size(), 2u);
  EXPECT_EQ(table.without_gpu, 1u);
  EXPECT_EQ(table.never_started, 1u);
  EXPECT_EQ(table.refused, 0u);
  const SlurmJob& job = table.jobs[0];
  EXPECT_EQ(job.gpu_model, "a100");
  EXPECT_EQ(job.user, "ann");
  ASSERT_EQ(job.gpus().size(), 2u);
  EXPECT_EQ(job.gpus()[1].host, "n2");
  EXPECT_NEAR(job.gpus()[0].utilization->fraction(), 0.4, 1e-6);
  EXPECT_DOUBLE_EQ(in_gib(*job.gpus()[0].used), 1);
  EXPECT_EQ(table.jobs[1].end - table.jobs[1].start, seconds(7200));
  EXPECT_FALSE(table.jobs[1].gpus()[0].utilization);
  read("a|b\n1|2\n", false);
  read("", false);
}

TEST(Slurm, ReadsEveryGpuOfAJobstatsComment) {
  const JobTable table = read(std::string("JobID|Start|End|AllocTRES|NodeList|AdminComment\n"
                                          "9|2026-01-01T00:00:00|2026-01-01T01:00:00|gres/gpu=2|n1|") +
                              kComment + "\n");
  ASSERT_EQ(table.jobs.size(), 1u);
  ASSERT_EQ(table.jobs[0].gpus().size(), 2u);
  EXPECT_EQ(table.jobs[0].gpus()[1].index, 1);
  EXPECT_DOUBLE_EQ(table.jobs[0].gpus()[0].utilization->fraction(), 0.95);
  EXPECT_DOUBLE_EQ(in_gib(*table.jobs[0].gpus()[1].used), 2);
}

// One job of each kind of row that sacct prints.
TEST(Slurm, ReadsStatesArraysStepsAndRequeues) {
  const JobTable table = read(
      "JobID|State|Partition|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|NodeList|TRESUsageInAve\n"
      "10_3|CANCELLED by 1001|gpu|2026-01-01T00:00:00|2026-01-01T01:00:00|3600|600|gres/gpu:h100=3,gres/gpu=3|n[1-2]|\n"
      "10_3.batch|CANCELLED||2026-01-01T00:00:00|2026-01-01T01:00:00|3600||gres/gpu=3|n1|\n"
      "10_3.0|CANCELLED||2026-01-01T00:00:00|2026-01-01T00:30:00|1800||gres/gpu=3|n[1-2]|gres/gpumem=2G,gres/"
      "gpuutil=90\n"
      "10_3.1|CANCELLED||2026-01-01T00:30:00|2026-01-01T01:00:00|1800||gres/gpu=3|n[1-2]|gres/gpumem=8G,gres/"
      "gpuutil=30\n"
      "11+0|COMPLETED|gpu|1767225600|1767229200|01:00:00|UNLIMITED|gres/gpu:nvidia_a100_3g.20gb=1|n3|\n"
      "12|NODE_FAIL|gpu|2026-01-01T00:00:00|2026-01-01T00:10:00|600|1-00:00:00|gres/gpu=1|n3|\n"
      "12|COMPLETED|gpu|2026-01-01T00:20:00|2026-01-01T02:20:00|7200|1-00:00:00|gres/gpu=1|n4|\n"
      "12|COMPLETED|gpu|2026-01-01T00:20:00|2026-01-01T02:20:00|7200|1-00:00:00|gres/gpu=1|n4|\n"
      "13|PENDING|gpu|Unknown|Unknown|0|600|gres/gpu=1|None assigned|\n"
      "14|CANCELLED by 7|gpu|Unknown|Unknown|0|600|billing=8,gres/gpu=4|None assigned|\n"
      "15|COMPLETED|gpu|2026-01-01T02:00:00|2026-01-01T01:00:00||600|gres/gpu=1|n3|\n"
      "16|COMPLETED|with|bars|in it|x|y|z|a|b|c|d\n");
  ASSERT_EQ(table.jobs.size(), 4u);
  const SlurmJob& array = table.jobs[0];
  EXPECT_EQ(array.state, "CANCELLED");
  EXPECT_EQ(array.gpus().size(), 3u);  // two on one node, one on the other
  EXPECT_EQ(array.gpus()[2].host, "n2");
  EXPECT_NEAR(array.gpus()[0].utilization->fraction(), 0.6, 1e-6);  // half an hour of 90, half an hour of 30
  EXPECT_DOUBLE_EQ(in_gib(*array.gpus()[0].used), 8);
  EXPECT_DOUBLE_EQ(in_hours(*array.time_limit), 10);
  EXPECT_DOUBLE_EQ(in_gpu_hours(array.gpu_time()), 3);
  const SlurmJob& slice = table.jobs[1];
  EXPECT_EQ(slice.gpu_model, "nvidia_a100");
  EXPECT_EQ(slice.mig_profile, "3g.20gb");
  EXPECT_DOUBLE_EQ(in_hours(slice.elapsed), 1);
  EXPECT_FALSE(slice.time_limit);
  EXPECT_EQ(table.jobs[2].state, "NODE_FAIL");  // both runs of a requeued job were paid for
  EXPECT_DOUBLE_EQ(in_hours(table.jobs[3].elapsed), 2);
  EXPECT_EQ(table.repeated, 1u);
  EXPECT_EQ(table.never_started, 2u);
  EXPECT_EQ(table.refused, 2u);
  EXPECT_EQ(table.first_refused, "line 12: it ends before it starts");
}

// Either all values of a log are divided by the GPUs of the node, or none; a note names which.
RC_GTEST_PROP(Slurm, UtilizationIsASumOrAMeanInTheWholeLog, ()) {
  std::string log = "JobID|Start|End|AllocTRES|NodeList|TRESUsageInAve\n";
  struct Job {
    int gpus, nodes, recorded;
  };
  std::vector<Job> jobs;
  bool several = false, sums = false;
  const int count = *rc::gen::inRange(1, 12), most = *rc::gen::element(100, 800);
  for (int i = 0; i < count; ++i) {
    Job job{*rc::gen::inRange(1, 9), *rc::gen::inRange(1, 3), 0};
    job.gpus *= job.nodes;
    const int each = job.gpus / job.nodes;
    job.recorded = *rc::gen::inRange(0, 1 + std::min(most, 100 * each));
    const bool step = *rc::gen::arbitrary<bool>();
    const std::string when = "2026-01-01T00:00:00|2026-01-01T01:00:00", where = job.nodes == 1 ? "n1" : "n[1-2]";
    const std::string usage = fmt::format("gres/gpuutil={}", job.recorded);
    log += fmt::format("{}|{}|gres/gpu={}|{}|{}\n", i, when, job.gpus, where, step ? "" : usage);
    if (step) log += fmt::format("{}.0|{}|gres/gpu={}|{}|{}\n", i, when, job.gpus, where, usage);
    several = several || each > 1;
    sums = sums || (each > 1 && job.recorded > 100);
    jobs.push_back(job);
  }
  const JobTable table = read(log);
  RC_ASSERT(table.jobs.size() == jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double each = sums ? jobs[i].gpus / jobs[i].nodes : 1;
    RC_ASSERT(std::abs(table.jobs[i].gpus()[0].utilization->fraction() - jobs[i].recorded / each / 100) < 1e-5);
  }
  RC_ASSERT(table.notes.size() == (several ? 1U : 0U));
  if (several) RC_ASSERT((table.notes[0].find("is divided") != std::string::npos) == sums);
}

TEST(Slurm, DamagedJobstatsCommentsAreIgnored) {
  EXPECT_FALSE(unpack_jobstats("JS1:None"));
  EXPECT_FALSE(unpack_jobstats("JS1:AAAA"));
  EXPECT_FALSE(unpack_jobstats("hello"));
}

// The same jobs in every form that sacct writes: other names, other delimiters, no header, JSON.
RC_GTEST_PROP(Slurm, EveryFormOfTheTableHasTheSameHours, ()) {
  struct Row {
    int gpus, start, length;
    bool failed;
  };
  std::vector<Row> rows;
  double truth = 0;
  for (int i = *rc::gen::inRange(1, 20); i > 0; --i) {
    rows.push_back({*rc::gen::inRange(1, 9), *rc::gen::inRange(0, 80'000), *rc::gen::inRange(1, 5'000),
                    *rc::gen::arbitrary<bool>()});
    truth += rows.back().gpus * rows.back().length / 3600.0;
  }
  const auto stamp = [](int second) {
    return fmt::format("2026-01-0{}T{:02}:{:02}:{:02}", 1 + second / 86400, second / 3600 % 24, second / 60 % 60,
                       second % 60);
  };
  const auto table = [&](const std::string& delimiter, const std::string& id, const std::string& tres, bool header) {
    std::string text;
    const auto line = [&](std::initializer_list<std::string> cells) {
      std::string joined;
      for (const std::string& cell : cells) joined += (joined.empty() ? "" : delimiter) + cell;
      text += joined + "\n";
    };
    if (header) line({id, "User", "State", "Start", "End", tres, "NodeList"});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const std::string gpus = tres.ends_with("GRES") ? fmt::format("gpu:a100:{}", row.gpus)
                                                      : fmt::format("cpu=8,gres/gpu:a100={0},gres/gpu={0}", row.gpus);
      line({std::to_string(4000 + i), "ann", row.failed ? "FAILED" : "COMPLETED", stamp(row.start),
            stamp(row.start + row.length), gpus, "n[1-2]"});
    }
    return text;
  };
  std::string json = "{\"meta\":{},\"jobs\":[";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    json += fmt::format(
        R"({}{{"job_id":{},"user":"ann","state":{{"current":["{}"]}},"nodes":"n[1-2]","time":{{"start":{},"end":{},"elapsed":{}}},"tres":{{"allocated":[{{"type":"gres","name":"gpu","count":{}}}]}}}})",
        i > 0 ? "," : "", 4000 + i, rows[i].failed ? "FAILED" : "COMPLETED", 1767225600 + rows[i].start,
        1767225600 + rows[i].start + rows[i].length, rows[i].length, rows[i].gpus);
  }
  json += "]}";
  for (const std::string& text : {table("|", "JobID", "AllocTRES", true), table("\t", "JobIDRaw", "ReqTRES", true),
                                  table(";", "JobID", "AllocGRES", true), table(",", "JobID", "AllocTRES", true),
                                  table("|", "JobID", "AllocTRES", false), json}) {
    RC_ASSERT(looks_like_jobs(text));
    std::unique_ptr<ByteSource> source = bytes_of(text);
    const Result<JobTable> read = read_jobs(*source, "sacct");
    RC_ASSERT(read.has_value());
    double hours_read = 0;
    for (const SlurmJob& job : read->jobs) {
      hours_read += in_gpu_hours(job.gpu_time());
      RC_ASSERT(job.gpus().size() == job.gpu_count);
      RC_ASSERT(job.state == "FAILED" || job.state == "COMPLETED");
    }
    RC_ASSERT(std::abs(hours_read - truth) < 1e-6);
  }
}

TEST(JobReports, SeffAndJobstatsCompleteATable) {
  const std::string text =
      "Job ID: 4001\nCluster: della\nState: COMPLETED (exit code 0)\nCPU Efficiency: 99.24% of 00:10:55 core-walltime\n"
      "GPU Efficiency: 40.5%\n\n"
      "      Slurm Job Statistics\n         Job ID: 4002_1\n          State: RUNNING\n"
      "  CPU utilization  [|||||          10%]\n  GPU utilization  [|||||||||||    68%]\n"
      "  GPU memory usage [||||||         66%]\n      n1 (GPU 0): 65.7%\nJob ID: 5\nState: FAILED\n";
  EXPECT_TRUE(looks_like_job_reports(text));
  const JobTable reports = read_job_reports(text);
  ASSERT_EQ(reports.jobs.size(), 2U);
  EXPECT_EQ(reports.jobs[0].id, "4001");
  EXPECT_NEAR(reports.jobs[0].utilization, 0.405, 1e-6);
  EXPECT_EQ(reports.jobs[1].id, "4002_1");
  EXPECT_NEAR(reports.jobs[1].utilization, 0.68, 1e-6);
  EXPECT_EQ(reports.jobs[1].gpu_count, 0U) << "a completing report is no job by itself";
}

TEST(JobReports, JobstatsAloneIsAJob) {
  const std::string text =
      "      Slurm Job Statistics\n         Job ID: 39798795\n  NetID/Account: aturing/math\n       Job Name: logic\n"
      "          State: COMPLETED\n           GPUs: 2\n  QOS/Partition: della-gpu/gpu\n"
      "     Start Time: Fri Mar 6, 2026 at 1:56 PM\n       Run Time: 18:41:56\n     Time Limit: 4-00:00:00\n"
      "  GPU utilization  [|||||||||||    68%]\n  GPU utilization per node\n      n1 (GPU 0): 65.7%\n"
      "      n1 (GPU 1): 70.3%\n  GPU memory usage per node - maximum used/total\n"
      "      n1 (GPU 0): 26.5GB/40.0GB (66.2%)\n      n1 (GPU 1): 26.5GB/40.0GB (66.2%)\n";
  const JobTable table = read_job_reports(text);
  ASSERT_EQ(table.jobs.size(), 1U);
  const SlurmJob& job = table.jobs[0];
  EXPECT_EQ(job.gpu_count, 2U);
  EXPECT_EQ(job.user, "aturing");
  EXPECT_EQ(job.account, "math");
  EXPECT_EQ(job.partition, "gpu");
  EXPECT_EQ(in_unix_seconds(job.start), 1772805360);
  EXPECT_EQ(in_seconds(job.elapsed), 18 * 3600 + 41 * 60 + 56);
  ASSERT_EQ(job.gpus().size(), 2U);
  EXPECT_NEAR(job.gpus()[1].utilization->fraction(), 0.703, 1e-9);
  EXPECT_NEAR(in_bytes(*job.gpus()[1].used), 26.5e9, 1);
  // Without its time, the report only completes a table.
  std::string damaged = text;
  damaged.erase(damaged.find("     Start Time"), 45);
  EXPECT_EQ(read_job_reports(damaged).jobs.at(0).gpu_count, 0U);
}

}  // namespace
}  // namespace rightsize::telemetry
