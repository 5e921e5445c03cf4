// Amounts of work as people write them: a number, what is counted, and how often.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/date.h"
#include "base/result.h"
#include "base/units.h"

namespace rightsize {

// "50M docs/day" is {50e6, one day, "docs"}; "2,000" is {2000, nothing, ""}.
struct Amount {
  double count = 0;
  std::optional<Seconds> per;  // the time in which it arrives or is done
  std::string thing;           // lower case; empty if not given
};

// Reads 50M/day, "50 M docs per day", 1,000,000, 12 req/s, 100k daily, 30 rps, 5e6/week. Empty if the text does not
// begin with a number or contains more than an amount.
std::optional<Amount> parse_amount(std::string_view text);

// Whether a word may follow a number on the command line as part of its amount: M, million, per, day, docs/day, rps.
bool continues_amount(std::string_view word);

// The time until a day or moment that is named: friday, "by Monday", tomorrow, 2026-11-20, "20 Nov", "next week", "in 3
// days". Working days end at 18:00. `now` is in seconds since 1970 in the user's time zone. Empty if the text names no
// day or moment, or one in the past.
std::optional<Seconds> time_until(std::string_view text, double now);

// A period of whole days, both ends included.
struct Period {
  Date first, last;
};
// "2026", "2026-10", "October", "Q3", "2026-Q3", "this month", "last quarter", "ytd", "yesterday". A month or a quarter
// without a year is the latest one that has begun. Empty for other texts, single dates included.
std::optional<Period> parse_period(std::string_view text, Date today);

// The current time in the user's zone, or noon of RIGHTSIZE_TODAY.
double local_now();

}  // namespace rightsize
