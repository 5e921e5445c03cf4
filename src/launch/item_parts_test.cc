// Offline work: the parts that files divide it into, and the scripts themselves, run by bash with stand-ins for the
// engine and the user's script.
#include "launch/item_parts.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/yaml.h"
#include "launch/hand_over.h"
#include "launch/hand_over_facts.h"
#include "plan/startup.h"
#include "plan/stored_data.h"
#include "plan/test_requests.h"

namespace rightsize::launch {
namespace {

using namespace plan;  // NOLINT(google-build-using-namespace)

using ::testing::HasSubstr;
using ::testing::Not;

struct Offline {
  Request request;
  std::vector<Plan> plans;
};

Offline offline(const Given& given) {
  Request request = request_of(given);
  request.plans_only = true;
  Recommendation found = recommend(request, built_in_prices(), built_in_constants());
  return {std::move(request), std::move(found.plans)};
}

std::vector<Given> random_jobs() {
  Random random(20261118);
  const auto any = [&](std::vector<std::string> of) {
    return of[static_cast<std::size_t>(random.uniform() * static_cast<double>(of.size())) % of.size()];
  };
  std::vector<Given> jobs;
  for (int i = 0; i < 24; ++i) {
    Given job = {{"job", "serve"},
                 {"purchase", any({"spot", "on-demand", "spot,on-demand"})},
                 {"interruptions", any({"0", "0.02", "0.05", "0.2"})},
                 {"model", any({"llama-3.1-8b", "llama-3.1-70b", "qwen3-embedding-8b", "whisper-large-v3-turbo",
                                "bert-base", "flux.1-dev"})}};
    const std::string model = job.back().second;
    job.push_back(
        {"items", model == "llama-3.1-70b" || model == "flux.1-dev" ? any({"20k", "2M"}) : any({"1M", "50M", "200M"})});
    if (model.starts_with("llama")) job.push_back({"isl", any({"300", "2500"})}), job.push_back({"osl", "300"});
    if (model.starts_with("qwen")) job.push_back({"isl", "400"}), job.push_back({"osl", "1"});
    jobs.push_back(std::move(job));
  }
  return jobs;
}

// The work lost at the plan's interruption rate is the work that the plan charges for.
TEST(Parts, RepeatNoMoreWorkThanThePlanCounts) {
  int checked = 0;
  for (const Given& job : random_jobs()) {
    const Offline a = offline(job);
    for (const Plan& plan : a.plans) {
      const Parts parts = parts_of(a.request, plan);
      EXPECT_LE(in_seconds(parts.length), 3600);
      EXPECT_GE(static_cast<double>(parts.count * parts.items), a.request.work.amount);
      EXPECT_LE(static_cast<double>((parts.count - 1) * parts.items), a.request.work.amount);
      const market::JobAssumptions assumed = assumptions_on(a.request, perf::work_of(a.request.model), *plan.offer.gpu);
      const double per_hour = (is_spot(plan) ? assumed.spot_interruptions_per_hour : 0) +
                              assumed.failures_per_gpu_hour * plan.gpus / plan.machines;
      if (!(per_hour > 0)) continue;
      const double ratio =
          market::time_per_work(parts.length + parts.in_flight, seconds(1), assumed.restart, hours(1 / per_hour));
      const double charged = (plan.time.work + plan.time.saving + plan.time.redoing) / plan.time.work;
      // One batch can take longer than a part should.
      if (parts.items > plan.job.batch) {
        EXPECT_LE(ratio, charged + 0.002) << a.request.name << " " << in_seconds(parts.length);
      }
      ++checked;
    }
  }
  EXPECT_GT(checked, 60);
}

TEST(Parts, StorageHoldsItemsAndResults) {
  for (const Given& job : random_jobs()) {
    const Offline a = offline(job);
    const DataSize size = data_size(a.request);
    EXPECT_GT(size.in, Bytes{});
    EXPECT_GT(size.out, Bytes{});
    for (const Plan& plan : a.plans) {
      EXPECT_GE(storage_gb(a.request, plan) * 1e9, in_bytes(size.both()));
      EXPECT_THAT(*hand_over(Target::kKubernetes, a.request, plan), HasSubstr("# Data: about "));
    }
  }
  // 200 million vectors of 4,096 numbers in 32 bits are 3.3 TB before any encoding.
  const Offline a =
      offline({{"job", "serve"}, {"model", "qwen3-embedding-8b"}, {"items", "200M"}, {"isl", "400"}, {"osl", "1"}});
  EXPECT_GT(in_bytes(data_size(a.request).out), 200e6 * 4096 * 4);
}

// The machines of an offline job are started one by one: an interruption of one does not restart the others.
TEST(Parts, MachinesAreIndependent) {
  const Offline a = offline({{"job", "serve"},
                             {"model", "whisper-large-v3-turbo"},
                             {"items", "48M"},
                             {"deadline", "3d"},
                             {"purchase", "spot"},
                             {"providers", "aws"},
                             {"gpu", "l4,l40s,a10g"}});
  bool several = false;
  for (const Plan& plan : a.plans) {
    if (plan.machines == 1) continue;
    several = true;
    const std::string task = *hand_over(Target::kSkyPilot, a.request, plan);
    EXPECT_THAT(task, HasSubstr("num_nodes: 1\n"));
    EXPECT_THAT(task, HasSubstr(fmt::format("for i in $(seq 0 {}); do sky jobs launch", plan.machines - 1)));
    EXPECT_THAT(task, Not(HasSubstr("SKYPILOT_NODE_RANK")));
    EXPECT_THAT(*hand_over(Target::kSlurm, a.request, plan),
                HasSubstr(fmt::format("#SBATCH --nodes=1\n#SBATCH --array=0-{}\n", plan.machines - 1)));
  }
  EXPECT_TRUE(several);
}

// Runs the work of one machine in a separate folder, with our stand-in programs first in the PATH.
class Bench {
 public:
  explicit Bench(const std::string& name) : folder_(::testing::TempDir() + name) {
    std::filesystem::remove_all(folder_);
    for (const char* each : {"bin", "in", "out"}) std::filesystem::create_directories(folder_ + "/" + each);
  }

  void write(const std::string& name, const std::string& text, bool runs = false) const {
    std::ofstream(folder_ + "/" + name) << text;
    if (runs) std::filesystem::permissions(folder_ + "/" + name, std::filesystem::perms::owner_all);
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  int files(const std::string& sub) const {
    int count = 0;
    for (const auto& each : std::filesystem::directory_iterator(folder_ + "/" + sub))
      count += each.path().extension() != ".tmp";
    return count;
  }

  int run(const Offline& a, const Plan& plan, const std::string& worker) const {
    const Result<YamlDocument> task = YamlDocument::parse("task", *hand_over(Target::kSkyPilot, a.request, plan));
    write("run.sh", task->root().find("run")->scalar);
    return std::system(fmt::format("cd {0} && PATH={0}/bin:$PATH INPUT={0}/in OUTPUT={0}/out MODEL=m WORKER={1} "
                                   "SKYPILOT_NODE_RANK={1} WORK_SCRIPT=work.py timeout 60 bash run.sh 2> {0}/errors",
                                   folder_, worker)
                           .c_str());
  }

 private:
  std::string folder_;
};

// A script that dies after three parts is restarted and finishes each remaining part once.
TEST(Parts, AnInterruptedScriptRepeatsNoFinishedPart) {
  const Offline a = offline({{"job", "serve"}, {"model", "bert-base"}, {"items", "50M"}, {"gpu", "l4"}});
  const Plan& plan = a.plans.at(0);
  const Bench bench("parts_script");
  bench.write("bin/python", "#!/bin/sh\nexec python3 \"$@\"\n", true);
  bench.write("work.py",
              "import sys\n"
              "a = dict(zip(sys.argv[1::2], sys.argv[2::2]))\n"
              "for n, name in enumerate(sys.stdin.read().split()):\n"
              "    if n == 3: sys.exit(1)\n"
              "    open('log', 'a').write(name + '\\n')\n"
              "    open(a['--output'] + '/' + name + '.tmp', 'w').write(open(a['--input'] + '/' + name).read())\n"
              "    print(name, flush=True)\n");
  const int machines = plan.machines, parts = 5 * std::max(1, plan.replicas);
  for (int i = 0; i < parts; ++i) bench.write(fmt::format("in/part-{:04}", i), std::to_string(i));
  for (int machine = 0; machine < machines; ++machine) {
    EXPECT_NE(bench.run(a, plan, std::to_string(machine)), 0) << "three of five parts are not all";
    EXPECT_EQ(bench.run(a, plan, std::to_string(machine)), 0) << bench.read("errors");
  }
  EXPECT_EQ(bench.files("out"), parts);
  const std::string log = bench.read("log");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), parts) << "a part was repeated";
}

// The client that keeps an engine busy: every request is answered, requests the model cannot answer are recorded, and
// an engine that dies costs only the parts that were running.
TEST(Parts, AnEngineThatDiesCostsOnlyTheRunningParts) {
  const Offline a =
      offline({{"job", "serve"}, {"model", "llama-3.1-8b"}, {"items", "1M"}, {"gpu", "l4,l40s"}, {"gpus", "1"}});
  const Plan& plan = a.plans.at(0);
  ASSERT_EQ(plan.replicas, 1);
  const Bench bench("parts_engine");
  bench.write("bin/vllm",
              "#!/usr/bin/env python3\n"
              "import http.server, json, os, sys\n"
              "port = int(sys.argv[sys.argv.index('--port') + 1])\n"
              "class Engine(http.server.BaseHTTPRequestHandler):\n"
              "    def reply(self, code, body):\n"
              "        self.send_response(code); self.end_headers(); self.wfile.write(json.dumps(body).encode())\n"
              "    def do_GET(self): self.reply(200, {})\n"
              "    def do_POST(self):\n"
              "        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))\n"
              "        n = body['n']\n"
              "        if n == 42 and not os.path.exists('died'): open('died', 'w').close(); os._exit(1)\n"
              "        self.reply(400 if n == 7 else 200, {'n': n, 'model': body['model']})\n"
              "    def log_message(self, *all): pass\n"
              "class Server(http.server.ThreadingHTTPServer): request_queue_size = 1024\n"
              "Server(('127.0.0.1', port), Engine).serve_forever()\n",
              true);
  for (int part = 0; part < 6; ++part) {
    std::string lines;
    for (int i = 0; i < 10; ++i)
      lines += fmt::format("{{\"custom_id\": \"{0}\", \"url\": \"/v1/completions\", \"body\": {{\"n\": {0}}}}}\n",
                           part * 10 + i);
    bench.write(fmt::format("in/part-{}.jsonl", part), lines);
  }
  EXPECT_NE(bench.run(a, plan, "0"), 0);
  EXPECT_LT(bench.files("out"), 6);
  EXPECT_EQ(bench.run(a, plan, "0"), 0) << bench.read("errors");
  EXPECT_EQ(bench.files("out"), 6);
  for (int part = 0; part < 6; ++part) {
    const std::string results = bench.read(fmt::format("out/part-{}.jsonl", part));
    EXPECT_EQ(std::count(results.begin(), results.end(), '\n'), 10);
    for (int i = 0; i < 10; ++i) EXPECT_THAT(results, HasSubstr(fmt::format("\"custom_id\": \"{}\"", part * 10 + i)));
  }
  EXPECT_THAT(bench.read("out/part-0.jsonl"), HasSubstr("\"error\""));
}

}  // namespace
}  // namespace rightsize::launch
