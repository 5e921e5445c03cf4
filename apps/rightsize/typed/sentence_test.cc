#include "rightsize/typed/sentence.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/typed_testing.h"

namespace rightsize::app {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<std::string> words_of_sentence(const std::string& sentence, bool quoted) {
  return (quoted ? meant_words({"recommend", sentence}) : meant_line("recommend " + sentence)).words;
}

struct Phrase {
  const char *said, *meant;
};

// A sentence means the flags of its phrases, in any order, with or without quotes.
TEST(Sentence, PhrasesInAnyOrderAreFlags) {
  const std::vector<std::vector<Phrase>> phrases = {
      {{"at 10 requests per second", "--rate=10/s"}, {"with 20 req/s", "--rate=20/s"}, {"50 rps", "--rate=50/s"}},
      {{"with 1000 input and 300 output tokens", "--isl=1000"},
       {"800 tokens in", "--isl=800"},
       {"and 2k input tokens", "--isl=2k"}},
      {{"in us", "--region=us"}, {"in eu", "--region=eu"}, {"in us-east-1", "--region=us-east-1"}},
      {{"on aws", "--provider=aws"}, {"from gcp", "--provider=gcp"}},
      {{"p95 TTFT under 1 s", "--ttft-slo=1s"}, {"with TTFT below 500 ms", "--ttft-slo=500ms"}},
      {{"for less than $2000 per month", "--budget=2000.00"}, {"under $500/month", "--budget=500.00"}},
      {{"on spot", "--purchase=spot"}, {"using on-demand machines", "--purchase=on-demand"}},
  };
  const std::pair<const char*, const char*> models[] = {
      {"llama 3.3 70b", "llama-3.3-70b"}, {"qwen3 235b", "qwen3-235b-a22b"}, {"gpt-oss-120b", "gpt-oss-120b"}};
  Random random(5);
  const auto below = [&](std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(random.uniform() * static_cast<double>(count)));
  };
  for (int round = 0; round < 60; ++round) {
    const auto& [said, model] = models[below(std::size(models))];
    std::vector<Phrase> chosen{phrases[0][below(phrases[0].size())]};
    for (std::size_t i = 1; i < phrases.size(); ++i) {
      if (random.uniform() < 0.4) chosen.push_back(phrases[i][below(phrases[i].size())]);
    }
    for (std::size_t i = chosen.size(); i > 1; --i) std::swap(chosen[i - 1], chosen[below(i)]);
    std::string sentence = fmt::format("{}{}", random.uniform() < 0.5 ? "serve " : "I want to run ", said);
    for (const Phrase& phrase : chosen)
      sentence += fmt::format("{} {}", random.uniform() < 0.3 ? "," : "", phrase.said);
    if (random.uniform() < 0.3) sentence += "?";
    const std::vector<std::string> words = words_of_sentence(sentence, random.uniform() < 0.5);
    EXPECT_TRUE(std::count(words.begin(), words.end(), model) +
                std::count(words.begin(), words.end(), std::string("--model=") + model))
        << sentence;
    for (const Phrase& phrase : chosen) EXPECT_THAT(words, Contains(phrase.meant)) << sentence;
  }
}

// However it is said.
TEST(Sentence, ExamplesHaveALength) {
  for (const char* said : {"50k examples of 800 tokens", "50k examples of about 800 tokens",
                           "50k examples, roughly 800 tokens each", "50k examples with around 800 tokens"}) {
    const std::vector<std::string> words = words_of_sentence(fmt::format("fine-tune llama-3.1-8b on {}", said), true);
    EXPECT_THAT(words, Contains("--seq=800")) << said;
  }
}

// What a training run needs, in any order.
TEST(Sentence, EpochsExamplesAndDeadlinesInAnyOrder) {
  std::vector<Phrase> phrases = {{"for 2 epochs", "--epochs=2"},
                                 {"on 50k examples of 1500 tokens", "--seq=1500"},
                                 {"by tomorrow morning", "--deadline=tomorrow morning"},
                                 {"in germany", "--region=germany"}};
  Random random(9);
  for (int round = 0; round < 24; ++round) {
    for (std::size_t i = phrases.size(); i > 1; --i)
      std::swap(phrases[i - 1], phrases[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    std::string sentence = "fine-tune Qwen2.5-14B";
    for (const Phrase& phrase : phrases) sentence += fmt::format(" {}", phrase.said);
    const std::vector<std::string> words = words_of_sentence(sentence, round % 2 == 0);
    for (const Phrase& phrase : phrases) EXPECT_THAT(words, Contains(phrase.meant)) << sentence;
    EXPECT_THAT(words, Contains("--dataset-samples=50000")) << sentence;
  }
}

TEST(Sentence, AmountsHaveNounsAndTimes) {
  EXPECT_THAT(words_of_sentence("generate 1 million product images with sdxl over the weekend", true),
              testing::IsSupersetOf({"--items=1000000", "--deadline=weekend"}));
  EXPECT_THAT(words_of_sentence("summarize 2 million PDFs of 10 pages each by end of month with gpt-oss-120b", true),
              testing::IsSupersetOf({"--items=2000000", "--isl=5000", "--deadline=end month"}));
  EXPECT_THAT(words_of_sentence("embed 500M sentences every night between 22:00 and 06:00 with bge-m3", true),
              testing::IsSupersetOf({"--items=500000000", "--deadline=480min"}));
  EXPECT_THAT(words_of_sentence("pretrain a 13B on 300B tokens on 8 nodes of 8 A100", true),
              testing::IsSupersetOf({"--gpus=64", "--gpu=A100"}));
}

TEST(Sentence, NumbersMayBeWords) {
  EXPECT_THAT(words_of_sentence("full fine-tune of llama 3.1 70b on 500M tokens within a week", true),
              Contains("--deadline=1 week"));
  EXPECT_THAT(words_of_sentence("train llama-3.1-8b on 1B tokens in three days on eight H100s", true),
              Contains("--deadline=3 days"));
  for (const char* one : {"a", "my", "a single", "one", "just one", "only one", "my single", "1"}) {
    for (const char* gpu : {"RTX 4090", "4090", "L4", "H100 PCIe", "A100 80GB"}) {
      const std::string on = fmt::format("{} {}", one, gpu);
      EXPECT_THAT(words_of_sentence(fmt::format("can I fine-tune mistral 7b on {}?", on), true),
                  Contains(testing::StartsWith("--gpu=1x")))
          << on;
      const std::vector<std::string> node = words_of_sentence(fmt::format("fine-tune mistral 7b on {} node", on), true);
      const bool counted = std::ranges::any_of(node, [](const auto& word) { return word.starts_with("--gpu=1x"); });
      EXPECT_EQ(counted, !lists_word("a my", one)) << on;
    }
  }
}

// A number is a count only before a GPU, and a name of several words stays together.
TEST(Sentence, NamesThatAreNumbersAreKept) {
  const auto meant = [&](const std::vector<std::string>& words) { return meant_words(words).words; };
  EXPECT_EQ(meant({"gpus", "4090", "3090", "5090"}), (std::vector<std::string>{"gpus", "4090", "3090", "5090"}));
  EXPECT_THAT(meant({"prices", "8x", "H100"}), Contains("8xH100"));
  EXPECT_EQ(split_sentences({"memory", "70B like llama"}), (std::vector<std::string>{"memory", "70B like llama"}));
}

TEST(Sentence, AnHourRangeIsItsLength) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const int from = static_cast<int>(random.uniform() * 1440), length = 1 + static_cast<int>(random.uniform() * 1439);
    const int to = (from + length) % 1440;
    EXPECT_EQ(length_of_hours(fmt::format("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)),
              fmt::format("{}min", length));
  }
  for (int i = 0; i < 200; ++i) {
    const int from = static_cast<int>(random.uniform() * 24),
              to = (from + 1 + static_cast<int>(random.uniform() * 23)) % 24;
    const auto said = [](int hour) {
      return fmt::format("{}{}", hour % 12 == 0 ? 12 : hour % 12, hour < 12 ? "am" : "pm");
    };
    for (const char* between : {"-", " to ", " - ", " and "})
      EXPECT_EQ(length_of_hours(said(from) + between + said(to)), fmt::format("{}min", 60 * ((to - from + 24) % 24)));
  }
  for (const char* other : {"22:00", "2026-11-20", "25:61-10:00", "8h", "", "22:00-06:00x", "8-16", "13pm-2am"})
    EXPECT_EQ(length_of_hours(other), "") << other;
}

// Two numbers of GPUs are the base and the peak, in either order; nothing is dropped.
TEST(Sentence, TwoDemandsAreABaseAndAPeak) {
  Random random(7);
  const auto below = [&](int count) { return static_cast<int>(random.uniform() * count); };
  for (int i = 0; i < 8; ++i) {
    const int base = 1 + below(50), peak = base + 1 + below(50);
    const bool office = below(2) == 0;
    const char* when = office ? "during office hours" : "at peak";
    const std::string said =
        below(2) == 0 ? fmt::format("we run {} H100s around the clock and {} {}, 1 year reservation?", base, peak, when)
                      : fmt::format("we need {} h100 {} and {} at night, should we buy for 1 year", peak, when, base);
    const Typed meant = meant_words({"commit", said});
    EXPECT_THAT(meant.words, Contains(fmt::format("--base={},peak={},share={}", base, peak, office ? "0.27" : "0.3")))
        << said << fmt::format("{}", fmt::join(meant.words, " "));
  }
}

// Numbers in a sentence reach the flag that they belong to.
TEST(Sentence, EveryNumberBecomesASetting) {
  struct Said {
    const char* line;
    std::vector<std::string> flags;
  };
  Random random(11);
  for (int i = 0; i < 3; ++i) {
    const int n = 2 + static_cast<int>(random.uniform() * 60);
    const std::string text = fmt::format("{}", n);
    const Said said[] = {
        {"recommend train resnet-50 for 3 epochs in under {} hours", {"--deadline={} hours"}},
        {"recommend grpo on qwen2.5-7b group size {}, 64 prompts per step", {"--samples={}", "--prompts=64"}},
        {"recommend rerank {} passages per query at 30 queries per second with bge-m3", {"--docs-per-query={}"}},
        {"estimate llama-3-8b train 8xa100 seq 40{} fsdp", {"--seq=40{}", "--zero=3"}},
        {"recommend llama-3.1-8b for {} requests per second on h100 or l40s", {"--gpu=h100,l40s", "--rate={}/s"}},
        {"prices h100 1 year vs 3 year for {} days", {"--purchase=1y,3y"}},
        {"recommend a chatbot for {} concurrent users", {"--model=llama-3.1-8b"}},
    };
    for (const Said& one : said) {
      const std::string line = fmt::format(fmt::runtime(one.line), text);
      const Typed meant = meant_line(line);
      for (const std::string& flag : one.flags)
        EXPECT_THAT(meant.words, Contains(fmt::format(fmt::runtime(flag), text)))
            << line << ": " << fmt::format("{}", fmt::join(meant.words, " "));
    }
  }
}

// A number before "hours" is a time, not a number of GPUs, wherever it is in the sentence.
TEST(HoursADay, AreAShareOfTheWeek) {
  for (const int hours : {1, 8, 12, 24}) {
    for (const int gpus : {4, 16, 128}) {
      const std::string used = fmt::format("0,peak={},share={:.3g}", gpus, hours * 7 / 168.0),
                        weekdays = fmt::format("0,peak={},share={:.3g}", gpus, hours * 5 / 168.0);
      const auto base = [](const std::string& sentence) {
        return typed_value(meant_words({"commit", sentence}), "--base");
      };
      EXPECT_EQ(base(fmt::format("we run {} A100 {} hours a day on weekdays, should we reserve?", gpus, hours)),
                weekdays);
      EXPECT_EQ(base(fmt::format("{} h100 for {} hours per day", gpus, hours)), used);
      EXPECT_EQ(base(fmt::format("is it worth reserving {} H100s used {} hours every day?", gpus, hours)), used);
    }
  }
}

// A pair of clock times is a window, whatever the flags are called, and in words.
TEST(ClockTimes, PairsAreAWindow) {
  const std::pair<const char*, const char*> pairs[] = {
      {"--from", "--to"}, {"--start", "--end"}, {"--after", "--before"}};
  for (const char* from : {"22:00", "0:30", "10pm"}) {
    for (const char* to : {"06:00", "23:45", "6am"}) {
      const std::string window = fmt::format("{}-{}", from, to);
      for (const auto& [first, last] : pairs) {
        const Typed typed = meant_line(
            fmt::format("window --volume 5M/day --item-time 20ms --gpu l4 {} {} {} {}", first, from, last, to));
        EXPECT_EQ(typed_value(typed, "--window"), window);
      }
      const std::string sentence =
          fmt::format("300k files every night, 2 seconds each on an L4, between {} and {}", from, to);
      EXPECT_EQ(typed_value(meant_words({"window", sentence}), "--window"), window);
      EXPECT_EQ(typed_value(meant_words({"window", sentence}), "--item-time"), "2 seconds");
      EXPECT_EQ(typed_value(meant_words({"window", sentence}), "--gpu"), "L4");
    }
  }
  EXPECT_EQ(in_seconds(hours_of_day("midnight-6am")->length), 6 * 3600);
  EXPECT_EQ(in_seconds(hours_of_day("noon to midnight")->length), 12 * 3600);
}

}  // namespace
}  // namespace rightsize::app
