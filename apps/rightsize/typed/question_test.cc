#include "rightsize/typed/question.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/text.h"
#include "catalog/hardware.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/call.h"
#include "rightsize/typed/join_names.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {
namespace {

std::vector<std::string> words_of_question(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string_view word : split_list(line, ' ')) words.emplace_back(word);
  return words;
}

// A question becomes the right command and keeps its names, for random models and GPUs.
TEST(Question, BecomesTheCommandThatAnswersIt) {
  const std::pair<const char*, const char*> forms[] = {
      {"can I run {0} on {1}?", "memory"},
      {"will {0} fit on a {1}", "memory"},
      {"does {0} fit {1}", "memory"},
      {"how fast is {0} on {1}", "estimate"},
      {"how many {1} do I need for {0}", "recommend"},
      {"what does it cost to run {0} on {1}?", "recommend"},
      {"what is the price of {1}", "prices"},
      {"which GPU is best for {0}", "recommend"},
  };
  const Checked<catalog::Catalog> facts = catalog::load_hardware("");
  ASSERT_TRUE(facts);
  Random random(11);
  const auto pick = [&](const auto& list) {
    return list[std::min(list.size() - 1,
                         static_cast<std::size_t>(random.uniform() * static_cast<double>(list.size())))];
  };
  for (int i = 0; i < 100; ++i) {
    const std::string model = pick(model::preset_names()), gpu = pick(facts->gpus).name;
    for (const auto& [form, command] : forms) {
      const std::string line = fmt::format(fmt::runtime(form), model, gpu);
      std::vector<std::string> words = words_of_question(line);
      EXPECT_EQ(answer_question(words), command) << line;
      const std::string text = form;
      const auto named = [&](const char* place) { return text.find(place) != std::string::npos ? 1 : 0; };
      EXPECT_EQ(std::count(words.begin(), words.end(), model), named("{0}")) << line;
      EXPECT_EQ(std::count(words.begin(), words.end(), gpu), named("{1}")) << line;
    }
  }
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '-', ' ');
  return name;
}

// Questions about GPUs alone, for random GPUs in one word or several: the command, and the names it keeps.
TEST(Question, AboutGpusAloneKeepsTheirNames) {
  const std::pair<const char*, const char*> forms[] = {
      {"which is faster for inference, {0} or {1}?", "gpus {0} {1}"},
      {"difference between {0} and {1}", "gpus {0} {1}"},
      {"is a {0} better than a {1}", "gpus {0} {1}"},
      {"{0} vs {1} please", "gpus {0} {1}"},
      {"compare {0} and {1}", "gpus {0} {1}"},
      {"which is cheaper, {0} or {1}?", "prices compare {0} {1}"},
      {"is spot worth it for {0}", "prices spot {0}"},
      {"should I use spot or on-demand for {0}", "prices spot {0}"},
      {"cheapest {0} in europe", "prices {0} in europe"},
      {"we pay $3.90 per hour for each {0}, are we overpaying?", "prices --paid=3.9 {0}"},
      {"why is my {0} gpu idle", "profile"},
      {"why is my training slow on {0}", "profile"},
  };
  const Checked<catalog::Catalog> facts = catalog::load_hardware("");
  ASSERT_TRUE(facts);
  Random random(12);
  const auto pick = [&] {
    return facts->gpus[static_cast<std::size_t>(random.uniform() * static_cast<double>(facts->gpus.size()))].name;
  };
  for (int i = 0; i < 40; ++i) {
    const std::string one = pick(), other = pick();
    const bool apart = gpu_words(words_of_question(spaced(one)), 0) == words_of_question(spaced(one)).size() &&
                       gpu_words(words_of_question(spaced(other)), 0) == words_of_question(spaced(other)).size();
    if (one == other) continue;
    for (const auto& [form, meant] : forms) {
      const std::string line =
          fmt::format(fmt::runtime(form), apart ? spaced(one) : one, apart ? spaced(other) : other);
      std::vector<std::string> words = split_sentences({line});
      answer_question(words);
      std::vector<std::string> wanted = words_of_question(fmt::format(fmt::runtime(meant), one, other));
      for (const std::string& word : wanted)
        EXPECT_TRUE(std::ranges::find(words, word) != words.end()) << line << ": " << word;
      EXPECT_EQ(words.front(), wanted.front()) << line;
    }
  }
}

TEST(Question, LeavesCommandsAlone) {
  for (const std::string& command : command_names()) {
    std::vector<std::string> words{command, "llama-3.1-8b", "--gpu", "h100-sxm"};
    const std::vector<std::string> typed = words;
    EXPECT_EQ(answer_question(words), "");
    EXPECT_EQ(words, typed);
  }
}

// Every provider, vendor and GPU can be excluded or chosen by a flag with its name.
TEST(Choice, CanBeInTheNameOfAFlag) {
  const auto declared = describe_command("recommend")->flags;
  const Checked<catalog::Catalog> facts = catalog::load_hardware("");
  ASSERT_TRUE(facts);
  std::set<std::string> providers, gpus;
  for (const catalog::Machine& machine : facts->machines) providers.insert(machine.provider);
  for (const catalog::Gpu& gpu : facts->gpus) gpus.insert({gpu.name, to_lower(gpu.vendor)});
  for (const std::string& name : providers) {
    EXPECT_EQ(meant_choice("--no-" + name, declared), "--exclude=" + name);
    EXPECT_EQ(meant_choice("--" + name + "-only", declared), "--provider=" + name);
  }
  for (const std::string& name : gpus) {
    if (catalog::match_providers(name, providers)) continue;  // Google is both a vendor and a provider
    EXPECT_EQ(meant_choice("--without-" + name, declared), "--exclude=" + name);
    EXPECT_EQ(meant_choice("--only-" + name, declared), "--gpu=" + name);
  }
  EXPECT_EQ(meant_choice("--spot-only", declared), "--purchase=spot");
  EXPECT_EQ(meant_choice("--not-provider", declared), "--exclude");
  EXPECT_EQ(meant_choice("--no-such-thing", declared), "");
}

}  // namespace
}  // namespace rightsize::app
