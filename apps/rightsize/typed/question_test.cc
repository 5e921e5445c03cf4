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
