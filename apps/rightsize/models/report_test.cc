#include "rightsize/models/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "presets/presets.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ModelSentence, ADenseModelHasOneCount) {
  const std::string said = sentence_about(*model::find_model("llama-2-7b"));
  EXPECT_THAT(said, HasSubstr("llama-2-7b is a llama model of 6,738,415,616 parameters"));
  EXPECT_THAT(said, Not(HasSubstr("active per token")));
}

TEST(ModelSentence, AMixtureNamesItsActiveParameters) {
  EXPECT_THAT(sentence_about(*model::find_model("mixtral-8x7b")), HasSubstr("are active per token."));
}

TEST(ModelReport, TheSharesOfWeightsSumToOne) {
  const report::Report report = model_report(*model::find_model("llama-2-7b"));
  const auto& inventory = std::get<report::Table>(report.blocks.back());
  double sum = 0;
  for (const auto& row : inventory.rows) sum += std::stod(row.back().exact);
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST(Models, SeveralNamesAreOneRowEach) {
  const Checked<Outcome> outcome = call("models", {"deepseek-v3", "qwen3-235b-a22b", "deepseek-v3"});
  ASSERT_TRUE(outcome) << describe(outcome.error());
  const auto& table = std::get<report::Table>(outcome->report.blocks.front());
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0][0].shown, "deepseek-v3");
  EXPECT_EQ(table.rows[1][0].shown, "qwen3-235b-a22b");
  EXPECT_FALSE(call("models", {"deepseek-v3", "no-such-model"}));
}

}  // namespace
}  // namespace rightsize::app
