// Price feeds: what providers and catalogues publish, each in its own shape, as rows of one shape.
//
//   read_feed("skypilot", "aws/vms.csv", options, sink);
//
// Readers stream: memory does not grow with the file except for the rows of GPU machines. They judge nothing but what
// their own format means (units, sums, which rows are other products); names, counts and prices are checked by
// import.h, the same for every feed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::feeds {

// One price as a feed states it.
struct FeedRow {
  std::string provider, instance, region, zone;  // zone empty: all of the region
  catalog::Purchase purchase = catalog::Purchase::kOnDemand;
  double usd_per_hour = 0;  // of the whole machine
  // What the feed says of the machine; empty where it says nothing.
  std::string gpu;                          // its spelling
  std::optional<double> gpus;               // may be a fraction
  std::optional<double> vcpus, memory_gib;  // of the machine
  std::optional<double> gpu_memory_gib;     // of one GPU
  bool community = false;                   // hosted by peers
  std::optional<Date> date;                 // of this price, where rows have their own
  std::string note;
  std::string corrected;  // a mistake of the feed that the reader undid: "memory in GB where MiB is said"
  long line = 0;
};

// How often spot machines of a type are taken back in a region: the share interrupted within a month.
struct InterruptionRow {
  std::string provider, instance, region;
  double least = 0, most = 0;  // 0-1
};

class FeedSink {
 public:
  virtual ~FeedSink() = default;
  virtual void take(FeedRow row) = 0;
  virtual void take(InterruptionRow row) = 0;
  // A row that is meant for us but cannot be: why, and which ("p5e.48xlarge us-east-2").
  virtual void refuse(std::string_view why, std::string_view what, long line) = 0;
  // A row that is not of a GPU machine, or of another product: counted only.
  virtual void pass() = 0;
};

struct FeedOptions {
  std::string provider = {};  // where the file does not say: SkyPilot, gpuhunt
  const catalog::Catalog* catalog = nullptr;
};

struct FeedKind {
  const char* name;
  const char* what;  // "SkyPilot catalogue: vms.csv of any cloud"
  bool complete;     // a file holds all prices of its provider: what it no longer names is withdrawn
};
const std::vector<FeedKind>& feed_kinds();
// Fails with a suggestion.
Result<const FeedKind*> find_feed_kind(std::string_view name);

// Reads a whole file, "-" for standard input; gzip and zstd are unpacked. Fails where the file cannot be read or is not
// what it is said to be; then nothing that the sink was given should be kept.
Result<> read_feed(std::string_view kind, const std::string& path, FeedOptions options, FeedSink& sink);

}  // namespace rightsize::feeds
