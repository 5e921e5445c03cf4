// Conditions on the columns of a result, as users write them: memory>=80GB, year=2024, vendor=amd, or the name of a
// column that must have a value: nvlink.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/fields.h"

namespace rightsize::report {

// The columns that conditions may name, without their units: "memory" of memory_bytes.
std::vector<std::string> filter_columns(const FieldTable& fields);

class Condition {
 public:
  // A bare number is in the unit of data sheets: GiB, GB/s, TFLOP/s, W.
  static Result<Condition> parse(std::string_view text, const FieldTable& fields);
  bool holds(const void* object) const;

 private:
  const FieldRow* row_ = nullptr;
  std::string sign_, text_;  // "" (has a value), "<", "<=", "=", "!=", ">=" or ">"; the value
  double number_ = 0;        // in the base unit
};

// Which objects meet all conditions.
template <class T>
Result<std::vector<bool>> matching(const Fields<T>& fields, const std::vector<T>& objects,
                                   const std::vector<std::string>& wanted) {
  std::vector<bool> all(objects.size(), true);
  for (const std::string& text : wanted) {
    RIGHTSIZE_TRY(const Condition condition, Condition::parse(text, fields));
    for (std::size_t i = 0; i < objects.size(); ++i) all[i] = all[i] && condition.holds(&objects[i]);
  }
  return all;
}

}  // namespace rightsize::report
