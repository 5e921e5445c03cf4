#include "launch/hand_over.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "launch/hand_over_facts.h"
#include "launch/test_hand_over.h"

namespace rightsize::launch {
namespace {

using namespace plan;  // NOLINT(google-build-using-namespace)

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Training on several machines: 16 GPUs on machines with 8, at one provider.
Answer large_training() {
  return answer({{"model", "llama-3.1-8b"},
                 {"tokens", "1B"},
                 {"gpu", "h100-sxm"},
                 {"gpus", "16"},
                 {"providers", "aws"},
                 {"purchase", "spot"}});
}

Answer serving() {
  return answer(
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "20/s"}, {"ttft-slo", "1s"}, {"tpot-slo", "50ms"}});
}

::testing::AssertionResult is_balanced(const std::string& hcl) {
  int depth = 0;
  std::size_t quotes = 0;
  for (char c : hcl) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    quotes += c == '"' ? 1 : 0;
    if (depth < 0) return ::testing::AssertionFailure() << "closed too often:\n" << hcl;
  }
  if (depth == 0 && quotes % 2 == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not closed:\n" << hcl;
}

std::string without_comments(const std::string& text) {
  std::string out;
  for (std::string_view line : split_list(text, '\n')) {
    if (!line.starts_with("#")) out += std::string(line) + "\n";
  }
  return out;
}

TEST(Target, NamesAreParsedAndMisspellingsGetASuggestion) {
  EXPECT_EQ(*parse_target("skypilot"), Target::kSkyPilot);
  EXPECT_EQ(*parse_target("K8s"), Target::kKubernetes);
  EXPECT_EQ(parse_target("slrum").error().hints[0], "did you mean 'slurm'?");
}

TEST(SkyPilot, WritesATaskForATrainingPlan) {
  const Answer a = large_training();
  const std::string text = *hand_over(Target::kSkyPilot, a.request, a.best());
  const YamlValue task = documents(text).at(0);
  const market::Offer& offer = a.best().offer;
  EXPECT_EQ(field(task, "num_nodes"), std::to_string(a.best().machines));
  EXPECT_EQ(field(task, "resources/infra"), "aws/" + offer.price->region);
  EXPECT_EQ(field(task, "resources/accelerators"), "H100:" + std::to_string(offer.machine->gpus));
  EXPECT_EQ(field(task, "resources/instance_type"), offer.machine->instance);
  EXPECT_EQ(field(task, "resources/use_spot"), "true");
  // Spot prices drift back towards their median, so the limit is above the likely price.
  const double price = in_usd_per_machine_hour(std::max(a.best().price.listed, a.best().price.likely));
  EXPECT_NEAR(std::atof(field(task, "resources/max_hourly_cost").c_str()), price * 1.2, 0.011);
  const std::string run = field(task, "run");
  EXPECT_TRUE(is_bash(run));
  EXPECT_THAT(run, HasSubstr("--node-rank=\"$SKYPILOT_NODE_RANK\""));
  EXPECT_THAT(run, HasSubstr("--per_device_train_batch_size " + std::to_string(a.best().job.batch)));
  EXPECT_THAT(run, HasSubstr("--gradient_accumulation_steps " + std::to_string(a.best().job.train.accumulation)));
  // 1B tokens in steps of 128 sequences of 4,096 tokens would be 1,908 steps; the count is rounded up for any sequence
  // length.
  const double step = 128.0 * static_cast<double>(a.best().job.sequence);
  EXPECT_THAT(run, HasSubstr("--max_steps " + std::to_string(static_cast<long>(std::ceil(1e9 / step)))));
  EXPECT_THAT(run, HasSubstr("--save_steps "));
  EXPECT_THAT(text, HasSubstr("sky jobs launch"));
}

TEST(SkyPilot, WritesAServiceForAServingPlan) {
  const Answer a = serving();
  const YamlValue task = documents(*hand_over(Target::kSkyPilot, a.request, a.best())).at(0);
  EXPECT_EQ(field(task, "service/replicas"), std::to_string(a.best().machines));
  EXPECT_EQ(field(task, "service/readiness_probe/path"), "/health");
  EXPECT_EQ(field(task, "resources/ports"), "8000");
  EXPECT_EQ(field(task, "envs/MODEL"), "meta-llama/Llama-3.1-8B-Instruct");
  EXPECT_THAT(field(task, "run"), HasSubstr("vllm serve \"$MODEL\""));
  EXPECT_THAT(field(task, "run"), HasSubstr("--max-model-len 14104"));  // planned with 1,024 in, 256 out
}

// Files do not use features that SkyPilot lacks on a cloud, and a plan that needs one is refused.
TEST(SkyPilot, FilesUseOnlyFeaturesOfTheCloud) {
  const Csv clouds = *Csv::parse("skypilot_clouds.csv", std::string(embedded_file("skypilot_clouds.csv")));
  std::map<std::string, const CsvRow*> rows;
  for (const CsvRow& row : clouds.rows()) rows[std::string(clouds.cell(row, "provider"))] = &row;
  int written = 0, refused = 0;
  for (const catalog::Machine& machine : built_in_catalog().machines) {
    EXPECT_TRUE(rows.contains(machine.provider)) << machine.provider << " is not in data/skypilot_clouds.csv";
  }
  for (const Answer& a : {large_training(), serving()}) {
    Plan plan = a.best();
    const bool trains = is_training(a.request);
    for (const auto& [provider, row] : rows) {
      for (const catalog::Purchase purchase : {catalog::Purchase::kOnDemand, catalog::Purchase::kSpot}) {
        catalog::Machine machine = *plan.offer.machine;
        catalog::Price price = *plan.offer.price;
        machine.provider = provider;
        price.purchase = purchase;
        Plan there = plan;
        there.offer.machine = &machine;
        there.offer.price = &price;
        const auto has = [&, at = row](const char* what) { return clouds.cell(*at, what) == "yes"; };
        const bool possible = (has("nodes") || !trains) && (has("spot") || !is_spot(there)) && (has("ports") || trains);
        const Result<std::string> made = hand_over(Target::kSkyPilot, a.request, there);
        ASSERT_EQ(made.has_value(), possible) << provider;
        (possible ? written : refused) += 1;
        if (!made) {  // the clouds it proposes instead are no refusal too
          const std::string hint = made.error().hints.back();
          const std::string_view list = std::string_view(hint).substr(hint.find(' ') + 1);
          for (std::string_view other : split_list(list.substr(0, list.find(' ')), ',')) {
            machine.provider = other;
            EXPECT_TRUE(hand_over(Target::kSkyPilot, a.request, there)) << provider << " " << hint;
          }
          continue;
        }
        const YamlValue task = documents(*made).at(0);
        const std::string infra = field(task, "resources/infra");
        EXPECT_THAT(infra,
                    StartsWith(std::string(clouds.cell(*row, "infra").empty() ? "k8s" : clouds.cell(*row, "infra"))));
        EXPECT_EQ(infra == "k8s", made->find("SkyPilot rents no machines from " + provider) != std::string::npos);
        EXPECT_EQ(task.find("file_mounts") != nullptr, trains && has("buckets")) << provider;
        EXPECT_EQ(task.find("volumes") != nullptr, trains && !has("buckets") && has("volumes")) << provider;
        if (clouds.cell(*row, "network").empty()) {
          EXPECT_EQ(field(task, "resources/network_tier"), "(none)") << provider;
        }
      }
    }
  }
  EXPECT_GT(written, 30);
  EXPECT_GT(refused, 30);
}

// network_tier: best is accepted on AWS's machines with EFA and on Nebius's H100:8 and H200:8 only.
TEST(SkyPilot, TheBestNetworkIsRequestedIfItIsAccepted) {
  const auto tier = [](const char* provider, const char* gpu) {
    const Answer a =
        answer({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"providers", provider}, {"gpu", gpu}, {"gpus", "16"}});
    return field(documents(*hand_over(Target::kSkyPilot, a.request, a.best())).at(0), "resources/network_tier");
  };
  EXPECT_EQ(tier("aws", "h100-sxm"), "best");
  EXPECT_EQ(tier("aws", "b300-sxm"), "(none)");
  EXPECT_EQ(tier("nebius", "h200-sxm"), "best");
  EXPECT_EQ(tier("nebius", "b200-sxm"), "(none)");
}

TEST(SkyPilot, CommittedPlansSetNoMaximumPrice) {
  const Answer a = answer({{"model", "bert-base"}, {"samples", "1M"}, {"purchase", "1y,3y"}});
  const std::string text = *hand_over(Target::kSkyPilot, a.request, a.best());
  EXPECT_EQ(field(documents(text).at(0), "resources/max_hourly_cost"), "(none)");
  EXPECT_THAT(text, HasSubstr("commitment"));
}

TEST(Kubernetes, TrainingJobsCanReachTheirOtherPods) {
  const Answer a = large_training();
  const std::vector<YamlValue> all = documents(*hand_over(Target::kKubernetes, a.request, a.best()));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(field(all[0], "kind"), "PersistentVolumeClaim");
  EXPECT_EQ(field(all[0], "spec/accessModes/0"), "ReadWriteMany");
  EXPECT_EQ(field(all[1], "spec/clusterIP"), "None");
  const YamlValue& job = all[2];
  EXPECT_EQ(field(job, "kind"), "Job");
  EXPECT_EQ(field(job, "spec/completionMode"), "Indexed");
  EXPECT_EQ(field(job, "spec/completions"), std::to_string(a.best().machines));
  EXPECT_EQ(field(job, "spec/template/spec/subdomain"), field(all[1], "metadata/name"));
  const YamlValue* selector = job.find("spec")->find("template")->find("spec")->find("nodeSelector");
  ASSERT_NE(selector, nullptr);
  EXPECT_EQ(selector->find("nvidia.com/gpu.product")->scalar, "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(selector->find("karpenter.sh/capacity-type")->scalar, "spot");
  const YamlValue& container = job.find("spec")->find("template")->find("spec")->find("containers")->list.at(0);
  EXPECT_EQ(container.find("resources")->find("limits")->find("nvidia.com/gpu")->scalar,
            std::to_string(16 / a.best().machines));
  EXPECT_TRUE(is_bash(field(container, "args/0")));
  EXPECT_THAT(field(container, "args/0"), HasSubstr("--master-addr=\"llama-3-1-8b-0.llama-3-1-8b\""));
}

TEST(Kubernetes, WritesADeploymentForAServingPlan) {
  const Answer a = serving();
  const std::vector<YamlValue> all = documents(*hand_over(Target::kKubernetes, a.request, a.best()));
  ASSERT_EQ(all.size(), a.best().replicas > 1 ? 3u : 2u);
  EXPECT_EQ(field(all[0], "kind"), "Deployment");
  EXPECT_EQ(field(all[0], "spec/replicas"), std::to_string(a.best().replicas));
  EXPECT_EQ(field(all[0], "spec/template/spec/containers/0/readinessProbe/httpGet/path"), "/health");
  EXPECT_EQ(field(all.back(), "spec/selector/app"), field(all[0], "spec/template/metadata/labels/app"));
  EXPECT_EQ(field(all.back(), "spec/ports/0/targetPort"), "8000");
}

TEST(Karpenter, NodePoolsAllowOnlyThePlansMachines) {
  const Answer a = large_training();
  const std::vector<YamlValue> all = documents(*hand_over(Target::kKarpenter, a.request, a.best()));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(field(all[0], "kind"), "EC2NodeClass");
  const YamlValue& pool = all[1];
  EXPECT_EQ(field(pool, "apiVersion"), "karpenter.sh/v1");
  EXPECT_EQ(field(pool, "spec/template/spec/nodeClassRef/kind"), "EC2NodeClass");
  const YamlValue& list = *pool.find("spec")->find("template")->find("spec")->find("requirements");
  std::map<std::string, std::string> values;
  for (const YamlValue& item : list.list) values[item.find("key")->scalar] = item.find("values")->list.at(0).scalar;
  EXPECT_EQ(values["node.kubernetes.io/instance-type"], a.best().offer.machine->instance);
  EXPECT_EQ(values["karpenter.sh/capacity-type"], "spot");
  EXPECT_EQ(values["topology.kubernetes.io/region"], a.best().offer.price->region);
  EXPECT_EQ(pool.find("spec")->find("limits")->find("nvidia.com/gpu")->scalar,
            std::to_string(a.best().machines * a.best().offer.machine->gpus));
}

TEST(Karpenter, UnsupportedProvidersNameAlternatives) {
  const Answer a = answer({{"model", "bert-base"}, {"samples", "1M"}, {"providers", "lambda"}});
  for (Target target : {Target::kKarpenter, Target::kTerraform}) {
    const Result<std::string> made = hand_over(target, a.request, a.best());
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().hints.back(), HasSubstr("kubernetes and slurm"));
  }
}

TEST(Slurm, WritesABatchScriptForATrainingPlan) {
  const Answer a = large_training();
  const std::string script = *hand_over(Target::kSlurm, a.request, a.best());
  EXPECT_TRUE(is_bash(script));
  EXPECT_THAT(script, StartsWith("#!/bin/bash\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --nodes=" + std::to_string(a.best().machines) + "\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --gpus-per-node=" + std::to_string(16 / a.best().machines) + "\n"));
  int days = 0, hour_part = 0, minutes = 0;
  const std::size_t at = script.find("--time=");
  ASSERT_EQ(std::sscanf(script.c_str() + at, "--time=%d-%d:%d", &days, &hour_part, &minutes), 3);
  const double limit = days * 24 + hour_part + minutes / 60.0;
  EXPECT_GE(limit, in_hours(a.best().time.total()));
  EXPECT_LE(limit, in_hours(a.best().time.total()) * a.best().speed.high * 1.1 + 0.3);
}

TEST(SkyPilot, UploadsCodeAndResumesFromTheLastCheckpoint) {
  const Answer a = large_training();
  const YamlValue task = documents(*hand_over(Target::kSkyPilot, a.request, a.best())).at(0);
  EXPECT_EQ(field(task, "workdir"), ".");
  EXPECT_EQ(task.find("file_mounts")->find("/checkpoints")->find("mode")->scalar, "MOUNT_CACHED");
  EXPECT_EQ(field(task, "envs/OUTPUT"), "/checkpoints/llama-3-1-8b");
  EXPECT_EQ(field(task, "envs/MODEL"), "meta-llama/Llama-3.1-8B");
  EXPECT_THAT(field(task, "run"), HasSubstr("--resume_from_checkpoint"));
}

// Bash chooses the newest complete checkpoint: 900 is older than 1000, 2000 was never finished, and 3000 has only its
// trainer_state.json.
TEST(WorkCommand, ResumesFromTheNewestWholeCheckpoint) {
  const Answer a = large_training();
  std::string script = field(documents(*hand_over(Target::kSkyPilot, a.request, a.best())).at(0), "run");
  const std::string folder = ::testing::TempDir() + "resume_test";
  script = script.substr(0, script.find("cat > deepspeed.json")) + "echo \"$last\" > \"$OUTPUT/chosen\"\n";
  const std::string made =
      "rm -rf " + folder + " && mkdir -p " + folder + "/checkpoint-900 " + folder + "/checkpoint-1000 " + folder +
      "/checkpoint-2000 " + folder + "/checkpoint-3000 && for i in 900 1000; do touch " + folder +
      "/checkpoint-$i/trainer_state.json " + folder + "/checkpoint-$i/model.safetensors; done; touch " + folder +
      "/checkpoint-3000/trainer_state.json";
  ASSERT_EQ(std::system(made.c_str()), 0);
  std::ofstream(folder + "/script.sh") << script;
  ASSERT_EQ(std::system(("OUTPUT=" + folder + " bash " + folder + "/script.sh").c_str()), 0);
  std::string chosen;
  std::getline(std::ifstream(folder + "/chosen") >> std::ws, chosen);
  EXPECT_EQ(chosen, folder + "/checkpoint-1000");
}

TEST(WorkCommand, AmdGpusGetRocmImagesAndOldOnesNoBfloat16) {
  const Answer amd = answer({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "5/s"}, {"gpu", "mi300x"}});
  const YamlValue task = documents(*hand_over(Target::kSkyPilot, amd.request, amd.best())).at(0);
  EXPECT_THAT(field(task, "resources/image_id"), StartsWith("docker:rocm/"));
  EXPECT_EQ(field(task, "setup"), "(none)");
  const Answer old = answer({{"model", "qwen2.5-1.5b"}, {"job", "serve"}, {"rate", "1/s"}, {"gpu", "t4"}});
  const std::string run = field(documents(*hand_over(Target::kSkyPilot, old.request, old.best())).at(0), "run");
  EXPECT_THAT(run, HasSubstr("--dtype float16"));
  EXPECT_THAT(run, ::testing::Not(HasSubstr("bfloat16")));
}

TEST(WorkCommand, TrainingOnGpusWithoutBfloat16UsesFp16) {
  const Answer a = answer({{"model", "bert-base"}, {"samples", "1M"}, {"gpu", "t4"}, {"gpus", "4"}});
  const std::string run = field(documents(*hand_over(Target::kSkyPilot, a.request, a.best())).at(0), "run");
  EXPECT_THAT(run, HasSubstr("--fp16 true"));
  EXPECT_THAT(run, ::testing::Not(HasSubstr("bf16")));
}

// A file trains what the plan trains: adapters only where our command has them.
TEST(WorkCommand, AdaptersAreWrittenOnlyForTrainersThatHaveThem) {
  for (const char* stack : {"hf", "torchtitan", "megatron"}) {
    for (const char* method : {"full", "lora"}) {
      const Answer made = answer({{"model", "llama-3.1-8b"},
                                  {"tokens", "100M"},
                                  {"gpu", "h100-sxm"},
                                  {"gpus", "8"},
                                  {"stack", stack},
                                  {"method", method}});
      const bool written = std::string(stack) == "hf" || std::string(method) == "full";
      EXPECT_EQ(hand_over(Target::kSlurm, made.request, made.best()).has_value(), written) << stack << " " << method;
    }
    Given four_bits = {{"model", "llama-3.1-8b"}, {"tokens", "100M"}, {"stack", stack}, {"method", "qlora"}};
    EXPECT_EQ(read_given(four_bits).has_value(), std::string(stack) == "hf") << stack;
  }
}

TEST(Slurm, StepsGetTheTasksProcessors) {
  const Answer a = large_training();
  EXPECT_THAT(*hand_over(Target::kSlurm, a.request, a.best()),
              HasSubstr("\nsrun --cpus-per-task=\"$SLURM_CPUS_PER_TASK\" bash"));
}

TEST(Terraform, DisksHoldTheWeights) {
  const Answer a = answer({{"model", "llama-3.1-405b"}, {"job", "serve"}, {"precision", "fp8"}, {"providers", "aws"}});
  const std::string text = *hand_over(Target::kTerraform, a.request, a.best());
  const std::size_t at = text.find("volume_size = ");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::atoi(text.c_str() + at + 14), 811);  // GB of 405B weights as downloaded
}

TEST(Terraform, GoogleMachinesBootFromSupportedDisks) {
  const auto disk = [](const char* gpu) {
    const Answer a = answer({{"model", "bert-base"}, {"samples", "1M"}, {"providers", "gcp"}, {"gpu", gpu}});
    const std::string text = *hand_over(Target::kTerraform, a.request, a.best());
    const std::size_t at = text.find("type  = \"", text.find("initialize_params")) + 9;
    return text.substr(at, text.find('"', at) - at);
  };
  EXPECT_EQ(disk("b200-sxm"), "hyperdisk-balanced");
  EXPECT_EQ(disk("h200-sxm"), "hyperdisk-balanced");
  EXPECT_EQ(disk("rtx-pro-6000"), "hyperdisk-balanced");
  EXPECT_EQ(disk("h100-sxm"), "pd-balanced");
  EXPECT_EQ(disk("l4"), "pd-balanced");
}

TEST(Terraform, MachinesOfOneJobHaveTheNetworkOfThePlan) {
  const auto file = [](const char* provider, const char* gpu) {
    const Answer a =
        answer({{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"providers", provider}, {"gpu", gpu}, {"gpus", "16"}});
    return *hand_over(Target::kTerraform, a.request, a.best());
  };
  EXPECT_THAT(file("aws", "h100-sxm"), HasSubstr("range(0, 32)"));
  EXPECT_THAT(file("gcp", "b200-sxm"), HasSubstr("MRDMA"));
  EXPECT_THAT(file("azure", "h100-sxm"), HasSubstr("single_placement_group = true"));
}

TEST(Triton, IsOnlyForModelsThatAnswerInBatches) {
  const Answer a = answer({{"model", "bert-base"}, {"job", "serve"}, {"rate", "500/s"}, {"ttft-slo", "100ms"}});
  const std::string text = *hand_over(Target::kTriton, a.request, a.best());
  EXPECT_THAT(text, HasSubstr("max_batch_size: " + std::to_string(a.best().job.batch)));
  EXPECT_FALSE(hand_over(Target::kTriton, serving().request, serving().best()));
}

TEST(Terraform, EachCloudUsesItsOwnResourceTypes) {
  for (const auto& [provider, words] : std::map<std::string, std::vector<std::string>>{
           {"aws", {"resource \"aws_instance\" \"work\"", "market_type = \"spot\""}},
           {"gcp", {"resource \"google_compute_instance\" \"work\"", "\"SPOT\"", "var.zone"}},
           {"azure", {"resource \"azurerm_linux_virtual_machine\" \"work\"", "priority        = \"Spot\""}}}) {
    const Answer a = answer(
        {{"model", "bert-base"}, {"samples", "1M"}, {"providers", provider}, {"purchase", "on-demand"}, {"gpus", "1"}});
    Plan plan = a.best();  // pretend it is spot: some clouds have no spot prices on file
    catalog::Price spot = *plan.offer.price;
    spot.purchase = catalog::Purchase::kSpot;
    plan.offer.price = &spot;
    const std::string text = *hand_over(Target::kTerraform, a.request, plan);
    EXPECT_TRUE(is_balanced(text));
    for (const std::string& word : words) EXPECT_THAT(text, HasSubstr(word));
    EXPECT_THAT(text,
                HasSubstr(a.best().offer.machine->instance.substr(0, a.best().offer.machine->instance.find('+'))));
  }
}

void check_file(Target target, const std::string& text) {
  EXPECT_THAT(text, HasSubstr("# Expected: "));
  EXPECT_THAT(text, HasSubstr("# Price: "));
  EXPECT_THAT(text, EndsWith("\n"));
  switch (target) {
    case Target::kSlurm:
      EXPECT_TRUE(is_bash(text));
      break;
    case Target::kTerraform:
      EXPECT_TRUE(is_balanced(without_comments(text)));
      break;
    case Target::kSkyPilot:
      EXPECT_TRUE(is_bash(field(documents(text).at(0), "run")));
      break;
    default:
      EXPECT_GE(documents(text).size(), 1u);
  }
}

TEST(HandOver, EveryPlanCanBeWrittenForSlurmAndKubernetes) {
  const std::vector<Given> requests = {
      {{"model", "llama-3.1-8b"},
       {"tokens", "1B"},
       {"method", "full,lora,qlora"},
       {"gpu", "l4,l40s,h100-sxm,mi300x"},
       {"top", "25"},
       {"name", "1: \"x\"\n{{}}"}},
      {{"model", "llama-3.1-70b"}, {"tokens", "1B"}, {"stack", "megatron"}, {"gpu", "h100-sxm"}, {"max-gpus", "32"}},
      {{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"stack", "torchtitan"}, {"gpu", "a100"}},
      {{"model", "llama-3.1-8b"}, {"tokens", "1B"}, {"stack", "llm-foundry"}, {"gpu", "a100"}},
      {{"model", "resnet-50"}, {"epochs", "90"}, {"dataset-samples", "1.28M"}, {"gpu", "t4,a100"}},
      {{"model", "llama-3.1-70b"}, {"job", "serve"}, {"rate", "5/s"}, {"precision", "bf16,fp8,int4"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "5/s"}, {"stack", "trtllm"}, {"gpu", "l40s,h100-sxm"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "5/s"}, {"stack", "sglang"}, {"gpu", "l40s"}},
      {{"model", "bert-base"}, {"job", "serve"}, {"rate", "500/s"}, {"ttft-slo", "100ms"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"items", "1M"}},
      {{"job", "serve"}, {"items", "1M"}, {"per-item", "20ms"}, {"gpu", "l4"}},
  };
  for (const auto& settings : requests) {
    const Answer a = answer(settings);
    for (const Plan& plan : a.found.plans) {
      for (Target target :
           {Target::kSkyPilot, Target::kKubernetes, Target::kKarpenter, Target::kSlurm, Target::kTerraform}) {
        const Result<std::string> made = hand_over(target, a.request, plan);
        const bool must = target == Target::kSlurm || target == Target::kKubernetes;
        ASSERT_TRUE(made || !must) << describe(made.error());
        if (made) check_file(target, *made);
      }
    }
  }
}

TEST(Slurm, NamesThePartitionAndTheAccountOfTheCluster) {
  const Answer a = answer({{"model", "llama-3.1-8b"},
                           {"tokens", "1B"},
                           {"gpu", "h100-sxm"},
                           {"gpus", "8"},
                           {"partition", "gpu_long"},
                           {"account", "nlp"}});
  const std::string script = *hand_over(Target::kSlurm, a.request, a.best());
  EXPECT_THAT(script, HasSubstr("#SBATCH --partition=gpu_long\n"));
  EXPECT_THAT(script, HasSubstr("#SBATCH --account=nlp\n"));
  for (const char* wrong : {"a b", "x;rm", "$HOME", "a\nb"})
    EXPECT_FALSE(read_given({{"model", "gpt2"}, {"tokens", "1B"}, {"partition", wrong}})) << wrong;
}

}  // namespace
}  // namespace rightsize::launch
