#include "settings/setting.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <unordered_map>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/csv.h"
#include "base/date.h"
#include "base/embedded.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::settings {
namespace {

Result<double> parse_factor(std::string_view text) {
  // "+50%" and "-20%" change what there is.
  if (text.ends_with('%') && (text.starts_with('+') || text.starts_with('-'))) {
    const Result<double> change = parse_number(text.substr(1, text.size() - 2));
    if (change) return text.front() == '+' ? 1 + *change / 100 : 1 - *change / 100;
  }
  return parse_number(text.ends_with('x') ? text.substr(0, text.size() - 1) : text);
}

Result<double> parse_hourly_price(std::string_view text) {
  std::string_view amount = text.starts_with('$') ? text.substr(1) : text;
  for (const std::string_view unit : {"/hour", "/hr", "/h", "USD", "usd", "$"}) {
    if (amount.ends_with(unit)) amount.remove_suffix(unit.size());
  }
  const Result<double> value = parse_number(amount);
  if (value) return value;
  return fail(bad_input(fmt::format("'{}' is not a price per hour", text)).with_hint("write 2.49 or 2.49USD/h"));
}

// Decimal numbers with k, M, B, T, or grouped digits: 10k hours, 1,280.
Result<double> parse_decimal(std::string_view text) {
  Result<double> number = parse_number(text);
  if (number) return number;
  const Result<double> count = parse_count(text);
  return count ? count : number;
}

// A number with its sign: growth may be negative.
template <auto kParse>
Result<double> with_sign(const Setting& setting, std::string_view text) {
  const bool negative = setting.least < 0 && text.starts_with('-');
  RIGHTSIZE_TRY(const double value, kParse(negative ? text.substr(1) : text));
  return negative ? -value : value;
}

Result<double> parse_fraction(std::string_view text) {
  return parse_share(text).map([](Ratio ratio) { return ratio.fraction(); });
}

// Numbers may have a noun: "8 GPUs", "1B tokens". Without a space, only plurals are accepted: 8x is not a number.
template <auto kParse>
Result<double> with_noun(std::string_view text) {
  Result<double> number = kParse(text);
  if (number) return number;
  const std::optional<Amount> amount = parse_amount(text);
  if (!amount || amount->per || amount->thing.empty()) return number;
  const bool apart = text.find(' ') != std::string_view::npos;
  if (!apart && !(amount->thing.size() > 3 && amount->thing.ends_with('s'))) return number;
  const std::size_t noun = to_lower(text).rfind(amount->thing);
  return kParse(trim(text.substr(0, noun)));
}

// "1024", "1024,fixed", "1k,p95=8k", "max=8k": the first number; the rest is for the command.
Result<double> parse_length(std::string_view text) {
  if (text.starts_with("max=")) text.remove_prefix(4);
  const Result<double> whole = with_noun<parse_count>(text);  // 1,024
  return whole ? whole : with_noun<parse_count>(text.substr(0, text.find(',')));
}

Result<double> parse_time(const Setting& setting, std::string_view text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789.,e+") == std::string_view::npos;
  Result<Seconds> length = bare && !setting.unit.empty() ? parse_duration(std::string(text) + std::string(setting.unit))
                                                         : parse_duration(text);
  // A deadline may also be a day: friday, 2026-11-20.
  if (!length && setting.name == "deadline") {
    if (const std::optional<Seconds> until = time_until(text, local_now())) return in_seconds(*until);
  }
  return length.map(in_seconds);
}

Result<double> parse_rate(const Setting& setting, std::string_view text) {
  if (setting.unit == kTimeRequired && text.find('/') == std::string_view::npos)
    if (const std::optional<Amount> amount = parse_amount(text); !amount || !amount->per)
      return fail(bad_input(fmt::format("'{}' needs a time, for example {}", text, setting.example)));
  const Result<RequestsPerSecond> rate = parse_request_rate(text);
  if (rate) return in_requests_per_s(*rate);
  if (const std::optional<Amount> amount = parse_amount(text); amount && amount->per)
    return amount->count / in_seconds(*amount->per);
  return fail(rate.error());
}

// Money per month, kWh or GB may say so: '$10k/month', '0.28/kWh'.
Result<double> parse_money(const Setting& setting, std::string_view text) {
  for (const std::string_view unit : {"month", "mo", "kWh", "kwh", "GB-month", "GB"}) {
    const std::string_view name = unit == "mo" ? "month" : unit == "kwh" ? "kWh" : unit;
    if (setting.meaning.find("per " + std::string(name)) == std::string_view::npos) continue;
    for (const std::string_view before : {"/", " per ", " a "}) {
      if (text.ends_with(std::string(before) + std::string(unit))) text.remove_suffix(before.size() + unit.size());
    }
  }
  return parse_usd(text).map(in_usd);
}

// For parsers that need only the text.
template <auto kParse>
Result<double> text_alone(const Setting&, std::string_view text) {
  return kParse(text);
}

std::string four_digits(double limit) { return format_number(limit, 4); }
std::string dollars(double limit) { return "$" + four_digits(limit); }
std::string whole(double limit) {
  return limit >= 1e9 ? fmt::format("1e{:.0f}", std::log10(limit)) : format_number(limit, 7);
}
std::string fraction(double limit) {
  return limit <= 1 && limit >= 0 ? four_digits(limit) : format_percent(Ratio::fraction(limit));
}
std::string each_second(double limit) {
  return (limit < 1e-3 ? fmt::format("{:g}", limit) : four_digits(limit)) + "/s";
}

struct KindRow {
  Kind kind;
  std::string_view name;         // in data/settings.csv
  std::string_view placeholder;  // in help; empty: the example
  // Of numbers: the reader of a value, text that reads as the same number again, and a limit as people write it.
  Result<double> (*parse)(const Setting& setting, std::string_view text) = nullptr;
  const char* format = nullptr;
  std::string (*limit)(double) = nullptr;
};
constexpr KindRow kKinds[] = {
    {Kind::kText, "text", ""},
    {Kind::kFile, "file", "FILE"},
    {Kind::kChoice, "choice", ""},
    {Kind::kYesNo, "yes_no", "yes|no"},
    {Kind::kSwitch, "flag", ""},
    {Kind::kPrice, "price", "[NAME=]USD/H"},
    {Kind::kDate, "date", "DATE"},
    {Kind::kMoment, "moment", "TIME"},
    {Kind::kCount, "count", "N", text_alone<with_noun<parse_count>>, "{:.0f}", whole},
    {Kind::kLength, "length", "N", text_alone<parse_length>, "{:.0f}", whole},
    {Kind::kNumber, "number", "X", with_sign<with_noun<parse_decimal>>, "{}", whole},
    {Kind::kShare, "share", "0-1", with_sign<parse_fraction>, "{}", fraction},
    {Kind::kFactor, "factor", "X", text_alone<parse_factor>, "{}", whole},
    {Kind::kDuration, "duration", "TIME", parse_time, "{}s",
     [](double limit) { return format_duration(seconds(limit)); }},
    {Kind::kBytes, "size", "BYTES",
     [](const Setting&, std::string_view text) { return parse_bytes(text).map(in_bytes); }, "{}B",
     [](double limit) { return format_bytes(bytes(limit)); }},
    {Kind::kBandwidth, "bandwidth", "GB/s",
     [](const Setting&, std::string_view text) { return parse_bandwidth(text).map(in_bytes_per_s); }, "{}MB/s",
     [](double limit) { return format_bandwidth(bytes_per_s(limit)); }},
    {Kind::kPerSecond, "per_second", "N/s", parse_rate, "{}/s", each_second},
    {Kind::kPerHour, "per_hour", "N/h", text_alone<parse_per_hour>, "{}",
     [](double limit) { return four_digits(limit) + "/h"; }},
    {Kind::kUsd, "money", "USD", parse_money, "{}", dollars},
    {Kind::kUsdPerHour, "hourly_price", "USD/H", text_alone<parse_hourly_price>, "{}", dollars},
};

// Null for kinds that are not numbers.
const KindRow* find_number(Kind kind) {
  const auto found = std::ranges::find(kKinds, kind, &KindRow::kind);
  return found->parse == nullptr ? nullptr : found;
}

Jobs jobs_called(std::string_view word) {
  return word == "train"     ? Jobs::kTrain
         : word == "serve"   ? Jobs::kServe
         : word == "offline" ? Jobs::kOffline
                             : Jobs::kAll;
}

[[noreturn]] void stop(const std::string& why) {
  std::cerr << "internal error: " << why << '\n';
  std::abort();
}

// A row of data/settings.csv below its section.
Setting read_row(const Csv& table, const CsvRow& row, const Setting& section) {
  const auto cell = [&](const char* column) { return table.cell(row, column); };
  const auto kind = std::ranges::find(kKinds, cell("kind"), &KindRow::name);
  if (kind == std::end(kKinds)) stop(describe(bad_input("unknown kind").at(table.place(row, "kind"))));
  Setting made = section;
  made.kind = kind->kind;
  made.meaning = cell("meaning");
  const std::string_view names = cell("names"), example = cell("example"), preset = cell("default");
  made.name = names.substr(0, names.find(' '));
  made.aliases = trim(names.substr(made.name.size()));
  const bool by_example = made.kind == Kind::kText || made.kind == Kind::kChoice;
  made.values = by_example ? example : kind->placeholder;
  if (!by_example) made.example = example;
  const bool in_words = preset.starts_with('(');
  (in_words ? made.preset_words : made.preset) = in_words ? preset.substr(1, preset.size() - 2) : preset;
  for (const std::string_view word : split_list(cell("more"), ' ')) {
    made.list |= word == "list";
    made.many_words |= word == "words";
    if (word.starts_with("unit=")) made.unit = word.substr(5);
  }
  if (kind->parse == nullptr) return made;
  const std::string_view range = cell("range");
  const std::size_t dots = std::min(range.find(".."), range.size());
  made.least = range.starts_with('-') ? -1 : 0;  // with_sign() reads it
  const Result<double> least = kind->parse(made, range.substr(0, dots));
  const Result<double> most = kind->parse(made, range.substr(std::min(dots + 2, range.size())));
  if (!least || !most) stop(describe(bad_input("no range").at(table.place(row, "range"))));
  made.least = *least, made.most = *most;
  return made;
}

const std::vector<Setting>& rows() {
  static const Csv kTable = *Csv::parse("data/settings.csv", std::string(embedded_file("settings.csv")));
  static const std::vector<Setting> kAll = [] {
    std::vector<Setting> all;
    Setting section;
    for (const CsvRow& row : kTable.rows()) {
      if (kTable.cell(row, "kind") != "section") {
        all.push_back(read_row(kTable, row, section));
        continue;
      }
      section.heading = kTable.cell(row, "names");
      section.jobs = jobs_called(kTable.cell(row, "example"));
    }
    return all;
  }();
  return kAll;
}

std::string flag_name(const Setting& setting) {
  const bool argument = setting.name.front() >= 'A' && setting.name.front() <= 'Z';
  return argument ? std::string(setting.name) : "--" + std::string(setting.name);
}

// Whether the parsers of every module read this text. False for days, nouns and grouped digits, which are rewritten as
// numbers.
bool is_plain(const Setting& setting, std::string_view text) {
  switch (setting.kind) {
    case Kind::kCount:
      return parse_count(text).has_value();
    case Kind::kNumber:
      return with_sign<parse_number>(setting, text).has_value();
    case Kind::kDuration:
      return setting.name != "deadline" || parse_duration(text).has_value();
    case Kind::kPerSecond:
      return parse_request_rate(text).has_value();
    default:
      return true;
  }
}

Error about(std::string_view name, Error error) {
  error.message = fmt::format("{}: {}", name, error.message);
  return error;
}

Result<Value> read_choice(const Setting& setting, std::string_view text, std::string_view name) {
  std::vector<std::string> known;
  for (const std::string_view one : split_list(setting.values, '|')) {
    // Percentiles are also written p95.
    if (fold_name(one) == fold_name(text) || fold_name(text) == "p" + fold_name(one)) return Value{std::string(one)};
    known.emplace_back(one);
  }
  return fail(bad_input(fmt::format("unknown {} '{}'; use {}", name, text, fmt::join(known, ", ")))
                  .with_hint(did_you_mean(text, known)));
}

Result<Value> read_yes_no(std::string_view text, std::string_view name) {
  const std::string word = to_lower(text);
  const bool yes = word == "yes" || word == "true" || word == "on" || word == "1";
  const bool no = word == "no" || word == "false" || word == "off" || word == "0";
  if (yes || no) return Value{yes ? "yes" : "no", yes ? 1.0 : 0.0};
  return fail(bad_input(fmt::format("{} '{}': use yes or no", name, text)));
}

// "6m", "30d", "2 weeks": that long ago. An m is a month here.
std::optional<Date> parse_days_ago(std::string_view text) {
  const bool months = text.ends_with('m') || text.ends_with("mo");
  const Result<double> count = months ? parse_number(text.substr(0, text.find('m'))) : fail(bad_input(""));
  const Result<Seconds> length = count ? Result<Seconds>(kMonth * *count) : parse_duration(text);
  constexpr Seconds kLongest = kYear * 100.0;
  if (!length || !(*length > Seconds{}) || *length > kLongest) return std::nullopt;
  return Date{today().day - static_cast<int>(*length / days(1))};
}

Result<> check_day(const Setting& setting, std::string_view text) {
  // A moment may also be given in seconds since 1970.
  if (setting.kind == Kind::kMoment && parse_number(text).value_or(0) > 1e8) return {};
  const std::string_view day = setting.kind == Kind::kMoment ? text.substr(0, 10) : text;
  if (const Result<Date> date = parse_date(day); !date) return fail(date.error());
  return {};
}

}  // namespace

std::span<const Setting> all() { return rows(); }

const Setting* find(std::string_view name) {
  static const auto kIndex = [] {
    std::unordered_map<std::string_view, const Setting*> index;
    for (const Setting& row : rows()) index.emplace(row.name, &row);
    for (const Setting& row : rows()) {
      for (const std::string_view alias : split_list(row.aliases, ' ')) index.emplace(alias, &row);
    }
    return index;
  }();
  const auto found = kIndex.find(name);
  return found == kIndex.end() ? nullptr : found->second;
}

const Setting& get(std::string_view name) {
  if (const Setting* found = find(name)) return *found;
  stop(fmt::format("no row for the setting '{}'", name));
}

bool is_number(Kind kind) { return find_number(kind) != nullptr; }

Result<Value> read(const Setting& setting, std::string_view text, std::string_view name) {
  const std::string flag = name.empty() ? flag_name(setting) : std::string(name);
  text = trim(text);
  // A limit may carry a comparison sign: --min-memory ">=80GB".
  const char* sign = setting.name.starts_with("min-") ? ">" : setting.name.starts_with("max-") ? "<" : "";
  if (*sign != '\0' && text.starts_with(sign))
    text = trim(text.substr(text.starts_with(fmt::format("{}=", sign)) ? 2 : 1));
  if (text.empty()) return fail(bad_input(fmt::format("{} needs a value", flag)).with_hint(help(setting)));
  if (setting.kind == Kind::kChoice) return read_choice(setting, text, flag);
  if (setting.kind == Kind::kYesNo || setting.kind == Kind::kSwitch) return read_yes_no(text, flag);
  if (setting.kind == Kind::kDate || setting.kind == Kind::kMoment) {
    // The first day of a month, a quarter or a year, or its last one where a period ends.
    if (const std::optional<Period> period = parse_period(text, today()))
      return Value{format_date(setting.name == "until" || setting.name == "to-date" ? period->last : period->first)};
    if (const std::optional<Date> ago = parse_days_ago(text)) return Value{format_date(*ago)};
    if (Result<> day = check_day(setting, text); !day) return fail(about(flag, std::move(day).error()));
  }
  Value value{std::string(text)};
  const KindRow* kind = find_number(setting.kind);
  if (kind == nullptr) return value;
  const Result<double> number = kind->parse(setting, text);
  if (!number) return fail(about(flag, number.error()));
  value.number = *number;
  if (!std::isfinite(value.number) || value.number < setting.least || value.number > setting.most)
    return fail(bad_input(fmt::format("{} {} must be {}", flag, text, range_words(setting))));
  if (!is_plain(setting, text)) value.text = format(setting, value.number);
  return value;
}

Result<std::vector<Value>> read_list(const Setting& setting, std::string_view text, std::string_view name) {
  std::vector<Value> values;
  // 1,000,000 is one number.
  if (!setting.list || (is_number(setting.kind) && read(setting, text, name))) {
    RIGHTSIZE_TRY(values.emplace_back(), read(setting, text, name));
    return values;
  }
  std::vector<std::string_view> parts = split_list(text, ',');
  if (parts.empty()) parts.push_back(text);
  for (const std::string_view part : parts) {
    RIGHTSIZE_TRY(values.emplace_back(), read(setting, part, name));
  }
  return values;
}

Result<> check(std::string_view setting, std::string_view text, const Place& place) {
  const Setting* row = find(setting);
  if (row == nullptr) return {};
  const Result<std::vector<Value>> values = read_list(*row, text, place.line > 0 ? setting : std::string_view{});
  if (!values) return fail(Error(values.error()).at(place));
  return {};
}

std::string format(const Setting& setting, double number) {
  const KindRow* kind = find_number(setting.kind);
  const double scale = setting.kind == Kind::kBandwidth ? 1e-6 : 1;
  return fmt::format(fmt::runtime(kind != nullptr ? kind->format : "{}"), number * scale);
}

std::string range_words(const Setting& setting) {
  const KindRow* kind = find_number(setting.kind);
  if (kind == nullptr || setting.least == setting.most) return {};
  return fmt::format("between {} and {}", kind->limit(setting.least), kind->limit(setting.most));
}

std::string_view json_type(const Setting& setting) {
  if (setting.kind == Kind::kYesNo || setting.kind == Kind::kSwitch) return "boolean";
  if (setting.kind == Kind::kCount || setting.kind == Kind::kLength) return "integer";
  const bool needs_unit = setting.kind == Kind::kBytes || setting.kind == Kind::kBandwidth ||
                          setting.kind == Kind::kPrice || setting.unit == kTimeRequired ||
                          (setting.kind == Kind::kDuration && setting.unit.empty());
  return is_number(setting.kind) && !needs_unit ? "number" : "string";
}

std::optional<NumberRange> number_range(const Setting& setting) {
  if (json_type(setting) != "integer" && json_type(setting) != "number") return std::nullopt;
  const double unit =
      setting.kind == Kind::kDuration ? in_seconds(*parse_duration("1" + std::string(setting.unit))) : 1;
  return NumberRange{setting.least / unit, setting.most / unit};
}

std::string placeholder(const Setting& setting) { return std::string(setting.values); }

std::string help(const Setting& setting) {
  std::string text(setting.meaning);
  const bool shows_example = text.find(setting.example) != std::string::npos || text.find("e.g.") != std::string::npos;
  if (is_number(setting.kind) && setting.kind != Kind::kCount && !shows_example && setting.preset.empty())
    text += fmt::format(", e.g. {}", setting.example);
  return text;
}

bool accepts(const std::string&, Kind) { return true; }
bool accepts(const bool&, Kind kind) { return kind == Kind::kSwitch || kind == Kind::kYesNo; }
bool accepts(const double&, Kind kind) {
  return is_number(kind) && kind != Kind::kDuration && kind != Kind::kBytes && kind != Kind::kBandwidth;
}
bool accepts(const Seconds&, Kind kind) { return kind == Kind::kDuration; }
bool accepts(const Bytes&, Kind kind) { return kind == Kind::kBytes; }
bool accepts(const BytesPerSecond&, Kind kind) { return kind == Kind::kBandwidth; }
bool accepts(const RequestsPerSecond&, Kind kind) { return kind == Kind::kPerSecond; }
bool accepts(const Usd&, Kind kind) { return kind == Kind::kUsd; }
bool accepts(const Ratio&, Kind kind) { return kind == Kind::kShare; }
bool accepts(const Date&, Kind kind) { return kind == Kind::kDate; }

void store(const Value& value, std::string& to) { to = value.text; }
void store(const Value& value, bool& to) { to = value.number != 0; }
void store(const Value& value, double& to) { to = value.number; }
void store(const Value& value, Seconds& to) { to = seconds(value.number); }
void store(const Value& value, Bytes& to) { to = bytes(value.number); }
void store(const Value& value, BytesPerSecond& to) { to = bytes_per_s(value.number); }
void store(const Value& value, RequestsPerSecond& to) { to = requests_per_s(value.number); }
void store(const Value& value, Usd& to) { to = usd(value.number); }
void store(const Value& value, Ratio& to) { to = Ratio::fraction(value.number); }
void store(const Value& value, Date& to) { to = parse_date(value.text).value_or(Date{}); }  // read() has checked it

}  // namespace rightsize::settings
