#include <filesystem>

#include <fmt/format.h>

#include "base/suggest.h"
#include "base/text.h"
#include "feeds/readers.h"
#include "telemetry/decimal.h"
#include "telemetry/feeds/uncompress.h"

namespace rightsize::feeds {
namespace {

// AWS publishes CSV and JSON; the first character tells them apart.
Result<> read_aws(const Source& source, FeedSink& sink, char first) {
  return first == '{' ? read_aws_json(source, sink) : read_aws_csv(source, sink);
}

// "aws/vms.csv" and "aws_v7.csv.gz" are of aws.
std::string provider_of(const std::string& path) {
  const std::filesystem::path file(path);
  std::string name = file.filename().string();
  name = name.substr(0, name.find('.'));
  if (name == "vms" || name == "catalog") name = file.parent_path().filename().string();
  return to_lower(name.substr(0, name.find('_')));
}

}  // namespace

const std::vector<FeedKind>& feed_kinds() {
  static const std::vector<FeedKind> kKinds = {
      {"skypilot", "SkyPilot catalogue: vms.csv of a cloud", true},
      {"aws", "AWS price list (CSV, JSON), Savings Plans, spot price history, spot advisor", false},
      {"azure", "Azure Retail Prices, pages of JSON", false},
      {"gcp", "Google Cloud Billing SKUs, summed into machines", false},
      {"gpuhunt", "gpuhunt catalogue, CSV", true},
      {"runpod", "RunPod's gpuTypes, JSON", true},
      {"vast", "Vast offers, JSON", true},
      {"csv", "a table of yours: provider,instance,region,purchase,price[,zone,date,gpu,gpus,note]", false},
  };
  return kKinds;
}

Result<const FeedKind*> find_feed_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const FeedKind& kind : feed_kinds()) {
    if (kind.name == name) return &kind;
    names.emplace_back(kind.name);
  }
  return fail(bad_input(fmt::format("unknown feed '{}'", name))
                  .with_hint(did_you_mean(name, names))
                  .with_hint(fmt::format("feeds are {}", fmt::join(names, ", "))));
}

Result<> read_feed(std::string_view kind, const std::string& path, FeedOptions options, FeedSink& sink) {
  RIGHTSIZE_TRY(std::unique_ptr<telemetry::ByteSource> opened, telemetry::open_bytes(path));
  RIGHTSIZE_TRY(std::unique_ptr<telemetry::ByteSource> plain, telemetry::uncompress(path, std::move(opened)));
  RIGHTSIZE_TRY(std::string beginning, telemetry::read_beginning(*plain, 256));
  const std::string_view text =
      trim(std::string_view(beginning).starts_with("\xEF\xBB\xBF") ? std::string_view(beginning).substr(3)
                                                                   : std::string_view(beginning));
  const char first = text.empty() ? '\0' : text.front();
  const std::unique_ptr<telemetry::ByteSource> bytes = telemetry::put_back(std::move(beginning), std::move(plain));
  const bool named_by_file = kind == "skypilot" || kind == "gpuhunt";
  if (options.provider.empty() && named_by_file && path != "-") options.provider = provider_of(path);
  const Source source{*bytes, path, options};
  if (kind == "skypilot") return read_skypilot(source, sink);
  if (kind == "aws") return read_aws(source, sink, first);
  if (kind == "azure") return read_azure(source, sink);
  if (kind == "gcp") return read_gcp(source, sink);
  if (kind == "gpuhunt") return read_gpuhunt(source, sink);
  if (kind == "runpod") return read_runpod(source, sink);
  if (kind == "vast") return read_vast(source, sink);
  return read_own_csv(source, sink);
}

std::optional<double> cell_number(std::string_view cell) {
  cell = trim(cell);
  double value = 0;
  const char* end = cell.data() + cell.size();
  if (cell.empty() || telemetry::parse_decimal(cell.data(), end, value) != end) return std::nullopt;
  return value == value ? std::optional(value) : std::nullopt;
}

KnownMachines::KnownMachines(const catalog::Catalog& catalog, std::string_view provider) {
  for (const catalog::Machine& machine : catalog.machines) {
    if (machine.provider == provider) by_name_.emplace(to_lower(machine.instance), &machine);
  }
}

const catalog::Machine* KnownMachines::find(std::string_view instance) const {
  const auto found = by_name_.find(to_lower(instance));
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace rightsize::feeds
