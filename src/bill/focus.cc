#include "bill/focus.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/csv_reader.h"
#include "base/date.h"
#include "base/decimal.h"
#include "base/json_reader.h"
#include "base/text.h"
#include "bill/cloud_export.h"
#include "bill/cost_explorer.h"
#include "bill/cur.h"

namespace rightsize::bill {
namespace {

constexpr std::size_t kMissing = std::string_view::npos;

// Columns with the same meaning; the first with a text counts, because a version may leave one empty. An export that
// moves from one version to the next has both for a while.
using Either = std::array<std::size_t, 3>;

// The positions of the columns.
struct Columns {
  std::size_t billed, effective, list, category, pricing, start, end, consumed, consumed_unit, quantity, unit;
  std::size_t currency, service_category, service, description, resource_id, resource_name;
  Either provider, region, sub_account_name;
  std::size_t price_details, sku_details, usage_type, instance_type, commitment_id, commitment_type, commitment_status,
      tags;
  std::size_t most = 0;             // no column after this one matters, unless the machine type is in another column
  std::vector<std::size_t> others;  // columns that FOCUS does not define

  explicit Columns(const CsvColumns& all) {
    std::vector<bool> used(all.count());
    const auto find = [&](std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) {
        if (const std::size_t at = all.of(name); at != kMissing) {
          most = std::max(most, at + 1);
          if (at < used.size()) used[at] = true;
          return at;
        }
      }
      return kMissing;
    };
    billed = find({"BilledCost"});
    effective = find({"EffectiveCost"});
    list = find({"ListCost"});
    category = find({"ChargeCategory", "ChargeType"});
    pricing = find({"PricingCategory"});
    start = find({"ChargePeriodStart"});
    end = find({"ChargePeriodEnd"});
    consumed = find({"ConsumedQuantity"});
    consumed_unit = find({"ConsumedUnit"});
    quantity = find({"PricingQuantity"});
    unit = find({"PricingUnit"});
    currency = find({"BillingCurrency"});
    provider = {find({"ServiceProviderName"}), find({"ProviderName", "Provider"}), find({"HostProviderName"})};
    service_category = find({"ServiceCategory"});
    service = find({"ServiceName"});
    description = find({"ChargeDescription"});
    resource_id = find({"ResourceId"});
    resource_name = find({"ResourceName"});
    region = {find({"RegionId"}), find({"Region"}), find({"AvailabilityZone"})};
    price_details = find({"SkuPriceDetails"});
    sku_details = find({"x_SkuDetails"});
    usage_type = find({"x_UsageType", "SkuMeter", "x_SkuMeterName"});
    instance_type = find({"x_InstanceType", "x_SkuInstanceType"});
    commitment_id = find({"CommitmentDiscountId"});
    commitment_type = find({"CommitmentDiscountType"});
    commitment_status = find({"CommitmentDiscountStatus"});
    tags = find({"Tags"});
    sub_account_name = {find({"SubAccountName"}), find({"SubAccountId"}), kMissing};
    for (std::size_t at = 0; at < used.size(); ++at) {
      if (!used[at]) others.push_back(at);
    }
  }
};

Category category_of(std::string_view text) {
  if (text.empty() || text == "Usage") return Category::kUsage;
  if (text == "Purchase") return Category::kPurchase;
  if (text == "Tax") return Category::kTax;
  if (text == "Credit") return Category::kCredit;
  return text == "Adjustment" ? Category::kAdjustment : Category::kOther;
}

// "Dynamic" is what FOCUS calls prices that change with demand.
Pricing pricing_of(std::string_view text) {
  if (text == "Standard" || text == "On-Demand") return Pricing::kStandard;
  if (text == "Committed" || text == "Commitment-Based") return Pricing::kCommitted;
  return text == "Dynamic" ? Pricing::kSpot : Pricing::kOther;
}

// 2026-05-01T00:00:00Z; only its day. The last text is cached: most rows repeat the previous one.
class Days {
 public:
  int of(std::string_view text) {
    text = text.substr(0, 10);
    if (text == last_) return day_;
    last_ = text;
    const Result<Date> date = parse_date(text);
    day_ = date ? date->day : 0;
    return day_;
  }

 private:
  std::string last_;
  int day_ = 0;
};

// Hours in a quantity of this unit; 0 if it is not a time. "Hours", "1 Hour", "Hrs", "Seconds".
double hours_in(std::string_view unit) {
  double times = 1;
  if (!unit.empty() && unit.front() >= '1' && unit.front() <= '9') {
    const char* after = parse_decimal(unit.data(), unit.data() + unit.size(), times);
    unit = trim(unit.substr(static_cast<std::size_t>(after - unit.data())));
  }
  const std::string lower = to_lower(unit);
  if (lower == "hours" || lower == "hour" || lower == "hrs" || lower == "hr" || lower == "h") return times;
  if (lower == "seconds" || lower == "second" || lower == "s") return times / 3600;
  return lower == "minutes" || lower == "minute" ? times / 60 : 0;
}

// How well a column fits the name that a user gave it; smaller is better, empty: not at all.
std::optional<int> fit_of(std::string_view column, const std::string& name) {
  const std::string letters = folded(column);
  for (const int end : {0, 1}) {
    // The billing account and the payer pay for all the others.
    if (end == 1 && letters.starts_with("bill")) return std::nullopt;
    for (const auto& [rank, suffix] : {std::pair{0, ""}, {1, "name"}, {2, "id"}, {3, "description"}}) {
      const std::string wanted = name + suffix;
      if (end == 1 ? letters.ends_with(wanted) : letters == wanted) return 4 * end + rank;
    }
  }
  return std::nullopt;
}

class Reading {
 public:
  Reading(const std::string& name, const std::function<void(const Charge&)>& take, std::string_view group)
      : name_(name), take_(take), group_(folded(group)) {}

  Result<FocusOutcome> read(ByteSource& source) {
    constexpr std::size_t kLook = 64;
    RIGHTSIZE_TRY(std::string first, read_beginning(source, kLook));
    const std::string_view text = trim(first);
    const bool json = text.starts_with('{') || text.starts_with('[');
    const std::unique_ptr<ByteSource> whole = put_back(std::move(first), source);
    if (json) return read_json(*whole);
    CsvReader csv(*whole, name_);
    std::string_view record;
    if (!csv.next(record)) {
      if (csv.failed()) return fail(csv.error());
      return fail(bad_input(fmt::format("'{}' is empty", name_)));
    }
    skip_invoice(csv, record);
    find_group(record);
    if (CostAndUsageReport::has_header(record)) {
      read_export(csv, CostAndUsageReport(record));
      return finish(csv);
    }
    if (CostExplorer::has_header(record)) {
      read_explorer(csv, CostExplorer(record));
      return finish(csv);
    }
    RIGHTSIZE_TRY(const std::optional<CloudExport> other, CloudExport::of_header(record, name_));
    if (other) {
      read_export(csv, *other);
      return finish(csv);
    }
    const CsvColumns header(record);
    const Columns columns(header);
    if (columns.billed == kMissing || columns.effective == kMissing) {
      return fail(bad_input(fmt::format("'{}' is not a FOCUS export: it has no column {}", name_,
                                        columns.billed == kMissing ? "BilledCost" : "EffectiveCost"))
                      .with_hint("also read: an AWS Cost and Usage Report (line_item_unblended_cost and "
                                 "line_item_line_item_type), AWS Cost Explorer's CSV (dates and columns NAME($)), a "
                                 "Google Cloud billing export (sku.description and cost), "
                                 "an Azure cost export (MeterName and CostInBillingCurrency)"));
    }
    std::vector<std::string_view> cells;
    while (csv.next(record)) {
      split_csv(record, cells, std::max(columns.most, header.count()));
      ++outcome_.rows;
      take_group(cells);
      take_row(columns, cells, csv.line());
    }
    return finish(csv);
  }

 private:
  // Google Cloud's console writes the invoice above its cost table: "Invoice number,123", "Currency,USD" ...
  static void skip_invoice(CsvReader& csv, std::string_view& record) {
    constexpr int kMostLines = 20;
    std::vector<std::string_view> cells;
    if (!folded(record).starts_with("invoicenumber")) return;
    for (int i = 0; i < kMostLines && cells.size() < 3 && csv.next(record); ++i) split_csv(record, cells);
  }

  void find_group(std::string_view header) {
    std::vector<std::string_view> names;
    split_csv(header, names);
    outcome_.columns.assign(names.begin(), names.end());
    std::map<std::pair<int, std::size_t>, std::size_t> best;
    for (std::size_t i = 0; i < names.size() && !group_.empty(); ++i) {
      if (const std::optional<int> fit = fit_of(names[i], group_)) best[{*fit, i}] = i;
    }
    for (const auto& [fit, column] : best) group_columns_.push_back(column);
  }

  void take_group(const std::vector<std::string_view>& cells) {
    group_text_.clear();
    for (const std::size_t column : group_columns_) {
      if (group_text_.empty() && column < cells.size()) group_text_ = trim(cells[column]);
    }
  }

  void take_group(const JsonValue& value, const std::string& path, int& best) {
    for (const JsonMember& member : value.members) {
      const std::string name = path.empty() ? member.name : path + "." + member.name;
      if (member.value.type == JsonType::kObject) {
        take_group(member.value, name, best);
        continue;
      }
      if (outcome_.rows == 1) outcome_.columns.push_back(name);
      const std::optional<int> fit = fit_of(name, group_);
      if (!fit || *fit >= best || member.value.type != JsonType::kString || member.value.text.empty()) continue;
      best = *fit;
      group_text_ = member.value.text;
    }
  }

  void read_export(CsvReader& csv, auto report) {
    const Columns columns{CsvColumns(report.focus_header())};
    std::vector<std::string_view> cells;
    for (std::string_view record; csv.next(record);) {
      split_csv(record, cells, report.columns());
      ++outcome_.rows;
      take_group(cells);
      report.translate(cells, [&](const std::vector<std::string_view>& row) { take_row(columns, row, csv.line()); });
    }
  }

  // Without another wish, the table is grouped as Cost Explorer grouped it.
  void read_explorer(CsvReader& csv, CostExplorer table) {
    const Columns columns{CsvColumns(CostExplorer::focus_header())};
    const bool grouped = group_.empty() || fit_of(table.grouped_by(), group_);
    outcome_.columns = {table.grouped_by()};
    long line = 0;  // of the row before, which the next one ends
    const auto take = [&](const std::vector<std::string_view>& row) {
      group_text_ = grouped ? row.back() : std::string_view{};
      take_row(columns, row, line);
    };
    std::vector<std::string_view> cells;
    for (std::string_view record; csv.next(record); line = csv.line()) {
      split_csv(record, cells, table.columns());
      if (table.translate(cells, take)) ++outcome_.rows;
    }
    table.finish(take);
    outcome_.notes.push_back(fmt::format(
        "{} is from AWS Cost Explorer, which has no hours, terms or list prices: prices per hour, discounts and "
        "commitments are unknown; export a Cost and Usage Report or FOCUS for them",
        name_));
  }

  bool read_explorer(const JsonValue& document) {
    const Columns columns{CsvColumns(CostExplorer::focus_header())};
    outcome_.columns = {CostExplorer::grouped_by(document)};
    return CostExplorer::translate(document, [&](const std::vector<std::string_view>& row) {
      ++outcome_.rows;
      group_text_ = group_.empty() ? row.back() : std::string_view{};
      take_row(columns, row, static_cast<long>(outcome_.rows));
    });
  }

  // BigQuery's rows: one object after the other, or an array of them.
  Result<FocusOutcome> read_json(ByteSource& source) {
    CloudExport rows(CloudExport::Provider::kGoogle);
    const Columns columns{CsvColumns(rows.focus_header())};
    JsonReader json(source, name_);
    const auto take = [&] {
      JsonValue row;
      if (!json.read_value(row)) return;
      if (read_explorer(row)) return;
      ++outcome_.rows;
      group_text_.clear();
      int best = INT_MAX;
      if (!group_.empty()) take_group(row, "", best);
      rows.translate(row, [&](const std::vector<std::string_view>& cells) {
        take_row(columns, cells, static_cast<long>(outcome_.rows));
      });
    };
    do {
      if (json.peek() != '[' || !json.each_item(take)) take();
    } while (json.next_document());
    if (outcome_.rows > 0 && outcome_.rows == outcome_.refused) {
      return fail(bad_input(fmt::format("'{}' is JSON, but its rows have no cost", name_))
                      .with_hint("read as JSON: a Google Cloud billing export (rows with cost, sku, service, usage, "
                                 "usage_start_time, credits) and 'aws ce get-cost-and-usage' (ResultsByTime)"));
    }
    return finish(json);
  }

  Result<FocusOutcome> finish(const auto& csv) {
    if (csv.failed()) return fail(csv.error());
    if (outcome_.refused > 0) {
      outcome_.notes.push_back(fmt::format("{}: {} rows without a readable cost were left out, the first in line {}",
                                           name_, outcome_.refused, first_refused_));
    }
    return outcome_;
  }

  void take_row(const Columns& c, const std::vector<std::string_view>& cells, long line) {
    // FOCUS writes a missing value as an empty cell; some exports write the word.
    const auto cell = [&](std::size_t column) {
      const std::string_view text = column < cells.size() ? cells[column] : std::string_view{};
      return text == "NULL" || text == "null" ? std::string_view{} : text;
    };
    const auto first_of = [&](const Either& either) {
      for (const std::size_t column : either) {
        if (!cell(column).empty()) return cell(column);
      }
      return std::string_view{};
    };
    Charge charge;
    charge.line = line;
    if (!Money::parse(cell(c.billed), charge.billed) || !Money::parse(cell(c.effective), charge.effective)) {
      if (outcome_.refused++ == 0) first_refused_ = line;
      return;
    }
    charge.listed = Money::parse(cell(c.list), charge.list);
    if (!charge.listed) charge.list = charge.effective;
    charge.category = category_of(cell(c.category));
    charge.pricing = pricing_of(cell(c.pricing));
    charge.day = days_.of(cell(c.start));
    // The end of a period is exclusive: a period until midnight is one day.
    const std::string_view end = cell(c.end);
    const bool whole_days = end.size() < 16 || end.substr(11, 5) == "00:00";
    charge.days = std::clamp(ends_.of(end) - charge.day + (whole_days ? 0 : 1), 1, 366);
    // Unused parts of commitments are priced by time, too, but nothing was consumed.
    charge.hours = time_of(cell(c.consumed), cell(c.consumed_unit));
    if (charge.hours == 0 && cell(c.consumed).empty()) charge.hours = time_of(cell(c.quantity), cell(c.unit));
    charge.currency = cell(c.currency);
    charge.provider = first_of(c.provider);
    charge.service_category = cell(c.service_category);
    charge.service = cell(c.service);
    charge.description = cell(c.description);
    charge.resource_id = cell(c.resource_id);
    charge.resource_name = cell(c.resource_name);
    charge.region = first_of(c.region);
    charge.price_details = cell(c.price_details);
    charge.sku_details = cell(c.sku_details);
    charge.usage_type = cell(c.usage_type);
    charge.instance_type = cell(c.instance_type);
    charge.commitment_id = cell(c.commitment_id);
    charge.commitment_type = cell(c.commitment_type);
    charge.commitment_status = cell(c.commitment_status);
    charge.tags = cell(c.tags);
    charge.sub_account = first_of(c.sub_account_name);
    others_.clear();
    for (const std::size_t column : c.others) others_.push_back(cell(column));
    charge.others = others_;
    charge.group = group_text_;
    take_(charge);
  }

  double time_of(std::string_view quantity, std::string_view unit) {
    if (quantity.empty() || unit.empty()) return 0;
    if (unit != last_unit_) {
      last_unit_ = unit;
      hours_ = hours_in(unit);
    }
    double number = 0;
    if (hours_ == 0 || parse_decimal(quantity.data(), quantity.data() + quantity.size(), number) == nullptr) return 0;
    return number * hours_;
  }

  const std::string& name_;
  const std::function<void(const Charge&)>& take_;
  FocusOutcome outcome_;
  long first_refused_ = 0;
  Days days_, ends_;
  std::vector<std::string_view> others_;
  std::string last_unit_, group_, group_text_;
  std::vector<std::size_t> group_columns_;  // the best first
  double hours_ = 0;
};

bool same_letters(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
           return lower(x) == lower(y);
         });
}

}  // namespace

std::string_view name_of(Category category) {
  constexpr std::array<std::string_view, 6> kNames = {"usage", "purchase", "tax", "credit", "adjustment", "other"};
  return kNames[static_cast<std::size_t>(category)];
}

std::string_view name_of(Pricing pricing) {
  constexpr std::array<std::string_view, 4> kNames = {"on-demand", "committed", "spot", "other"};
  return kNames[static_cast<std::size_t>(pricing)];
}

void each_json_text(std::string_view cell, const std::function<bool(std::string_view, std::string_view)>& take) {
  // Texts are quoted, and quotes are doubled inside a quoted cell.
  std::size_t at = 0;
  const auto next_text = [&](std::string_view& text) {
    const std::size_t open = cell.find('"', at);
    if (open == std::string_view::npos) return false;
    std::size_t begin = open + 1;
    const bool doubled = begin < cell.size() && cell[begin] == '"';
    if (doubled) ++begin;
    const std::size_t close = cell.find(doubled ? "\"\"" : "\"", begin);
    if (close == std::string_view::npos) return false;
    text = cell.substr(begin, close - begin);
    at = close + (doubled ? 2 : 1);
    return true;
  };
  std::string_view name, value;
  while (next_text(name)) {
    std::size_t colon = at;
    while (colon < cell.size() && cell[colon] == ' ') ++colon;
    if (colon >= cell.size() || cell[colon] != ':') continue;
    ++colon;
    while (colon < cell.size() && cell[colon] == ' ') ++colon;
    if (colon < cell.size() && cell[colon] == '"') {
      at = colon;
      if (!next_text(value)) return;
    } else {
      const std::size_t end = cell.find_first_of(",}", colon);
      value = trim(cell.substr(colon, end == std::string_view::npos ? end : end - colon));
    }
    if (!take(name, value)) return;
  }
}

std::string_view json_text(std::string_view cell, std::string_view key) {
  std::string_view found;
  if (cell.empty()) return found;
  each_json_text(cell, [&](std::string_view name, std::string_view value) {
    if (!same_letters(name, key)) return true;
    found = value;
    return false;
  });
  return found;
}

Result<FocusOutcome> read_focus(ByteSource& source, const std::string& name,
                                const std::function<void(const Charge&)>& take, std::string_view group) {
  return Reading(name, take, group).read(source);
}

Result<FocusOutcome> read_focus(const std::string& path, const std::function<void(const Charge&)>& take,
                                std::string_view group) {
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> file, open_bytes(path));
  RIGHTSIZE_TRY(std::unique_ptr<ByteSource> source, uncompress(path, std::move(file)));
  return Reading(path, take, group).read(*source);
}

}  // namespace rightsize::bill
