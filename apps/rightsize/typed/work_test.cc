#include "rightsize/typed/work.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parse_units.h"
#include "base/random.h"
#include "rightsize/typed/amounts.h"
#include "rightsize/typed/limits.h"
#include "rightsize/typed/repair.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

std::size_t one_of_work(Random& random, std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(count)));
}

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A noun, scale or period means the same work in the flag's name and after the number.
TEST(Work, SpellingsOfAnAmountMeanTheSame) {
  Random random(7);
  const char* const nouns[] = {"docs", "documents", "passages", "prompts", "images", "tickets"};
  const std::pair<const char*, double> scales[] = {{"k", 1e3}, {" thousand", 1e3}, {"M", 1e6}, {" million", 1e6}};
  const std::pair<const char*, double> times[] = {
      {"/h", 1}, {"/hour", 1}, {" per day", 24}, {"/d", 24}, {"/week", 168}};
  for (int i = 0; i < 200; ++i) {
    const char* noun = nouns[one_of_work(random, std::size(nouns))];
    const auto& [scale, factor] = scales[one_of_work(random, std::size(scales))];
    const auto& [time, hours] = times[one_of_work(random, std::size(times))];
    const auto count = static_cast<double>(1 + one_of_work(random, 900));
    const std::string line = fmt::format("recommend embed bge-m3 --{} {:g}{}{}", noun, count, scale, time);
    const Typed words = meant_line(line);
    EXPECT_EQ(typed_value(words, "--items"), fmt::format("{:.0f}", count * factor)) << line;
    const Result<Seconds> deadline = parse_duration(typed_value(words, "--deadline"));
    ASSERT_TRUE(deadline) << line;
    EXPECT_DOUBLE_EQ(in_hours(*deadline), hours) << line;
  }
}

// Percentiles, metrics and filler words in any order, as a flag or in --slo.
TEST(Work, LimitsAreReadByTheirParts) {
  const char* const percentiles[] = {"p50", "p95", "p99"};
  const char* const metrics[] = {"ttft", "tpot"};
  for (const char* percentile : percentiles) {
    for (const char* metric : metrics) {
      for (const std::string& flag :
           {fmt::format("--{}-{} 80ms", percentile, metric), fmt::format("--{}-{} 80ms", metric, percentile),
            fmt::format("--max-{}-{} 80ms", percentile, metric), fmt::format("--{}-{}-slo 80ms", percentile, metric),
            fmt::format("--{}-{}-ms 80", percentile, metric), fmt::format("--slo {}-{}=80ms", percentile, metric),
            fmt::format("--slo {}-{}<80ms", metric, percentile)}) {
        const Typed words = meant_line("recommend llama-3.1-8b --rate 5/s " + flag);
        EXPECT_EQ(typed_value(words, fmt::format("--{}-slo", metric)), "80ms") << flag;
        EXPECT_EQ(typed_value(words, "--slo-percentile"), std::string(percentile).substr(1)) << flag;
      }
    }
  }
}

// 'recommend' judges the whole answer; where only its parts can be judged, they make the whole.
TEST(Work, LatencyOfAnAnswerIsOneLimitOrItsParts) {
  Random random(3);
  for (int i = 0; i < 50; ++i) {
    const auto tokens = static_cast<double>(2 + one_of_work(random, 2000));
    const auto limit = static_cast<double>(1 + one_of_work(random, 60));
    if (limit < 0.002 * tokens) continue;  // taken as a limit on the first token
    const Typed words =
        meant_line(fmt::format("recommend llama-3.1-8b --rate 5/s --osl {:g} --p99-latency {:g}s", tokens, limit));
    EXPECT_EQ(typed_value(words, "--latency-slo"), fmt::format("{:g}s", limit));
    const std::string parts = typed_value(meant_line(fmt::format("service m.txt --p99-latency {:g}s", limit)), "--slo");
    const std::size_t comma = parts.find(',');
    ASSERT_TRUE(parts.starts_with("ttft=") && comma != std::string::npos) << parts;
    const auto first = parse_duration(parts.substr(5, comma - 5)), each = parse_duration(parts.substr(comma + 6));
    ASSERT_TRUE(first && each) << parts;
    EXPECT_NEAR(in_seconds(*first) + 256 * in_seconds(*each), limit, 0.002 * limit) << parts;
  }
}

// Little's law: more users, more traffic; longer thinking, less.
TEST(Work, UsersBecomeARate) {
  const auto rate = [](const std::string& people) {
    const Typed words = meant_line("recommend serve llama-3.1-8b " + people);
    return in_requests_per_s(*parse_request_rate(typed_value(words, "--rate")));
  };
  EXPECT_NEAR(rate("--users 2000"), 2 * rate("--users 1000"), 0.01);
  EXPECT_GT(rate("--users 1000 --think 10s"), 2 * rate("--users 1000 --think 60s"));
  EXPECT_NEAR(rate("--users 86400/day --turns 5"), 5, 0.01);
  EXPECT_NEAR(rate("--concurrency 50 --ttft-slo 1s --tpot-slo 10ms --osl 100"), 25, 0.1);
}

TEST(Work, JobsInTheUsersWords) {
  for (const char* word : {"train", "pretraining", "fine-tune", "sft"})
    EXPECT_THAT(meant_line(fmt::format("memory llama-3.1-8b --job {}", word)).words, Contains("--job=train")) << word;
  for (const char* word : {"inference", "embed", "rerank", "batch", "image", "offline", "chat"})
    EXPECT_THAT(meant_line(fmt::format("memory llama-3.1-8b --job {}", word)).words, Contains("--job=serve")) << word;
  EXPECT_THAT(meant_line("recommend llama-3.1-8b --tokens 1B").words, Not(Contains(HasSubstr("--job=serve"))));
  EXPECT_THAT(meant_line("recommend llama-3.1-8b --tokens 1B").words, Contains("--tokens=1B"));
}

// Pairs of equivalent command lines, with random numbers.
TEST(Work, OtherWordsMeanTheSame) {
  const std::pair<const char*, const char*> same[] = {
      {"recommend llama-3.1-8b --traffic {}rps", "recommend llama-3.1-8b --job serve --rate {}/s"},
      {"recommend llama-3.1-8b --rate 9/s --budget {}/h", "recommend llama-3.1-8b --rate 9/s --budget {}USD/h"},
      {"recommend resnet-50 --job train --samples {}k --epochs 3",
       "recommend resnet-50 --job train --dataset-samples {}k --epochs 3"},
      {"recommend llama-3.1-8b --rate 9/s --gpus 1-{}", "recommend llama-3.1-8b --rate 9/s --max-gpus {}"},
      {"estimate llama-3.1-8b l4 batch {}", "estimate llama-3.1-8b l4 --batch {}"},
      {"estimate llama-3.1-8b l4 --job serve --input {}", "estimate llama-3.1-8b l4 --job serve --isl {}"},
      {"memory --model llama-3.1-8b --precision int4 --osl {}",
       "memory --model llama-3.1-8b --precision int4 --osl {} --job serve"},
      {"memory --model llama-3.1-8b-awq --osl {}", "memory --model llama-3.1-8b-awq --osl {} --job serve"},
      {"recommend --audio-hours {}", "recommend --model whisper-large-v3 --audio-hours {}"},
  };
  Random random(5);
  for (const auto& [said, ours] : same) {
    const std::size_t number = 2 + one_of_work(random, 60);
    const std::vector<std::string> wanted = meant_line(fmt::format(fmt::runtime(ours), number)).words;
    EXPECT_THAT(meant_line(fmt::format(fmt::runtime(said), number)).words, ::testing::UnorderedElementsAreArray(wanted))
        << said;
  }
}

TEST(Work, ReadingTwiceChangesNothing) {
  for (const char* line :
       {"recommend embed bge-m3 --docs 50M/day", "recommend serve qwen3-32b --users 2000 --p95-ttft 1s",
        "prices h100 --cloud aws --use-spot", "memory llama-3.1-8b --batch_size 4 --gradient-checkpointing True",
        "recommend llama-3.1-8b h100 --qps 5 --json", "show-gpus --cloud aws", "-o json gpus", "recommend llama-3.1-8b",
        "batch llama-3.1-8b h100-sxm --rps 5 --p99-ttft 1s"}) {
    const std::vector<std::string> once = meant_line(line).words;
    EXPECT_THAT(meant_line(fmt::format("{}", fmt::join(once, " "))).words, ::testing::UnorderedElementsAreArray(once))
        << line;
  }
}

// A repair is returned only if the trial accepts it.
TEST(Repair, FindsTheNearestCommandThatRuns) {
  const CommandInfo command = *describe_command("memory");
  const Trial trial = [](const std::vector<std::string>& words) -> std::optional<Errors> {
    const Checked<Outcome> outcome = call(words.front(), {words.begin() + 1, words.end()});
    if (!outcome) return outcome.error();
    return outcome->exit_code == kDone ? std::nullopt : std::optional(Errors{});
  };
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"memory", "llama-3.1-8b", "--bacth", "4"},
                                             {"memory", "llama-3.1-8b", "--batch", "banana"},
                                             {"memory", "llama-3.1-8b", "--batch", "4", "--batch", "8"},
                                             {"memory", "lama-3.1-8b"},
                                             {"memory", "--batch", "4"},
                                             {"memory", "llama-3.1-8b", "--job", "serve", "--method", "lora"},
                                             {"memory", "llama-3.1-8b", "--models"},
                                             {"memory", "llama-3.1-8b", "--zero", "3"}}) {
    ASSERT_TRUE(trial(words)) << as_typed(words);
    const auto found = repaired(words, command.flags, trial);
    ASSERT_TRUE(found) << as_typed(words);
    EXPECT_FALSE(trial(*found)) << as_typed(*found);
  }
}

std::string sentence_of(const std::string& text) {
  const Typed typed = meant_words({text});
  return fmt::format("{} ", fmt::join(typed.words, " "));
}

// What is paid for an hour is --price, whatever words name the hour; a word of a limit before it makes it --max-price.
TEST(Work, MoneyForAnHourIsAPriceOrALimit) {
  const char* const hours[] = {"an hour", "per hour", "per GPU hour", "a GPU-hour"};
  const std::pair<const char*, const char*> stated[] = {{"at", "--price"},        {"for", "--price"},
                                                        {"under", "--max-price"}, {"for at most", "--max-price"},
                                                        {"below", "--max-price"}, {"at no more than", "--max-price"}};
  Random random(11);
  for (const char* hour : hours) {
    for (const auto& [before, flag] : stated) {
      const double dollars = static_cast<double>(100 + one_of_work(random, 300)) / 100;
      const std::string line =
          fmt::format("train llama 3 8b on 15B tokens with 8 H100s {} ${} {}", before, dollars, hour);
      EXPECT_THAT(sentence_of(line), HasSubstr(fmt::format(" {}={:g} ", flag, dollars))) << line;
    }
  }
}

// A word between a number and its unit that may multiply it is refused by its name; an adjective or a size is not.
TEST(Work, AnUnknownNumberWordIsRefused) {
  for (const char* word : {"Millionen", "Milliarden", "millones", "mille", "Mrd", "bilhões", "tausend", "duizend"}) {
    const Typed typed = meant_words({fmt::format("train llama 3.1 8b with lora on 50 {} tokens", word)});
    ASSERT_TRUE(typed.refusal) << word;
    EXPECT_THAT(typed.refusal->message, HasSubstr(word));
    EXPECT_EQ(typed_value(typed, "--tokens"), "100M") << word;  // assumed
  }
  for (const char* size : {"", "1024x1024 ", "512x768 ", "SDXL 1024x1024 "})
    EXPECT_THAT(sentence_of(fmt::format("generate 2 million {}images with SDXL at 30 steps", size)),
                HasSubstr("--items=2000000 "))
        << size;
  EXPECT_THAT(sentence_of("embed 50 million product descriptions with bge-m3"), HasSubstr("--items=50000000 "));
}

// Requests per hour are a rate, and the hours of a service are those outside its pause.
TEST(Work, ClockTimesOfAServiceAreItsHours) {
  Random random(12);
  for (const char* off : {"scale to zero at night from", "off from", "shut down between"}) {
    const std::size_t from = 6 + one_of_work(random, 5), to = 5 + one_of_work(random, 4);
    const std::string line =
        fmt::format("cheapest way to serve llama 3.1 8b for 200 requests per hour, {} {}pm {} {}am", off, from,
                    std::string(off).ends_with("between") ? "and" : "to", to);
    const Typed typed = meant_words({line});
    EXPECT_EQ(typed_value(typed, "--rate"), "0.05556/s") << line;
    EXPECT_EQ(typed_value(typed, "--hours-per-day"), fmt::format("{}", 12 + from - to)) << line;
    EXPECT_EQ(typed_value(typed, "--deadline"), "") << line;
  }
  EXPECT_THAT(sentence_of("summarize 200000 documents with llama 3.1 8b between 22:00 and 06:00"),
              HasSubstr("--deadline="));
}

TEST(Work, SpeedOfEachUserLimitsTheTimePerToken) {
  for (const char* speed : {"{} tokens per second each", "{} tok/s per user", "{} tokens/s for each user"}) {
    for (const int tokens : {10, 20, 25, 50}) {
      const std::string line =
          "how many users can chat with gemma 3 27b on one L40S at " + fmt::format(fmt::runtime(speed), tokens) + "?";
      EXPECT_THAT(sentence_of(line), HasSubstr(fmt::format("--tpot-slo={}ms ", 1000 / tokens))) << line;
      EXPECT_THAT(sentence_of(line), Not(HasSubstr("--isl"))) << line;
    }
  }
}

TEST(Work, EveryPartOfAPlanArrives) {
  const std::pair<const char*, std::vector<const char*>> lines[] = {
      {"DPO mistral 7b lora on 60k preference pairs of 1,200 tokens, finish overnight in 8 hours, max 2 GPUs",
       {"--preference=yes", "--deadline=8 hours", "--samples=60000"}},
      {"train mistral 7b lora on 60k preference pairs of 500 tokens", {"--preference=yes"}},
      {"vLLM with llama 3.1 70b fp16 on 6 A100 80GB at 4 req/s and 1500/300 tokens, what does it cost?",
       {"--isl=1500", "--osl=300", "--rate=4/s", "--precision=fp16"}},
      {"is a one year commitment for 8 H200 cheaper than on demand if we use them 55% of the time?",
       {"--base=0,peak=8,share=0.55"}},
      {"What GPU budget do I need for next quarter: 3 fine-tunes a week of llama 3.1 70b lora with 40M tokens each?",
       {"recommend ", "--tokens=40000000", "--method=lora"}},
      {"our 16 H100s on CoreWeave idle 60% of the time, what does that waste per month at $2.80 per GPU hour?",
       {"prices ", "--price 2.8", "--hours=438h", "--gpus=16"}},
      {"H100 vs H200 on AWS in Mumbai, on demand",
       {"prices compare", "--provider=aws", "--region=mumbai", "--purchase=on-demand"}},
      {"p5.48xlarge vs a3-highgpu-8g, 3 year price",
       {"prices ", "--instance=p5.48xlarge,a3-highgpu-8g", "--purchase=3y"}},
  };
  for (const auto& [line, parts] : lines)
    for (const char* part : parts) EXPECT_THAT(sentence_of(line), HasSubstr(part)) << line;
  EXPECT_TRUE(
      meant_words({"split one A100 80GB into MIG slices for 5 copies of bert-base at 20 rps, 30 ms p99"}).refusal);
}

TEST(Work, APastedSlurmCommandIsPriced) {
  Random random(13);
  for (int i = 0; i < 20; ++i) {
    const std::size_t gpus = 1 + one_of_work(random, 8), nodes = 1 + one_of_work(random, 6),
                      hours = 1 + one_of_work(random, 40);
    const std::string line =
        fmt::format("sbatch --gres=gpu:h100:{} --nodes={} --time={}:00:00 train.sh --lr 1", gpus, nodes, hours);
    const Typed typed = meant_line(line);
    EXPECT_EQ(typed.words.front(), "prices") << line;
    EXPECT_EQ(typed_value(typed, "--gpus"), fmt::format("{}", gpus * nodes)) << line;
    EXPECT_EQ(typed_value(typed, "--hours"), fmt::format("{}h", hours)) << line;
  }
  const Typed sky = meant_line("sky launch --gpus A100-80GB:8 --cloud gcp --use-spot");
  EXPECT_EQ(sky.words.front(), "prices");
  EXPECT_EQ(std::ranges::count(sky.words, "launch"), 0);
}

}  // namespace
}  // namespace rightsize::app
