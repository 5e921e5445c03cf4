// The first screen has the answer, its caveats and the plans, on a terminal of 80 columns and 24 lines.
#include <algorithm>
#include <cstddef>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/read_request.h"
#include "rightsize/recommend/report.h"

namespace rightsize::app {
namespace {

using testing::HasSubstr;
using testing::Not;
using Settings = std::vector<std::pair<std::string, std::string>>;

const catalog::Catalog& facts() {
  static const catalog::Catalog kAll = *catalog::load_catalog("");
  return kAll;
}

std::string first_screen(const Settings& given) {
  static const perf::Constants kConstants = *perf::load_constants("");
  static const market::PriceBook kBook(facts());
  std::vector<model::Setting> settings;
  for (const auto& [name, value] : given) settings.push_back({name, value, {}});
  const Checked<plan::Request> request = plan::read_request(settings, facts());
  EXPECT_TRUE(request) << describe(request.error());
  const plan::Recommendation found = plan::recommend(*request, kBook, kConstants);
  return render(report_of({*request, found, facts()}), report::Format::kText, {.width = 80, .fit_tables = true});
}

TEST(FirstScreen, FitsATerminal) {
  const Settings all[] = {
      {{"model", "llama-2-7b"}, {"tokens", "1B"}, {"seq", "2048"}, {"deadline", "14d"}},
      {{"model", "llama-3.1-70b"}, {"tokens", "500M"}, {"method", "qlora"}},
      {{"model", "resnet-50"}, {"epochs", "90"}, {"dataset-samples", "1.28M"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}, {"ttft-slo", "1s"}, {"tpot-slo", "40ms"}},
      {{"model", "deepseek-v3"}, {"job", "serve"}, {"rate", "5/s"}, {"ttft-slo", "2s"}, {"tpot-slo", "50ms"}},
      {{"model", "gpt-oss-120b"}, {"job", "serve"}, {"rate", "20/s"}, {"providers", "aws"}},
      {{"model", "sdxl"}, {"job", "serve"}, {"rate", "1/s"}, {"ttft-slo", "5s"}},
      {{"model", "llama-3.1-8b"}, {"job", "serve"}, {"items", "1M"}, {"deadline", "12h"}}};
  for (const Settings& settings : all) {
    const std::string text = first_screen(settings);
    std::size_t lines = 0;  // a terminal breaks what is longer
    for (std::size_t from = 0, to; (to = text.find('\n', from)) != std::string::npos; from = to + 1)
      lines += std::max<std::size_t>(1, (to - from + 79) / 80);
    EXPECT_LE(lines, 25u) << text;  // the title of a service may take two
  }
}

// Everything the answer assumes.
TEST(FirstScreen, NamesWhatIsAssumed) {
  const Settings chat{{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "10/s"}, {"ttft-slo", "1s"}};
  EXPECT_THAT(first_screen(chat), HasSubstr("Assumed: 1,024 tokens in, 256 out, p95 2,848 and 712"));
  Settings given = chat;
  given.insert(given.end(), {{"isl", "500"}, {"osl", "100"}});
  EXPECT_THAT(first_screen(given), HasSubstr("Assumed: lengths vary as in public traces, p95 1,391 in, 278 out"));
  given = chat;
  given.insert(given.end(), {{"isl", "500,fixed"}, {"osl", "100,fixed"}});
  EXPECT_THAT(first_screen(given), Not(HasSubstr("public traces")));
  EXPECT_THAT(first_screen({{"model", "sdxl"}, {"job", "serve"}, {"rate", "1/s"}}),
              HasSubstr("30 steps, with guidance"));
}

}  // namespace
}  // namespace rightsize::app
