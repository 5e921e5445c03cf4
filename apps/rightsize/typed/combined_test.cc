#include "rightsize/typed/combined.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "catalog/hardware.h"
#include "presets/presets.h"
#include "rightsize/input/file_kind.h"
#include "rightsize/typed/flag_words.h"
#include "rightsize/typed/repair.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

TEST(CombinedFlags, SeveralFlagsAreOneSetting) {
  Random random(3);
  for (int i = 0; i < 40; ++i) {
    const int a = 16 + static_cast<int>(random.uniform() * 4000), b = 16 + static_cast<int>(random.uniform() * 4000);
    EXPECT_EQ(
        typed_value(meant_line(fmt::format("estimate flux.1-dev l40s --height {} --width {}", a, b)), "--resolution"),
        fmt::format("{}x{}", b, a));
    EXPECT_EQ(typed_value(meant_line(fmt::format("serve --port {} --host 0.0.0.0", a)), "--listen"),
              fmt::format("0.0.0.0:{}", a));
    // A peak is the maximum of a curve, never its mean.
    const std::string flag = i % 2 == 0 ? "--peak-rps" : "--peak_qps";
    EXPECT_EQ(typed_value(meant_line(fmt::format("autoscale llama-3.1-8b --gpu h100 {} {}", flag, a)), "--arrivals"),
              fmt::format("diurnal:{:.6g},1.8", a / 1.8));
    EXPECT_EQ(typed_value(meant_line(fmt::format("commit --base {} --peak {} --share 25% --gpu h100", a, b)), "--base"),
              fmt::format("{},peak={},share=0.25", a, b));
    EXPECT_EQ(
        typed_value(meant_line(fmt::format("commit --instance-type p5.48xlarge --instance-count {}", a)), "--base"),
        fmt::format("{:g}", 8.0 * a));
    EXPECT_EQ(typed_value(meant_line(fmt::format("memory llama-3.1-8b --cache-type-k q8_0 -ctv q8_0 -c {}", a + 1000)),
                          "--kv-precision"),
              "int8");
    // Lengths by any name, and a least speed as a time per token.
    const Typed lengths = meant_line(
        fmt::format("recommend llama-3.1-8b --qps 3 --avg-input {} --mean_output_length {} --min-tps {}", a, b, a));
    EXPECT_EQ(typed_value(lengths, "--isl"), std::to_string(a));
    EXPECT_EQ(typed_value(lengths, "--osl"), std::to_string(b));
    EXPECT_EQ(typed_value(lengths, "--tpot-slo"), fmt::format("{:.4g}ms", 1000.0 / a));
  }
  for (int i = 0; i < 40; ++i) {
    const int tp = 1 << static_cast<int>(random.uniform() * 4), pp = 1 + static_cast<int>(random.uniform() * 4);
    const int dp = 2 + static_cast<int>(random.uniform() * 30);
    for (const char* name : {"--dp", "--data-parallel-size"}) {
      const Typed copies =
          meant_line(fmt::format("memory llama-3.1-70b --tp {} --pp {} {} {} --gpu h100", tp, pp, name, dp));
      EXPECT_EQ(typed_value(copies, "--gpus"), std::to_string(tp * pp * dp));
      EXPECT_EQ(typed_value(copies, "--tp"), std::to_string(tp));
    }
    const Typed night =
        meant_line(fmt::format("window {}k/day --between 01:00-05:00 --throughput {}/s --gpu a10g", dp, tp));
    EXPECT_EQ(typed_value(night, "--item-time"), fmt::format("{:g}ms", 1000.0 / tp));
    EXPECT_EQ(typed_value(night, "--window"), "01:00-05:00");
    EXPECT_FALSE(typed_value(night, "--volume").empty());
  }
  const Typed place = meant_line("prices l4 --infra gcp/europe-west4");
  EXPECT_EQ(typed_value(place, "--provider"), "gcp");
  EXPECT_EQ(typed_value(place, "--region"), "europe-west4");
}

// A limit on the length of an answer never becomes its mean, whatever its name.
TEST(CombinedFlags, ALimitIsNotAMean) {
  Random random(5);
  for (const char* flag : {"--max-response-length", "--max_completion_length", "--max-new-tokens"}) {
    const int most = 64 + static_cast<int>(random.uniform() * 30'000);
    EXPECT_EQ(typed_value(meant_line(fmt::format("rl qwen3-8b 8xh100 {} {}", flag, most)), "--osl"),
              fmt::format("max={}", most));
    EXPECT_EQ(typed_value(meant_line(fmt::format("rl qwen3-8b 8xh100 --osl 900 {} {}", flag, most)), "--osl"),
              fmt::format("900,max={}", most));
  }
  EXPECT_EQ(typed_value(meant_line("recommend llama-3.1-8b --rate 5/s --max-model-len 8192"), "--isl"), "");
}

TEST(CombinedFlags, EveryWordForAnAlgorithmIsUnderstood) {
  for (const char* algorithm : {"grpo", "ppo", "dapo", "rloo"}) {
    EXPECT_EQ(typed_value(meant_line(fmt::format("rl {} llama-3.1-8b", algorithm)), "--algorithm"), algorithm);
    EXPECT_EQ(typed_value(meant_line(fmt::format("recommend {} llama-3.1-8b", algorithm)), "--algorithm"), algorithm);
    EXPECT_EQ(typed_value(meant_line(fmt::format("{} llama-3.1-8b --gpus 8", algorithm)), "--algorithm"), algorithm);
  }
  const Typed dpo = meant_line("rl dpo llama-3.1-8b");
  EXPECT_EQ(typed_value(dpo, "--job"), "train");
  EXPECT_EQ(typed_value(dpo, "--preference"), "yes");
}

TEST(CombinedFlags, ConfigurationsOfOtherTools) {
  const Typed verl = meant_line(
      "rl data.train_batch_size=1024 actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.rollout.n=5 "
      "trainer.n_gpus_per_node=8 trainer.nnodes=2");
  EXPECT_EQ(typed_value(verl, "--prompts"), "1024");
  EXPECT_EQ(typed_value(verl, "--samples"), "5");
  EXPECT_EQ(typed_value(verl, "--gpus"), "16");
  EXPECT_EQ(typed_value(verl, "--model"), "Qwen/Qwen3-8B");
}

class TrainingConfigs : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    path_ = testing::TempDir() + name;
    std::ofstream(path_) << text;
    return path_;
  }
  ~TrainingConfigs() override { std::filesystem::remove(path_); }

 private:
  std::string path_;
};

TEST_F(TrainingConfigs, DeepSpeed) {
  for (const int stage : {1, 2, 3}) {
    const std::string path = file("ds_config.json", fmt::format(R"({{"zero_optimization": {{"stage": {},
        "offload_optimizer": {{"device": "cpu"}}}}, "train_micro_batch_size_per_gpu": {},
        "gradient_accumulation_steps": 8, "wall_clock_breakdown": true}})",
                                                                stage, stage + 1));
    const Typed typed = meant_line("memory llama-3.1-8b --gpu a100 --deepspeed " + path);
    EXPECT_THAT(typed.words, IsSupersetOf({fmt::format("--zero={}", stage), std::string("--offload=optimizer"),
                                           fmt::format("--batch={}", stage + 1), std::string("--accumulate=8")}));
    EXPECT_THAT(typed.notes, Contains(testing::HasSubstr("not used: wall-clock-breakdown")));
  }
}

TEST_F(TrainingConfigs, Torchtitan) {
  const std::string path =
      file("titan.toml",
           "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 2  # per GPU\n"
           "seq_len = 8192\n[parallelism]\ntensor_parallel_degree = 4\n"
           "[activation_checkpoint]\nmode = \"selective\"\n");
  const Typed typed = meant_line("estimate " + path + " --gpu 8xH100");
  EXPECT_THAT(typed.words, IsSupersetOf({"--model=llama3-8B", "--batch=2", "--seq=8192", "--tp=4",
                                         "--recompute=selective", "--stack=torchtitan", "--zero=3"}));
}

// The degree of sharding decides memory: it is never dropped.
TEST_F(TrainingConfigs, ShardDegreesOfTorchtitan) {
  for (const int shards : {-1, 1, 2, 8, 64}) {
    for (const int copies : {1, 4}) {
      const std::string path =
          file("titan.toml", fmt::format("[model]\nname = \"llama3\"\nflavor = \"70B\"\n[parallelism]\n"
                                         "data_parallel_shard_degree = {}\ndata_parallel_replicate_degree = {}\n",
                                         shards, copies));
      const Typed typed = meant_line("estimate " + path + " --gpu h100 --gpus 256");
      EXPECT_EQ(typed_value(typed, "--zero"), shards == 1 ? "0" : "3") << shards;
      EXPECT_EQ(typed_value(typed, "--stack"), "torchtitan");
      const bool said = testing::Value(typed.notes, Contains(testing::HasSubstr("4 copies of the shards")));
      EXPECT_EQ(said, copies == 4);
    }
  }
}

// The samples of a step are those of the file.
TEST_F(TrainingConfigs, MicroBatchesTimesAccumulationAreAStep) {
  for (const int micro : {1, 2, 8}) {
    for (const int passes : {1, 4, 16}) {
      const std::string path = file("axolotl.yml", fmt::format("base_model: Qwen/Qwen2.5-7B\nmicro_batch_size: {}\n"
                                                               "gradient_accumulation_steps: {}\n",
                                                               micro, passes));
      const std::string step = std::to_string(micro * passes);
      EXPECT_EQ(typed_value(meant_line("recommend " + path + " --tokens 10M"), "--global-batch"), step);
    }
  }
}

// A quarter begins with its first month and ends with its last, in every command with both ends.
TEST(Days, AQuarterIsItsThreeMonths) {
  for (const char* command : {"decisions", "fleet --from x", "bill x"}) {
    for (int year = 2023; year < 2029; ++year) {
      for (int quarter = 1; quarter <= 4; ++quarter) {
        const auto month = [&](int number) {
          return meant_line(fmt::format("{} --month {}-{:02}", command, year, 3 * quarter - 3 + number));
        };
        const Typed typed = meant_line(fmt::format("{} --quarter {}-Q{}", command, year, quarter));
        EXPECT_EQ(typed_value(typed, "--since"), typed_value(month(1), "--since"));
        EXPECT_EQ(typed_value(typed, "--until"), typed_value(month(3), "--until"));
        EXPECT_NE(typed_value(typed, "--until"), "");
      }
    }
  }
}

// Only the model's name decides the rate of a video's frames.
TEST(Video, SecondsAreFramesOfItsModel) {
  EXPECT_EQ(typed_value(meant_line("estimate wan2.1-t2v-14b h100 --seconds 5"), "--frames"), "81");
  EXPECT_EQ(typed_value(meant_line("estimate hunyuanvideo h100 --job serve --seconds 5"), "--frames"), "121");
  EXPECT_EQ(typed_value(meant_line("recommend hunyuanvideo --items 5 --region taiwan --seconds 5"), "--frames"), "121");
}

// Words find a flag with the same meaning, but never one with another meaning.
TEST(FlagWords, SynonymsMeanTheSameFlag) {
  EXPECT_EQ(typed_value(meant_line("estimate llama-3.1-8b a100 --power-limit 300W"), "--power-cap"), "300W");
  EXPECT_EQ(typed_value(meant_line("fleet --prometheus http://x --history-duration 336h"), "--window"), "336h");
  EXPECT_EQ(typed_value(meant_line("recommend llama-3.1-8b --rate 1/s --power-cost 0.20"), "--kwh-price"), "0.20");
  EXPECT_EQ(typed_value(meant_line("batch llama-3.1-8b a100 --seq 4096"), "--max-batch"), "");
  EXPECT_EQ(typed_value(meant_line("recommend llama-3.1-8b --job qlora --tokens 20M"), "--method"), "qlora");
  EXPECT_EQ(typed_value(meant_line("lora llama-3.1-8b --tokens 20M"), "--method"), "lora");
  EXPECT_EQ(typed_value(meant_line("memory llama-3.1-8b --tp 2 --sequence-parallel --recompute-granularity full"),
                        "--recompute"),
            "full");
  EXPECT_EQ(typed_value(meant_line("memory gpt-oss-120b h100 --job serve --ctx 131072"), "--isl"), "130816")
      << "256 tokens are for the answer";
  EXPECT_EQ(typed_value(meant_line("rl qwen2.5-3b --algorithm ppo --train-batch-size 1024"), "--prompts"), "1024");
  EXPECT_EQ(typed_value(meant_line("ocr qwen2.5-vl-7b --pages 2M --deadline 12h"), "--images"), "1");
  EXPECT_EQ(typed_value(meant_line("recommend llama-3.1-8b --rate 1/s --spot ok"), "--purchase"), "on-demand,spot");
}

// Every spelling of a global batch gives the same batch.
// A column of a table may have its unit.
TEST(FlagWords, AUnitInANameIsSplitOff) {
  for (const char* name : {"latency", "memory", "rate", "service-time"}) {
    for (const auto& [suffix, unit] : {std::pair{"ms", "ms"},
                                       {"s", "s"},
                                       {"seconds", "s"},
                                       {"gb", "GB"},
                                       {"gib", "GiB"},
                                       {"mb", "MiB"},
                                       {"per-s", "/s"},
                                       {"per-hour", "/h"}}) {
      EXPECT_EQ(split_unit(fmt::format("--{}-{}", name, suffix)),
                std::pair(fmt::format("--{}", name), std::string(unit)));
    }
    EXPECT_EQ(split_unit(fmt::format("--{}", name)).second, "");
  }
}

TEST(CombinedFlags, GlobalBatchesInTokensAndInPasses) {
  Random random(9);
  for (int i = 0; i < 50; ++i) {
    const int sequence = 1024 << static_cast<int>(random.uniform() * 4);
    const int samples = 200 + static_cast<int>(random.uniform() * 3000);
    const Typed tokens = meant_line(fmt::format("recommend llama-3.1-8b --tokens 1B --seq {} --global-batch {}tokens",
                                                sequence, static_cast<long>(samples) * sequence));
    EXPECT_EQ(typed_value(tokens, "--global-batch"), std::to_string(samples));
    const int copies = 1 << static_cast<int>(random.uniform() * 5),
              passes = 1 + static_cast<int>(random.uniform() * 64);
    const Typed step =
        meant_line(fmt::format("estimate llama-3.1-70b h100 --tp 8 --gpus {} --batch 2 --global-batch-size {}",
                               8 * copies, 2 * copies * passes));
    EXPECT_EQ(typed_value(step, "--accumulate"), std::to_string(passes));
  }
}

// An 's' is part of some names: an L40S is not several L40.
TEST(Names, EveryGpuIsItself) {
  const Checked<catalog::Catalog> facts = catalog::load_hardware("");
  ASSERT_TRUE(facts);
  for (const catalog::Gpu& gpu : facts->gpus) {
    EXPECT_EQ(singular_gpu(gpu.name), gpu.name);
    const Typed typed = meant_line("prices " + gpu.name);
    EXPECT_THAT(typed.words, testing::AnyOf(Contains(gpu.name), Contains("--gpu=" + gpu.name))) << gpu.name;
  }
  EXPECT_EQ(singular_gpu("H100s"), "H100");
  EXPECT_EQ(singular_gpu("l40ss"), "l40s");
}

// A family and a size mean a model of that family and size.
TEST(Names, AFamilyAndASizeAreTheNewestModel) {
  for (const auto& [typed, family, size] : {std::tuple{"llama 70b", "llama", 70e9}, {"qwen 14b", "qwen", 14e9}}) {
    const Typed meant = meant_line(fmt::format("memory {} --job serve", typed));
    const Checked<model::ModelShape> shape = model::find_model(meant.words.at(1));
    ASSERT_TRUE(shape) << meant.words.at(1);
    EXPECT_TRUE(shape->name.starts_with(family)) << shape->name;
    EXPECT_NEAR(static_cast<double>(shape->parameters()) / size, 1, 0.15) << shape->name;
  }
}

TEST(Changes, EveryDifferenceIsNamed) {
  const std::deque<FlagInfo> flags = describe_command("memory")->flags;
  const auto changed = [&](std::vector<std::string> typed, std::vector<std::string> suggested) {
    return fmt::format("{}", fmt::join(changes(typed, suggested, flags), "; "));
  };
  EXPECT_EQ(changed({"memory", "gpt2", "--partition=gpu", "--batch=3"}, {"memory", "--model", "gpt2", "--batch", "3"}),
            "the command below leaves out --partition gpu");
  EXPECT_EQ(changed({"memory", "gpt2", "--batch", "x"}, {"memory", "gpt2", "--batch", "4"}),
            "the command below has --batch 4 instead of x");
  EXPECT_EQ(changed({"memory", "now"}, {"memory", "--model", "gpt2"}),
            "the command below leaves out now; --model gpt2 is an example: put in your own");
  EXPECT_EQ(changed({"memory", "gpt2"}, {"memory", "--model=gpt2"}), "");
}

TEST(FileKind, NamesTheCommandThatReadsAFile) {
  const std::string path = testing::TempDir() + "some_file";
  const std::pair<const char*, const char*> kinds[] = {{"#!/bin/bash\n#SBATCH --gres=gpu:8\n", "diff"},
                                                       {"apiVersion: v1\nkind: Pod\n", "diff"},
                                                       {"JobID|User|State\n", "fleet"},
                                                       {"# HELP vllm:num_requests_running x\n", "service"},
                                                       {"index, utilization.gpu [%]\n", "profile"},
                                                       {"BilledCost,ServiceName\n", "bill"}};
  for (const auto& [text, command] : kinds) {
    std::ofstream(path) << text;
    ASSERT_FALSE(command_for_file(path).empty()) << text;
    EXPECT_EQ(command_for_file(path).front(), command) << text;
    EXPECT_EQ(command_for_file(path).back(), path);
  }
  std::ofstream(path) << "nothing of the kind";
  EXPECT_TRUE(command_for_file(path).empty());
  std::filesystem::remove(path);
  EXPECT_TRUE(command_for_file(path).empty());
}

}  // namespace
}  // namespace rightsize::app
