// Tools for the files of src/feeds/providers, which read one kind of price feed each.
//
// Such a file defines a function with its own name that describes the feeds it reads; the build collects them, so a new
// feed is one new file:
//
//   std::vector<Feed> vast() { return {{{"vast", "Vast offers, JSON", true}, false, read_vast}}; }
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_source.h"
#include "base/csv_reader.h"
#include "base/json_reader.h"
#include "feeds/feed.h"

namespace rightsize::feeds {

// A file, opened. It is read once, from front to back.
struct FeedInput {
  ByteSource& bytes;
  std::string file;
  std::string provider;  // from --provider or the file's name; empty if unknown
  const catalog::Catalog& catalog;
  char first = '\0';     // character that is not a space: '{' or '[' for JSON
  std::string currency;  // from --currency; empty: not given

  // The currency of a provider's list that was copied without one: --currency, else the provider's usual currency.
  std::string list_currency() const;
};

struct Feed : FeedKind {
  bool provider_in_file_name = false;  // "aws/vms.csv" holds prices of aws
  Result<> (*read)(const FeedInput& input, FeedSink& sink) = nullptr;
  // Words that all occur at the beginning of such files, and of no other feed; alternatives are separated by '|'.
  std::string_view marks = {};
};
const std::vector<Feed>& all_feeds();

// Every entry of the JSON lists called `list`, at any depth of objects; a list at the top may have any name. Several
// pages may follow each other. Fails with "not `what`" if there is no such list.
Result<> read_entries(const FeedInput& input, std::string_view list, const char* what,
                      const std::function<void(const JsonValue&)>& take);

// A row of a CSV table.
class TableRow {
 public:
  TableRow(const CsvColumns& columns, const std::vector<std::string_view>& cells, long line)
      : columns_(columns), cells_(cells), line_(line) {}

  // Empty if there is no such column; number() is empty if the cell is not a number.
  std::string_view operator[](std::string_view column) const { return columns_.cell(cells_, column); }
  std::optional<double> number(std::string_view column) const;
  long line() const { return line_; }
  bool is_complete() const { return cells_.size() >= columns_.count(); }

 private:
  const CsvColumns& columns_;
  const std::vector<std::string_view>& cells_;
  long line_;
};
// Every row of a CSV table that must have the columns `needed`. Fails with "not `what`" if one is missing. `meant` is
// the name of a column that a table may call differently.
Result<> read_rows(const FeedInput& input, std::initializer_list<const char*> needed, const char* what,
                   const std::function<void(const TableRow&)>& take,
                   const std::function<std::string(std::string_view)>& meant = {});

// The columns of a table for the fields of a FeedRow.
struct RowColumns {
  const char *instance, *region, *zone, *gpu, *gpus, *vcpus, *memory_gib, *gpu_memory_gib;
};
FeedRow row_of(const TableRow& row, const RowColumns& columns, std::string provider);

// A number; empty if the text is blank or not a number.
std::optional<double> cell_number(std::string_view cell);

// Instance types of a provider in the catalogue, for feeds that list all of its machines.
class KnownMachines {
 public:
  KnownMachines(const catalog::Catalog& catalog, std::string_view provider);
  // Ignores case; null if not in the catalogue.
  const catalog::Machine* find(std::string_view instance) const;

 private:
  std::unordered_map<std::string, const catalog::Machine*> by_name_;
};
FeedRow row_of(const catalog::Machine& machine, std::string_view region, double usd_per_hour);

}  // namespace rightsize::feeds
