// AWS Cost and Usage Reports as rows of FOCUS: legacy reports (lineItem/UnblendedCost) and CUR 2.0
// (line_item_unblended_cost).
//
// Effective costs follow AWS's own rules for amortised cost (docs.aws.amazon.com/cur, "Line item details", "Reservation
// details" and "Savings Plans details", read 2026-11-17): usage under a commitment costs its effective cost, the
// commitment's fee costs what was not used, and its negation nothing. Net columns, which reports of accounts with a
// private discount have, come first; rows with the discount itself then cost nothing.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bill/money.h"

namespace rightsize::bill {

// The letters and digits of a column's name in lower case: lineItem/UnblendedCost and line_item_unblended_cost are the
// same.
std::string folded(std::string_view name);

class CostAndUsageReport {
 public:
  static bool has_header(std::string_view record);

  explicit CostAndUsageReport(std::string_view header);

  // The columns of translated rows.
  static std::string_view focus_header();
  std::size_t columns() const { return count_; }

  // Calls `take` with the cells of one or two rows, valid until it returns: a fee for a commitment is a purchase and,
  // with no cost billed, the part that was not used.
  void translate(const std::vector<std::string_view>& cells,
                 const std::function<void(const std::vector<std::string_view>&)>& take);

 private:
  enum Column : unsigned char;
  static constexpr std::size_t kMostColumns = 40;

  std::size_t count_ = 0;
  std::array<std::size_t, kMostColumns> at_ = {};
  std::vector<std::pair<std::string, std::size_t>> tags_;  // one column per tag: its name in quotes
  std::string effective_, tag_text_;
  std::vector<std::string_view> row_;
};

}  // namespace rightsize::bill
