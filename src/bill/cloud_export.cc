#include "bill/cloud_export.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "base/csv_reader.h"
#include "base/decimal.h"
#include "base/text.h"
#include "bill/cur.h"
#include "bill/focus.h"
#include "bill/money.h"

namespace rightsize::bill {
namespace {

enum Role : unsigned char {
  kProvider,
  kBilled,
  kEffective,
  kList,
  kCategory,
  kPricing,
  kStart,
  kEnd,
  kQuantity,
  kUnit,
  kCurrency,
  kServiceCategory,
  kService,
  kDescription,
  kResource,
  kResourceName,
  kRegion,
  kAccount,
  kMachine,
  kDetails,
  kCommitment,
  kCommitmentType,
  kStatus,
  kTags,
  kFocusRoles,  // those before are columns of FOCUS
  kCredits = kFocusRoles,
  kSystemLabels,
  kMeter,
  kListPrice,
  kRoles,
};

// The names of a column, the best first. Empty: made from others.
struct RoleNames {
  std::string_view focus, google, azure;
};
constexpr RoleNames kRoleNames[] = {
    {"ProviderName", "", ""},
    {"BilledCost", "subtotal cost", "costinbillingcurrency cost pretaxcost costinusd extendedcost"},
    {"EffectiveCost", "", ""},
    {"ListCost", "costatlist", ""},
    {"ChargeCategory", "costtype", "chargetype"},
    {"PricingCategory", "", "pricingmodel"},
    {"ChargePeriodStart", "usagestarttime usagestartdate", "date usagedatetime usagedate"},
    {"ChargePeriodEnd", "usageendtime usageenddate", ""},
    {"ConsumedQuantity", "usageamountinpricingunits usageamount", "quantity usagequantity consumedquantity"},
    {"ConsumedUnit", "usagepricingunit usageunit", "unitofmeasure"},
    {"BillingCurrency", "currency", "billingcurrencycode billingcurrency currency"},
    {"ServiceCategory", "", ""},
    {"ServiceName", "servicedescription", "metercategory consumedservice"},
    {"ChargeDescription", "skudescription", "productname product"},
    {"ResourceId", "resourceglobalname", "resourceid instanceid"},
    {"ResourceName", "resourcename", "resourcename"},
    {"RegionId", "locationregion locationlocation", "resourcelocation meterregion"},
    {"SubAccountName", "projectname projectid", "subscriptionname subscriptionid"},
    {"x_InstanceType", "", ""},
    {"x_SkuDetails", "", "additionalinfo"},
    {"CommitmentDiscountId", "", "reservationid benefitid"},
    {"CommitmentDiscountType", "", ""},
    {"CommitmentDiscountStatus", "", ""},
    {"Tags", "labels", "tags"},
    {"", "creditsamount credits", ""},
    {"", "systemlabels", ""},
    {"", "", "metername"},
    {"", "", "paygprice"},
};
static_assert(std::size(kRoleNames) == kRoles);

struct RoleRank {
  std::size_t role, rank;  // 0: the best name of the role
};
using RolesByName = std::unordered_multimap<std::string, RoleRank>;

const RolesByName& roles_of(CloudExport::Provider provider) {
  static const auto kAll = [] {
    std::array<RolesByName, 2> all;
    for (std::size_t role = 0; role < kRoles; ++role) {
      const std::string_view lists[] = {kRoleNames[role].google, kRoleNames[role].azure};
      for (std::size_t p = 0; p < all.size(); ++p) {
        std::size_t rank = 0;
        for (const std::string_view name : split_list(lists[p], ' ')) all[p].emplace(name, RoleRank{role, rank++});
      }
    }
    return all;
  }();
  return kAll[static_cast<std::size_t>(provider)];
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// A number, or the sum of "amount" in [{"name": "...", "amount": -3.5}].
Money amounts_in(std::string_view text) {
  Money sum, one;
  if (Money::parse(text, sum)) return sum;
  for (std::size_t at = text.find("amount"); at != std::string_view::npos; at = text.find("amount", at + 1)) {
    const std::size_t begin = text.find_first_of("-0123456789", at);
    if (begin == std::string_view::npos || text.substr(at, begin - at).find_first_of(",}") != std::string_view::npos)
      continue;
    if (Money::parse(text.substr(begin, text.find_first_not_of("-+.0123456789eE", begin) - begin), one)) sum += one;
  }
  return sum;
}

// [{"key": "team", "value": "ml"}] -> {"team":"ml"}, with quotes doubled or not. Other text is returned as it is.
std::string as_object(std::string_view labels) {
  if (!has(labels, "\"key\"")) return std::string(labels);
  std::string plain(labels), object = "{";
  for (std::size_t at = plain.find("\"\""); at != std::string::npos; at = plain.find("\"\"", at + 1))
    plain.erase(at, 1);
  std::vector<std::string_view> texts;  // between quotes
  const std::vector<std::string_view> parts = split_list(plain, '"');
  for (const std::string_view part : parts) {
    if (part.find_first_not_of("[]{},: ") != std::string_view::npos) texts.push_back(part);
  }
  for (std::size_t i = 0; i + 3 < texts.size(); ++i) {
    if (texts[i] == "key" && texts[i + 2] == "value")
      object += fmt::format("{}\"{}\":\"{}\"", object.size() > 1 ? "," : "", texts[i + 1], texts[i + 3]);
  }
  return object + "}";
}

// Texts lose their quotes, which the cells of CSV do not need to represent.
std::string as_text(const JsonValue& value) {
  std::string text;
  switch (value.type) {
    case JsonType::kString:
      text = value.text;
      std::erase(text, '"');
      return text;
    case JsonType::kNumber:
      return fmt::format("{}", value.number);
    case JsonType::kArray:
      for (const JsonValue& item : value.items) text += as_text(item);
      return "[" + text + "]";
    case JsonType::kObject:
      for (const JsonMember& member : value.members)
        text += fmt::format("\"{}\":\"{}\",", member.name, as_text(member.value));
      return "{" + text + "}";
    default:
      return text;
  }
}

// "11/30/2026" -> "2026-11-30"
std::string iso_date(const std::string& text) {
  const std::vector<std::string_view> parts = split_list(std::string_view(text).substr(0, text.find(' ')), '/');
  return parts.size() != 3 ? text : fmt::format("{}-{:0>2}-{:0>2}", parts[2], parts[0], parts[1]);
}

// "ND96amsr A100 v4 Spot", "D2 v3/D2s v3" -> "Standard_ND96amsr_A100_v4", "Standard_D2_v3"
std::string machine_of_meter(std::string_view meter) {
  for (const std::string_view end : {"/", " Spot", " Low Priority"}) meter = meter.substr(0, meter.find(end));
  std::string name = fmt::format("Standard_{}", trim(meter));
  std::ranges::replace(name, ' ', '_');
  return name;
}

}  // namespace

Result<std::optional<CloudExport>> CloudExport::of_header(std::string_view header, const std::string& file) {
  static_assert(kRoles <= kMostRoles);
  std::vector<std::string_view> names;
  split_csv(header, names);
  std::vector<std::string> letters;
  for (const std::string_view name : names) letters.push_back(folded(name));
  const auto any = [&](std::string_view name) { return std::ranges::find(letters, name) != letters.end(); };
  const bool google = any("skudescription"), azure = any("metername") || any("metercategory");
  if (any("billedcost") || google == azure) return std::optional<CloudExport>();

  CloudExport made(google ? Provider::kGoogle : Provider::kAzure);
  made.count_ = names.size();
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> columns;  // by role and rank
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const auto [begin, end] = roles_of(made.provider_).equal_range(letters[i]);
    for (auto at = begin; at != end; ++at) columns.try_emplace({at->second.role, at->second.rank}, i);
  }
  for (const auto& [role_rank, column] : columns) made.at_[role_rank.first].push_back(column);
  for (const Role role : {kBilled, kStart}) {
    if (!made.at_[role].empty()) continue;
    const std::string_view column =
        google ? (role == kBilled ? "cost" : "usage_start_time") : (role == kBilled ? "CostInBillingCurrency" : "Date");
    Place place;
    place.file = file, place.line = 1, place.column = 1;
    place.excerpt = std::string(header.substr(0, 100));
    return fail(
        bad_input(fmt::format("'{}' is a cost export of {} without the column {}", file,
                              google ? "Google Cloud" : "Azure", column))
            .with_hint(google && role == kStart ? "download the console's cost table, which has usage dates" : "")
            .at(std::move(place)));
  }
  return std::optional(std::move(made));
}

std::string CloudExport::focus_header() {
  std::string header;
  for (std::size_t role = 0; role < kFocusRoles; ++role)
    header.append(role == 0 ? "" : ",").append(kRoleNames[role].focus);
  return header;
}

void CloudExport::translate(const std::vector<std::string_view>& cells, const Take& take) {
  for (std::size_t role = 0; role < kRoles; ++role) {
    cells_[role].clear();
    for (const std::size_t column : at_[role]) {
      if (cells_[role].empty() && column < cells.size()) cells_[role] = trim(cells[column]);
    }
  }
  finish(take);
}

void CloudExport::translate(const JsonValue& row, const Take& take) {
  for (std::string& cell : cells_) cell.clear();
  rank_.fill(SIZE_MAX);
  flatten(row, "");
  finish(take);
}

void CloudExport::flatten(const JsonValue& value, const std::string& path) {
  for (const JsonMember& member : value.members) {
    const std::string name = path + folded(member.name);
    if (member.value.type == JsonType::kObject) {
      flatten(member.value, name);
      continue;
    }
    const auto [begin, end] = roles_of(provider_).equal_range(name);
    for (auto at = begin; at != end; ++at) {
      const auto [role, rank] = at->second;
      if (rank >= rank_[role] || member.value.type == JsonType::kNull) continue;
      rank_[role] = rank;
      cells_[role] = as_text(member.value);
    }
  }
}

void CloudExport::finish(const Take& take) {
  provider_ == Provider::kGoogle ? finish_google() : finish_azure();
  row_.assign(cells_.begin(), cells_.begin() + kFocusRoles);
  take(row_);
}

void CloudExport::finish_google() {
  const std::string &description = cells_[kDescription], type = to_lower(cells_[kCategory]);
  cells_[kProvider] = "Google Cloud";
  if (cells_[kEnd].size() == std::string_view("2026-10-31").size()) cells_[kEnd] += " 23:59";  // the last day charged
  if (Money cost; Money::parse(cells_[kBilled], cost)) cells_[kBilled] = (cost + amounts_in(cells_[kCredits])).text();
  cells_[kEffective] = cells_[kBilled];
  cells_[kCategory] = type == "tax"                           ? "Tax"
                      : !type.empty() && type != "regular"    ? "Adjustment"
                      : description.starts_with("Commitment") ? "Purchase"
                                                              : "Usage";
  cells_[kPricing] = has(description, "Spot") || has(description, "reemptible") ? "Dynamic"
                     : has(cells_[kCredits], "COMMITTED_USAGE_DISCOUNT")        ? "Committed"
                                                                                : "Standard";
  cells_[kServiceCategory] = cells_[kService] == "Compute Engine" ? "Compute" : "";
  cells_[kTags] = as_object(cells_[kTags]) + as_object(cells_[kSystemLabels]);
}

void CloudExport::finish_azure() {
  const std::string type = cells_[kCategory], model = cells_[kPricing], &meter = cells_[kMeter];
  cells_[kProvider] = "Microsoft Azure";
  cells_[kEffective] = cells_[kBilled];
  cells_[kStart] = iso_date(cells_[kStart]);
  const bool unused = type.starts_with("Unused");
  cells_[kCategory] = type.empty() || unused || type == "Usage" ? "Usage"
                      : type == "Purchase" || type == "Tax"     ? type
                                                                : "Adjustment";  // refunds, rounding
  const bool committed =
      model == "Reservation" || model == "SavingsPlan" || unused || (model.empty() && !cells_[kCommitment].empty());
  const bool spot = model == "Spot" || has(meter, " Spot") || has(meter, " Low Priority");
  cells_[kPricing] = committed ? "Committed" : spot ? "Dynamic" : "Standard";
  cells_[kCommitmentType] = !committed                                           ? ""
                            : model == "SavingsPlan" || has(type, "SavingsPlan") ? "Savings Plan"
                                                                                 : "Reservation";
  cells_[kStatus] = unused ? "Unused" : committed && type == "Usage" ? "Used" : "";
  const bool compute = cells_[kService] == "Virtual Machines";
  cells_[kServiceCategory] = compute ? "Compute" : "";
  cells_[kMachine] = compute && json_text(cells_[kDetails], "ServiceType").empty() ? machine_of_meter(meter) : "";
  // What the usage costs on demand, at the price without a contract.
  double price = 0, quantity = 0;
  const auto number = [](const std::string& text, double& value) {
    return parse_decimal(text.data(), text.data() + text.size(), value) != nullptr;
  };
  if (number(cells_[kListPrice], price) && number(cells_[kQuantity], quantity) && price > 0)
    cells_[kList] = Money::of(price * quantity).text();
}

}  // namespace rightsize::bill
