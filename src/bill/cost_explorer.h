// The CSV download of AWS Cost Explorer as rows of FOCUS: a date per row, a column "NAME($)" per service, instance type
// or whatever the table is grouped by, and a total row and column, which are left out.
//
// A row covers the time until the next one; the last covers a month if the others do, but no day after today.
//
// Also the JSON of `aws ce get-cost-and-usage`: {"ResultsByTime": [{"TimePeriod", "Groups": [{"Keys", "Metrics"}]}]}.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "base/located_json.h"

namespace rightsize::bill {

class CostExplorer {
 public:
  using Take = std::function<void(const std::vector<std::string_view>&)>;

  static bool has_header(std::string_view record);
  explicit CostExplorer(std::string_view header);

  // Calls `take` for each group of each time. False if the document is something else.
  static bool translate(const JsonValue& document, const Take& take);
  static std::string grouped_by(const JsonValue& document);  // "INSTANCE_TYPE"

  // The columns of translated rows; the last is the name of the cost's column.
  static std::string_view focus_header();
  std::size_t columns() const { return count_; }
  const std::string& grouped_by() const { return grouped_by_; }  // "Instance type"

  // Calls `take` for each cost of the row before. False for a row without a date: the total.
  bool translate(const std::vector<std::string_view>& cells, const Take& take);
  void finish(const Take& take);

 private:
  struct Column {
    std::size_t at;
    std::string name, currency;
  };
  void give(Date end, const Take& take);

  std::string grouped_by_;
  std::size_t count_ = 0;
  std::vector<Column> costs_;
  std::vector<std::string> held_;  // costs of the last row, in the order of costs_
  Date start_ = {};
  int days_ = 0;  // of the row before it
};

}  // namespace rightsize::bill
