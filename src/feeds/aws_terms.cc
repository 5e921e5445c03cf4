#include "feeds/aws_terms.h"

#include <fmt/format.h>

#include "base/units.h"

namespace rightsize::feeds {

using catalog::Purchase;

bool is_capacity_block(const AwsProduct& product) { return product.market == "CapacityBlock"; }

bool is_plain_linux(const AwsProduct& product) {
  return product.system == "Linux" && (product.tenancy == "Shared" || product.tenancy.empty()) &&
         (product.capacity == "Used" || product.capacity.empty()) &&
         (product.software == "NA" || product.software.empty()) && product.licence != "Bring your own license" &&
         (product.market == "OnDemand" || product.market.empty() || is_capacity_block(product)) &&
         (product.operation == "RunInstances" || product.operation.empty());
}

void AwsTerms::take(const AwsPrice& price) {
  const std::string what = fmt::format("{} {}", price.instance, price.region);
  if (!price.usd) return sink_.refuse("price is not a number", what, price.line);
  if (price.block && *price.usd == 0) return sink_.pass();  // its fee stands in the offerings
  if (price.term == "OnDemand") {
    FeedRow row;
    row.provider = "aws";
    row.instance = price.instance;
    row.region = price.region;
    row.usd_per_hour = *price.usd;
    row.line = price.line;
    if (price.block) row.purchase = Purchase::kBlock;
    return sink_.take(std::move(row));
  }
  if (price.term != "Reserved") return sink_.pass();
  if (price.offering == "convertible") return sink_.pass();  // costs more for the right to change
  const int years = price.lease.starts_with('3') ? 3 : 1;
  const int payment = price.option == "No Upfront" ? 0 : price.option == "Partial Upfront" ? 1 : 2;
  Reservation& kept = reserved_[{std::string(price.instance), std::string(price.region), years, payment}];
  (price.unit == "Quantity" ? kept.upfront : kept.hourly) = *price.usd;
  kept.line = price.line;
}

// The payment that asks least upfront speaks for the term: what others save is interest.
void AwsTerms::finish() {
  std::tuple<std::string, std::string, int> last;
  for (const auto& [key, kept] : reserved_) {
    const auto& [instance, region, years, payment] = key;
    if (std::tuple(instance, region, years) == last) continue;
    last = {instance, region, years};
    static constexpr const char* kPayments[] = {"nothing upfront", "partly upfront", "all upfront"};
    FeedRow row;
    row.provider = "aws";
    row.instance = instance;
    row.region = region;
    row.purchase = years == 3 ? Purchase::kThreeYears : Purchase::kOneYear;
    row.usd_per_hour = kept.hourly + kept.upfront / (years * in_hours(kYear));
    row.note = fmt::format("reserved, {}", kPayments[payment]);
    row.line = kept.line;
    sink_.take(std::move(row));
  }
}

}  // namespace rightsize::feeds
