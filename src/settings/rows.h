// Functions that write a row of this module's tables on one line, one for each kind.
#pragma once

#include "settings/setting.h"

namespace rightsize::settings {

inline constexpr double kMillisecond = 1e-3, kSecond = 1, kMinute = 60, kHour = 3600, kDay = 24 * kHour;
inline constexpr double kOneYear = in_seconds(kYear), kTenYears = 10 * kOneYear;
inline constexpr double kGigabyte = 1e9, kTerabyte = 1e12;
inline constexpr double kNone = 0;

constexpr Setting row(Kind kind, std::string_view name, std::string_view example, double least, double most,
                      std::string_view meaning) {
  Setting made;
  made.kind = kind, made.name = name, made.example = example, made.least = least, made.most = most;
  made.meaning = meaning;
  return made;
}

constexpr Setting text(std::string_view name, std::string_view shown, std::string_view meaning) {
  return row(Kind::kText, name, {}, kNone, kNone, meaning).shown(shown);
}
constexpr Setting file(std::string_view name, std::string_view meaning) {
  return row(Kind::kFile, name, {}, kNone, kNone, meaning).shown("FILE");
}
constexpr Setting choice(std::string_view name, std::string_view values, std::string_view meaning) {
  return row(Kind::kChoice, name, {}, kNone, kNone, meaning).shown(values);
}
constexpr Setting yes_no(std::string_view name, std::string_view meaning) {
  return row(Kind::kYesNo, name, "yes", kNone, kNone, meaning).shown("yes|no");
}
constexpr Setting flag(std::string_view name, std::string_view meaning) {
  return row(Kind::kSwitch, name, {}, kNone, kNone, meaning);
}
constexpr Setting price(std::string_view name, std::string_view meaning) {
  return row(Kind::kPrice, name, "h100-sxm=2.49", kNone, kNone, meaning).shown("[NAME=]USD/H").listed();
}
constexpr Setting date(std::string_view name, std::string_view meaning) {
  return row(Kind::kDate, name, "2026-08-01", kNone, kNone, meaning).shown("DATE");
}
constexpr Setting moment(std::string_view name, std::string_view meaning) {
  return row(Kind::kMoment, name, "2026-11-01T09:00:00Z", kNone, kNone, meaning).shown("TIME");
}

// Begins a section: the rows up to the next one get its heading in help and its jobs.
constexpr Setting section(std::string_view heading, Jobs jobs = Jobs::kAll) {
  Setting made;
  made.heading = heading, made.jobs = jobs;
  return made;
}

// The kinds with a number, an example and a range.
#define RIGHTSIZE_NUMBER_ROW(function, kind, shown_as)                                                   \
  constexpr Setting function(std::string_view name, std::string_view example, double least, double most, \
                             std::string_view meaning) {                                                 \
    return row(Kind::kind, name, example, least, most, meaning).shown(shown_as);                         \
  }
RIGHTSIZE_NUMBER_ROW(count, kCount, "N")
RIGHTSIZE_NUMBER_ROW(length, kLength, "N")
RIGHTSIZE_NUMBER_ROW(number, kNumber, "X")
RIGHTSIZE_NUMBER_ROW(share, kShare, "0-1")
RIGHTSIZE_NUMBER_ROW(factor, kFactor, "X")
RIGHTSIZE_NUMBER_ROW(duration, kDuration, "TIME")
RIGHTSIZE_NUMBER_ROW(size, kBytes, "BYTES")
RIGHTSIZE_NUMBER_ROW(bandwidth, kBandwidth, "GB/s")
RIGHTSIZE_NUMBER_ROW(per_second, kPerSecond, "N/s")
RIGHTSIZE_NUMBER_ROW(per_hour, kPerHour, "N/h")
RIGHTSIZE_NUMBER_ROW(money, kUsd, "USD")
RIGHTSIZE_NUMBER_ROW(hourly_price, kUsdPerHour, "USD/H")
#undef RIGHTSIZE_NUMBER_ROW

// The tables, in the order of help.
std::span<const Setting> job_rows();
std::span<const Setting> work_rows();
std::span<const Setting> rl_rows();
std::span<const Setting> price_rows();
std::span<const Setting> batch_rows();
std::span<const Setting> fleet_rows();
std::span<const Setting> decision_rows();
std::span<const Setting> output_rows();

}  // namespace rightsize::settings
