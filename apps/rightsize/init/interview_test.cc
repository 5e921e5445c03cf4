#include "rightsize/init/interview.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Held {
  std::vector<model::Setting> settings;
  std::string asked;

  std::string value(std::string_view name) const {
    for (const model::Setting& setting : settings) {
      if (setting.name == name) return setting.value;
    }
    return "absent";
  }
};

Held hold(const std::string& answers) {
  static const catalog::Catalog kCatalog = catalog::load_catalog("").value();
  std::istringstream in(answers);
  std::ostringstream out;
  auto settings = hold_interview(kCatalog, in, out, true);
  return {std::move(settings), out.str()};
}

TEST(Interview, EmptyAnswersTakeTheDefaults) {
  const Held held = hold("");
  EXPECT_EQ(held.value("job"), "train");
  EXPECT_EQ(held.value("model"), "llama-3.1-8b");
  EXPECT_EQ(held.value("tokens"), "100M");
  EXPECT_EQ(held.value("deadline"), "absent");
}

TEST(Interview, AsksOnlyWhatTheKindOfWorkNeeds) {
  const Held serving = hold("serve\nllama-3.1-8b\n20/s\n");
  EXPECT_EQ(serving.value("rate"), "20/s");
  EXPECT_EQ(serving.value("tokens"), "absent");
  EXPECT_THAT(serving.asked, HasSubstr("Each further token within?"));
  EXPECT_THAT(hold("serve\nbert-large\n").asked, Not(HasSubstr("token within?")));
}

TEST(Interview, AWrongAnswerIsExplainedAndAskedForAgain) {
  const Held held = hold("trian\ntrain\nllama-9\nllama-3.1-8b\nmany\n5B\n");
  EXPECT_THAT(held.asked, HasSubstr("train, serve or offline\n"));
  EXPECT_THAT(held.asked, HasSubstr("llama-9"));
  EXPECT_EQ(held.value("tokens"), "5B");
}

TEST(Interview, EndOfInputTakesTheDefaults) { EXPECT_EQ(hold("trian").value("job"), "train"); }

}  // namespace
}  // namespace rightsize::app
