// The readers of each kind; read_feed.cc chooses.
#pragma once

#include <string>
#include <unordered_map>

#include "feeds/feed.h"
#include "telemetry/byte_source.h"

namespace rightsize::feeds {

struct Source {
  telemetry::ByteSource& bytes;
  std::string file;
  const FeedOptions& options;
};

Result<> read_skypilot(const Source& source, FeedSink& sink);
Result<> read_gpuhunt(const Source& source, FeedSink& sink);
Result<> read_own_csv(const Source& source, FeedSink& sink);
Result<> read_aws_csv(const Source& source, FeedSink& sink);
Result<> read_aws_json(const Source& source, FeedSink& sink);  // price list, Savings Plans, spot history, spot advisor
Result<> read_azure(const Source& source, FeedSink& sink);
Result<> read_gcp(const Source& source, FeedSink& sink);
Result<> read_runpod(const Source& source, FeedSink& sink);
Result<> read_vast(const Source& source, FeedSink& sink);

// A number of a cell; nothing where it is blank or none.
std::optional<double> cell_number(std::string_view cell);
// Instance types of a provider in the catalogue, for readers that must know which rows are GPU machines.
class KnownMachines {
 public:
  KnownMachines(const catalog::Catalog& catalog, std::string_view provider);
  // Without regard to case; null: not in the catalogue.
  const catalog::Machine* find(std::string_view instance) const;

 private:
  std::unordered_map<std::string, const catalog::Machine*> by_name_;
};

}  // namespace rightsize::feeds
