// Files for many plans, checked against the tables of flags and against the plans themselves.
#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/random.h"
#include "base/text.h"
#include "launch/hand_over.h"
#include "launch/hand_over_facts.h"
#include "plan/candidates.h"
#include "plan/layouts.h"
#include "plan/test_requests.h"

namespace rightsize::launch {
namespace {

using namespace plan;  // NOLINT(google-build-using-namespace)

using ::testing::HasSubstr;

Csv flag_table(const char* file) { return *Csv::parse(file, std::string(embedded_file(file))); }

std::map<std::string, std::set<std::string>> known_flags() {
  const Csv csv = flag_table("flags.csv");
  std::map<std::string, std::set<std::string>> flags;
  for (const CsvRow& row : csv.rows())
    flags[std::string(csv.cell(row, "project"))].insert(std::string(csv.cell(row, "flag")));
  return flags;
}

TEST(FlagTable, EveryProjectHasItsSourceAndDate) {
  const Csv csv = flag_table("software.csv");
  std::set<std::string> projects;
  for (const CsvRow& row : csv.rows()) {
    projects.insert(std::string(csv.cell(row, "project")));
    for (const char* column : {"name", "commit", "read", "where"}) EXPECT_FALSE(csv.cell(row, column).empty());
  }
  for (const auto& [project, flags] : known_flags()) EXPECT_TRUE(projects.contains(project)) << project;
}

// A program that files start: how its command begins, what else it contains, and the projects that read its flags.
struct Program {
  std::string begins, contains;
  std::vector<std::string> projects;

  bool starts(std::string_view command) const {
    return command.starts_with(begins) && command.find(contains) != std::string_view::npos;
  }
};

const std::vector<Program>& programs() {
  static const std::vector<Program> kAll = {
      {"torchrun ", "-m torchtitan.train", {"torchrun", "torchtitan"}},
      {"torchrun ", "--train-iters", {"torchrun", "megatron"}},
      {"torchrun ", "", {"torchrun", "trl"}},
      {"composer ", "", {"composer", "llm-foundry"}},
      {"vllm serve ", "", {"vllm"}},
      {"vllm-router ", "", {"vllm-router"}},
      {"python -m sglang.launch_server ", "", {"sglang", "torchrun"}},  // -m is Python's
      {"python -m sglang_router.launch_router ", "", {"sglang-router", "torchrun"}},
      {"trtllm-serve ", "", {"trtllm"}}};
  return kAll;
}

// The commands of a file, each on one line.
std::vector<std::string> commands_of(std::string file) {
  std::string joined;
  for (std::size_t i = 0; i < file.size(); ++i) {
    if (file[i] == '\\' && i + 1 < file.size() && file[i + 1] == '\n') {
      for (i += 2; i < file.size() && (file[i] == ' ' || file[i] == '#'); ++i) {
      }
      joined += ' ';
    }
    if (i < file.size()) joined += file[i];
  }
  std::vector<std::string> commands;
  for (std::string_view line : split_list(joined, '\n')) {
    std::string_view text = trim(line);
    while (text.starts_with('#') || text.starts_with(' ')) text.remove_prefix(1);
    const bool starts =
        std::any_of(programs().begin(), programs().end(), [&](const Program& program) { return program.starts(text); });
    if (starts) commands.emplace_back(text);
  }
  return commands;
}

// The words of a command outside quotes that are flags, or keys of key=value arguments.
std::vector<std::string> flags_in(const std::string& command) {
  std::vector<std::string> flags;
  char quote = ' ';
  for (std::size_t i = 1; i < command.size(); ++i) {
    const char c = command[i];
    if (quote != ' ') {
      if (c == quote) quote = ' ';
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (command[i - 1] != ' ' && command[i - 1] != '+') continue;
    const std::size_t end = std::min(command.find_first_of(" =\"'", i), command.size());
    const std::string word = command.substr(i, end - i);
    const bool assigns =
        end < command.size() && command[end] == '=' && std::isalpha(static_cast<unsigned char>(c)) != 0;
    const bool dashed =
        c == '-' && word.size() > 1 && std::isalpha(static_cast<unsigned char>(word[word.find_first_not_of('-')])) != 0;
    if (dashed || word.starts_with("activation-checkpoint:")) flags.push_back(word);
    if (assigns) flags.push_back(word + "=");
  }
  return flags;
}

::testing::AssertionResult has_known_flags(const std::string& command) {
  static const auto kKnown = known_flags();
  for (const Program& program : programs()) {
    if (!program.starts(command)) continue;
    std::set<std::string> seen = {"-m"};  // a flag of torchrun and of python
    for (const std::string& flag : flags_in(command)) {
      const bool repeats = flag == "--prefill" || flag == "--decode" || flag == "-m";
      if (!repeats && !seen.insert(flag).second)
        return ::testing::AssertionFailure() << flag << " is given twice: " << command;
      const bool known = std::any_of(program.projects.begin(), program.projects.end(),
                                     [&](const std::string& project) { return kKnown.at(project).contains(flag); });
      if (!known) return ::testing::AssertionFailure() << flag << " is not in data/flags.csv: " << command;
    }
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "unknown program: " << command;
}

TEST(FlagTable, UnknownFlagsAreFound) {
  EXPECT_TRUE(has_known_flags("vllm serve \"$MODEL\" --port 8000"));
  EXPECT_FALSE(has_known_flags("vllm serve \"$MODEL\" --swap-space 4"));
  EXPECT_FALSE(has_known_flags("torchrun --standalone -m torchtitan.train --job.config_file x"));
  EXPECT_FALSE(has_known_flags("vllm serve \"$MODEL\" --port 8000 --port 8001"));
  EXPECT_FALSE(has_known_flags("composer -n 8 train.py y.yaml max_tokens=3"));
}

struct RandomPlans {
  Random random{20261117};

  template <class T>
  const T& any(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(random.uniform() * static_cast<double>(of.size())) % of.size()];
  }

  Given training() {
    Given given = {
        {"model", any<std::string>({"meta-llama/Llama-3.1-8B-Instruct", "qwen2.5-1.5b", "Qwen/Qwen3-14B", "gpt2",
                                    "llama-3.1-70b", "mpt-7b-foundry", "mixtral-8x7b", "bert-large", "resnet-50"})},
        {"stack", any<std::string>({"hf", "hf", "torchtitan", "megatron", "llm-foundry"})},
        {"max-gpus", any<std::string>({"1", "8", "16", "64"})},
        {"global-batch", any<std::string>({"64", "128", "256"})}};
    const std::string& model = given[0].second;
    if (model == "resnet-50" || model == "bert-large") {
      given.push_back({"samples", any<std::string>({"100k", "5M"})});
      given[1].second = "hf";
    } else {
      given.push_back({"tokens", any<std::string>({"20M", "500M", "3B"})});
      given.push_back({"seq", any<std::string>({"512", "1024"})});
      if (given[1].second == "hf") given.push_back({"method", any<std::string>({"full", "lora", "qlora"})});
    }
    return given;
  }

  Given serving() {
    Given given = {
        {"job", "serve"},
        {"model", any<std::string>({"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-70b", "gpt-oss-120b", "deepseek-v3",
                                    "mistralai/Mixtral-8x7B-Instruct-v0.1", "qwen2.5-1.5b", "bert-base"})},
        {"stack", any<std::string>({"vllm", "vllm", "sglang", "trtllm"})},
        {"max-gpus", any<std::string>({"8", "32", "64"})}};
    if (any<int>({0, 1, 2}) == 0) {
      given.push_back({"items", any<std::string>({"10k", "1M"})});
      given[2].second = "vllm";
    } else {
      given.push_back({"rate", any<std::string>({"0.5/s", "4/s", "20/s"})});
      if (any<int>({0, 1}) == 0) given.push_back({"tpot-slo", "100ms"});
      if (any<int>({0, 1, 2, 3}) == 0) given.push_back({"speculate", "3,0.7"});
    }
    if (given[1].second == "bert-base") {
      given.erase(given.begin() + 2);
    } else {
      given.push_back({"isl", any<std::string>({"200", "2000", "6000"})});
      given.push_back({"osl", any<std::string>({"50", "400"})});
      if (any<int>({0, 1}) == 0) given.push_back({"precision", any<std::string>({"bf16", "fp8"})});
    }
    return given;
  }
};

// The number after a flag of a command, or `otherwise`.
double flag_value(const std::string& command, const std::string& flag, double otherwise) {
  for (const char* end : {" ", "="}) {
    const std::size_t at = command.find(" " + flag + end);
    if (at != std::string::npos) return std::atof(command.c_str() + at + flag.size() + 2);
  }
  return otherwise;
}

// Megatron distributes the remaining layers evenly over the stages without a flag.
void expect_every_layer_once(const Request& request, const model::Job& job, const std::string& command) {
  const double first = flag_value(command, "--decoder-first-pipeline-num-layers", 0);
  const double last = flag_value(command, "--decoder-last-pipeline-num-layers", 0);
  const double others = job.parallel.pipeline - (first > 0 ? 1 : 0) - (last > 0 ? 1 : 0);
  const double rest = static_cast<double>(request.model.layers) - first - last;
  EXPECT_EQ(others > 0 ? std::fmod(rest, others) : rest, 0) << command;
}

// A training command has the batch, GPUs, parallelism and number format of its plan.
void expect_training_agrees(const Request& request, const Plan& plan, const std::string& file) {
  const model::Job& job = plan.job;
  const std::vector<std::string> commands = commands_of(file);
  ASSERT_EQ(commands.size(), 1u) << file;
  const std::string& command = commands[0];
  const double each = flag_value(command, "--nproc-per-node", flag_value(command, "-n", 0));
  EXPECT_EQ(each * plan.machines, plan.gpus) << command;
  double tensor = 1, pipeline = 1, batch = 0;
  const double data = job.parallel.data();
  switch (job.stack) {
    case model::Stack::kTorchTitan:
      tensor = flag_value(command, "--parallelism.tensor_parallel_degree", 1);
      pipeline = flag_value(command, "--parallelism.pipeline_parallel_degree", 1);
      batch = flag_value(command, "--training.global_batch_size", 0);
      EXPECT_EQ(flag_value(command, "--training.seq_len", 0), static_cast<double>(job.sequence));
      EXPECT_EQ(flag_value(command, "--parallelism.data_parallel_shard_degree", 1) *
                    flag_value(command, "--parallelism.data_parallel_replicate_degree", 1),
                data);
      EXPECT_THAT(command, ::testing::EndsWith("activation-checkpoint:" + std::string(name_of(job.train.recompute))));
      break;
    case model::Stack::kMegatron:
      tensor = flag_value(command, "--tensor-model-parallel-size", 1);
      pipeline = flag_value(command, "--pipeline-model-parallel-size", 1);
      batch = flag_value(command, "--global-batch-size", 0);
      EXPECT_EQ(flag_value(command, "--expert-model-parallel-size", 1), job.parallel.expert);
      expect_every_layer_once(request, job, command);
      EXPECT_EQ(flag_value(command, "--micro-batch-size", 0), static_cast<double>(job.batch));
      EXPECT_EQ(flag_value(command, "--seq-length", 0), static_cast<double>(job.sequence));
      EXPECT_EQ(command.find("--grad-reduce-in-bf16") != std::string::npos,
                job.train.gradients == model::StateFormat::kBf16);
      break;
    case model::Stack::kLlmFoundry:
      batch = flag_value(command, "global_train_batch_size", 0);
      EXPECT_EQ(flag_value(command, "device_train_microbatch_size", 0), static_cast<double>(job.batch));
      EXPECT_TRUE(std::regex_search(command, std::regex(" precision=(fp32|amp_fp16|amp_bf16|amp_fp8) "))) << command;
      break;
    default:
      batch = flag_value(command, "--per_device_train_batch_size", 0) *
              flag_value(command, "--gradient_accumulation_steps", 0) * plan.gpus;
      EXPECT_NE(command.find("--bf16"), command.find("--fp16")) << "autocast is neither on nor off: " << command;
      // 16-bit weights if the plan has them, and DeepSpeed only with its own half precision.
      EXPECT_EQ(command.find("--dtype float32") == std::string::npos,
                job.precision == model::Precision::kBf16 || command.find("--deepspeed") != std::string::npos)
          << command;
      EXPECT_TRUE(command.find("--deepspeed") == std::string::npos || command.find("--bf16 false") == std::string::npos)
          << command;
      EXPECT_EQ(command.find("--packing true") != std::string::npos, request.model.kind == model::ModelKind::kDecoder);
  }
  EXPECT_EQ(tensor, job.parallel.tensor) << command;
  EXPECT_EQ(pipeline, job.parallel.pipeline) << command;
  EXPECT_EQ(batch, static_cast<double>(request.global_batch)) << command;
}

void expect_serving_agrees(const Request& request, const Plan& plan, const std::string& file) {
  const model::Job& job = plan.job;
  if (needs_own_script(request) || job.serve.disaggregated) return;
  const std::vector<std::string> commands = commands_of(file);
  ASSERT_GE(commands.size(), 1u) << file;
  const std::string& command = commands[0];
  const double tensor =
      flag_value(command, "--tensor-parallel-size", flag_value(command, "--tp", flag_value(command, "--tp_size", 1)));
  const double attention = job.stack == model::Stack::kVllm ? job.parallel.attention_tensor() : job.parallel.tensor;
  EXPECT_EQ(tensor, attention) << command;
  const double pipeline = flag_value(command, "--pipeline-parallel-size",
                                     flag_value(command, "--pp-size", flag_value(command, "--pp_size", 1)));
  EXPECT_EQ(pipeline, job.parallel.pipeline) << command;
  const double longest = flag_value(command, "--max-model-len",
                                    flag_value(command, "--context-length", flag_value(command, "--max_seq_len", 0)));
  // p99 of the sum is at most the sum of the p99s.
  const sim::RequestShape lengths = request_lengths(request);
  const double p99 = lengths.size_at(sim::Statistic::kP99) + lengths.output_at(sim::Statistic::kP99);
  const double context = request.model.context > 0 ? static_cast<double>(request.model.context) : 1e12;
  EXPECT_GE(longest, std::floor(std::min(p99, context))) << command;
  EXPECT_LE(longest, context) << command;
  if (job.stack == model::Stack::kVllm) {
    EXPECT_EQ(command.find("--kv-cache-dtype fp8") != std::string::npos, has_fp8_cache(request, plan)) << command;
  }
  if (job.stack == model::Stack::kVllm) {
    EXPECT_EQ(command.find("--speculative-config") != std::string::npos, job.serve.speculation.tokens > 0) << command;
  }
  EXPECT_EQ(settings_words(request, plan).find("fp8 KV cache") != std::string::npos, has_fp8_cache(request, plan));
}

void expect_storage_holds_the_checkpoints(const Request& request, const Plan& plan, const std::string& file) {
  std::smatch claim;
  ASSERT_TRUE(std::regex_search(file, claim, std::regex(R"(\n +storage: (\d+)G\n)"))) << file;
  const std::string command = commands_of(file).at(0);
  EXPECT_TRUE(std::regex_search(command, std::regex("save_total_limit 2|keep_latest_k 2|save-retain-interval|"
                                                    "save_num_checkpoints_to_keep=2")))
      << command;
  const double one = in_bytes(checkpoint_bytes(perf::work_of(request.model), plan.job));
  EXPECT_GE(std::stod(claim[1]) * 1e9, (kKeptCheckpoints + 1) * one);
  const double steps = flag_value(command, "--train-iters", 0), every = flag_value(command, "--save-interval", 1);
  const double retained = flag_value(command, "--save-retain-interval", 0);
  EXPECT_EQ(std::fmod(retained, every), 0) << command;
  EXPECT_GE(retained, steps) << command;
}

// Code of a model's repository runs only if the table requires it, on every engine.
TEST(HandOverFiles, RemoteCodeRunsOnlyWhereTheModelNeedsIt) {
  const RandomPlans make;
  const Csv models = flag_table("remote_code.csv");
  ASSERT_FALSE(models.rows().empty());
  for (const CsvRow& row : models.rows())
    for (const char* column : {"repository", "what", "where", "read"}) EXPECT_FALSE(models.cell(row, column).empty());
  for (const char* stack : {"vllm", "sglang", "trtllm"}) {
    for (const char* model : {"kimi-k2", "moonshotai/Kimi-K2-Thinking", "llama-3.1-8b", "deepseek-v3"}) {
      Checked<Request> request = read_request({{"job", "serve", {}},
                                               {"model", model, {}},
                                               {"stack", stack, {}},
                                               {"rate", "1/s", {}},
                                               {"gpu", "b200-sxm,b300-sxm", {}},
                                               {"precision", "fp8", {}}},
                                              built_in_catalog());
      ASSERT_TRUE(request) << describe(request.error());
      request->plans_only = true;
      const Recommendation found = recommend(*request, built_in_prices(), built_in_constants());
      if (found.plans.empty()) continue;
      const Result<std::string> file = hand_over(Target::kSlurm, *request, found.plans[0]);
      if (!file) continue;
      const bool kimi = to_lower(model).find("kimi") != std::string::npos;
      for (const std::string& command : commands_of(*file))
        EXPECT_EQ(std::regex_search(command, std::regex("--trust[-_]remote[-_]code")), kimi) << command;
    }
  }
}

// A server that gathers a full batch still answers within the limit.
TEST(HandOverFiles, FullBatchesMeetTheLatencyLimit) {
  const RandomPlans make;
  int checked = 0;
  const std::vector<std::vector<const char*>> requests = {{"flux.1-dev", "0.5/s", "20s"},
                                                          {"flux.1-dev", "0.2/s", "40s"},
                                                          {"bert-base", "2000/s", "20ms"},
                                                          {"resnet-50", "3000/s", "50ms"}};
  for (const auto& asked : requests) {
    Checked<Request> request = read_request(
        {{"job", "serve", {}}, {"model", asked[0], {}}, {"rate", asked[1], {}}, {"ttft-slo", asked[2], {}}},
        built_in_catalog());
    ASSERT_TRUE(request) << describe(request.error());
    request->plans_only = true;
    const perf::ModelWork work = perf::work_of(request->model);
    for (const Plan& plan : recommend(*request, built_in_prices(), built_in_constants()).plans) {
      const auto full = perf::estimate_batch(built_in_constants(), work, plan.job,
                                             perf::gpu_speed(built_in_constants(), *plan.offer.gpu));
      ASSERT_TRUE(full);
      EXPECT_LE(full->batch, *request->limits.ttft) << asked[0] << ", " << plan.job.batch << " at once";
      const std::string file = *hand_over(Target::kSlurm, *request, plan);
      const auto has = [&](const char* flag) { return HasSubstr(fmt::format("{} {} ", flag, plan.job.batch)); };
      EXPECT_THAT(file, ::testing::AnyOf(has("--batch-size"), has("--max-num-seqs")));
      ++checked;
    }
  }
  EXPECT_GT(checked, 8);
}

// Files for random requests over all software and tools: known flags only, the typed model, and the plan's numbers.
TEST(HandOverFiles, AgreeWithTheirPlans) {
  RandomPlans make;
  int files = 0;
  std::set<model::Stack> stacks;
  for (int i = 0; i < 80; ++i) {
    std::vector<model::Setting> settings;
    std::string told;
    for (const auto& [name, value] : i % 2 == 0 ? make.training() : make.serving()) {
      settings.push_back({name, value, {}});
      told += " --" + name + " " + value;
    }
    SCOPED_TRACE(told);
    Checked<Request> request = read_request(settings, built_in_catalog());
    if (!request) continue;  // the stack does not support the model or the method
    request->plans_only = true;
    request->top = 5;
    const Recommendation found = recommend(*request, built_in_prices(), built_in_constants());
    for (const Plan& plan : found.plans) {
      stacks.insert(plan.job.stack);
      for (Target target : {Target::kSlurm, Target::kKubernetes, Target::kSkyPilot, Target::kTerraform}) {
        const Result<std::string> file = hand_over(target, *request, plan);
        if (!file) continue;
        ++files;
        for (const std::string& command : commands_of(*file)) EXPECT_TRUE(has_known_flags(command));
        EXPECT_EQ(file->find("REPLACE-BY-A-CHECKPOINT") != std::string::npos,
                  hub_id_of(*request).empty() && has_checkpoint(*request, plan) &&
                      plan.job.stack != model::Stack::kMegatron && !request->work.is_measured())
            << *file;
        const std::string& typed = request->model_given;
        if (typed.find('/') != std::string::npos) {
          EXPECT_THAT(*file, HasSubstr(needs_fp8_checkpoint(*request, plan) ? checkpoint_of(*request, plan) : typed));
        }
        if (is_training(*request))
          expect_training_agrees(*request, plan, *file);
        else
          expect_serving_agrees(*request, plan, *file);
        if (is_training(*request) && target == Target::kKubernetes)
          expect_storage_holds_the_checkpoints(*request, plan, *file);
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(files, 400);
  EXPECT_EQ(stacks.size(), 7u);
}

}  // namespace
}  // namespace rightsize::launch
