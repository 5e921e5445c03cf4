#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "base/decimal.h"
#include "base/suggest.h"
#include "base/text.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

// "aws/vms.csv" and "aws_v7.csv.gz" belong to aws.
std::string provider_of(const std::string& path) {
  const std::filesystem::path file(path);
  std::string name = file.filename().string();
  name = name.substr(0, name.find('.'));
  if (name == "vms" || name == "catalog") name = file.parent_path().filename().string();
  return to_lower(name.substr(0, name.find('_')));
}

bool read_lists(JsonReader& json, std::string_view list, const std::function<void()>& take) {
  if (json.peek() == '[') return json.each_item(take);
  bool found = false;
  json.each_member([&](const std::string& name) {
    if (json.peek() == '{' || (name == list && json.peek() == '[')) {
      found = read_lists(json, list, take) || found;
    } else {
      json.skip();
    }
  });
  return found;
}

}  // namespace

bool resells(std::string_view provider) {
  static constexpr std::string_view kResellers[] = {"cudo",      "hyperbolic", "mithril", "primeintellect",
                                                    "shadeform", "vast",       "yotta"};
  return std::ranges::find(kResellers, provider) != std::end(kResellers);
}

std::vector<FeedKind> feed_kinds() { return {all_feeds().begin(), all_feeds().end()}; }

Result<FeedKind> find_feed_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const Feed& feed : all_feeds()) {
    if (feed.name == name) return feed;
    names.push_back(feed.name);
  }
  return fail(bad_input(fmt::format("unknown feed '{}'", name))
                  .with_hint(did_you_mean(name, names))
                  .with_hint(fmt::format("feeds are {}", fmt::join(names, ", "))));
}

Result<FeedKind> feed_of(const std::string& path) {
  constexpr std::size_t kLook = 65'536;  // entries of a marketplace are long
  RIGHTSIZE_TRY(const std::unique_ptr<ByteSource> bytes, open_bytes(path));
  RIGHTSIZE_TRY(const std::string text, read_beginning(*bytes, kLook));
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  for (const Feed& feed : all_feeds()) {
    for (const std::string_view words : split_list(feed.marks, '|')) {
      if (std::ranges::all_of(split_list(words, ' '), has)) return feed;
    }
  }
  const std::string header = to_lower(text.substr(0, text.find('\n')));
  if (header.find(',') != std::string::npos && header.find_first_of("{[") == std::string::npos)
    return find_feed_kind("csv");
  return fail(bad_input(fmt::format("'{}' is not a known price feed", path)));
}

Result<> read_feed(std::string_view kind, std::unique_ptr<ByteSource> bytes, const std::string& file,
                   const PriceFeedOptions& options, FeedSink& sink) {
  RIGHTSIZE_TRY(const FeedKind known, find_feed_kind(kind));
  const Feed& feed = *std::ranges::find(all_feeds(), known.name, &Feed::name);
  RIGHTSIZE_TRY(std::string beginning, read_beginning(*bytes, 256));
  const std::size_t first = beginning.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  const char first_character = first == std::string::npos ? '\0' : beginning[first];
  bytes = put_back(std::move(beginning), std::move(bytes));
  FeedInput input{*bytes, file, options.provider, *options.catalog, first_character, options.currency};
  if (input.provider.empty() && feed.provider_in_file_name && file != "-") input.provider = provider_of(file);
  return feed.read(input, sink);
}

Result<> read_feed(std::string_view kind, const std::string& path, const PriceFeedOptions& options, FeedSink& sink) {
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> bytes, open_bytes(path));
  return read_feed(kind, std::move(bytes), path, options, sink);
}

std::string FeedInput::list_currency() const {
  const catalog::ProviderFacts* facts = currency.empty() ? catalog.find_provider(provider) : nullptr;
  return facts != nullptr ? facts->currency : currency;
}

Result<> read_entries(const FeedInput& input, std::string_view list, const char* what,
                      const std::function<void(const JsonValue&)>& take) {
  JsonReader json(input.bytes, input.file);
  bool found = false;
  JsonValue entry;
  const auto take_entry = [&] {
    // Pages may themselves be in a list: {"Items": [...]} is then not an entry.
    if (json.peek() != '{' || !json.read_value(entry)) return json.skip();
    const std::vector<JsonValue>& page = items_at(entry, list);
    for (const JsonValue& item : page) take(item);
    if (page.empty()) take(entry);
  };
  do {
    found = read_lists(json, list, take_entry) || found;
  } while (json.next_document());
  if (json.failed()) return fail(json.error());
  if (!found) return fail(bad_input(fmt::format("{}: not {}: no list {}", input.file, what, list)));
  return {};
}

std::optional<double> TableRow::number(std::string_view column) const { return cell_number((*this)[column]); }

Result<> read_rows(const FeedInput& input, std::initializer_list<const char*> needed, const char* what,
                   const std::function<void(const TableRow&)>& take,
                   const std::function<std::string(std::string_view)>& meant) {
  CsvReader csv(input.bytes, input.file);
  std::string_view record;
  while (csv.next(record) && record.starts_with('#')) continue;
  if (csv.failed()) return fail(csv.error());
  if (record.empty()) return fail(bad_input(input.file + ": the file is empty"));
  std::string header;
  std::vector<std::string_view> titles;
  split_csv(record, titles);
  for (const std::string_view title : titles)
    header.append(header.empty() ? "" : ",").append(meant ? meant(trim(title)) : title);
  const CsvColumns columns(meant ? header : record);
  std::vector<std::string> missing;
  for (const char* name : needed) {
    if (!columns.has(name)) missing.emplace_back(name);
  }
  if (!missing.empty())
    return fail(
        bad_input(fmt::format("not {}: no column {}", what, fmt::join(missing, ", ")))
            .at({input.file, static_cast<int>(csv.line()), 1, 1, std::string(record.substr(0, 100))})
            .with_hint(fmt::format("it needs at least the columns {}", fmt::join(needed.begin(), needed.end(), ","))));
  for (std::vector<std::string_view> cells; csv.next(record);) {
    split_csv(record, cells);
    take({columns, cells, csv.line()});
  }
  if (csv.failed()) return fail(csv.error());
  return {};
}

FeedRow row_of(const TableRow& table, const RowColumns& columns, std::string provider) {
  FeedRow row;
  row.provider = std::move(provider);
  row.instance = table[columns.instance];
  row.region = table[columns.region];
  row.zone = table[columns.zone];
  row.gpu = table[columns.gpu];
  row.gpus = table.number(columns.gpus);
  row.vcpus = table.number(columns.vcpus);
  row.memory_gib = table.number(columns.memory_gib);
  row.gpu_memory_gib = table.number(columns.gpu_memory_gib);
  row.line = table.line();
  return row;
}

FeedRow row_of(const catalog::Machine& machine, std::string_view region, double usd_per_hour) {
  FeedRow row;
  row.provider = machine.provider;
  row.instance = machine.instance;
  row.region = region;
  row.usd_per_hour = usd_per_hour;
  return row;
}

std::optional<double> cell_number(std::string_view cell) {
  cell = trim(cell);
  double value = 0;
  const char* end = cell.data() + cell.size();
  if (cell.empty() || parse_decimal(cell.data(), end, value) != end || std::isnan(value)) return std::nullopt;
  return value;
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
