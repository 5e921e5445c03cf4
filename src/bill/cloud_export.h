// Cost exports of Google Cloud and Azure in their own columns, as rows of FOCUS:
//
// - Google Cloud's standard and detailed usage cost export from BigQuery, as CSV or as JSON (one object per row), and
// the
//   cost table of its console. Costs are net of credits.
// - Azure's actual and amortised cost exports, of Enterprise Agreements and Microsoft Customer Agreements. Both costs
// of
//   a row are the cost of the export.
//
// Columns are found by the letters of their names: "sku.description" and "SKU description" are the same. Sources:
// cloud.google.com/billing/docs/how-to/export-data-bigquery-tables, learn.microsoft.com/azure/cost-management-billing,
// "Understand usage details fields", read 2026-11-17.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"
#include "base/result.h"

namespace rightsize::bill {

class CloudExport {
 public:
  enum class Provider : unsigned char { kGoogle, kAzure };
  using Take = std::function<void(const std::vector<std::string_view>&)>;

  // Empty if the header is of another export. Fails if it has no column for the cost or the day.
  static Result<std::optional<CloudExport>> of_header(std::string_view header, const std::string& file);
  // Rows are JSON objects.
  explicit CloudExport(Provider provider) : provider_(provider) {}

  // The columns of translated rows.
  static std::string focus_header();
  std::size_t columns() const { return count_; }

  // Calls `take` with the cells of one row, valid until it returns.
  void translate(const std::vector<std::string_view>& cells, const Take& take);
  void translate(const JsonValue& row, const Take& take);

 private:
  static constexpr std::size_t kMostRoles = 32;

  void flatten(const JsonValue& value, const std::string& path);
  void finish(const Take& take);
  void finish_google();
  void finish_azure();

  Provider provider_;
  std::size_t count_ = 0;
  std::array<std::vector<std::size_t>, kMostRoles> at_;  // columns by role, the best first
  std::array<std::string, kMostRoles> cells_;            // of the current row
  std::array<std::size_t, kMostRoles> rank_ = {};        // of the names in a JSON row
  std::vector<std::string_view> row_;
};

}  // namespace rightsize::bill
