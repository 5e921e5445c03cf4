// One row for every setting of every command: its name, kind, unit, range, meaning and default.
//
// A setting is the flag --name, the key `name:` of a workload file, the parameter `name` of the HTTP API and a keyword
// argument in Python. The rows are in data/settings.csv, by topic. To add one:
//
//   duration,startup,3min,0s..7d,3min,,time from ordering a machine to the first step
//
// A command then declares the setting with a typed destination (apps/rightsize/flags.h), and parsing, range checks,
// help, completion, OpenAPI and error messages follow from the row:
//
//   command.add("startup", flags.startup);        // a Seconds, an optional or a vector of them
//
// To read a value that is not on the command line:
//
//   const settings::Setting& row = settings::get("interruptions");
//   Result<settings::Value> value = settings::read(row, "0.05");    // value->number == 0.05, per hour
//
// A number without a unit has the unit of the row. NaN, infinities, empty text and values outside [least, most] are
// refused with a message that names the setting, the value and the range. A setting has the same unit and range in
// every command; only its meaning and its default may differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "base/units.h"

namespace rightsize::settings {

enum class Kind {
  kText,        // any text but empty; commands may parse it further
  kFile,        // a path, or - for standard input
  kChoice,      // one of Setting::values
  kYesNo,       // yes|no, true|false, on|off
  kSwitch,      // a flag without a value; true or false in files
  kCount,       // a whole number, with k, M, B, T
  kLength,      // tokens: 1024, or with a distribution: 1024,fixed or 1k,p95=8k
  kNumber,      // a decimal number
  kShare,       // 0.7 or 70%
  kFactor,      // 1.5 or 1.5x
  kDuration,    // 14d, 2h30m; a number without a unit only if the row has one
  kBytes,       // 80GiB
  kBandwidth,   // 3200Gbit/s, 400GB/s
  kPerSecond,   // 20 or 20/s, 50M/d
  kPerHour,     // 0.05 or 0.05/h
  kUsd,         // 500, $12.50, 10k USD
  kUsdPerHour,  // 2.49, $2.49/h
  kPrice,       // [NAME=]2.49: a price for one GPU, machine type or everything
  kDate,        // 2026-08-01
  kMoment,      // 2026-08-01 or 2026-08-01T09:00:00Z
};

// Setting::unit of a rate that must name its time: some users mean 1M per day, others 1M per second.
inline constexpr std::string_view kTimeRequired = "/TIME";

// The kind of work that a setting applies to. A setting for one kind is refused for another.
enum class Jobs { kAll, kTrain, kServe, kOffline };

struct Setting {
  std::string_view name;  // "ttft-slo"; in capitals for an argument without a flag
  Kind kind = Kind::kText;
  std::string_view meaning;       // without a full stop
  std::string_view example;       // a value that is accepted
  std::string_view values;        // of a choice: "cost|time"; otherwise the placeholder in help: "TIME"
  double least = 0, most = 0;     // in the unit of a bare number; equal: no range
  std::string_view unit;          // of a bare duration: "h"; of a rate: kTimeRequired
  std::string_view preset;        // the default, as a user would write it; empty: none
  std::string_view preset_words;  // ... if it is not a single value: "the engine's default"
  std::string_view aliases;       // other spellings of the name, blank-separated: "providers"
  std::string_view heading;       // in help; the section sets it and `jobs`
  Jobs jobs = Jobs::kAll;
  bool list = false;        // takes several values, comma-separated
  bool many_words = false;  // all words up to the next flag: --from *.csv
};

// Every row, in the order of help.
std::span<const Setting> all();
// By name or alias; nullptr if there is none.
const Setting* find(std::string_view name);
// A row that must exist; aborts otherwise. Tests of every command would detect that.
const Setting& get(std::string_view name);

// A value that was read and checked.
struct Value {
  std::string text;   // trimmed; a choice is spelled as in the row
  double number = 0;  // in the unit of a bare number (durations: seconds, bytes: bytes, rates: by kind)
};

// Reads one value. Errors call the setting `name` ("--ttft-slo", "ttft-slo"), or by its flag if that is empty.
Result<Value> read(const Setting& setting, std::string_view text, std::string_view name = {});
// Reads each part of a comma-separated list; a setting that is not a list has one.
Result<std::vector<Value>> read_list(const Setting& setting, std::string_view text, std::string_view name = {});

// Checks a value from a file (with its place) or from the command line (without one).
Result<> check(std::string_view setting, std::string_view text, const Place& place);

// The inverse of read(): text that read() turns into this number.
std::string format(const Setting& setting, double number);

bool is_number(Kind kind);  // whether Value::number is set
// "between 1 and 1,024"; empty without a range.
std::string range_words(const Setting& setting);

// The JSON type of a value without a unit: "boolean", "integer", "number" or "string".
std::string_view json_type(const Setting& setting);
// The range of a number without a unit; empty if the setting does not accept one.
struct NumberRange {
  double least, most;
};
std::optional<NumberRange> number_range(const Setting& setting);
// The placeholder for the value in help: "TIME", "N", "cost|time".
std::string placeholder(const Setting& setting);
// The line in help: the meaning with the example, the range and the default.
std::string help(const Setting& setting);

// Whether a variable of this type can store a setting of this kind.
bool accepts(const std::string&, Kind kind);
bool accepts(const bool&, Kind kind);
bool accepts(const double&, Kind kind);
bool accepts(const Seconds&, Kind kind);
bool accepts(const Bytes&, Kind kind);
bool accepts(const BytesPerSecond&, Kind kind);
bool accepts(const RequestsPerSecond&, Kind kind);
bool accepts(const Usd&, Kind kind);
bool accepts(const Ratio&, Kind kind);
bool accepts(const Date&, Kind kind);
void store(const Value& value, std::string& to);
void store(const Value& value, bool& to);
void store(const Value& value, double& to);
void store(const Value& value, Seconds& to);
void store(const Value& value, Bytes& to);
void store(const Value& value, BytesPerSecond& to);
void store(const Value& value, RequestsPerSecond& to);
void store(const Value& value, Usd& to);
void store(const Value& value, Ratio& to);
void store(const Value& value, Date& to);
template <std::integral Whole>
bool accepts(const Whole&, Kind kind) {
  return kind == Kind::kCount || kind == Kind::kLength;
}
template <std::integral Whole>
void store(const Value& value, Whole& to) {
  to = static_cast<Whole>(value.number);
}

// A value of the named setting: read_as<Seconds>("window", "7d").
template <class T>
Result<T> read_as(std::string_view name, std::string_view text) {
  RIGHTSIZE_TRY(const Value value, read(get(name), text));
  T made{};
  store(value, made);
  return made;
}

}  // namespace rightsize::settings
