// Any bytes as a price feed: the first line names the feed and may name a provider, the rest is the file.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

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
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string_view line = all.substr(0, end), text = all.substr(std::min(end + 1, all.size()));
  const std::size_t space = std::min(line.find(' '), line.size());
  const std::string kind(line.substr(0, space)), provider(line.substr(std::min(space + 1, line.size())));
  if (!find_feed_kind(kind)) return 0;
  const PriceFeedOptions options{provider.empty() ? "aws" : provider, &facts()};
  Importer importer(facts(), {20'000}, "fuzz");
  const auto read = read_feed(kind, rightsize::bytes_of(text), "fuzz", options, importer);
  if (!read) (void)describe(read.error());
  for (const ImportedPrice& price : importer.finish().prices) {
    // Garbage without a price must not produce rows that a recommendation could use.
    if (!(price.usd_per_hour > 0)) __builtin_trap();
  }
  return 0;
}
