// Reads a price list of one gigabyte, and queries ten million days of history.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "feeds/import.h"
#include "feeds/price_store.h"

namespace {

using namespace rightsize;

constexpr std::size_t kGigabyte = 1'000'000'000;
constexpr const char* kHeader =
    "\"FormatVersion\",\"v1.0\"\n\"Disclaimer\",\"generated\"\n\"Publication Date\",\"2026-11-15\"\n\"Version\",\"1\"\n"
    "\"OfferCode\",\"AmazonEC2\"\n";

// Rows in AWS's format: about 1,300 characters in 90 columns, one in thirty for a GPU machine.
std::string block() {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    const bool gpu = i % 30 == 0;
    text += fmt::format(
        "\"SKU{:010d}\",\"JRTCKXETXF\",\"SKU.JRTCKXETXF.6YS6EN2CT7\",\"{}\",\"$1.0 per On Demand Linux Instance Hour\","
        "\"2026-11-01\",\"0\",\"Inf\",\"Hrs\",\"{}.0400000000\",\"USD\",\"\",\"{}\",\"{}\",\"{}\",\"Compute Instance\","
        "\"AmazonEC2\",\"US East (N. Virginia)\",\"AWS Region\",\"{}\"",
        i, i % 4 == 0 ? "Reserved" : "OnDemand", 50 + i % 7, i % 4 == 0 ? "1yr" : "", i % 4 == 0 ? "No Upfront" : "",
        i % 4 == 0 ? "standard" : "", gpu ? "p5.48xlarge" : "m6i.4xlarge");
    for (int column = 0; column < 60; ++column) text += ",\"value of a column\"";
    text += ",\"Shared\",\"Linux\",\"Used\",\"OnDemand\",\"NA\",\"us-east-1\"\n";
  }
  return text;
}

std::string header() {
  std::string text = kHeader;
  text +=
      "\"SKU\",\"OfferTermCode\",\"RateCode\",\"TermType\",\"PriceDescription\",\"EffectiveDate\",\"StartingRange\","
      "\"EndingRange\",\"Unit\",\"PricePerUnit\",\"Currency\",\"RelatedTo\",\"LeaseContractLength\",\"PurchaseOption\","
      "\"OfferingClass\",\"Product Family\",\"serviceCode\",\"Location\",\"Location Type\",\"Instance Type\"";
  for (int column = 0; column < 60; ++column) text += fmt::format(",\"Column {}\"", column);
  return text +
         ",\"Tenancy\",\"Operating System\",\"CapacityStatus\",\"MarketOption\",\"Pre Installed S/W\",\"Region "
         "Code\"\n";
}

class Generated : public ByteSource {
 public:
  Result<std::size_t> read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !done_) {
      const std::string& from = begun_ ? block_ : header_;
      const std::size_t count = std::min(buffer.size() - filled, from.size() - at_);
      std::memcpy(buffer.data() + filled, from.data() + at_, count);
      filled += count;
      given_ += count;
      at_ += count;
      if (at_ < from.size()) continue;
      begun_ = true;
      at_ = 0;
      done_ = given_ >= kGigabyte;  // after a whole block: the last line must be complete
    }
    return filled;
  }

 private:
  std::string header_ = header(), block_ = block();
  bool begun_ = false, done_ = false;
  std::size_t at_ = 0, given_ = 0;
};

double peak_megabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void read_a_gigabyte_of_aws_prices(benchmark::State& state) {
  const catalog::Catalog catalog = *catalog::load_catalog("");
  for (auto _ : state) {
    feeds::Importer importer(catalog, today(), "aws");
    const feeds::PriceFeedOptions options{"aws", &catalog};
    const Result<> read = feeds::read_feed("aws", std::make_unique<Generated>(), "generated.csv", options, importer);
    if (!read) state.SkipWithError("not read");
    benchmark::DoNotOptimize(importer.finish());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kGigabyte));
  state.counters["peak_MB"] = peak_megabytes();
}
BENCHMARK(read_a_gigabyte_of_aws_prices)->Unit(benchmark::kSecond)->Iterations(1);

// 25,000 offers over 400 days.
std::string ten_million() {
  std::string path = (std::filesystem::temp_directory_path() / fmt::format("rightsize-{}.db", getpid())).string();
  feeds::PriceStore store = *feeds::PriceStore::open(path, store::Access::kWrite);
  store::Database& database = store.database();
  (void)database.begin();
  int offer = 0;
  (void)database.insert("offer", {"id", "provider", "instance", "region", "zone", "purchase"},
                        [&](std::vector<store::Value>& values) {
                          if (++offer > 25'000) return false;
                          values = {std::int64_t{offer},
                                    std::string("aws"),
                                    fmt::format("box.{}", offer % 500),
                                    fmt::format("region-{}", offer / 500),
                                    std::string(),
                                    std::string("spot")};
                          return true;
                        });
  std::int64_t row = -1;
  (void)database.insert("price", {"offer", "day", "usd"}, [&](std::vector<store::Value>& values) {
    if (++row == 10'000'000) return false;
    values = {row / 400 + 1, 20'000 + row % 400, 1.0 + static_cast<double>(row % 97)};
    return true;
  });
  (void)database.commit();
  return path;
}

void ask_ten_million_days_of_history(benchmark::State& state) {
  const std::string path = ten_million();
  feeds::PriceStore store = *feeds::PriceStore::open(path, store::Access::kWrite);
  std::size_t points = 0;
  for (auto _ : state) {
    const auto found = store.history({.providers = {"aws"}, .instances = {"box.7"}});
    points = found ? found->size() : 0;
  }
  state.counters["points"] = static_cast<double>(points);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
}
BENCHMARK(ask_ten_million_days_of_history)->Unit(benchmark::kMillisecond);

}  // namespace
