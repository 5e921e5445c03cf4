#include "rightsize/typed/by_value.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

int whole_number(Random& random, int least, int most) {
  return least + static_cast<int>(random.uniform() * (most - least));
}

// A number of steps decides the amount of data, however flags are spelt and whatever the epochs and the data set.
TEST(ByValue, StepsReplaceEpochs) {
  Random random(11);
  for (int i = 0; i < 40; ++i) {
    const int steps = whole_number(random, 1, 9000), batch = whole_number(random, 1, 16);
    const int passes = whole_number(random, 1, 32), epochs = whole_number(random, 1, 9);
    const char* const name = i % 2 == 0 ? "--max_steps" : "--max-steps=";
    const std::string data = i % 3 == 0 ? " --dataset-samples 52002" : "";
    const Typed typed = meant_line(
        fmt::format("recommend llama-3.1-8b --per_device_train_batch_size {} --gradient_accumulation_steps {} "
                    "--num_train_epochs {}{}{}{}{}",
                    batch, passes, epochs, data, i % 4 < 2 ? " " : " --bf16 ", name,
                    fmt::format("{}{}", i % 2 == 0 ? " " : "", steps)));
    EXPECT_EQ(typed_value(typed, "--samples"), std::to_string(steps * batch * passes)) << i;
    EXPECT_EQ(typed_value(typed, "--epochs") + typed_value(typed, "--dataset-samples"), "");
    EXPECT_THAT(typed.notes, Contains(HasSubstr(fmt::format("replaces {} epoch", epochs))));
    // A negative number is no limit.
    EXPECT_EQ(
        typed_value(meant_line(fmt::format("recommend llama-3.1-8b --num_train_epochs {} --max_steps -1", epochs)),
                    "--epochs"),
        std::to_string(epochs));
  }
}

// The attention of vLLM's data-parallel engines with experts in parallel is split, and nothing of it is dropped.
TEST(ByValue, DataParallelAttentionWithExperts) {
  for (const int tp : {1, 2, 4}) {
    for (const int dp : {2, 4, 8}) {
      for (const std::string& experts : {fmt::format("--ep {}", tp * dp), std::string("--enable-expert-parallel")}) {
        const Typed typed = meant_line(
            fmt::format("estimate deepseek-v3 h200 --job serve --tp {} --data-parallel-size {} {}", tp, dp, experts));
        EXPECT_EQ(typed_value(typed, "--tp"), std::to_string(tp * dp)) << experts;
        EXPECT_EQ(typed_value(typed, "--attention-dp"), std::to_string(dp));
        EXPECT_EQ(typed_value(typed, "--ep"), std::to_string(tp * dp));
      }
      const Typed sglang = meant_line(
          fmt::format("estimate deepseek-v3 h200 --job serve --tp {} --dp {} --enable-dp-attention", tp * dp, dp));
      EXPECT_EQ(typed_value(sglang, "--tp"), std::to_string(tp * dp));
      EXPECT_EQ(typed_value(sglang, "--attention-dp"), std::to_string(dp));
    }
  }
}

// What a number means follows from its size: no GPU draws 2 W, and none costs $500/h.
TEST(ByValue, PricesAndLimitsByTheirSize) {
  Random random(13);
  for (int i = 0; i < 40; ++i) {
    const std::string cents = fmt::format("{:.3f}", 0.01 + random.uniform());
    for (const char* name : {"--power", "--electricity", "--energy-price"})
      EXPECT_EQ(
          typed_value(meant_line(fmt::format("prices buy --on-prem 4xl40s=45000 {} {}", name, cents)), "--kwh-price"),
          cents);
    EXPECT_EQ(typed_value(meant_line(fmt::format("gpus --power {}", whole_number(random, 60, 900))), "--kwh-price"),
              "");
    const int total = whole_number(random, 501, 90000), hourly = whole_number(random, 1, 20);
    const Typed whole = meant_line(fmt::format("recommend llama-3.1-8b --tokens 1B --max-price {}", total));
    EXPECT_EQ(typed_value(whole, "--budget"), std::to_string(total));
    EXPECT_EQ(typed_value(whole, "--max-price"), "");
    const Typed each = meant_line(fmt::format("recommend llama-3.1-8b --tokens 1B --max-price {}", hourly));
    EXPECT_EQ(typed_value(each, "--max-price"), std::to_string(hourly));
    EXPECT_EQ(typed_value(meant_line(fmt::format("fleet --rate {}", hourly)), "--price"), std::to_string(hourly));
    EXPECT_EQ(typed_value(meant_line(fmt::format("batch bert-large l4 --rate {}/s", hourly)), "--price"), "");
  }
}

// A letter that the command does not declare is named by its value, never as in another tool.
TEST(ByValue, LettersAreNamedByTheirValues) {
  const Result<CommandInfo> command = describe_command("recommend");
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    const std::string flag{'-', letter};
    if (find_flag(command->flags, flag) != nullptr) continue;
    for (const char* amount : {"500M", "2B", "40M tokens"}) {
      const Typed typed = meant_words({"recommend", "llama-3.1-8b", flag, amount});
      EXPECT_EQ(typed_value(typed, "--tokens").substr(0, 1), std::string(amount).substr(0, 1)) << flag;
      EXPECT_THAT(typed.notes, testing::Not(Contains(HasSubstr("--tokens 1B")))) << flag;
    }
    EXPECT_EQ(typed_value(meant_words({"recommend", "llama-3.1-8b", flag, "12:00:00"}), "--deadline"), "12h") << flag;
    EXPECT_EQ(typed_value(meant_words({"recommend", "llama-3.1-8b", flag, "36h"}), "--deadline"), "36h") << flag;
  }
}

// A model or sizes after a flag that no command has are what the command is about.
TEST(ByValue, ModelsAndSizesAfterUnknownFlags) {
  for (const char* flag : {"--hf", "--weights-from", "--card"}) {
    for (const char* command : {"models", "memory", "recommend"})
      EXPECT_EQ(typed_value(meant_line(fmt::format("{} {} Qwen/Qwen2.5-VL-7B-Instruct", command, flag)), "--model"),
                "Qwen/Qwen2.5-VL-7B-Instruct");
  }
  EXPECT_EQ(typed_value(meant_line("memory llama-3.1-8b --exclude-model Qwen/Qwen2.5-7B"), "--model"), "");
  for (const char* flag : {"--workloads ", "--workloads="})
    EXPECT_THAT(meant_line(fmt::format("mig --gpu a100-40gb {}5x4GB,2x9GB", flag)).words, Contains("5x4GB,2x9GB"));
  EXPECT_TRUE(meant_line("recommend llama-3.1-8b --tokens 1B --interconnect infiniband").refusal);
}

}  // namespace
}  // namespace rightsize::app
