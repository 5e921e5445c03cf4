// Files of random plans contain nothing that the frameworks would refuse.
#include "rl/files.h"

#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/yaml.h"
#include "rl/test_jobs.h"

namespace rightsize::rl {
namespace {

struct TestPlan {
  catalog::Machine machine;
  catalog::Price price;
  market::Offer offer;
  market::PriceOutlook outlook;
  plan::MachineClass machines;
  plan::Option option;
  RlRequest request;
  RlPlan plan;
};

std::unique_ptr<TestPlan> draw_plan(Framework framework) {
  auto made = std::make_unique<TestPlan>();
  const catalog::Gpu& gpu = test_gpu("h100-sxm");
  made->machine.provider = "aws", made->machine.instance = "p5.48xlarge", made->machine.gpus = 8;
  made->machine.gpu = gpu.name;
  made->price.region = "us-east-1";
  made->offer = {&gpu, &made->machine, &made->price};
  made->machines.gpu = &gpu;
  RlJob& job = made->plan.job;
  job.framework = framework;
  job.algorithm = static_cast<Algorithm>(*rc::gen::inRange(0, 6));
  const bool split = *rc::gen::arbitrary<bool>();
  // TRL's engine runs on one machine.
  const int side = 1 << *rc::gen::inRange(0, split && framework == Framework::kTrl ? 4 : 5);
  job.layout = Layout{split, side, side};
  if (split) job.async = *rc::gen::elementOf(std::vector<double>{0, 0.5, 1});
  if (!is_written(job)) job.algorithm = Algorithm::kGrpo;
  job.samples = 1 << *rc::gen::inRange(0, 5), job.prompts = 32 << *rc::gen::inRange(0, 3);
  job.isl = *rc::gen::inRange(20, 4000);
  job.answers = {1000, 1, static_cast<double>(*rc::gen::inRange(0, 3) * 100'000)};
  if (job.algorithm == Algorithm::kDapo) job.kept_prompts = *rc::gen::elementOf(std::vector<double>{0.3, 0.6, 1});
  job.train_batch = job.sequences() / *rc::gen::elementOf(std::vector<int>{1, 2, 4});
  job.reference = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) job.train.train.method = model::Method::kLora, job.train.train.lora_rank = 24;
  job.rollout.parallel.tensor = std::min(side, 1 << *rc::gen::inRange(0, 3));
  if (split && framework == Framework::kTrl) job.rollout.parallel.tensor = side;
  if (*rc::gen::arbitrary<bool>()) job.rollout.precision = model::Precision::kFp8;
  job.train.precision = model::Precision::kMixedBf16;
  settle(job);
  made->plan.step = *estimate_for("llama-3.1-8b", "h100-sxm", job);
  made->plan.memory = phase_memory(test_model("llama-3.1-8b").shape, job, gpu, gpu);
  made->request.request.model = test_model("llama-3.1-8b").shape;
  made->request.job = job, made->request.steps = 100;
  made->plan.priced = {&made->option, &made->machines, &made->offer, &made->outlook, {}, {}, {}};
  return made;
}

double number_after(const std::string& text, const std::string& key) {
  std::smatch found;
  RC_ASSERT(std::regex_search(text, found, std::regex(key + R"([=: ]+([0-9.]+))")));
  return std::stod(found[1]);
}

std::string written(const TestPlan& made, std::string_view name) {
  const Result<std::string> text = file_for(name, made.request, made.plan);
  RC_ASSERT(text.has_value());
  RC_ASSERT(text->find("{{") == std::string::npos);
  return *text;
}

RC_GTEST_PROP(RlFiles, VerlBatchesDivide, ()) {
  const auto made = draw_plan(Framework::kVerl);
  const std::string text = written(*made, "verl");
  const RlJob& job = made->plan.job;
  const double mini = number_after(text, "ppo_mini_batch_size");
  const bool streams = job.layout.split && job.async < 1;
  RC_ASSERT(mini >= 1 && mini <= job.prompts);
  // A stream of answers has no batches: it ends after all prompts, and the weights move once in a step.
  RC_ASSERT(number_after(text, "data.train_batch_size") == (streams ? 0 : job.prompts));
  if (streams) {
    RC_ASSERT(number_after(text, "total_rollout_steps") == job.prompts * made->request.steps);
    RC_ASSERT(number_after(text, "trigger_parameter_sync_step") == std::ceil(job.prompts / mini));
    RC_ASSERT(number_after(text, "staleness_threshold") == job.async);
  }
  RC_ASSERT(number_after(text, "trainer.nnodes") * number_after(text, "trainer.n_gpus_per_node") ==
            made->plan.job.layout.train);
  RC_ASSERT(text.find("\\\n\n") == std::string::npos);  // a blank line would end the command
}

// Every file states the plan's cost and its checkpoint interval; prompt and answer fit the model's context.
RC_GTEST_PROP(RlFiles, StateTheCostAndStayWithinTheContext, ()) {
  for (const Framework framework : {Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf, Framework::kTrl}) {
    const auto made = draw_plan(framework);
    for (const std::string_view name : file_names(framework)) {
      const std::string text = written(*made, name);
      RC_ASSERT(text.find("# Expected: ") != std::string::npos && text.find("Price: ") != std::string::npos);
    }
    const std::string text = written(*made, name_of(framework));
    constexpr const char* kPrompt[] = {"max_prompt_length", "", "--prompt_max_len", ""};
    constexpr const char* kAnswer[] = {"max_response_length", "max_total_sequence_length", "--generate_max_len",
                                       "max_completion_length"};
    constexpr const char* kSave[] = {"trainer.save_freq", "save_period", "--save_steps", "save_steps"};
    const auto at = static_cast<std::size_t>(framework);
    const double prompt = *kPrompt[at] == '\0' ? 0 : number_after(text, kPrompt[at]);
    RC_ASSERT(prompt + number_after(text, kAnswer[at]) <= static_cast<double>(made->request.request.model.context));
    RC_ASSERT(number_after(text, kSave[at]) >= 1);
  }
}

// SkyPilot waits for the commands of all machines: one that blocks would keep the cluster and its bill running.
RC_GTEST_PROP(RlFiles, ASkyPilotJobEndsWithTheTraining, ()) {
  const auto made = draw_plan(Framework::kVerl);
  const std::string text = written(*made, "skypilot"), trainer = text.substr(0, text.find("\n---"));
  RC_ASSERT(trainer.find("--block") == std::string::npos);
  RC_ASSERT(number_after(trainer, "-ge") == number_after(trainer, "num_nodes"));
}

// DAPO clips higher and drops groups of equal rewards, or the file says that it does not.
RC_GTEST_PROP(RlFiles, OnlyDapoClipsHigherAndFiltersGroups, ()) {
  for (const Framework framework : {Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf, Framework::kTrl}) {
    const auto made = draw_plan(framework);
    const bool dapo = made->plan.job.algorithm == Algorithm::kDapo;
    const std::string text = written(*made, name_of(framework));
    RC_ASSERT(std::regex_search(text, std::regex("(high|max|clip_low_high 0.2)[=: ]+0.28")) == dapo);
    const bool filters =
        std::regex_search(text, std::regex("filter_groups.enable|use_dynamic_sampling|dynamic_filtering"));
    RC_ASSERT((filters || text.find("# DAPO: ") != std::string::npos) == dapo);
    if (framework == Framework::kVerl && filters)
      RC_ASSERT(number_after(text, "max_inflight_gen_batches") >= 1 / made->plan.job.kept_prompts);
  }
}

// Every offload that the plan counts on is a flag of the file, or the file says that the framework does it by itself.
RC_GTEST_PROP(RlFiles, OffloadsAreFlags, ()) {
  // Of engine, reference, optimizer and weights. verl's values are True, the others' files have the flag only then.
  const std::array<std::array<const char*, kOffloads>, 4> kFlags = {{
      {"free_cache_engine=True", "ref\\.[a-z_]+\\.param_offload=True", "actor\\.[a-z_]+\\.optimizer_offload=True",
       "actor\\.[a-z_]+\\.param_offload=True"},
      {"# Moved .*engine", "# Moved .*reference", "offload_optimizer_for_logprob: true", "# Moved .*weights"},
      {"--vllm_enable_sleep", "--ref_reward_offload", "--adam_offload", "# Moved .*weights"},
      {"vllm_enable_sleep_mode: true", "--offload_param_device cpu", "--offload_optimizer_device cpu",
       "--offload_param_device cpu"},
  }};
  for (const Framework framework : {Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf, Framework::kTrl}) {
    const auto made = draw_plan(framework);
    made->plan.memory.offloads.clear();
    for (int i = made->plan.job.layout.split ? 1 : 0; i < kOffloads; ++i) {
      if (*rc::gen::arbitrary<bool>()) made->plan.memory.offloads.push_back(static_cast<Offload>(i));
    }
    const std::string text = written(*made, name_of(framework));
    for (const Offload what : made->plan.memory.offloads) {
      const char* flag = kFlags[static_cast<std::size_t>(framework)][static_cast<std::size_t>(what)];
      RC_ASSERT(std::regex_search(text, std::regex(flag)));
    }
    RC_ASSERT(text.find("# Software: ") != std::string::npos);
  }
}

std::vector<std::string> all_matches(const std::string& text, const char* pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

// The keys of a YAML file with those above them: "policy.generation.backend".
std::vector<std::string> yaml_keys(const std::string& text) {
  std::vector<std::string> keys, above;
  std::smatch line;
  const std::regex key("( *)([a-z_A-Z0-9]+):.*");
  std::istringstream lines(text);
  for (std::string row; std::getline(lines, row);) {
    if (!std::regex_match(row, line, key)) continue;
    above.resize(static_cast<std::size_t>(line[1].length()) / 2);
    above.push_back(line[2]);
    keys.push_back(fmt::format("{}", fmt::join(above, ".")));
  }
  return keys;
}

// data/flags.csv lists the settings of each framework as its source has them. The frameworks refuse others.
RC_GTEST_PROP(RlFiles, SettingsAreKnown, ()) {
  static const auto kKnown = [] {
    const Csv csv = *Csv::parse("flags.csv", std::string(embedded_file("flags.csv")));
    std::map<std::string, std::set<std::string>> flags;
    for (const CsvRow& row : csv.rows())
      flags[std::string(csv.cell(row, "project"))].insert(std::string(csv.cell(row, "flag")));
    return flags;
  }();
  const auto check = [&](const char* project, const std::vector<std::string>& used) {
    RC_ASSERT(!used.empty());
    for (const std::string& flag : used)
      if (!kKnown.at(project).contains(flag)) RC_FAIL(fmt::format("{} has no {}", project, flag));
  };
  check("openrlhf", all_matches(written(*draw_plan(Framework::kOpenRlhf), "openrlhf"), "\n  (--[a-z_0-9]+)"));
  check("verl", all_matches(written(*draw_plan(Framework::kVerl), "verl"), "\n  \\+*([a-z_0-9.]+=)"));
  check("nemo-rl", yaml_keys(written(*draw_plan(Framework::kNemoRl), "nemo-rl")));
  const std::string trl = written(*draw_plan(Framework::kTrl), "trl");
  check("trl", yaml_keys(trl));
  const std::string start = trl.substr(0, trl.find("-m trl"));
  check("accelerate", all_matches(start.substr(start.find("accelerate launch")), " (--[a-z_]+)"));
}

// Files train what was planned: adapters of the plan's rank, and an engine in its format unless the file notes another.
RC_GTEST_PROP(RlFiles, AdaptersAndFormatsArePlanned, ()) {
  for (const Framework framework : {Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf, Framework::kTrl}) {
    const auto made = draw_plan(framework);
    const std::string text = written(*made, name_of(framework));
    RC_ASSERT((text.find("lora") != std::string::npos || text.find("peft:") != std::string::npos) ==
              (made->plan.job.train.train.method == model::Method::kLora));
    RC_ASSERT((text.find("fp8") != std::string::npos) == (made->plan.job.rollout.precision == model::Precision::kFp8));
    // NeMo-RL stops without the correction if the answers are not the trained policy's.
    const bool other_policy = made->plan.job.async > 0 || made->plan.job.rollout.precision == model::Precision::kFp8;
    if (framework == Framework::kNemoRl && made->plan.job.algorithm != Algorithm::kDistill)
      RC_ASSERT((text.find("use_importance_sampling_correction: true") != std::string::npos) == other_policy);
  }
}

RC_GTEST_PROP(RlFiles, YamlIsReadable, ()) {
  for (const Framework framework : {Framework::kNemoRl, Framework::kTrl}) {
    const auto made = draw_plan(framework);
    RC_ASSERT(YamlDocument::parse("config.yaml", written(*made, name_of(framework))).has_value());
    for (const char* name : {"skypilot", "kubernetes"}) {
      const std::string text = written(*made, name);
      const std::size_t second = text.find("\n---\n");
      RC_ASSERT(YamlDocument::parse("file.yaml", text.substr(0, second)).has_value());
      if (second != std::string::npos) RC_ASSERT(YamlDocument::parse("file.yaml", text.substr(second + 5)).has_value());
    }
  }
}

// Trainer and engine on different machines: the files start both groups, with all their GPUs.
RC_GTEST_PROP(RlFiles, TwoGroupsOfMachinesHaveEveryGpu, ()) {
  const auto made = draw_plan(
      *rc::gen::elementOf(std::vector<Framework>{Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf}));
  RlJob& job = made->plan.job;
  job.layout = {true, 8 << *rc::gen::inRange(0, 3), 4 * *rc::gen::inRange(1, 9)};
  job.async = 1;
  if (!is_written(job)) job.algorithm = Algorithm::kGrpo;
  catalog::Machine engine;
  engine.provider = "aws", engine.instance = "g6e.12xlarge", engine.gpus = 4, engine.gpu = "l40s";
  catalog::Price price;
  price.region = "us-east-1";
  const bool spot = *rc::gen::arbitrary<bool>();
  if (spot) price.purchase = catalog::Purchase::kSpot;
  const market::Offer offer{&test_gpu("l40s"), &engine, &price};
  made->plan.rollout = RolloutMachines{&offer, job.layout.rollout / 4, {}};
  const auto numbers = [](const std::string& text, const std::string& key) {
    std::vector<int> found;
    const std::regex pattern(key + R"([=: ]+([0-9]+))");
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
      found.push_back(std::stoi((*at)[1]));
    return found;
  };
  const std::string slurm = written(*made, "slurm"), kubernetes = written(*made, "kubernetes"),
                    sky = written(*made, "skypilot");
  for (const auto& [text, nodes, gpus] :
       {std::tuple(slurm, "#SBATCH --nodes", "#SBATCH --gpus-per-node"), {sky, "num_nodes", "--num-gpus"}}) {
    const std::vector<int> n = numbers(text, nodes), g = numbers(text, gpus);
    RC_ASSERT(n.size() == 2 && g.size() >= 2);
    RC_ASSERT(n[0] * g.front() == job.layout.train);
    RC_ASSERT(n[1] * g.back() == job.layout.rollout);
    RC_ASSERT(text.find("g6e.12xlarge") != std::string::npos);
  }
  RC_ASSERT(slurm.find("#SBATCH hetjob") != std::string::npos);
  RC_ASSERT((sky.find("use_spot: true") != std::string::npos) == spot);
  RC_ASSERT(YamlDocument::parse("file.yaml", kubernetes).has_value());
  RC_ASSERT(YamlDocument::parse("file.yaml", sky.substr(sky.find("\n---") + 5)).has_value());
  const std::vector<int> pods = numbers(kubernetes, " replicas"), limits = numbers(kubernetes, "nvidia.com/gpu");
  int all = limits.front();  // the head
  for (std::size_t i = 0; i < pods.size(); ++i) all += pods[i] * limits[i + 1];
  RC_ASSERT(all == job.layout.gpus());
}

RC_GTEST_PROP(RlFiles, NemoRlUsesEveryGpu, ()) {
  const auto made = draw_plan(Framework::kNemoRl);
  const std::string text = written(*made, "nemo-rl");
  const std::string cluster = text.substr(text.find("\ncluster:"));
  RC_ASSERT(number_after(cluster, "num_nodes") * number_after(cluster, "gpus_per_node") ==
            made->plan.job.layout.gpus());
  RC_ASSERT(number_after(text, "max_total_sequence_length") > number_after(text, "max_new_tokens"));
}

RC_GTEST_PROP(RlFiles, EnginesCoverTheirGpus, ()) {
  const auto made = draw_plan(Framework::kOpenRlhf);
  const std::string text = written(*made, "openrlhf");
  RC_ASSERT(number_after(text, "--vllm_num_engines") * number_after(text, "--vllm_tensor_parallel_size") ==
            made->plan.job.layout.rollout);
  // With --async_train, only the models of the trainer share GPUs.
  const RlJob& job = made->plan.job;
  RC_ASSERT((text.find("--colocate_all_models") != std::string::npos) == (!job.layout.split || job.async > 0));
  RC_ASSERT((text.find("--async_train") != std::string::npos) == (job.async > 0));
}

// TRL refuses generation batches that the number of generations does not divide.
RC_GTEST_PROP(RlFiles, TrlGenerationsDivide, ()) {
  const auto made = draw_plan(Framework::kTrl);
  const std::string text = written(*made, "trl");
  const auto batch = static_cast<long>(number_after(text, "steps_per_generation") *
                                       number_after(text, "per_device_train_batch_size") * made->plan.job.layout.train);
  RC_ASSERT(batch % static_cast<long>(number_after(text, "num_generations")) == 0);
}

// TRL does not use Ray: every machine of the trainer runs accelerate, and one machine the engine.
RC_GTEST_PROP(RlFiles, TrlTrainsOnEveryMachine, ()) {
  const auto made = draw_plan(Framework::kTrl);
  const Layout& layout = made->plan.job.layout;
  const int train_nodes = std::max(1, layout.train / 8), nodes = std::max(1, layout.gpus() / 8);
  for (const char* name : {"skypilot", "slurm", "kubernetes"}) {
    const std::string text = written(*made, name);
    RC_ASSERT(text.find("ray start") == std::string::npos);
    RC_ASSERT(number_after(text, "--num_processes") == layout.train);
    RC_ASSERT((train_nodes > 1 ? number_after(text, "--num_machines") : 1) == train_nodes);
    RC_ASSERT(number_after(text, std::string_view(name) == "kubernetes" ? "completions" : "nodes") == nodes);
    RC_ASSERT((text.find("trl vllm-serve") != std::string::npos) == layout.split);
  }
}

// A file never runs another algorithm than the plan's.
RC_GTEST_PROP(RlFiles, AlgorithmsThatAFrameworkLacksAreRefused, ()) {
  for (const Framework framework : {Framework::kVerl, Framework::kNemoRl, Framework::kOpenRlhf, Framework::kTrl}) {
    const auto made = draw_plan(framework);
    RlJob& job = made->plan.job;
    job.algorithm = static_cast<Algorithm>(*rc::gen::inRange(0, 6));
    for (const std::string_view name : file_names(framework))
      RC_ASSERT(file_for(name, made->request, made->plan).has_value() == is_written(job));
    if (!is_written(job)) continue;
    const std::string text = written(*made, name_of(framework));
    constexpr const char* kNames[4][6] = {
        {"estimator=grpo", "estimator=gae", "estimator=grpo", "estimator=rloo", "reinforce_plus_plus", ""},
        {"grpo:", "", "use_dynamic_sampling", "normalize_rewards: false", "", "distillation:"},
        {"group_norm", "gae", "dynamic_filtering", "rloo", "reinforce", ""},
        {"trl.scripts.grpo", "", "loss_type: dapo", "trl.scripts.rloo", "", ""}};
    RC_ASSERT(text.find(kNames[static_cast<int>(framework)][static_cast<int>(job.algorithm)]) != std::string::npos);
  }
}

TEST(RlFiles, OtherFrameworksAreRefused) {
  rc::check([] {
    const auto made = draw_plan(Framework::kVerl);
    RC_ASSERT(!file_for("trl", made->request, made->plan).has_value());
    RC_ASSERT(!file_for("", made->request, made->plan).has_value());
  });
}

}  // namespace
}  // namespace rightsize::rl
