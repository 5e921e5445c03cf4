#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "feeds/feed.h"

namespace rightsize::feeds {
namespace {

struct ShadeformRows : FeedSink {
  std::vector<FeedRow> rows;
  void take(FeedRow row) override { rows.push_back(std::move(row)); }
  void take(InterruptionRow) override {}
  void refuse(std::string_view, std::string_view, long) override {}
  void pass() override {}
};

std::vector<FeedRow> read_types(const std::string& types) {
  static const catalog::Catalog kCatalog = *catalog::load_catalog("");
  ShadeformRows sink;
  const std::string text = R"({"instance_types": [)" + types + "]}";
  EXPECT_TRUE(read_feed("shadeform", bytes_of(text), "types.json", {.catalog = &kCatalog}, sink));
  return sink.rows;
}

std::string type(const char* gpu, const char* link, int gpus, int cents, const std::string& regions) {
  return fmt::format(
      R"({{"cloud": "acme", "shade_instance_type": "{0}x{2}", "hourly_price": {3}, "availability": [{4}],
          "configuration": {{"gpu_type": "{0}", "interconnect": "{1}", "num_gpus": {2}}}}})",
      gpu, link, gpus, cents, regions);
}

// One row per region with capacity, in dollars.
RC_GTEST_PROP(Shadeform, ReadsTheRegionsWithCapacity, (const std::vector<bool>& available)) {
  const int gpus = *rc::gen::inRange(1, 9), cents = *rc::gen::inRange(1, 10'000);
  std::string regions;
  for (std::size_t i = 0; i < available.size(); ++i)
    regions += fmt::format(R"({}{{"region": "r{}", "available": {}}})", i > 0 ? "," : "", i, available[i] == true);
  const std::vector<FeedRow> rows = read_types(type("L40S", "pcie", gpus, cents, regions));
  RC_ASSERT(static_cast<std::ptrdiff_t>(rows.size()) == std::count(available.begin(), available.end(), true));
  for (const FeedRow& row : rows) {
    RC_ASSERT(row.usd_per_hour == cents / 100.0);
    RC_ASSERT(row.gpus == gpus);
    RC_ASSERT(available[static_cast<std::size_t>(std::stoi(row.region.substr(1)))]);
  }
}

TEST(Shadeform, GpusAndMachinesAreSpelledAsInTheCatalogue) {
  const std::string here = R"({"region": "any", "available": true})";
  const std::vector<FeedRow> rows =
      read_types(type("A100_80G", "sxm4", 8, 1200, here) + "," + type("H100", "pcie", 1, 200, here) + "," +
                 type("H100", "", 1, 200, here));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].instance, "acme_A100-80GBx8");
  EXPECT_EQ(rows[0].gpu, "A100-80GB-sxm");
  EXPECT_EQ(rows[1].gpu, "H100-pcie");
  EXPECT_EQ(rows[2].gpu, "H100") << "the form factor is unknown";
}

}  // namespace
}  // namespace rightsize::feeds
