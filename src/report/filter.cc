#include "report/filter.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::report {
namespace {

// memory of memory_bytes, bandwidth of bandwidth_bytes_per_second.
std::string_view without_unit(std::string_view name) {
  for (const std::string_view unit : {"_bytes_per_second", "_bytes", "_flops", "_watts"})
    if (name.ends_with(unit)) return name.substr(0, name.size() - unit.size());
  return name;
}

bool is_column(const FieldRow& row) {
  return !row.is_included() && row.type.kind != FieldKind::kList && row.type.kind != FieldKind::kMap;
}

const FieldRow* find_column(const FieldTable& fields, std::string_view name) {
  for (const bool exact : {true, false}) {
    for (const FieldRow& row : fields.rows())
      if (is_column(row) && fold_name(exact ? row.name : without_unit(row.name)) == fold_name(name)) return &row;
  }
  return nullptr;
}

// The number in the base unit of the row; GB of a data sheet are GiB of the catalogue.
Result<double> read_number(const FieldRow& row, std::string text) {
  const bool bare = text.find_first_not_of("0123456789.") == std::string::npos;
  if (row.unit.name == "bytes") {
    if (bare) text += "GiB";
    if (text.ends_with("GB")) text.insert(text.size() - 1, "i");
    return parse_bytes(text).map([](Bytes size) { return in_bytes(size); });
  }
  if (row.unit.name == "bytes/s")
    return parse_bandwidth(bare ? text + "GB/s" : text).map([](BytesPerSecond rate) { return in_bytes_per_s(rate); });
  if (row.unit.name == "FLOP/s")
    return parse_flops(bare ? text + "TFLOP/s" : text).map([](FlopsPerSecond rate) { return in_flop_per_s(rate); });
  if (row.unit.name == "watts")
    return parse_power(bare ? text + "W" : text).map([](Watts power) { return in_watts(power); });
  const std::optional<Amount> amount = parse_amount(text);
  if (amount && amount->thing.empty() && !amount->per) return amount->count;
  return fail(bad_input(fmt::format("'{}' is not a number", text)));
}

struct ValueSink final : FieldSink {
  void value(const FieldValue& value) override {
    if (const auto* text = std::get_if<std::string_view>(&value)) words = *text;
    if (const auto* yes = std::get_if<bool>(&value)) number = *yes ? 1 : 0;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) number = static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) number = *real;
  }
  void object(const FieldTable&, const void*) override { number = 1; }
  void begin(bool) override {}
  void key(std::string_view) override {}
  void end() override {}

  std::string words;
  double number = NAN;
};

}  // namespace

std::vector<std::string> filter_columns(const FieldTable& fields) {
  std::vector<std::string> names;
  for (const FieldRow& row : fields.rows()) {
    std::string name(without_unit(row.name.substr(0, row.name.find('?'))));
    std::ranges::replace(name, '_', '-');
    if (is_column(row) && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Result<Condition> Condition::parse(std::string_view text, const FieldTable& fields) {
  const std::size_t at = std::min(text.find_first_of("<>=!"), text.size());
  const std::size_t end = std::min(text.find_first_not_of("<>=!", at), text.size());
  const std::string_view name = trim(text.substr(0, at));
  Condition condition;
  condition.row_ = find_column(fields, name);
  condition.sign_ = text.substr(at, end - at) == "==" ? "=" : text.substr(at, end - at);
  condition.text_ = trim(text.substr(end));
  const std::vector<std::string> columns = filter_columns(fields);
  if (condition.row_ == nullptr)
    return fail(bad_input(fmt::format("no column is called '{}'", name))
                    .with_hint(did_you_mean(name, columns))
                    .with_hint(fmt::format("columns: {}", fmt::join(columns, ", "))));
  if (condition.row_->type.kind == FieldKind::kText || condition.sign_.empty()) return condition;
  const std::string word = to_lower(condition.text_);
  if (word == "yes" || word == "true" || word == "no" || word == "false") {
    condition.sign_ = (word == "yes" || word == "true") == (condition.sign_ != "!=") ? "!=" : "=";
    return condition;
  }
  const Result<double> number = read_number(*condition.row_, condition.text_);
  if (!number) return fail(Error(number.error()).with_hint(fmt::format("a condition on {} needs a number", name)));
  condition.number_ = *number;
  return condition;
}

bool Condition::holds(const void* object) const {
  ValueSink sink;
  row_->read(*row_, object, sink);
  if (row_->type.kind == FieldKind::kText) {
    const std::string held = fold_name(sink.words);
    if (sign_.empty()) return !held.empty() && held != "none";
    return (held.find(fold_name(text_)) != std::string::npos) != (sign_ == "!=");
  }
  const double held = std::isnan(sink.number) && (sign_.empty() || sign_ == "!=" || sign_ == "=") ? 0 : sink.number;
  if (sign_.empty() || sign_ == "!=") return held != number_;
  if (sign_ == "=") return held == number_;
  return sign_ == "<"    ? held < number_
         : sign_ == "<=" ? held <= number_
         : sign_ == ">"  ? held > number_
                         : held >= number_;
}

}  // namespace rightsize::report
