// Price feeds of every kind: the first byte chooses the kind, the rest is the file.
#include <cstdint>
#include <map>
#include <string>

#include "feeds/import.h"
#include "feeds/readers.h"

namespace {

// Some machines and prices of each provider: an importer looks through all of them for every file.
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
  using Reader = rightsize::Result<> (*)(const Source&, FeedSink&);
  constexpr Reader kReaders[] = {read_skypilot, read_skypilot, read_gpuhunt, read_own_csv, read_aws_csv,
                                 read_aws_json, read_azure,    read_gcp,     read_runpod,  read_vast};
  const std::size_t kind = data[0] % std::size(kReaders);
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto bytes = rightsize::telemetry::bytes_of(text);
  const FeedOptions options{kind == 1 ? "gcp" : "aws", &facts()};
  Importer importer(facts(), {20'000}, "fuzz");
  if (const auto read = kReaders[kind]({*bytes, "fuzz", options}, importer); !read) (void)describe(read.error());
  for (const rightsize::catalog::Price& price : importer.finish().prices) {
    // Nothing a recommendation could rest on may come of garbage without a price.
    if (!(price.machine_price > rightsize::UsdPerMachineSecond{})) __builtin_trap();
  }
  return 0;
}
