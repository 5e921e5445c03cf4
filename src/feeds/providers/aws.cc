// AWS: the price list (CSV or JSON), Savings Plans, Capacity Blocks on offer, spot price history and the spot advisor.
// JSON documents are recognised by their members.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/units.h"
#include "feeds/provider.h"

namespace rightsize::feeds {
namespace {

using catalog::Machine;
using catalog::Purchase;

// Attributes of a product, by their names in the JSON and the CSV list, and the values that a plain machine has: Linux,
// shared, without licences or pre-installed software, on demand or in a Capacity Block. Capacity reservations cost $0.
struct ProductRule {
  const char *json, *csv;
  std::vector<std::string_view> plain;
};
const ProductRule kPlainMachine[] = {{"operatingSystem", "Operating System", {"Linux"}},
                                     {"tenancy", "Tenancy", {"Shared", ""}},
                                     {"capacitystatus", "CapacityStatus", {"Used", ""}},
                                     {"preInstalledSw", "Pre Installed S/W", {"NA", ""}},
                                     {"marketoption", "MarketOption", {"OnDemand", "CapacityBlock", ""}},
                                     {"operation", "operation", {"RunInstances", ""}}};
const ProductRule kLicence = {"licenseModel", "License Model", {}};

struct AwsPrice {
  std::string_view instance, region, term, lease, option, offering, unit;
  std::optional<double> usd;
  long line = 0;
  bool block = false;  // in a Capacity Block
};

// "us-east-1" of the zone "us-east-1a".
std::string region_of_zone(const std::string& zone) {
  return zone.substr(0, zone.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1);
}

class AwsReader {
 public:
  AwsReader(const FeedInput& input, FeedSink& sink) : input_(input), sink_(sink), machines_(input.catalog, "aws") {}

  Result<> read() {
    if (Result<> done = input_.first == '{' ? read_json() : read_csv(); !done) return done;
    finish_reservations();
    return {};
  }

 private:
  // CSV: five lines of metadata, a header with changing columns, then one line per price of everything EC2 sells. Only
  // lines of known GPU machines are split.
  Result<> read_csv() {
    CsvReader csv(input_.bytes, input_.file);
    CsvColumns columns;
    std::string_view record;
    for (int line = 0; line < 20 && !columns.has("PricePerUnit") && csv.next(record); ++line)
      columns = CsvColumns(record);
    const std::size_t type = columns.of("Instance Type");
    if (!csv.failed() && (!columns.has("PricePerUnit") || type == std::string_view::npos)) {
      return fail(bad_input(input_.file + ": not an AWS price list: no line names the columns SKU and Instance Type")
                      .with_hint("https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/"
                                 "REGION/index.csv"));
    }
    for (std::vector<std::string_view> cells; csv.next(record);) {
      split_csv(record, cells, type + 1);
      const std::string instance(cells.size() > type ? cells[type] : std::string_view{});
      if (!may_have_gpus(instance)) {
        sink_.pass();
        continue;
      }
      split_csv(record, cells);
      take_row({columns, cells, csv.line()}, instance);
    }
    if (csv.failed()) return fail(csv.error());
    return {};
  }

  // GPU families begin with g, p, inf or trn: checking three letters is cheaper than hashing.
  static bool may_have_gpus(std::string_view instance) {
    if (instance.size() < 3) return false;
    const bool numbered = instance[1] >= '0' && instance[1] <= '9';
    return ((instance[0] == 'g' || instance[0] == 'p') && numbered) || instance.starts_with("inf") ||
           instance.starts_with("trn");
  }

  template <class Attribute>
  static bool is_plain(const Attribute& attribute) {
    return attribute(kLicence) != "Bring your own license" &&
           std::ranges::all_of(kPlainMachine, [&](const ProductRule& rule) {
             return std::ranges::find(rule.plain, attribute(rule)) != rule.plain.end();
           });
  }

  void take_row(const TableRow& row, const std::string& instance) {
    if (!is_plain([&](const ProductRule& rule) { return row[rule.csv]; })) return sink_.pass();
    const Machine* machine = machines_.find(instance);
    if (machine == nullptr) return sink_.refuse("machine not in the catalogue", instance, row.line());
    if (row["Currency"] != "USD") return sink_.refuse("not in dollars", instance, row.line());
    take({machine->instance, row["Region Code"], row["TermType"], row["LeaseContractLength"], row["PurchaseOption"],
          row["OfferingClass"], row["Unit"], row.number("PricePerUnit"), row.line(),
          row["MarketOption"] == "CapacityBlock"});
  }

  Result<> read_json() {
    JsonReader json(input_.bytes, input_.file);
    bool known = false;
    JsonValue value;
    const auto each_item = [&](void (AwsReader::*take_item)(const JsonValue&)) {
      json.each_item([&] {
        if (json.read_value(value)) (this->*take_item)(value);
      });
    };
    json.each_member([&](const std::string& name) {
      known = known || name == "products" || name == "terms" || name == "regionCode" || name == "SpotPriceHistory" ||
              name == "CapacityBlockOfferings" || name == "spot_advisor";
      if (name == "products") {
        json.each_member([&](const std::string& sku) {
          if (json.read_value(value)) take_product(sku, value);
        });
      } else if (name == "terms") {
        json.each_member([&](const std::string& term) {
          if (term == "savingsPlan") return each_item(&AwsReader::take_savings_plan);
          if (term != "OnDemand" && term != "Reserved") return json.skip();
          json.each_member([&](const std::string& sku) {
            const auto product = products_.find(sku);
            if (product == products_.end()) return json.skip();
            if (json.read_value(value)) take_offers(term, product->second, value);
          });
        });
      } else if (name == "regionCode") {
        json.read_string(region_);
      } else if (name == "SpotPriceHistory") {
        each_item(&AwsReader::take_spot_price);
      } else if (name == "CapacityBlockOfferings") {
        each_item(&AwsReader::take_block);
      } else if (name == "spot_advisor") {
        json.each_member([&](const std::string& region) {
          if (json.read_value(value)) take_advice(region, value);
        });
      } else {
        json.skip();
      }
    });
    if (json.failed()) return fail(json.error());
    if (known) return {};
    return fail(
        bad_input(input_.file + ": not an AWS price list, Savings Plan, Capacity Blocks, spot history or spot advisor")
            .with_hint("expected a member products, terms, CapacityBlockOfferings, SpotPriceHistory or spot_advisor"));
  }

  struct Product {
    std::string instance, region;
    bool block = false;
  };

  void take_product(const std::string& sku, const JsonValue& product) {
    const JsonValue* attributes = value_at(product, "attributes");
    if (attributes == nullptr) return;
    const std::string& instance = text_at(*attributes, "instanceType");
    const auto attribute = [&](const ProductRule& rule) { return std::string_view(text_at(*attributes, rule.json)); };
    if (instance.empty() || !is_plain(attribute)) return sink_.pass();
    if (const Machine* machine = machines_.find(instance)) {
      if (products_.size() >= kMostPrices) return sink_.refuse(kTooMany, machine->instance, 0);
      products_[sku] = {machine->instance, text_at(*attributes, "regionCode"),
                        text_at(*attributes, "marketoption") == "CapacityBlock"};
    } else if (value_at(*attributes, "gpu") != nullptr) {
      sink_.refuse("machine not in the catalogue", instance, 0);
    }
  }

  void take_offers(const std::string& term, const Product& product, const JsonValue& offers) {
    for (const JsonMember& offer : offers.members) {
      const JsonValue* dimensions = value_at(offer.value, "priceDimensions");
      if (dimensions == nullptr) continue;
      for (const JsonMember& dimension : dimensions->members) {
        take({product.instance, product.region, term, text_at(offer.value, "termAttributes.LeaseContractLength"),
              text_at(offer.value, "termAttributes.PurchaseOption"),
              text_at(offer.value, "termAttributes.OfferingClass"), text_at(dimension.value, "unit"),
              number_at(dimension.value, "pricePerUnit.USD"), 0, product.block});
      }
    }
  }

  // On-demand prices are passed on immediately; parts of reservations are kept until all are known.
  void take(const AwsPrice& price) {
    const std::string what = fmt::format("{} {}", price.instance, price.region);
    if (!price.usd) return sink_.refuse("price is not a number", what, price.line);
    if (price.block && *price.usd == 0) return sink_.pass();  // its fee is listed with the offerings
    if (price.term == "OnDemand") {
      FeedRow row = row_of(*machines_.find(price.instance), price.region, *price.usd);
      row.line = price.line;
      if (price.block) row.purchase = Purchase::kBlock;
      return sink_.take(std::move(row));
    }
    // Convertible reservations cost more because the machine may be changed.
    if (price.term != "Reserved" || price.offering == "convertible") return sink_.pass();
    const int years = price.lease.starts_with('3') ? 3 : 1;
    const int payment = price.option == "No Upfront" ? 0 : price.option == "Partial Upfront" ? 1 : 2;
    if (reserved_.size() >= kMostPrices) return sink_.refuse(kTooMany, what, price.line);
    Reservation& kept = reserved_[{std::string(price.instance), std::string(price.region), years, payment}];
    (price.unit == "Quantity" ? kept.upfront : kept.hourly) = *price.usd;
    kept.line = price.line;
  }

  // The payment with the least upfront represents the term: the savings of the others are interest.
  void finish_reservations() {
    static constexpr const char* kPayments[] = {"nothing upfront", "partly upfront", "all upfront"};
    std::tuple<std::string, std::string, int> last;
    for (const auto& [key, kept] : reserved_) {
      const auto& [instance, region, years, payment] = key;
      if (std::tuple(instance, region, years) == last) continue;
      last = {instance, region, years};
      FeedRow row = row_of(*machines_.find(instance), region, kept.hourly + kept.upfront / (years * in_hours(kYear)));
      row.purchase = years == 3 ? Purchase::kThreeYears : Purchase::kOneYear;
      row.note = fmt::format("reserved, {}", kPayments[payment]);
      row.line = kept.line;
      sink_.take(std::move(row));
    }
  }

  // {description: "1 year No Upfront p5 EC2 Instance Savings Plan in ...", leaseContractLength, rates: [...]}. As for
  // reservations, the plan without upfront payment represents the term.
  void take_savings_plan(const JsonValue& plan) {
    const bool wanted = text_at(plan, "description").find("No Upfront") != std::string::npos;
    for (const JsonValue& rate : items_at(plan, "rates")) {
      // "USE2-BoxUsage:p5.48xlarge"; other usage types are reserved or unused machines.
      const std::string& usage = text_at(rate, "discountedUsageType");
      const std::string& operation = text_at(rate, "discountedOperation");
      const std::string& region = text_at(rate, "discountedRegionCode");
      const std::size_t box = usage.find("BoxUsage:");
      const bool plain = box != std::string::npos && (operation.empty() || operation == "RunInstances");
      const Machine* machine = plain ? machines_.find(std::string_view(usage).substr(box + 9)) : nullptr;
      const std::optional<double> price = number_at(rate, "discountedRate.price");
      if (machine == nullptr || !price) {
        sink_.pass();
      } else if (wanted) {
        FeedRow row = row_of(*machine, region.empty() ? region_ : region, *price);
        const bool three = number_at(plan, "leaseContractLength.duration").value_or(0) >= 3;
        row.purchase = three ? Purchase::kThreeYears : Purchase::kOneYear;
        row.note = "Savings Plan, nothing upfront";
        sink_.take(std::move(row));
      }
    }
  }

  void take_spot_price(const JsonValue& price) {
    const Machine* machine = machines_.find(text_at(price, "InstanceType"));
    const std::string& system = text_at(price, "ProductDescription");
    if (machine == nullptr || (!system.empty() && !system.starts_with("Linux/UNIX"))) return sink_.pass();
    // A zone's name differs between accounts; its id is the same for all.
    const std::string &zone = text_at(price, "AvailabilityZone"), &id = text_at(price, "AvailabilityZoneId");
    const std::optional<double> usd = number_at(price, "SpotPrice");
    FeedRow row = row_of(*machine, region_of_zone(zone), usd.value_or(0));
    row.zone = id.empty() ? zone : id;
    row.purchase = Purchase::kSpot;
    if (const Result<Date> day = parse_date(text_at(price, "Timestamp").substr(0, 10))) row.date = *day;
    if (!usd || row.region.empty()) return sink_.refuse("no price or zone", row.instance + " " + zone, 0);
    sink_.take(std::move(row));
  }

  // The output of `aws ec2 describe-capacity-block-offerings`: a number of machines for some hours, for one fee.
  void take_block(const JsonValue& block) {
    const Machine* machine = machines_.find(text_at(block, "InstanceType"));
    if (machine == nullptr) return sink_.pass();
    const std::string &zone = text_at(block, "AvailabilityZone"), &currency = text_at(block, "CurrencyCode");
    const std::optional<double> fee = number_at(block, "UpfrontFee");
    const double count = number_at(block, "InstanceCount").value_or(0);
    const double hours = number_at(block, "CapacityBlockDurationHours").value_or(0);
    if (!fee || !(count * hours > 0) || zone.empty() || (!currency.empty() && currency != "USD"))
      return sink_.refuse("no fee in dollars, machines, hours or zone", machine->instance + " " + zone, 0);
    FeedRow row = row_of(*machine, region_of_zone(zone), *fee / (count * hours));
    row.zone = zone;
    row.purchase = Purchase::kBlock;
    row.note = fmt::format("{:g} machines for {:g} h from {}", count, hours, text_at(block, "StartDate").substr(0, 10));
    sink_.take(std::move(row));
  }

  // spot_advisor[region][Linux][type] = {s: saved %, r: 0-4}
  void take_advice(const std::string& region, const JsonValue& systems) {
    static constexpr double kBands[] = {0, 0.05, 0.10, 0.15, 0.20, 1};
    const JsonValue* types = value_at(systems, "Linux");
    if (types == nullptr) return;
    for (const JsonMember& type : types->members) {
      const Machine* machine = machines_.find(type.name);
      const double band = number_at(type.value, "r").value_or(-1);
      if (machine == nullptr || !(band >= 0 && band <= 4)) {
        sink_.pass();
        continue;
      }
      const int r = static_cast<int>(band);
      sink_.take(InterruptionRow{"aws", machine->instance, region, kBands[r], kBands[r + 1]});
    }
  }

  struct Reservation {
    double hourly = 0, upfront = 0;
    long line = 0;
  };

  const FeedInput& input_;
  FeedSink& sink_;
  KnownMachines machines_;
  std::string region_;
  std::unordered_map<std::string, Product> products_;  // by SKU
  // instance, region, years, payment: 0 nothing upfront, 1 a part, 2 all
  std::map<std::tuple<std::string, std::string, int, int>, Reservation> reserved_;
};

}  // namespace

std::vector<Feed> aws() {
  return {{{"aws", "AWS price list (CSV, JSON), Savings Plans, spot price history, spot advisor", false},
           false,
           [](const FeedInput& input, FeedSink& sink) { return AwsReader(input, sink).read(); },
           "\"SpotPriceHistory\"|\"CapacityBlockOfferings\"|\"spot_advisor\"|\"emr\" \"ram_gb\"|\"offerCode\"|"
           "\"regionCode\"|\"products\" \"terms\"|PricePerUnit"}};
}

}  // namespace rightsize::feeds
