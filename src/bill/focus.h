// Rows of cost exports in the FinOps Open Cost and Usage Specification (FOCUS) 1.0 to 1.3, as AWS, Google Cloud and
// Azure write them: CSV, plain, gzip or zstd, of any size. AWS Cost and Usage Reports (cur.h) and exports of Google
// Cloud and Azure in their own columns (cloud_export.h) are read the same way.
//
// Columns are found by name, so versions differ only in which exist and may be empty: ProviderName (until 1.2) or
// ServiceProviderName and HostProviderName (from 1.3, with ProviderName empty in exports that still have it); the
// machine type in SkuPriceDetails (from 1.1), or in the providers' own columns. Source: the columns of FOCUS_Spec,
// github.com/FinOps-Open-Cost-and-Usage-Spec, read 2026-11-17.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "bill/money.h"

namespace rightsize::bill {

enum class Category : unsigned char { kUsage, kPurchase, kTax, kCredit, kAdjustment, kOther };
std::string_view name_of(Category category);  // "usage", "purchase" ...

enum class Pricing : unsigned char { kStandard, kCommitted, kSpot, kOther };
std::string_view name_of(Pricing pricing);  // "on-demand", "committed", "spot", "other"

// One row. Text is valid until the next one; doubled quotes inside quoted cells stay doubled.
struct Charge {
  long line = 0;
  Money billed, effective, list;
  bool listed = true;  // otherwise the row has no list cost, and `list` is the effective one
  Category category = Category::kOther;
  Pricing pricing = Pricing::kOther;
  int day = 0;       // of the charge's beginning, since 1970-01-01
  int days = 1;      // days that the charge covers
  double hours = 0;  // consumed, if the unit is a time
  std::string_view currency, provider, service_category, service, description, resource_id, resource_name, region;
  std::string_view price_details, sku_details, usage_type, instance_type;  // where the machine type may be
  std::string_view commitment_id, commitment_type, commitment_status, tags, sub_account;
  std::span<const std::string_view> others;  // cells of columns that FOCUS or the provider defines for something else
  std::string_view group;                    // the cell of the column that was asked for
};

struct FocusOutcome {
  std::uint64_t rows = 0;
  std::uint64_t refused = 0;  // rows without a readable cost
  std::vector<std::string> notes = {};
  std::vector<std::string> columns = {};  // as the file names them
};

// Calls `take` for every row of a file. Fails if the file cannot be read or has no BilledCost and EffectiveCost; rows
// with costs that are not numbers are counted as refused, with the line of the first in the notes. `group`: the column
// that a user calls by this name ("project" for "Project name" and "project.id"); its cells are Charge::group.
Result<FocusOutcome> read_focus(const std::string& path, const std::function<void(const Charge&)>& take,
                                std::string_view group = {});
Result<FocusOutcome> read_focus(ByteSource& source, const std::string& name,
                                const std::function<void(const Charge&)>& take, std::string_view group = {});

// The value of a key in a JSON object in a cell, ignoring the case of the key; empty without one. {""team"":""ml""}
std::string_view json_text(std::string_view cell, std::string_view key);
// Calls `take` with every key and value until it returns false.
void each_json_text(std::string_view cell, const std::function<bool(std::string_view, std::string_view)>& take);

}  // namespace rightsize::bill
