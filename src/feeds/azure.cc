// Azure Retail Prices: pages of JSON as the service answers them; several pages after one another or in one array read
// as one. https://prices.azure.com/api/retail/prices
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/units.h"
#include "feeds/readers.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::feeds {
namespace {

using catalog::Purchase;
using telemetry::JsonStream;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

class Reader {
 public:
  Reader(const Source& source, FeedSink& sink)
      : json_(source.bytes, source.file),
        file_(source.file),
        sink_(sink),
        machines_(*source.options.catalog, "azure") {}

  Result<> read() {
    do {
      if (json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) page();
      } else {
        page();
      }
    } while (!json_.failed() && json_.next_document());
    if (json_.failed()) return fail(json_.error());
    if (!seen_) return fail(bad_input(file_ + ": not Azure Retail Prices: no member Items"));
    return {};
  }

 private:
  void page() {
    std::string name;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "Items" && json_.peek() == '[') {
        seen_ = true;
        for (json_.enter_array(); json_.next_item();) item();
      } else {
        json_.skip();
      }
    }
  }

  void item() {
    std::unordered_map<std::string, std::string> a;
    std::optional<double> price;
    std::string name;
    struct Plan {
      std::string term;
      std::optional<double> price;
    };
    std::vector<Plan> plans;
    for (json_.enter_object(); json_.next_member(name);) {
      if (name == "retailPrice") {
        price = json_.read_number();
      } else if (name == "savingsPlan" && json_.peek() == '[') {
        for (json_.enter_array(); json_.next_item();) {
          Plan& plan = plans.emplace_back();
          for (json_.enter_object(); json_.next_member(name);) {
            if (name == "term" && json_.peek() == '"') {
              json_.read_string(plan.term);
            } else if (name == "retailPrice") {
              plan.price = json_.read_number();
            } else {
              json_.skip();
            }
          }
        }
      } else if (json_.peek() == '"') {
        json_.read_string(a[name]);
      } else {
        json_.skip();
      }
    }
    take(a, price);
    for (const Plan& plan : plans) {
      if (!plan.price || plan.term.empty()) continue;
      a["type"] = "SavingsPlan";
      a["reservationTerm"] = plan.term;
      take(a, plan.price);
    }
  }

  void take(std::unordered_map<std::string, std::string>& a, std::optional<double> price) {
    const catalog::Machine* machine = machines_.find(a["armSkuName"]);
    if (machine == nullptr) return sink_.pass();
    const std::string what = machine->instance + " " + a["armRegionName"];
    const std::string &product = a["productName"], &sku = a["skuName"], &type = a["type"];
    // Windows is also written " Win"; Cloud Services and dedicated hosts are other products; Low Priority is retired.
    for (const char* other : {"Windows", " Win", "Cloud Services", "CloudServices", "Dedicated"}) {
      if (contains(product, other)) return sink_.pass();
    }
    if (contains(sku, "Low Priority") || type == "DevTestConsumption") return sink_.pass();
    if (!a["currencyCode"].empty() && a["currencyCode"] != "USD") return sink_.refuse("not in dollars", what, 0);
    if (!price) return sink_.refuse("no price", what, 0);
    FeedRow row;
    row.provider = "azure";
    row.instance = machine->instance;
    row.region = a["armRegionName"];
    row.usd_per_hour = *price;
    if (const Result<Date> day = parse_date(a["effectiveStartDate"].substr(0, 10))) {
      row.note = "in force since " + format_date(*day);
    }
    const bool three = a["reservationTerm"].starts_with('3'), five = a["reservationTerm"].starts_with('5');
    if (five) return sink_.pass();
    if (type == "Reservation") {
      // The price of the whole term, though its unit says an hour.
      row.usd_per_hour /= (three ? 3 : 1) * in_hours(kYear);
      row.purchase = three ? Purchase::kThreeYears : Purchase::kOneYear;
      row.note = "reservation";
    } else if (type == "SavingsPlan") {
      if (contains(sku, "Spot")) return sink_.pass();
      row.purchase = three ? Purchase::kThreeYears : Purchase::kOneYear;
      row.note = "savings plan";
      // A reservation is cheaper and bound to the machine; where both are, import keeps the lower.
    } else {
      row.purchase = contains(sku, "Spot") ? Purchase::kSpot : Purchase::kOnDemand;
    }
    if (!a["unitOfMeasure"].empty() && a["unitOfMeasure"] != "1 Hour") return sink_.refuse("not by the hour", what, 0);
    sink_.take(std::move(row));
  }

  JsonStream json_;
  std::string file_;
  FeedSink& sink_;
  KnownMachines machines_;
  bool seen_ = false;
};

}  // namespace

Result<> read_azure(const Source& source, FeedSink& sink) { return Reader(source, sink).read(); }

}  // namespace rightsize::feeds
