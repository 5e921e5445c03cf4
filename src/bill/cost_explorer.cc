#include "bill/cost_explorer.h"

#include <algorithm>

#include "base/csv_reader.h"
#include "base/text.h"
#include "bill/cur.h"

namespace rightsize::bill {
namespace {

constexpr int kLongestMonth = 31, kShortestMonth = 28;

// "p4d.24xlarge($)" -> "p4d.24xlarge", "$". The unit is empty without parentheses.
std::pair<std::string_view, std::string_view> name_and_unit(std::string_view title) {
  title = trim(title);
  const std::size_t open = title.rfind('(');
  if (open == std::string_view::npos || !title.ends_with(')')) return {title, {}};
  return {trim(title.substr(0, open)), trim(title.substr(open + 1, title.size() - open - 2))};
}

// Empty if the unit is of an amount of use: "Hrs", "GB".
std::string currency_of(std::string_view unit) {
  if (unit == "$") return "USD";
  const bool code = unit.size() == 3 && std::ranges::all_of(unit, [](char c) { return c >= 'A' && c <= 'Z'; });
  return code ? std::string(unit) : "";
}

std::string_view text_at(const JsonValue& value, std::initializer_list<std::string_view> path) {
  const JsonValue* at = &value;
  for (const std::string_view name : path) {
    const JsonMember* member = at->find(name);
    if (member == nullptr) return {};
    at = &member->value;
  }
  return at->text;
}

std::string_view category_of(std::string_view name) {
  return name == "Tax" || name == "Credit" ? name : name == "Refund" ? "Adjustment" : "Usage";
}

}  // namespace

bool CostExplorer::has_header(std::string_view record) {
  std::vector<std::string_view> titles;
  split_csv(record, titles);
  if (titles.size() < 2 || !name_and_unit(titles[0]).second.empty()) return false;
  bool costs = false;
  for (std::size_t i = 1; i < titles.size(); ++i) {
    const std::string_view unit = name_and_unit(titles[i]).second;
    if (unit.empty()) return false;
    costs = costs || !currency_of(unit).empty();
  }
  return costs;
}

CostExplorer::CostExplorer(std::string_view header) {
  std::vector<std::string_view> titles;
  split_csv(header, titles);
  count_ = titles.size();
  grouped_by_ = trim(titles[0]);
  std::vector<Column> totals;
  for (std::size_t i = 1; i < titles.size(); ++i) {
    const auto [name, unit] = name_and_unit(titles[i]);
    const std::string currency = currency_of(unit), letters = folded(name);
    const bool total = letters == folded(grouped_by_) + "total" || letters == "totalcosts" || letters == "totalcost";
    if (!currency.empty()) (total ? totals : costs_).push_back({i, std::string(name), currency});
  }
  if (costs_.empty()) costs_ = std::move(totals);  // not grouped
}

std::string_view CostExplorer::focus_header() {
  return "ProviderName,BilledCost,EffectiveCost,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,BillingCurrency,"
         "x_InstanceType,x_UsageType,RegionId,SubAccountName,PricingCategory,ConsumedQuantity,ConsumedUnit,ServiceName";
}

std::string CostExplorer::grouped_by(const JsonValue& document) {
  const JsonMember* by = document.find("GroupDefinitions");
  return by == nullptr || by->value.items.empty() ? "group" : std::string(text_at(by->value.items[0], {"Key"}));
}

bool CostExplorer::translate(const JsonValue& document, const Take& take) {
  const JsonMember *times = document.find("ResultsByTime"), *definitions = document.find("GroupDefinitions");
  if (times == nullptr) return false;
  for (const JsonValue& time : times->value.items) {
    const std::string_view first = text_at(time, {"TimePeriod", "Start"}), last = text_at(time, {"TimePeriod", "End"});
    const JsonMember *groups = time.find("Groups"), *total = time.find("Total");
    const auto give = [&](const JsonValue& metrics, const std::vector<JsonValue>& keys) {
      std::string_view billed, effective, pricing, quantity, machine, usage, region, account;
      std::string_view name = keys.empty() ? std::string_view("Total") : std::string_view(keys[0].text), currency, unit;
      for (const JsonMember& metric : metrics.members) {
        const std::string_view amount = text_at(metric.value, {"Amount"});
        if (metric.name == "UsageQuantity") {
          quantity = amount, unit = text_at(metric.value, {"Unit"});
        } else if (metric.name.ends_with("Cost")) {
          (metric.name.find("Amortized") == std::string::npos ? billed : effective) = amount;
          currency = text_at(metric.value, {"Unit"});
        }
      }
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string_view key = keys[i].text;
        const bool defined = definitions != nullptr && i < definitions->value.items.size();
        const std::string_view by = defined ? text_at(definitions->value.items[i], {"Key"}) : std::string_view{};
        if (by == "USAGE_TYPE") usage = key;
        if (by == "REGION") region = key;
        if (by == "LINKED_ACCOUNT") account = key;
        if (by == "INSTANCE_TYPE" || (by.empty() && machine.empty() && key.find(' ') == key.npos)) machine = key;
        if (key.find("Spot") != key.npos) pricing = "Dynamic";
        if (key.find("On Demand") != key.npos) pricing = "Standard";
        if (key.find("Reserved") != key.npos || key.find("Savings Plan") != key.npos) pricing = "Committed";
      }
      if (billed.empty() && effective.empty()) return;
      take({"AWS", billed.empty() ? effective : billed, effective.empty() ? billed : effective, category_of(name),
            first, last, currency, machine, usage, region, account, pricing, quantity, unit, name});
    };
    if (groups != nullptr && !groups->value.items.empty()) {
      for (const JsonValue& group : groups->value.items) {
        const JsonMember *keys = group.find("Keys"), *metrics = group.find("Metrics");
        if (keys != nullptr && metrics != nullptr) give(metrics->value, keys->value.items);
      }
    } else if (total != nullptr) {
      give(total->value, {});
    }
  }
  return true;
}

bool CostExplorer::translate(const std::vector<std::string_view>& cells, const Take& take) {
  const Result<Date> date = cells.empty() ? parse_date("") : parse_date(trim(cells[0]).substr(0, 10));
  if (!date) return false;
  give(*date, take);
  start_ = *date;
  for (const Column& column : costs_)
    held_.emplace_back(column.at < cells.size() ? trim(cells[column.at]) : std::string_view{});
  return true;
}

void CostExplorer::finish(const Take& take) {
  const bool month = days_ == 0 || (days_ >= kShortestMonth && days_ <= kLongestMonth);
  Date end{start_.day + 1};
  if (month && format_date(start_).ends_with("-01")) {
    do ++end.day;
    while (!format_date(end).ends_with("-01"));
    end.day = std::clamp(today().day, start_.day + 1, end.day);
  }
  give(end, take);
}

void CostExplorer::give(Date end, const Take& take) {
  const std::string first = format_date(start_), last = format_date(end), group = folded(grouped_by_);
  if (!held_.empty()) days_ = end - start_;
  const auto if_grouped_by = [&](std::string_view by, const Column& column) {
    return group == by ? std::string_view(column.name) : std::string_view{};
  };
  // Titles of the first column vary, and a name without spaces may be a machine type under any of them.
  const bool machines = group != "usagetype" && group != "region" && group != "linkedaccount";
  for (std::size_t i = 0; i < held_.size(); ++i) {
    const Column& column = costs_[i];
    if (held_[i].empty()) continue;  // no cost in this time
    const bool machine = machines && column.name.find(' ') == std::string::npos;
    take({"AWS", held_[i], held_[i], category_of(column.name), first, last, column.currency,
          machine ? std::string_view(column.name) : std::string_view{}, if_grouped_by("usagetype", column),
          if_grouped_by("region", column), if_grouped_by("linkedaccount", column), "", "", "", column.name});
  }
  held_.clear();
}

}  // namespace rightsize::bill
