// Price feeds: prices of providers and catalogues, read from many formats into rows of one form.
//
//   read_feed("skypilot", "aws/vms.csv", {.provider = "", .catalog = &catalog}, sink);
//
// Readers stream: memory does not grow with the file except for the rows of GPU machines. They only interpret their own
// format (units, sums, which rows are other products); import.h checks names, counts and prices, in the same way for
// every feed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/date.h"
#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::feeds {

// No provider lists more prices of GPU machines, or more types of them; a feed that does is damaged or not a price
// list. Readers and the importer refuse the rest, which bounds memory for any feed.
inline constexpr std::size_t kMostPrices = 100'000, kMostMachines = 20'000;
inline constexpr const char* kTooMany = "more prices than any provider lists";

// One price as a feed states it.
struct FeedRow {
  std::string provider, instance, region, zone;  // zone empty: all of the region
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  double usd_per_hour = 0;                            // of the whole machine
  std::string currency;                               // of usd_per_hour if it is not dollars; import.h converts it
  std::optional<catalog::Conversion> converted = {};  // set by import.h
  // The feed's facts about the machine; empty if not given.
  std::string gpu;                          // in its own spelling
  std::optional<double> gpus;               // may be a fraction
  std::optional<double> vcpus, memory_gib;  // of the machine
  std::optional<double> gpu_memory_gib;     // of one GPU
  bool community = false;                   // peer-hosted or resold
  std::optional<Date> date;                 // of this price, if rows have dates
  std::string note;
  std::string corrected;  // a mistake in the feed that the reader corrected: "GPU memory in GB, labelled MiB"
  long line = 0;
};

// The value of FeedRow::corrected if a feed gives the memory of all GPUs.
inline constexpr const char* kMemoryOfAll = "memory of all GPUs, labelled as that of one";

// Whether a provider sells machines that it does not run itself: a marketplace or an aggregator.
bool resells(std::string_view provider);

// How often spot machines of a type are reclaimed in a region: the share interrupted within a month.
struct InterruptionRow {
  std::string provider, instance, region;
  double least = 0, most = 0;  // 0-1
};

class FeedSink {
 public:
  virtual ~FeedSink() = default;
  virtual void take(FeedRow row) = 0;
  virtual void take(InterruptionRow row) = 0;
  // Refuses a row about a GPU machine: the reason, and the row ("p5e.48xlarge us-east-2").
  virtual void refuse(std::string_view why, std::string_view what, long line) = 0;
  // A row about another product: only counted.
  virtual void pass() = 0;
};

struct PriceFeedOptions {
  std::string provider = {};  // for files that do not name it: SkyPilot, gpuhunt
  const catalog::Catalog* catalog = nullptr;
  std::string currency = {};  // of amounts without one; empty: the feed's currency, else dollars
};

struct FeedKind {
  std::string name;       // as in --feed
  std::string what;       // "SkyPilot catalogue: vms.csv of a cloud"
  bool complete = false;  // a file holds all prices of its provider: those it no longer lists are withdrawn
  bool copied = false;    // a collection of copied lists: prices may be much older than the file
};
std::vector<FeedKind> feed_kinds();
// Fails with a suggestion.
Result<FeedKind> find_feed_kind(std::string_view name);
// The feed that a file is, from its keys or columns; other tables are "csv".
Result<FeedKind> feed_of(const std::string& path);

// Reads a whole file, "-" for standard input; gzip and zstd are decompressed. Fails if the file cannot be read or has
// another format; the rows passed to the sink should then be discarded.
Result<> read_feed(std::string_view kind, const std::string& path, const PriceFeedOptions& options, FeedSink& sink);
// The same for an open source; `file` is used in errors and for the provider's name.
Result<> read_feed(std::string_view kind, std::unique_ptr<ByteSource> bytes, const std::string& file,
                   const PriceFeedOptions& options, FeedSink& sink);

}  // namespace rightsize::feeds
