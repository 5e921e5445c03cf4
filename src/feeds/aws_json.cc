// JSON of AWS, told apart by its members: the price list, Savings Plans, Capacity Blocks on offer, spot price history,
// the spot advisor.
#include <unordered_map>

#include <fmt/format.h>

#include "feeds/aws_terms.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;
using telemetry::JsonStream;

class Reader {
 public:
  Reader(const Source& source, FeedSink& sink)
      : json_(source.bytes, source.file),
        file_(source.file),
        terms_(sink),
        sink_(sink),
        machines_(*source.options.catalog, "aws") {}

  Result<> read() {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      known_ = true;
      if (name == "products" && json_.peek() == '{') {
        products();
      } else if (name == "terms") {
        all_terms();
      } else if (name == "regionCode") {
        json_.read_string(region_);
      } else if (name == "SpotPriceHistory") {
        spot_history();
      } else if (name == "CapacityBlockOfferings") {
        capacity_blocks();
      } else if (name == "spot_advisor") {
        spot_advisor();
      } else {
        known_ = seen_;
        json_.skip();
      }
      seen_ = seen_ || known_;
    }
    if (json_.failed()) return fail(json_.error());
    if (!seen_) {
      return fail(
          bad_input(file_ + ": no AWS price list, Savings Plan, Capacity Blocks, spot history or spot advisor")
              .with_hint(
                  "expected a member products, terms, CapacityBlockOfferings, SpotPriceHistory or spot_advisor"));
    }
    terms_.finish();
    return {};
  }

 private:
  struct Product {
    std::string instance, region;
    bool block = false;
  };

  void products() {
    std::string sku;
    for (json_.enter_object(); json_.next_member(sku);) product(sku);
  }

  // Strings of an object; everything else is skipped.
  std::unordered_map<std::string, std::string> strings() {
    std::unordered_map<std::string, std::string> found;
    std::string name, text;
    for (json_.enter_object(); json_.next_member(name);) {
      if (json_.peek() == '"') {
        json_.read_string(text);
        found[name] = text;
      } else {
        json_.skip();
      }
    }
    return found;
  }

  void product(const std::string& sku) {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name != "attributes" || json_.peek() != '{') {
        json_.skip();
        continue;
      }
      auto a = strings();
      const std::string& instance = a["instanceType"];
      const catalog::Machine* machine = machines_.find(instance);
      const AwsProduct product{a["operatingSystem"], a["tenancy"],      a["capacitystatus"], a["preInstalledSw"],
                               a["licenseModel"],    a["marketoption"], a["operation"]};
      if (!is_plain_linux(product) || instance.empty()) {
        sink_.pass();
      } else if (machine == nullptr) {
        if (a.contains("gpu")) sink_.refuse("machine not in the catalogue", instance, 0);
      } else {
        products_[sku] = {machine->instance, a["regionCode"], is_capacity_block(product)};
      }
    }
  }

  void all_terms() {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "OnDemand" || name == "Reserved") {
        std::string sku;
        for (json_.enter_object(); json_.next_member(sku);) offers(name, sku);
      } else if (name == "savingsPlan") {
        for (json_.enter_array(); json_.next_item();) savings_plan();
      } else {
        json_.skip();
      }
    }
  }

  void offers(const std::string& term, const std::string& sku) {
    const auto product = products_.find(sku);
    if (product == products_.end()) return json_.skip();
    std::string code;
    for (json_.enter_object(); json_.next_member(code);) offer(term, sku, product->second);
  }

  void offer(const std::string& term, const std::string& sku, const Product& product) {
    struct Dimension {
      std::string unit;
      std::optional<double> usd;
    };
    std::vector<Dimension> dimensions;
    std::unordered_map<std::string, std::string> attributes;
    std::string name, rate;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "termAttributes" && json_.peek() == '{') {
        attributes = strings();
      } else if (name == "priceDimensions" && json_.peek() == '{') {
        for (json_.enter_object(); json_.next_member(rate);) {
          Dimension dimension;
          std::string field;
          for (json_.enter_object(); json_.next_member(field);) {
            if (field == "unit" && json_.peek() == '"') {
              json_.read_string(dimension.unit);
            } else if (field == "pricePerUnit" && json_.peek() == '{') {
              std::string currency;
              for (json_.enter_object(); json_.next_member(currency);) {
                const std::optional<double> amount = json_.read_number();
                if (currency == "USD") dimension.usd = amount;
              }
            } else {
              json_.skip();
            }
          }
          dimensions.push_back(dimension);
        }
      } else {
        json_.skip();
      }
    }
    for (const Dimension& dimension : dimensions) {
      terms_.take({sku, product.instance, product.region, term, attributes["LeaseContractLength"],
                   attributes["PurchaseOption"], attributes["OfferingClass"], dimension.unit, dimension.usd, 0,
                   product.block});
    }
  }

  // {sku, description: "1 year No Upfront p5 EC2 Instance Savings Plan in ...", leaseContractLength, rates: [...]}
  void savings_plan() {
    std::string name, description, text;
    double years = 0;
    std::vector<FeedRow> rows;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "description" && json_.peek() == '"') {
        json_.read_string(description);
      } else if (name == "leaseContractLength" && json_.peek() == '{') {
        for (json_.enter_object(); json_.next_member(name);) {
          if (name == "duration") {
            years = json_.read_number().value_or(0);
          } else {
            json_.skip();
          }
        }
      } else if (name == "rates" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) savings_rate(rows);
      } else {
        json_.skip();
      }
    }
    if (description.find("No Upfront") == std::string::npos) return;  // as for reservations
    for (FeedRow& row : rows) {
      row.purchase = years >= 3 ? Purchase::kThreeYears : Purchase::kOneYear;
      row.note = "Savings Plan, nothing upfront";
      sink_.take(std::move(row));
    }
  }

  void savings_rate(std::vector<FeedRow>& rows) {
    std::string name, usage, operation, region = region_;
    std::optional<double> price;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "discountedUsageType" && json_.peek() == '"') {
        json_.read_string(usage);
      } else if (name == "discountedOperation" && json_.peek() == '"') {
        json_.read_string(operation);
      } else if (name == "discountedRegionCode" && json_.peek() == '"') {
        json_.read_string(region);
      } else if (name == "discountedRate" && json_.peek() == '{') {
        for (json_.enter_object(); json_.next_member(name);) {
          if (name == "price") {
            price = json_.read_number();
          } else {
            json_.skip();
          }
        }
      } else {
        json_.skip();
      }
    }
    const std::size_t box = usage.find("BoxUsage:");  // "USE2-BoxUsage:p5.48xlarge"; other usage is reserved or unused
    const bool plain = box != std::string::npos && (operation.empty() || operation == "RunInstances");
    const catalog::Machine* machine = plain ? machines_.find(std::string_view(usage).substr(box + 9)) : nullptr;
    if (machine == nullptr || !price) return sink_.pass();
    FeedRow row;
    row.provider = "aws";
    row.instance = machine->instance;
    row.region = region;
    row.usd_per_hour = *price;
    rows.push_back(std::move(row));
  }

  void spot_history() {
    for (json_.enter_array(); json_.next_item();) {
      auto a = strings();
      const catalog::Machine* machine = machines_.find(a["InstanceType"]);
      if (!a["ProductDescription"].empty() && !a["ProductDescription"].starts_with("Linux/UNIX")) {
        sink_.pass();
        continue;
      }
      if (machine == nullptr) {
        sink_.pass();
        continue;
      }
      FeedRow row;
      row.provider = "aws";
      row.instance = machine->instance;
      // A zone's name is the account's own; its id is the same for everybody.
      const std::string& name = a["AvailabilityZone"];
      row.region = name.substr(0, name.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1);
      row.zone = a["AvailabilityZoneId"].empty() ? name : a["AvailabilityZoneId"];
      row.purchase = Purchase::kSpot;
      if (const Result<Date> day = parse_date(a["Timestamp"].substr(0, 10))) row.date = *day;
      const std::optional<double> price = cell_number(a["SpotPrice"]);
      if (!price || row.region.empty()) {
        sink_.refuse("no price or zone", row.instance + " " + name, 0);
        continue;
      }
      row.usd_per_hour = *price;
      sink_.take(std::move(row));
    }
  }

  // What `aws ec2 describe-capacity-block-offerings` answers: so many machines for so many hours, for one fee.
  void capacity_blocks() {
    for (json_.enter_array(); json_.next_item();) {
      std::unordered_map<std::string, std::string> a;
      std::unordered_map<std::string, double> numbers;
      std::string name, text;
      for (json_.enter_object(); json_.next_member(name);) {
        if (json_.peek() == '"') {
          json_.read_string(text);
          a[name] = text;
        } else if (const std::optional<double> number = json_.read_number()) {
          numbers[name] = *number;
        }
      }
      const catalog::Machine* machine = machines_.find(a["InstanceType"]);
      if (machine == nullptr) {
        sink_.pass();
        continue;
      }
      const std::string& zone = a["AvailabilityZone"];
      const std::optional<double> fee = cell_number(a["UpfrontFee"]);
      const double machine_hours = numbers["InstanceCount"] * numbers["CapacityBlockDurationHours"];
      if (!fee || !(machine_hours > 0) || zone.empty() || (!a["CurrencyCode"].empty() && a["CurrencyCode"] != "USD")) {
        sink_.refuse("no fee in dollars, machines, hours or zone", machine->instance + " " + zone, 0);
        continue;
      }
      FeedRow row;
      row.provider = "aws";
      row.instance = machine->instance;
      row.region = zone.substr(0, zone.find_last_not_of("abcdefghijklmnopqrstuvwxyz") + 1);
      row.zone = zone;
      row.purchase = Purchase::kBlock;
      row.usd_per_hour = *fee / machine_hours;
      row.note = fmt::format("{:g} machines for {:g} h from {}", numbers["InstanceCount"],
                             numbers["CapacityBlockDurationHours"], a["StartDate"].substr(0, 10));
      sink_.take(std::move(row));
    }
  }

  // spot_advisor[region][Linux][type] = {s: saved %, r: 0-4}
  void spot_advisor() {
    static constexpr double kBands[] = {0, 0.05, 0.10, 0.15, 0.20, 1};
    std::string region, system, type, name;
    for (json_.enter_object(); json_.next_member(region);) {
      for (json_.enter_object(); json_.next_member(system);) {
        if (system != "Linux") {
          json_.skip();
          continue;
        }
        for (json_.enter_object(); json_.next_member(type);) {
          std::optional<double> band;
          for (json_.enter_object(); json_.next_member(name);) {
            const std::optional<double> value = json_.read_number();
            if (name == "r") band = value;
          }
          const catalog::Machine* machine = machines_.find(type);
          if (machine == nullptr || !band || *band < 0 || *band > 4) {
            sink_.pass();
            continue;
          }
          const int r = static_cast<int>(*band);
          sink_.take(InterruptionRow{"aws", machine->instance, region, kBands[r], kBands[r + 1]});
        }
      }
    }
  }

  JsonStream json_;
  std::string file_, region_;
  AwsTerms terms_;
  FeedSink& sink_;
  KnownMachines machines_;
  std::unordered_map<std::string, Product> products_;
  bool known_ = false, seen_ = false;
};

}  // namespace

Result<> read_aws_json(const Source& source, FeedSink& sink) { return Reader(source, sink).read(); }

}  // namespace rightsize::feeds
