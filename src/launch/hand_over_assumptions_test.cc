// Every assumption of a plan's cost is a line of its files, or what they ask the user to fill in.
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "launch/hand_over.h"
#include "plan/startup.h"
#include "plan/stored_data.h"
#include "plan/test_requests.h"

namespace rightsize::launch {
namespace {

using namespace plan;  // NOLINT(google-build-using-namespace)

using ::testing::HasSubstr;
using ::testing::Not;

std::string written(const Given& given, Target target = Target::kKubernetes) {
  Request request = request_of(given);
  request.plans_only = true;
  const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
  EXPECT_FALSE(found.plans.empty());
  if (found.plans.empty()) return {};
  const Result<std::string> file = hand_over(target, request, found.plans.front());
  EXPECT_TRUE(file);
  return file.value_or("");
}

Given with(Given given, const Given& more) {
  given.insert(given.end(), more.begin(), more.end());
  return given;
}

// The second version of FSDP leaves 4-bit weights whole on every GPU.
TEST(Assumptions, FourBitWeightsAreStoredInAFormThatFsdpShards) {
  const std::string file = written({{"model", "llama-3.1-8b"},
                                    {"method", "qlora"},
                                    {"tokens", "10M"},
                                    {"gpu", "h100-sxm"},
                                    {"gpus", "2"},
                                    {"zero", "3"}});
  EXPECT_THAT(file, HasSubstr("\"version\": 1"));
  EXPECT_THAT(file, HasSubstr("--bnb_4bit_quant_storage bfloat16"));
}

// Pretraining starts from the model's sizes, fine-tuning from its weights; a scaled shape has no weights.
TEST(Assumptions, RandomWeightsComeWithTheShape) {
  const Given gpus = {{"gpu", "h100-sxm"}, {"gpus", "8"}};
  const Given megatron = with({{"model", "llama-3.1-8b"}, {"stack", "megatron"}}, gpus);
  const std::string long_run = written(with(megatron, {{"tokens", "1T"}}));
  EXPECT_THAT(long_run, HasSubstr("--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336"));
  EXPECT_THAT(long_run, Not(HasSubstr("--pretrained-checkpoint")));
  for (const std::string& file : {written(with(megatron, {{"tokens", "1B"}})),
                                  written(with(megatron, {{"tokens", "1T"}, {"from-scratch", "no"}}))}) {
    EXPECT_THAT(file, HasSubstr("--pretrained-checkpoint"));
    EXPECT_THAT(file, Not(HasSubstr("--num-layers")));
    EXPECT_THAT(file, HasSubstr("--lr "));
    EXPECT_THAT(file, HasSubstr("--tokenizer-model"));
  }
  const std::string scaled =
      written(with({{"model", "1.5B like llama"}, {"stack", "torchtitan"}, {"tokens", "1B"}}, gpus));
  EXPECT_THAT(scaled, Not(HasSubstr("initial_load_path")));
  EXPECT_THAT(scaled, Not(HasSubstr("hf download")));
  const Given adapters = {{"model", "gpt2"}, {"method", "lora"}, {"tokens", "100B"}};
  EXPECT_FALSE(request_of(adapters).from_scratch.value_or(false));
  EXPECT_FALSE(read_given(with(adapters, {{"from-scratch", "yes"}})));
}

TEST(Assumptions, EncodersAreServedByVllm) {
  const std::string file = written({{"model", "BAAI/bge-reranker-v2-m3"},
                                    {"job", "serve"},
                                    {"rate", "20/s"},
                                    {"isl", "350"},
                                    {"ttft-slo", "1s"},
                                    {"gpu", "l40s"}});
  EXPECT_THAT(file, HasSubstr("--runner pooling"));
  EXPECT_THAT(file, HasSubstr("vllm/vllm-openai"));
  EXPECT_THAT(file, Not(HasSubstr("SERVE_SCRIPT")));
}

TEST(Assumptions, PublishedDraftModelsAreNamed) {
  const Given service = {{"job", "serve"},    {"rate", "1/s"},
                         {"gpu", "h100-sxm"}, {"speculate", "3,method=eagle3"},
                         {"ttft-slo", "5s"},  {"tpot-slo", "100ms"}};
  EXPECT_THAT(written(with({{"model", "meta-llama/Llama-3.1-8B-Instruct"}}, service)),
              HasSubstr("yuhuili/EAGLE3-LLaMA3.1-Instruct-8B"));
  EXPECT_THAT(written(with({{"model", "qwen2.5-7b"}}, service)), HasSubstr("REPLACE-BY-A-DRAFT-MODEL"));
  const Csv csv = *Csv::parse("draft_models.csv", std::string(embedded_file("draft_models.csv")));
  for (const CsvRow& row : csv.rows()) {
    for (const char* column : {"model", "method", "draft", "source", "read"})
      EXPECT_FALSE(csv.cell(row, column).empty()) << csv.cell(row, "model");
  }
}

// A service runs the model tuned for instructions, unless another was typed; fp8 weights are converted on load only if
// the 16-bit weights fit.
TEST(Assumptions, ServicesRunTheCheckpointOfTheirPlan) {
  const Given service = {{"job", "serve"}, {"rate", "1/s"}, {"ttft-slo", "10s"}, {"tpot-slo", "100ms"}};
  EXPECT_THAT(written(with({{"model", "gemma-3-12b"}}, service)), HasSubstr("google/gemma-3-12b-it"));
  EXPECT_THAT(written(with({{"model", "google/gemma-3-12b-pt"}}, service)), HasSubstr("google/gemma-3-12b-pt"));
  const Given narrow = with(service, {{"precision", "fp8"}, {"stack", "vllm"}});
  const std::string large = written(with({{"model", "llama-3.3-70b"}, {"gpu", "gh200-96gb"}}, narrow));
  EXPECT_THAT(large, HasSubstr("Llama-3.3-70B-Instruct-FP8"));
  EXPECT_THAT(large, Not(HasSubstr("--quantization")));
  const std::string small = written(with({{"model", "llama-3.1-8b"}, {"gpu", "h100-sxm"}}, narrow));
  EXPECT_THAT(small, HasSubstr("--quantization fp8"));
  EXPECT_THAT(written(with({{"model", "llama-3-70b"}, {"gpu", "gh200-96gb"}}, narrow)), HasSubstr("-CHECKPOINT-OF-"));
}

// The file starts and stops machines that run only some hours, or its header has both costs.
TEST(Assumptions, HoursOfTheDayAreASchedule) {
  const Given service = {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "20/s"}, {"hours-per-day", "10"}};
  const std::string kubernetes = written(service);
  EXPECT_THAT(kubernetes, HasSubstr("kind: ScaledObject"));
  EXPECT_THAT(kubernetes, HasSubstr("start: 0 0 * * *"));
  EXPECT_THAT(kubernetes, HasSubstr("end: 0 10 * * *"));
  EXPECT_THAT(kubernetes, HasSubstr("minReplicaCount: 0"));
  EXPECT_THAT(kubernetes, Not(HasSubstr("on a schedule")));
  EXPECT_THAT(written(service, Target::kSlurm), HasSubstr("on a schedule"));
}

// Pods that load a terabyte have enough time, and download it only once.
TEST(Assumptions, LargeWeightsAreKeptOnAVolume) {
  const Given limits = {{"job", "serve"}, {"rate", "1/s"}, {"ttft-slo", "10s"}, {"tpot-slo", "100ms"}};
  EXPECT_THAT(written(with({{"model", "llama-3.1-70b"}, {"gpu", "h200-sxm"}}, limits)), HasSubstr("-weights"));
  EXPECT_THAT(written(with({{"model", "llama-3.1-8b"}}, limits)), Not(HasSubstr("-weights")));
}

// A terabyte of weights takes longer to load than a usual server may take to start.
TEST(Assumptions, ServersHaveTwiceThatTimeBeforeTheyCountAsBroken) {
  for (const char* model : {"llama-3.2-1b", "kimi-k2"}) {
    Request request = request_of({{"model", model}, {"job", "serve"}, {"rate", "1/s"}, {"gpu", "b200-sxm"}});
    request.plans_only = true;
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    ASSERT_NE(found.best(), nullptr);
    const std::string file = *hand_over(Target::kKubernetes, request, *found.best());
    std::smatch probes;
    ASSERT_TRUE(std::regex_search(file, probes, std::regex("failureThreshold: ([0-9]+)")));
    const double patience = 10 * std::stod(probes[1]);
    EXPECT_GE(patience, 1800);
    EXPECT_GE(patience,
              2 * in_seconds(startup_on(request, perf::work_of(request.model), *found.best()->offer.gpu).total()));
  }
}

// Embeddings with a generative model need the pooling runner, and results stay on the disk where no storage is mounted.
TEST(Embeddings, RunAsAPoolAndTheirResultsFitOnTheDisk) {
  for (const char* provider : {"verda", "aws", "lambda"}) {
    const Request request = request_of({{"model", "qwen3-8b"},
                                        {"job", "serve"},
                                        {"items", "30M"},
                                        {"isl", "600"},
                                        {"osl", "1"},
                                        {"deadline", "5d"},
                                        {"providers", provider}});
    const Recommendation found = recommend(request, built_in_prices(), built_in_constants());
    ASSERT_FALSE(found.plans.empty()) << provider;
    const Plan& plan = found.plans.front();
    const std::string file = *hand_over(Target::kSkyPilot, request, plan);
    EXPECT_NE(file.find("--runner pooling"), std::string::npos) << file;
    EXPECT_NE(file.find("the engine refused every request"), std::string::npos);
    const SkyPilotCloud cloud = skypilot_cloud(provider);
    const std::size_t at = file.find("disk_size: ");
    ASSERT_NE(at, std::string::npos);
    const double disk = std::stod(file.substr(at + 11)), data = 1e-9 * in_bytes(data_size(request).both());
    EXPECT_TRUE(cloud.buckets || cloud.volumes || disk > data / plan.machines) << provider << " " << disk;
  }
}

// The pods of a service on several machines are spread over them.
TEST(Spread, PodsOfAServiceRunOnDifferentMachines) {
  EXPECT_THAT(written({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "20/s"}, {"ttft-slo", "1s"}}),
              HasSubstr("topologyKey: kubernetes.io/hostname"));
  // The user's other machines take their share, even if one would be enough.
  const Request request =
      request_of({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "20/s"}, {"ttft-slo", "1s"}});
  Plan plan = recommend(request, built_in_prices(), built_in_constants()).plans.front();
  plan.machines = 1, plan.replicas = 4;
  EXPECT_THAT(*hand_over(Target::kKubernetes, request, plan), HasSubstr("topologyKey: kubernetes.io/hostname"));
}

}  // namespace
}  // namespace rightsize::launch
