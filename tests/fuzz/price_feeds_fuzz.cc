// Any bytes as a price feed: the first byte selects the feed, the rest is the file.
#include <cstdint>
#include <map>
#include <string>

#include "feeds/import.h"

namespace {

// Some machines and prices of each provider; an importer searches all of them for every file.
const rightsize::catalog::Catalog& facts() {
  static const rightsize::catalog::Catalog kCatalog = [] {
    rightsize::catalog::Catalog all = *rightsize::catalog::load_catalog("");
    constexpr std::size_t kEach = 5;
    std::map<std::string, std::size_t> machines, prices;
    std::erase_if(all.machines, [&](const auto& one) { return ++machines[one.provider] > kEach; });
    std::erase_if(all.prices, [&](const auto& one) { return ++prices[one.provider] > kEach; });
    return all;
  }();
  return kCatalog;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize::feeds;
  if (size == 0) return 0;
  const std::vector<FeedKind> kinds = feed_kinds();
  const std::size_t kind = data[0] % (kinds.size() + 1);  // one more: SkyPilot's file for Google, in parts
  const bool google = kind == kinds.size();
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const PriceFeedOptions options{google ? "gcp" : "aws", &facts()};
  Importer importer(facts(), {20'000}, "fuzz");
  const auto read =
      read_feed(google ? "skypilot" : kinds[kind].name, rightsize::bytes_of(text), "fuzz", options, importer);
  if (!read) (void)describe(read.error());
  for (const rightsize::catalog::Price& price : importer.finish().prices) {
    // Garbage without a price must not produce rows that a recommendation could use.
    if (!(price.machine_price > rightsize::UsdPerMachineSecond{})) __builtin_trap();
  }
  return 0;
}
