#include "base/amount.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/date.h"
#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize {
namespace {

template <std::size_t N>
bool is_any(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Scale {
  std::string_view spellings;
  double factor;
};
constexpr Scale kScales[] = {{"k thousand thousands", 1e3},
                             {"m mm mn mio mil million millions", 1e6},
                             {"b bn g billion billions", 1e9},
                             {"t tn trillion trillions", 1e12}};

std::optional<double> scale_of(std::string_view word) {
  for (const Scale& scale : kScales) {
    const std::vector<std::string_view> names = split_list(scale.spellings, ' ');
    if (std::find(names.begin(), names.end(), word) != names.end()) return scale.factor;
  }
  return std::nullopt;
}

std::optional<Seconds> adverb(std::string_view word) {
  if (word == "daily" || word == "nightly") return days(1);
  if (word == "hourly") return hours(1);
  if (word == "weekly") return days(7);
  if (word == "monthly") return kMonth;
  return std::nullopt;
}

// "rps" counts requests each second, "tpm" tokens each minute.
std::optional<Amount> abbreviation(std::string_view word) {
  if (word.size() != 3 || word[1] != 'p') return std::nullopt;
  constexpr std::pair<char, std::string_view> kThings[] = {{'r', "requests"}, {'q', "queries"}, {'t', "tokens"}};
  constexpr std::pair<char, double> kTimes[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  Amount made;
  for (const auto& [letter, thing] : kThings) {
    if (word[0] == letter) made.thing = thing;
  }
  for (const auto& [letter, time] : kTimes) {
    if (word[2] == letter) made.per = seconds(time);
  }
  return made.thing.empty() || !made.per ? std::nullopt : std::optional(made);
}

std::optional<Seconds> read_time(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const bool counted = text.front() >= '0' && text.front() <= '9';
  if (text == "mo" || text == "mon") text = "month";
  if (text == "night" || text == "evening" || text == "morning") text = "day";  // once a day
  const Result<Seconds> time = parse_duration(counted ? std::string(text) : "1" + std::string(text));
  return time && *time > Seconds{} ? std::optional(*time) : std::nullopt;
}

// Digits with separators, a point and an exponent at the front: the number and how many characters it takes.
std::optional<std::pair<double, std::size_t>> leading_number(std::string_view text) {
  std::string digits;
  std::size_t at = 0;
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  for (; at < text.size(); ++at) {
    const bool separator = (text[at] == ',' || text[at] == '_') && digit(at + 1) && digit(at + 2) && digit(at + 3) &&
                           !digit(at + 4) && !digits.empty();
    if (separator) continue;
    const bool exponent = (text[at] == 'e' || text[at] == 'E') && !digits.empty() &&
                          (digit(at + 1) || (at + 1 < text.size() && text[at + 1] == '+' && digit(at + 2)));
    const bool sign = text[at] == '+' && at > 0 && (text[at - 1] == 'e' || text[at - 1] == 'E');
    if (!digit(at) && text[at] != '.' && !exponent && !sign) break;
    if (!sign) digits += text[at];
  }
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || code != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return std::pair(value, at);
}

// Words and slashes: "M docs/day" is M, docs, /, day.
std::vector<std::string> words_of(std::string_view text) {
  std::string spaced;
  for (const char c : to_lower(text)) {
    const bool apart = c == '/' || c == ' ' || c == '\t';
    spaced += !apart ? std::string(1, c) : c == '/' ? " / " : " ";
  }
  std::vector<std::string> words;
  for (const std::string_view word : split_list(spaced, ' ')) words.emplace_back(word);
  return words;
}

constexpr std::array<std::string_view, 6> kPer = {"/", "per", "a", "an", "each", "every"};

}  // namespace

std::optional<Amount> parse_amount(std::string_view text) {
  text = trim(text);
  const auto number = leading_number(text);
  if (!number || !std::isfinite(number->first)) return std::nullopt;
  Amount amount;
  amount.count = number->first;
  std::vector<std::string> words = words_of(text.substr(number->second));
  std::size_t at = 0;
  if (at < words.size()) {
    if (const auto scale = scale_of(words[at])) amount.count *= *scale, ++at;
  }
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (is_any(kPer, word)) {
      std::string time;
      for (++at; at < words.size(); ++at) time += words[at];
      amount.per = read_time(time);
      if (!amount.per) return std::nullopt;
      return amount;
    }
    if (const auto often = adverb(word); often && !amount.per) {
      amount.per = often;
    } else if (const auto short_form = abbreviation(word)) {
      amount.per = short_form->per, amount.thing = short_form->thing;
    } else if (amount.thing.empty() && word.find_first_of("0123456789=:,") == std::string::npos) {
      amount.thing = word;
    } else {
      return std::nullopt;
    }
  }
  return amount;
}

bool continues_amount(std::string_view word) {
  const std::string lower = to_lower(word);
  if (scale_of(lower) || adverb(lower) || abbreviation(lower)) return true;
  if (lower == "per") return true;
  if (lower.starts_with('/')) return read_time(lower.substr(1)).has_value();
  const std::size_t slash = lower.find('/');
  if (slash != std::string::npos) return read_time(lower.substr(slash + 1)).has_value();
  return lower.size() > 2 && lower.find_first_of("0123456789") == std::string::npos && read_time(lower).has_value();
}

// ---- days and moments

namespace {

constexpr double kDayLength = 86400, kEndOfWork = 18 * 3600;
constexpr std::array<std::string_view, 7> kWeekdays = {"thursday", "friday",  "saturday", "sunday",
                                                       "monday",   "tuesday", "wednesday"};  // 1970-01-01 first
constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};

std::optional<int> month_of(std::string_view word) {
  for (std::size_t i = 0; i < kMonths.size(); ++i) {
    if (word.size() >= 3 && kMonths[i].starts_with(word)) return static_cast<int>(i) + 1;
  }
  return std::nullopt;
}

// `months` calendar months from a month, which may be outside 1 to 12.
Period months_from(int year, int month, int months) {
  const auto first_day = [&](int index) {
    const int years = (index - 1 + 120) / 12 - 10;  // rounded down
    const std::chrono::year_month_day day{std::chrono::year(year + years) /
                                          std::chrono::month(static_cast<unsigned>(index - 12 * years)) / 1};
    return static_cast<int>(std::chrono::sys_days(day).time_since_epoch().count());
  };
  return {Date{first_day(month)}, Date{first_day(month + months) - 1}};
}

// "last quarter", "this month", "ytd": a period by its distance from today.
std::optional<Period> relative_period(const std::string& words, int year, int month, Date today) {
  const bool last = words.starts_with("last ") || words.starts_with("previous ");
  const bool now = words.starts_with("this ") || words.starts_with("current ");
  const auto until_today = [&](Period period) { return Period{period.first, today}; };
  const int quarter = (month - 1) / 3 * 3 + 1;
  if (words == "today") return Period{today, today};
  if (words == "yesterday") return Period{Date{today.day - 1}, Date{today.day - 1}};
  if (words == "ytd" || words == "year to date") return until_today(months_from(year, 1, 12));
  if (words == "qtd" || words == "quarter to date") return until_today(months_from(year, quarter, 3));
  if (words == "mtd" || words == "month to date") return until_today(months_from(year, month, 1));
  if (!last && !now) return std::nullopt;
  if (words.ends_with(" month")) return months_from(year, month - last, 1);
  if (words.ends_with(" quarter")) return months_from(year, quarter - 3 * last, 3);
  if (words.ends_with(" year")) return months_from(year - last, 1, 12);
  const int monday = today.day - (today.day + 3) % 7 - 7 * last;  // 1970-01-01 was a Thursday
  return words.ends_with(" week") ? std::optional(Period{Date{monday}, Date{monday + 6}}) : std::nullopt;
}

std::optional<int> weekday_of(std::string_view word) {
  for (std::size_t i = 0; i < kWeekdays.size(); ++i) {
    if (word.size() >= 3 && kWeekdays[i].starts_with(word)) return static_cast<int>(i);
  }
  return std::nullopt;
}

// A time of the day: "morning", "noon", "9am", "17:30". Seconds since midnight.
std::optional<double> time_of_day(const std::string& word) {
  constexpr std::pair<std::string_view, double> kNamed[] = {
      {"morning", 9}, {"noon", 12}, {"lunch", 12}, {"afternoon", 15}, {"evening", 18}, {"night", 23}, {"midnight", 24}};
  for (const auto& [name, hour] : kNamed) {
    if (word == name) return hour * 3600;
  }
  const auto number = leading_number(word);
  if (!number) return std::nullopt;
  std::string_view rest = std::string_view(word).substr(number->second);
  double hour = number->first, minutes = 0;
  if (rest.starts_with(':')) {
    const auto after = leading_number(rest.substr(1));
    if (!after || after->first >= 60) return std::nullopt;
    minutes = after->first;
    rest.remove_prefix(1 + after->second);
  } else if (rest != "am" && rest != "pm") {
    return std::nullopt;
  }
  if (rest == "pm" && hour < 12) hour += 12;
  if (rest == "am" && hour == 12) hour = 0;
  if (!(rest.empty() || rest == "am" || rest == "pm") || hour > 24 || hour != std::floor(hour)) return std::nullopt;
  return hour * 3600 + minutes * 60;
}

int day_of(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year) / std::chrono::month(static_cast<unsigned>(month)) /
                                         std::chrono::day(static_cast<unsigned>(day))};
  return static_cast<int>(std::chrono::sys_days(date).time_since_epoch().count());
}

// Easter Sunday (Gauss).
int easter_of(int year) {
  const int a = year % 19, b = year / 100, c = year % 100;
  const int d = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
  const int e = (32 + 2 * (b % 4) + 2 * (c / 4) - d - c % 4) % 7, f = d + e - 7 * ((a + 11 * d + 22 * e) / 451) + 114;
  return day_of(year, f / 31, f % 31 + 1);
}

// The last day before a feast, the end of the year or of a quarter: from today on.
std::optional<double> feast_named(const std::string& name, int today) {
  const int year = std::atoi(format_date(Date{today}).c_str());
  const auto thanksgiving = [](int in) {  // the fourth Thursday of November
    const int first = day_of(in, 11, 1);
    return first + (7 - first % 7) % 7 + 21;
  };
  const auto day_in = [&](int in) -> std::optional<int> {
    if (is_any(std::array<std::string_view, 2>{"christmas", "xmas"}, name)) return day_of(in, 12, 24);
    if (is_any(std::array<std::string_view, 6>{"year", "eoy", "newyear", "newyears", "year-end", "yearend"}, name))
      return day_of(in, 12, 31);
    if (name == "halloween") return day_of(in, 10, 31);
    if (name == "thanksgiving") return thanksgiving(in) - 1;
    if (name == "blackfriday") return thanksgiving(in);
    if (name == "easter") return easter_of(in) - 1;
    return std::nullopt;
  };
  if (name == "quarter" || name == "eoq") {
    int last = today;
    for (const int month : {3, 6, 9, 12})
      if (last = months_from(year, month, 1).last.day; last >= today) break;
    return last;
  }
  for (const int in : {year, year + 1})
    if (const auto day = day_in(in); day && *day >= today) return *day;
  return std::nullopt;
}

// The day that is named, counted from 1970-01-01.
std::optional<double> day_named(const std::vector<std::string>& words, double today, bool ends) {
  const std::string& first = words.front();
  std::string joined;  // "new year's eve", "black friday"
  for (const std::string& word : words)
    if (word != "eve" && word != "day") joined += word;
  std::erase(joined, '\'');
  if (const auto feast = feast_named(joined, static_cast<int>(today))) return feast;
  if (words.size() == 1) {
    if (first == "today" || first == "tonight" || first == "eod") return today;
    if (first == "tomorrow") return today + 1;
    if (first == "eom" || first == "month") {  // its last day
      const std::string month = format_date(Date{static_cast<int>(today)}).substr(0, 7);
      int last = static_cast<int>(today);
      while (format_date(Date{last + 1}).starts_with(month)) ++last;
      return last;
    }
    if (const auto weekday = weekday_of(first); weekday || first == "eow") {
      const double from = std::fmod(today, 7), wanted = weekday.value_or(1);
      return today + (wanted > from ? wanted - from : wanted - from + 7);
    }
    if (const Result<Date> date = parse_date(first)) return date->day;
    // The last day of a month, or the day before it: months that have ended are those of next year.
    if (const auto month = month_of(first); month && first.size() > 2) {
      const int year = std::atoi(format_date(Date{static_cast<int>(today)}).c_str());
      for (const int in : {year, year + 1})
        if (const int day = ends ? months_from(in, *month, 1).last.day : day_of(in, *month, 1) - 1; day >= today)
          return day;
    }
    return std::nullopt;
  }
  if (words.size() == 2 && first == "next") {
    if (words[1] == "week") return today + 7;
    if (words[1] == "month") return today + 30;
    return day_named({words[1]}, today, ends);
  }
  if (words.size() == 3 && words[2].size() == 4) {  // "20 Dec 2026"
    const auto named = leading_number(words[2]);
    const auto day =
        named ? day_named({words[0], words[1]}, std::max(today, double(day_of(int(named->first), 1, 1))), ends)
              : std::nullopt;
    return day && format_date(Date{static_cast<int>(*day)}).starts_with(words[2]) ? day : std::nullopt;
  }
  if (words.size() != 2) return std::nullopt;
  const bool month_first = month_of(first).has_value();
  const auto month = month_of(words[month_first ? 0 : 1]);
  const auto number = leading_number(words[month_first ? 1 : 0]);  // accepts 20th
  if (!month || !number) return std::nullopt;
  const int year = std::atoi(format_date(Date{static_cast<int>(today)}).c_str());
  for (const int candidate : {year, year + 1}) {
    char text[16];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", candidate, *month, static_cast<int>(number->first));
    if (const Result<Date> date = parse_date(text); date && date->day >= today) return date->day;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Seconds> time_until(std::string_view text, double now) {
  std::vector<std::string> words;
  for (const std::string_view word : split_list(text, ' ')) {
    const std::string lower = to_lower(word);
    constexpr std::array<std::string_view, 13> kSkipped = {"by",  "before", "until", "till", "on",     "the",   "this",
                                                           "end", "of",     "in",    "over", "during", "coming"};
    if (!is_any(kSkipped, lower)) words.push_back(lower);
  }
  if (words.empty() || words.size() > 4) return std::nullopt;
  // The whole of it, whenever it begins: two days, a night.
  if (words.back() == "weekend") return days(2);
  if (words.size() == 1 && (words[0] == "overnight" || words[0] == "night")) return hours(12);
  if (words.size() == 1 && words[0] == "week") words[0] = "friday";  // the end of the week
  const double today = std::floor(now / kDayLength);
  double hour = kEndOfWork;
  if (const auto named = time_of_day(words.back())) {
    hour = *named;
    words.pop_back();
    if (!words.empty() && words.back() == "at") words.pop_back();
    if (words.empty()) words.emplace_back(today * kDayLength + hour > now ? "today" : "tomorrow");
  }
  const bool ends = to_lower(text).find("end") != std::string::npos;  // "the end of January"
  if (const auto day = day_named(words, today, ends)) {
    double until = *day * kDayLength + hour - now;
    if (*day == today && until <= 0) until += kDayLength - hour;  // tonight: until midnight
    return until > 0 ? std::optional(seconds(until)) : std::nullopt;
  }
  std::string joined;
  for (const std::string& word : words) joined += (joined.empty() ? "" : " ") + word;
  const Result<Seconds> length = parse_duration(joined);  // "in 3 days"
  return length ? std::optional(*length) : std::nullopt;
}

std::optional<Period> parse_period(std::string_view text, Date today) {
  std::string words = to_lower(trim(text));
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(today.day))};
  const int this_year = static_cast<int>(date.year());
  const auto this_month = static_cast<int>(static_cast<unsigned>(date.month()));
  if (const auto relative = relative_period(words, this_year, this_month, today)) return relative;
  for (char& c : words) {
    if (c == '-' || c == '/' || c == '_' || c == ',') c = ' ';
  }
  int year = 0, first = 0, months = 12;
  for (const std::string_view word : split_list(words, ' ')) {
    const Result<std::int64_t> number = parse_integer(word);
    const std::size_t q = word.find('q');
    if (number && word.size() == 4 && *number >= 1970 && *number < 2200 && year == 0) {
      year = static_cast<int>(*number);
    } else if (first != 0) {
      return std::nullopt;
    } else if (number && word.size() == 2 && year != 0 && *number >= 1 && *number <= 12) {
      first = static_cast<int>(*number), months = 1;
    } else if (word.size() == 2 && q <= 1 && word[1 - q] >= '1' && word[1 - q] <= '4') {
      first = 3 * (word[1 - q] - '0') - 2, months = 3;
    } else if (const std::optional<int> named = month_of(word)) {
      first = *named, months = 1;
    } else {
      return std::nullopt;
    }
  }
  if (year == 0 && first == 0) return std::nullopt;
  if (year != 0) return months_from(year, std::max(first, 1), months);
  return months_from(first > this_month ? this_year - 1 : this_year, first, months);
}

double local_now() {
  constexpr double kNoon = 12 * 3600;
  if (std::getenv("RIGHTSIZE_TODAY") != nullptr) return today().day * kDayLength + kNoon;
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return static_cast<double>(now) + static_cast<double>(local.tm_gmtoff);
}

}  // namespace rightsize
