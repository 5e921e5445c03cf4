// The AWS price list as CSV: five lines of metadata, a header whose columns change, then one line a price of everything
// EC2 sells. Only lines of known GPU machines are taken apart.
#include <cstring>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "feeds/aws_terms.h"
#include "feeds/csv_stream.h"

namespace rightsize::feeds {
namespace {

class Reader {
 public:
  Reader(const Source& source, FeedSink& sink)
      : source_(source), terms_(sink), sink_(sink), machines_(*source.options.catalog, "aws") {}

  Result<> read() {
    CsvStream csv(source_.bytes, source_.file);
    if (Result<> header = find_header(csv); !header) return header;
    const std::size_t type = columns_.of("Instance Type");
    for (std::string_view record; csv.next(record);) {
      split_csv(record, cells_, type + 1);
      const std::string_view instance = cells_.size() > type ? cells_[type] : std::string_view{};
      if (!may_have_gpus(instance)) {
        sink_.pass();
        continue;
      }
      split_csv(record, cells_);
      take(instance, csv.line());
    }
    if (csv.failed()) return fail(csv.error());
    terms_.finish();
    return {};
  }

 private:
  Result<> find_header(CsvStream& csv) {
    std::string_view record;
    for (int line = 0; line < 20 && csv.next(record); ++line) {
      if (record.find("\"SKU\"") == std::string_view::npos && !record.starts_with("SKU,")) continue;
      columns_ = CsvColumns(record);
      if (columns_.has("Instance Type") && columns_.has("PricePerUnit")) return {};
    }
    if (csv.failed()) return fail(csv.error());
    return fail(bad_input(source_.file + ": not an AWS price list: no line names the columns SKU and Instance Type")
                    .with_hint("https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/"
                               "REGION/index.csv"));
  }

  // Families that hold GPUs begin with g, p, inf, trn, dl: a look at two letters before any hash.
  static bool may_have_gpus(std::string_view instance) {
    if (instance.size() < 3) return false;
    switch (instance[0]) {
      case 'g':
      case 'p':
        return instance[1] >= '0' && instance[1] <= '9';
      case 'i':
        return instance.starts_with("inf");
      case 't':
        return instance.starts_with("trn");
      default:
        return false;
    }
  }

  std::string_view cell(std::string_view name) const { return columns_.cell(cells_, name); }

  void take(std::string_view instance, long line) {
    const catalog::Machine* machine = machines_.find(instance);
    const AwsProduct product{cell("Operating System"),  cell("Tenancy"),       cell("CapacityStatus"),
                             cell("Pre Installed S/W"), cell("License Model"), cell("MarketOption"),
                             cell("operation")};
    if (!is_plain_linux(product)) return sink_.pass();
    if (machine == nullptr) return sink_.refuse("machine not in the catalogue", instance, line);
    AwsPrice price;
    price.sku = cell("SKU");
    price.instance = machine->instance;
    price.region = cell("Region Code");
    price.term = cell("TermType");
    price.lease = cell("LeaseContractLength");
    price.option = cell("PurchaseOption");
    price.offering = cell("OfferingClass");
    price.unit = cell("Unit");
    price.usd = cell_number(cell("PricePerUnit"));
    price.line = line;
    price.block = is_capacity_block(product);
    if (cell("Currency") != "USD") return sink_.refuse("not in dollars", instance, line);
    terms_.take(price);
  }

  const Source& source_;
  AwsTerms terms_;
  FeedSink& sink_;
  KnownMachines machines_;
  CsvColumns columns_;
  std::vector<std::string_view> cells_;
};

}  // namespace

Result<> read_aws_csv(const Source& source, FeedSink& sink) { return Reader(source, sink).read(); }

}  // namespace rightsize::feeds
