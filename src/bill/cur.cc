#include "bill/cur.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/csv_reader.h"

namespace rightsize::bill {

std::string folded(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

namespace {

constexpr std::string_view kCost = "lineitemunblendedcost", kType = "lineitemlineitemtype";

std::string_view category_of(std::string_view type) {
  if (type == "Usage" || type == "DiscountedUsage" || type == "SavingsPlanCoveredUsage") return "Usage";
  if (type.ends_with("Fee")) return "Purchase";
  if (type == "Tax" || type == "Credit") return type;
  return "Adjustment";  // refunds, discounts, the negation of usage that a Savings Plan covers
}

}  // namespace

enum CostAndUsageReport::Column : unsigned char {
  kUnblended,
  kNet,
  kLineType,
  kStart,
  kEnd,
  kAmount,
  kUnit,
  kCurrency,
  kProduct,
  kProductCode,
  kDescription,
  kResource,
  kRegion,
  kRegionName,
  kZone,
  kAccountName,
  kAccount,
  kUsageType,
  kInstanceType,
  kList,
  kReservation,
  kReservationCost,
  kReservationNet,
  kUnusedFee,
  kUnusedFeeNet,
  kUnusedUpfront,
  kUnusedUpfrontNet,
  kPlan,
  kPlanCost,
  kPlanNet,
  kPlanTotal,
  kPlanUsed,
  kTags,
  kCostCategory,
  kColumns,
};

namespace {

constexpr std::string_view kNames[] = {
    kCost,
    "lineitemnetunblendedcost",
    kType,
    "lineitemusagestartdate",
    "lineitemusageenddate",
    "lineitemusageamount",
    "pricingunit",
    "lineitemcurrencycode",
    "productproductname",
    "lineitemproductcode",
    "lineitemlineitemdescription",
    "lineitemresourceid",
    "productregioncode",
    "productregion",
    "lineitemavailabilityzone",
    "lineitemusageaccountname",
    "lineitemusageaccountid",
    "lineitemusagetype",
    "productinstancetype",
    "pricingpublicondemandcost",
    "reservationreservationarn",
    "reservationeffectivecost",
    "reservationneteffectivecost",
    "reservationunusedrecurringfee",
    "reservationnetunusedrecurringfee",
    "reservationunusedamortizedupfrontfeeforbillingperiod",
    "reservationnetunusedamortizedupfrontfeeforbillingperiod",
    "savingsplansavingsplanarn",
    "savingsplansavingsplaneffectivecost",
    "savingsplannetsavingsplaneffectivecost",
    "savingsplantotalcommitmenttodate",
    "savingsplanusedcommitment",
    "resourcetags",
    "costcategory",
};

// Legacy reports have one column per tag and per cost category.
constexpr std::string_view kTagColumns[] = {"resourceTags/user:", "resource_tags_user_", "costCategory/",
                                            "cost_category_"};

Money money_of(std::string_view text) {
  Money money;
  Money::parse(text, money);
  return money;
}

}  // namespace

bool CostAndUsageReport::has_header(std::string_view record) {
  bool cost = false, type = false;
  std::vector<std::string_view> names;
  split_csv(record, names);
  for (const std::string_view name : names) {
    const std::string letters = folded(name);
    cost = cost || letters == kCost;
    type = type || letters == kType;
  }
  return cost && type;
}

CostAndUsageReport::CostAndUsageReport(std::string_view header) {
  static_assert(std::size(kNames) == kColumns && kColumns <= kMostColumns);
  at_.fill(std::string_view::npos);
  std::vector<std::string_view> names;
  split_csv(header, names);
  count_ = names.size();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto known = std::ranges::find(kNames, std::string_view(folded(names[i])));
    if (known != std::end(kNames)) {
      std::size_t& at = at_[static_cast<std::size_t>(known - std::begin(kNames))];
      at = std::min(at, i);
      continue;
    }
    for (const std::string_view prefix : kTagColumns) {
      if (names[i].starts_with(prefix)) tags_.emplace_back(names[i].substr(prefix.size()), i);
    }
  }
}

std::string_view CostAndUsageReport::focus_header() {
  return "ProviderName,BilledCost,EffectiveCost,ListCost,ChargeCategory,PricingCategory,ChargePeriodStart,"
         "ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,BillingCurrency,ServiceName,ChargeDescription,ResourceId,"
         "RegionId,SubAccountName,x_UsageType,x_InstanceType,CommitmentDiscountId,CommitmentDiscountType,"
         "CommitmentDiscountStatus,Tags";
}

void CostAndUsageReport::translate(const std::vector<std::string_view>& cells,
                                   const std::function<void(const std::vector<std::string_view>&)>& take) {
  const auto cell = [&](Column column) { return at_[column] < cells.size() ? cells[at_[column]] : std::string_view{}; };
  const auto first = [&](std::initializer_list<Column> columns) {
    for (const Column column : columns) {
      if (!cell(column).empty()) return cell(column);
    }
    return std::string_view{};
  };
  const std::string_view type = cell(kLineType), usage = cell(kUsageType);
  const std::string_view commitment = first({kReservation, kPlan});
  const bool reservation = !cell(kReservation).empty();
  const std::string_view category = category_of(type);
  // Where net costs exist they contain the discounts, so the rows of the discounts add nothing.
  const bool discount_row = type.ends_with("Discount") && at_[kNet] != std::string_view::npos && cell(kNet).empty();
  const std::string_view billed = discount_row ? "0" : first({kNet, kUnblended});

  std::string_view effective = billed;
  // A fee without a commitment is for itself, such as a domain's.
  if (type == "SavingsPlanNegation" || type == "RIFee" || (category == "Purchase" && !commitment.empty()))
    effective = "0";
  if (type == "DiscountedUsage") effective = first({kReservationNet, kReservationCost, kNet, kUnblended});
  if (type == "SavingsPlanCoveredUsage") effective = first({kPlanNet, kPlanCost});

  const bool covered = type == "DiscountedUsage" || type.starts_with("SavingsPlan");
  const bool spot = usage.find("SpotUsage") != std::string_view::npos;
  // Spot rows have no pricing columns. Storage bandwidth is billed by the hours of the machine that has it.
  std::string_view unit = cell(kUnit);
  if (unit.empty() && usage.find("Usage:") != std::string_view::npos) unit = "Hrs";
  if (usage.find("EBSOptimized") != std::string_view::npos) unit = {};

  tag_text_ = cell(kTags);
  tag_text_ += cell(kCostCategory);
  for (const std::string_view prefix : {"\"user_", "\"user:"}) {
    for (std::size_t at = tag_text_.find(prefix); at != std::string::npos; at = tag_text_.find(prefix, at + 1))
      tag_text_.erase(at + 1, prefix.size() - 1);
  }
  for (const auto& [name, at] : tags_) {
    if (at < cells.size() && !cells[at].empty())
      tag_text_.append("\"").append(name).append("\":\"").append(cells[at]).append("\",");
  }

  row_ = {"AWS",
          billed,
          effective,
          cell(kList),
          category,
          covered ? "Committed"
          : spot  ? "Dynamic"
                  : "Standard",
          cell(kStart),
          cell(kEnd),
          cell(kAmount),
          unit,
          cell(kCurrency),
          first({kProduct, kProductCode}),
          cell(kDescription),
          cell(kResource),
          first({kRegion, kRegionName, kZone}),
          first({kAccountName, kAccount}),
          usage,
          cell(kInstanceType),
          commitment,
          commitment.empty() ? ""
          : reservation      ? "Reservation"
                             : "Savings Plan",
          covered && category == "Usage" ? "Used" : "",
          tag_text_};
  take(row_);

  Money unused;
  if (type == "RIFee")
    unused = money_of(first({kUnusedFeeNet, kUnusedFee})) + money_of(first({kUnusedUpfrontNet, kUnusedUpfront}));
  if (type == "SavingsPlanRecurringFee") unused = money_of(cell(kPlanTotal)) - money_of(cell(kPlanUsed));
  if (unused == Money()) return;
  effective_ = unused.text();
  row_[1] = "0", row_[2] = effective_, row_[3] = "0", row_[4] = "Usage", row_[8] = "", row_[20] = "Unused";
  take(row_);
}

}  // namespace rightsize::bill
