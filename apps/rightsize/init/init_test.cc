#include <filesystem>
#include <fstream>
#include <variant>

#include <gtest/gtest.h>

#include "rightsize/call.h"

namespace rightsize::app {
namespace {

// The example of an organisation is one that 'portfolio' plans, without a setting that it does not know.
TEST(Init, PortfolioPlansItsExample) {
  const Checked<Outcome> written = call("init", {"--portfolio"});
  ASSERT_TRUE(written);
  const auto* text = std::get_if<report::Verbatim>(&written->report.blocks.front());
  ASSERT_NE(text, nullptr);
  const std::string file = testing::TempDir() + "organisation.yaml";
  std::ofstream(file) << text->text;
  const Checked<Outcome> planned = call("portfolio", {file});
  std::filesystem::remove(file);
  ASSERT_TRUE(planned) << describe(planned.error());
  EXPECT_EQ(planned->exit_code, kDone);
  EXPECT_FALSE(call("init", {"--portfolio", "--model", "llama-3.1-8b"})) << "settings that it would not write";
}

}  // namespace
}  // namespace rightsize::app
