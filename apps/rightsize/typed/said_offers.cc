// Terms, places, limits, money, demand and hardware in the bare words of a command line.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "catalog/words.h"
#include "presets/presets.h"
#include "rightsize/typed/account.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/combined.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {

bool WordReader::take_offer(const std::string& word) {
  const bool verb = std::exchange(first_bare_, false) && out_.command == "prices" && !is_link(word) &&
                    (out_.rest.asked.empty() || lists_word("compare spot buy", to_lower(word)));  // prices spot
  if (verb || !has("--provider")) return false;
  // "on demand"; "on" may already be gone between names.
  const std::string lower = to_lower(word);
  const bool demand = lower == "demand" || (lower == "on" && lower_at(at_ + 1) == "demand");
  const bool as_you_go = lower == "pay" && lower_at(at_ + 1) == "as" && lower_at(at_ + 3) == "go";
  if (has("--purchase") && (demand || as_you_go || lower == "payg" || lower == "pay-as-you-go")) {
    keep("--purchase=on-demand");
    at_ += as_you_go ? 3 : lower == "on" ? 1 : 0;
    return true;
  }
  // "reserved for 1 year", "1-year commitment": the years decide.
  const auto is_years = [&](std::size_t at) {
    const bool apart = lists_word("1 3", lower_at(at)) && lists_word("year years yr y", lower_at(at + 1));
    return apart || lists_word("1-year 3-year 1-years 3-years one-year three-year 1y 3y 1yr 3yr", lower_at(at));
  };
  const bool reserved = lists_word("reserved reservation committed commitment commit contract", lower);
  const bool stated = kept("--purchase=1y") != nullptr || kept("--purchase=3y") != nullptr;
  if (reserved && has("--purchase") && (stated || is_years(at_ + 1) || is_years(at_ + 2))) return true;
  if (is_years(at_) && has("--purchase")) {
    keep(lower.starts_with('3') || lower.starts_with('t') ? "--purchase=3y" : "--purchase=1y");
    at_ += lower == "1" || lower == "3";
    return true;
  }
  // "for 2 weeks".
  if (has("--hours") && !has("--job") && parse_number(word) && parse_duration(word + " " + lower_at(at_ + 1))) {
    keep(fmt::format("--hours={:.6g}h", in_hours(*parse_duration(word + " " + lower_at(at_ + 1)))));
    ++at_;
    return true;
  }
  const bool gpus = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  if (gpus && has("--base") && kept("--base=") == nullptr && kind_of_word(word) != WordKind::kGpu) {
    keep("--base=" + word);
    at_ += lists_word("gpus gpu", lower_at(at_ + 1));
    return true;
  }
  // "spot is fine": beside the usual terms.
  if (const Permission may = permission(in_, at_); may.allowed && has("--purchase") && catalog::read_purchase(lower)) {
    keep("--purchase=on-demand");
    keep("--purchase=" + lower);
    at_ += may.words;
    return true;
  }
  // All of the work may be interrupted if spot is an alternative to a commitment.
  if (has("--spot-share") && lists_word("spot preemptible", lower)) keep("--spot-share=1");
  if (model::is_known_name(word)) return false;
  const bool after = lists_word("in on from at using with via", to_lower(word));
  const std::string& name = after && at_ + 1 < in_.size() ? in_[at_ + 1] : word;
  // "us east".
  const std::string side = lower_at(at_ + 1 + after);
  if (has("--region") && lists_word("us eu ap ca uk europe asia canada", to_lower(name)) &&
      lists_word("east west north south central northeast southeast northwest southwest", side)) {
    const std::string area = to_lower(name);
    keep(fmt::format("--region={}-{}",
                     area == "europe"   ? "eu"
                     : area == "asia"   ? "ap"
                     : area == "canada" ? "ca"
                                        : area,
                     side));
    at_ += 1 + after;
    return true;
  }
  std::string flag = is_link(name) && !after ? std::string() : offer_named(name, declared_);
  const bool region =
      is_region(name) || (to_lower(word) == "in" && is_unknown_name(name) && is_digits(name.substr(name.size() - 1)));
  if (flag.empty() && region && has("--region")) flag = "--region=" + name;
  if (flag.empty()) {
    const bool lists_offers = !has("--job") && !has("--model") && has("--gpu") && in_.size() > 3;
    if (lists_offers && is_link(word)) return true;
    const bool plain = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (!lists_offers || out_.command != "prices" || !plain || is_vendor_or_provider(word) ||
        kind_of_word(word) == WordKind::kGpu)
      return false;
    ignore(word);
    return true;
  }
  keep(flag);
  at_ += after;
  return true;
}

std::pair<std::optional<LatencyLimitName>, std::size_t> WordReader::limit_name_at(std::size_t from) const {
  std::string name;  // "p95 first token": the middle of a name may be none
  std::optional<LatencyLimitName> limit;
  std::size_t end = from;
  constexpr std::size_t kLongest = 7, kUnread = 4;
  for (std::size_t at = from; at < std::min(from + kLongest, in_.size()) && at < end + kUnread; ++at) {
    if (is_flag_word(in_[at])) break;
    if (lists_word("less than is < <= =", lower_at(at))) {
      if (end == at) ++end;
      continue;
    }
    name += (name.empty() ? "" : "-") + lower_at(at);
    if (const auto read = read_limit_name(name)) limit = read, end = at + 1;
  }
  return {limit, end};
}

std::pair<std::string, std::size_t> WordReader::time_at(std::size_t at) const {
  const std::string unit = lower_at(at + 1);
  const char* meant = lists_word("ms millisecond milliseconds", unit) ? "ms"
                      : lists_word("s sec secs second seconds", unit) ? "s"
                      : lists_word("min mins minute minutes", unit)   ? "min"
                                                                      : nullptr;
  if (at < in_.size() && meant != nullptr && is_digits(in_[at])) return {in_[at] + meant, at + 2};
  const bool joined = at < in_.size() && !is_digits(in_[at]) && parse_duration(in_[at]);
  return joined ? std::pair(in_[at], at + 1) : std::pair(std::string(), at);
}

bool WordReader::take_stated_limit() {
  if (!has("--slo") && !has("--ttft-slo")) return false;
  const auto [limit, at] = limit_name_at(at_);
  if (!limit || at >= in_.size()) return false;
  const auto [time, end] = time_at(at);
  const auto stated = read_limit(*limit, time.empty() ? in_[at] : time);
  if (!stated || (stated->unit_assumed && !limit->metric)) return false;  // "avg 900 in 250 out"
  out_.limits.push_back(*stated);
  at_ = time.empty() ? at : end - 1;
  return true;
}

bool WordReader::take_limit_before_name() {
  if (!has("--slo") && !has("--ttft-slo")) return false;
  const auto [time, end] = time_at(at_);
  if (time.empty()) return false;
  const auto [limit, last] = limit_name_at(end);
  if (!limit || !limit->metric) return false;
  // In "30 ms, TTFT 400 ms" the name has the second time, in "30 ms TPOT, 400 ms TTFT" the first.
  if (const auto [other, after] = time_at(last); !other.empty()) {
    const auto [next, next_end] = limit_name_at(after);
    if (!next || !next->metric || !time_at(next_end).first.empty()) return false;
  }
  const auto stated = read_limit(*limit, time);
  if (!stated) return false;
  out_.limits.push_back(*stated);
  at_ = last - 1;
  return true;
}

bool WordReader::take_percentile(const std::string& word) {
  if (!has("--slo") && !has("--ttft-slo")) return false;
  const std::string lower = to_lower(word);
  // "99.9% of requests", "for 95 % of users".
  const std::size_t apart = is_digits(lower) && lower_at(at_ + 1) == "%";
  const std::size_t of = at_ + 1 + apart;
  if ((apart || (lower.ends_with('%') && is_digits(lower.substr(0, lower.size() - 1))))) {
    std::size_t what = of + (lower_at(of) == "of");  // "of" may already be gone between names
    while (lists_word("all the our my their", lower_at(what))) ++what;
    const Thing thing = thing_of(lower_at(what));
    if (thing != Thing::kRequest && thing != Thing::kUser && lower_at(what) != "responses") return false;
    out_.percentile = std::atof(lower.c_str());
    at_ = what;
    return true;
  }
  // "under 150 ms at p99", "(95th percentile)".
  const auto named = read_limit_name(lower);
  if (!named || named->metric || !named->percentile) return false;
  out_.percentile = named->percentile;
  at_ += lists_word("percentile", lower_at(at_ + 1));
  return true;
}

bool WordReader::take_short_limit(const std::string& word) {
  const std::string before = at_ > 0 ? lower_at(at_ - 1) : "";
  const bool than = to_lower(word) == "than" && before != "more" && before != "longer";
  if (!has("--ttft-slo") || !(than || lists_word("under below within in max maximum most < <=", to_lower(word))) ||
      at_ + 1 >= in_.size())
    return false;
  constexpr Seconds kLongest = seconds(60);
  std::size_t at = at_ + 1;
  while (at + 1 < in_.size() && lists_word("under below less than at most", lower_at(at))) ++at;
  if (std::swap(at, at_); take_limit_before_name()) return true;  // "within 30 ms per token"
  std::swap(at, at_);
  LatencyLimit limit;
  limit.text = in_[at];
  Result<Seconds> time = parse_duration(limit.text);
  if (!time && at + 1 < in_.size()) time = parse_duration(limit.text += " " + in_[++at]);
  // "clips in under 4 minutes each", "in 10 s per image", "an image in 10 s": the time of one item, not of the work.
  const auto is_item = [&](std::size_t i) {
    const Thing thing = thing_of(lower_at(i));
    return (thing == Thing::kItem || thing == Thing::kImage) && !lower_at(i).ends_with('s');
  };
  const bool per = lists_word("per an a for", lower_at(at + 1)) && is_item(at + 2), each = lower_at(at + 1) == "each";
  const bool whole = per || each || is_item(at_ - 1);
  if (!time || !(*time > Seconds{}) || (*time >= kLongest && !whole)) return false;
  // A first token takes longer than this; a token of an answer does not.
  constexpr Seconds kShortest = milliseconds(100);
  const auto shape = shape_among(in_);
  const bool token = *time <= kShortest && (!shape || shape->kind == model::ModelKind::kDecoder);
  limit.metric = whole ? LatencyMetric::kLatency : token ? LatencyMetric::kTpot : LatencyMetric::kTtft;
  limit.most = *time;
  out_.limits.push_back(limit);
  if (!whole)
    out_.rest.notes.push_back(fmt::format("'{} {}' limits the time {}: --{}-slo {}", word, limit.text,
                                          token ? "between two tokens" : "to the first token", token ? "tpot" : "ttft",
                                          format_duration(*time)));
  at_ = at + (per ? 2 : each);
  return true;
}

// After "per hour", "a GPU hour", "per H100 hour"; the start itself where there are no such words.
std::size_t WordReader::end_of_hour(std::size_t at) const {
  if (!lists_word("per a an each", lower_at(at))) return at;
  const std::size_t unit =
      at + 1 +
      (lists_word("gpu gpus", lower_at(at + 1)) || kind_of_word(singular_gpu(lower_at(at + 1))) == WordKind::kGpu);
  return lists_word("hour h hr gpu-hour gpu-hr gpu/hour", lower_at(unit)) ? unit + 1 : at;
}

// Whether the words before an hourly price state it, rather than limit it. They are those that were typed: some are
// gone between names.
bool WordReader::states_price(std::size_t at) const {
  const std::vector<std::string>& said = out_.rest.said;
  const auto typed = std::ranges::find(said, in_[at]);
  const std::vector<std::string>& words = typed == said.end() ? in_ : said;
  const std::size_t number = typed == said.end() ? at : static_cast<std::size_t>(typed - said.begin());
  constexpr std::size_t kNear = 3;
  for (std::size_t i = number > kNear ? number - kNear : 0; i < number; ++i)
    if (lists_word("under below less than most up max maximum limit cap budget within <", to_lower(words[i])))
      return false;
  for (std::size_t i = number; i + 1 < words.size(); ++i)
    if (lists_word("or at", to_lower(words[i])) && lists_word("less below most max maximum", to_lower(words[i + 1])))
      return false;
  return number > 0 &&
         lists_word("at for pay paying paid charged costs cost price of is =", to_lower(words[number - 1]));
}

// "for 2.80 an hour": money, since a number has no other meaning there.
bool WordReader::is_hourly_price(std::size_t at) const {
  return parse_number(in_[at]) && end_of_hour(at + 1) > at + 1 && states_price(at);
}

bool WordReader::take_money(const std::string& typed) {
  if (!has("--budget") && !has("--price")) return false;
  // "5000 dollars a month", "budget 5000 usd".
  if (lists_word("budget", to_lower(typed)) &&
      (lower_at(at_ + 1).starts_with('$') || lists_word("dollars dollar usd bucks", lower_at(at_ + 2))))
    return true;
  const bool dollars = lists_word("dollars dollar usd bucks", lower_at(at_ + 1)) && parse_amount(typed).has_value();
  const bool unit_price = has("--api-price") && parse_number(typed) && lower_at(at_ + 1) == "per" &&
                          lists_word("million 1m mtok", lower_at(at_ + 2));  // "0.20 per million tokens"
  // "max 6000 a month", "budget 4000 per month".
  const bool monthly = parse_number(typed) && lists_word("a per each", lower_at(at_ + 1)) &&
                       lists_word("month week year", lower_at(at_ + 2)) &&
                       lists_word("max maximum most under below budget of than to spend for within", lower_at(at_ - 1));
  const std::string word = dollars || unit_price || monthly || is_hourly_price(at_) ? "$" + typed : typed;
  if (dollars) in_[++at_] = word;
  if (word.size() < 2 || word.front() != '$') return false;
  std::string text = word;
  const std::size_t first = at_ - dollars;
  std::size_t at = at_;
  // "$0.60 per million tokens": the unit price of an API, never a budget.
  const bool unit =
      lists_word("per million 1m mtok token tokens a each", lower_at(at_ + 1));  // not "$200 for 10M tokens"
  for (std::size_t i = at_ + 1; i < in_.size() && i <= at_ + 4 && has("--api-price") && unit; ++i) {
    if (!lists_word("tokens token tok mtok million 1m", lower_at(i))) continue;
    keep("--api-price=" + word.substr(1));
    at_ = i + lists_word("tokens token", lower_at(i + 1));
    return true;
  }
  if (const std::size_t end = end_of_hour(at + 1); end > at + 1)
    text += "/hour", at = end - 1;
  else if (lists_word("per a an", lower_at(at + 1)) && continues_amount(lower_at(at + 2)))
    text += "/" + lower_at(at + 2), at += 2;
  else if (const std::string time = lower_at(at + 1); lists_word("hour hourly day daily month monthly", time))
    text += "/" + time.substr(0, time.starts_with("da") ? 3
                                 : time.ends_with("ly") ? time.size() - 2
                                                        : time.size()),
        ++at;
  const std::optional<Amount> money = parse_amount(std::string_view(text).substr(1));
  if (!money) return false;
  // "under $1/hour": rented GPUs are priced by the hour.
  // "at $2 per GPU hour" is what the user pays, "under $2 per GPU hour" a limit.
  const bool hourly = money->per && *money->per == hours(1), pays = hourly && has("--price") && states_price(first);
  const bool limits = hourly && has("--max-price");
  if (!pays && !limits && !has("--budget")) return false;
  keep(pays     ? fmt::format("--price={:g}", money->count)
       : limits ? fmt::format("--max-price={:g}", money->count)
                : "--budget=" + text);
  at_ = at;
  return true;
}

bool WordReader::take_growth(const std::string& word) {
  const bool named = lists_word("growing growth grows grow", to_lower(word));
  const std::size_t at = at_ + 1 + lists_word("by of at", lower_at(at_ + 1));
  if (!named || at >= in_.size() || !settings::read(settings::get("growth"), in_[at])) return named;
  keep("--growth=" + in_[at]);
  at_ = at;
  if (lists_word("per a each every", lower_at(at_ + 1)) && lower_at(at_ + 2) == "year") at_ += 2;
  if (lists_word("yearly annually", lower_at(at_ + 1))) ++at_;
  return true;
}

bool WordReader::take_share() {
  // "busy 33% of the time", "at 33 % utilization".
  const std::size_t apart = lower_at(at_ + 1) == "%";
  constexpr std::string_view kBusy = "of utilization utilized busy used load";
  const auto [share, words] = share_of_time(in_, at_);
  // At the end of a question its words "of the time" are gone.
  const bool alone = out_.command == "commit" && !out_.rest.asked.empty() && at_ + 1 + apart == in_.size();
  if ((apart || in_[at_].ends_with('%')) && is_digits(in_[at_].substr(0, 1)) &&
      (alone || lists_word(kBusy, lower_at(at_ + 1 + apart)) || lists_word(kBusy, lower_at(at_ - 1))))
    busy_ = std::min(std::atof(in_[at_].c_str()) / 100, 1.0);
  else if (words > 0)
    busy_ = share;
  else
    return false;
  const std::size_t last = at_ + (words > 0 ? words - 1 : apart);
  for (std::size_t i = at_; i <= last; ++i) busy_words_ += (busy_words_.empty() ? "" : " ") + in_[i];
  at_ = last;
  while (lists_word(listed("use of GPUs"), lower_at(at_ + 1))) ++at_;
  return true;
}

void WordReader::put_share() {
  if (out_.command == "commit" && !out_.rest.asked.empty() && !kept("--base=") && !kept("--usage=")) {
    keep("--base=1");
    out_.rest.notes.emplace_back("assumed: --base 1 (no number of GPUs was given)");
  }
  std::string* base = kept("--base=");
  if (busy_ == 0 || base == nullptr || base->find(',') != std::string::npos) return;
  *base = fmt::format("--base=0,peak={},share={:.3g}", base->substr(base->find('=') + 1), busy_);
  out_.rest.notes.push_back(fmt::format("'{}': in use for {:.0f} of the 168 hours of a week (share={:.3g})",
                                        busy_words_, 168 * busy_, busy_));
}

bool WordReader::take_peak(const std::string& word) {
  const bool up = lower_at(at_) == "up" && lower_at(at_ + 1) == "to";
  const bool peak = lists_word("peak peaks peaking", to_lower(word));
  const std::size_t at = at_ + (up ? 2 : 1 + lists_word("of at to", lower_at(at_ + 1)));
  std::string* base = kept("--base=");
  const auto is_number = [&](std::size_t i) {
    return i < in_.size() && in_[i].find_first_not_of("0123456789") == std::string::npos;
  };
  // A second number is the peak, or the base if it is smaller: "40 during office hours and 16 at night".
  const bool second = is_number(at_);
  const std::size_t number = second ? at_ : at;
  if ((up || peak || second) && is_number(number) && base != nullptr && base->find(',') == std::string::npos) {
    const double first = std::atof(base->c_str() + base->find('=') + 1), other = std::atof(in_[number].c_str());
    const bool office = std::ranges::any_of(
        in_, [](const std::string& one) { return lists_word("office business working weekdays", to_lower(one)); });
    *base = fmt::format("--base={:g},peak={:g},share={}", std::min(first, other), std::max(first, other),
                        office ? "0.27" : "0.3");
    out_.rest.notes.emplace_back(office ? "assumed: the peak lasts 45 of the 168 hours of a week (share=0.27)"
                                        : "assumed: the peak lasts 30 % of the time (share=0.3)");
    at_ = number;
    return true;
  }
  constexpr std::size_t kSentence = 6;
  if (in_.size() < kSentence || is_flag_word(word) || word.find_first_of("0123456789") != std::string::npos)
    return false;
  // The demand is constant but for its peak, and the command is about buying.
  const bool known = lists_word(
      "around clock busy used train training during office business working weekdays hours day buy reserve reserving "
      "commit worth",
      to_lower(word));
  if (!is_link(word) && !known) ignore(word);
  return true;
}

bool WordReader::take_hardware(const std::string& word) {
  constexpr std::size_t kSentence = 4;
  // "24-48GB", "24 to 48 GB".
  const std::size_t dash = word.find('-');
  const bool apart_range = lists_word("to and -", lower_at(at_ + 1)) && is_digits(word.substr(0, 1));
  std::string low = dash != word.npos && dash > 0 ? word.substr(0, dash)
                    : apart_range                 ? word
                                                  : std::string(),
              high = dash != word.npos ? word.substr(dash + 1)
                     : apart_range     ? lower_at(at_ + 2)
                                       : std::string();
  const bool apart_unit = apart_range && is_digits(high) && lists_word("gb gib", lower_at(at_ + 3));
  if (apart_unit) high += "GB";
  if (is_digits(low)) low += "GB";
  if (has("--min-memory") && to_lower(high).ends_with("gb") && to_lower(low).ends_with("gb") && parse_amount(low) &&
      parse_amount(high)) {
    keep(fmt::format("--min-memory={}", low));
    keep(fmt::format("--filter=memory<={}", high));
    at_ += apart_range ? 2 + apart_unit : 0;
    return true;
  }
  if (in_.size() < kSentence || kind_of_word(singular_gpu(word)) == WordKind::kGpu) return false;
  const auto amount = parse_amount(word + " " + lower_at(at_ + 1));
  const auto joined = parse_amount(word);
  const std::string unit = joined && !joined->thing.empty() ? joined->thing : amount ? amount->thing : std::string();
  const bool apart = !(joined && !joined->thing.empty());
  const double count = joined ? joined->count : 0;
  if (count > 0 && lists_word("gb gib", unit) && has("--min-memory")) {
    if (kept("--min-memory") == nullptr) keep(fmt::format("--min-memory={:g}GiB", count));
    at_ += apart;
  } else if (count > 0 && lists_word("w watt watts", unit) && has("--max-watts")) {
    keep(fmt::format("--max-watts={:g}", count));
    at_ += apart;
  } else if (settings::read(settings::get("supports"), to_lower(word))) {
    keep("--supports=" + to_lower(word));
  } else if (const FlagInfo* filter = find("--filter"); filter != nullptr && holds(filter->columns, to_lower(word)) &&
                                                        !lists_word("memory name vendor note", to_lower(word))) {
    keep("--filter=" + to_lower(word));
  } else if (!is_link(word) &&
             !lists_word("have has support supports supporting memory vram ram between", to_lower(word))) {
    ignore(word);
  }
  return true;
}

bool WordReader::take_network(const std::string& word) {
  for (const bool apart : {false, true}) {
    std::string speed = to_lower(word) + (apart ? lower_at(at_ + 1) : "");
    if (speed.ends_with("bit")) speed += "/s";
    const bool bits = speed.find("bit") != std::string::npos || speed.ends_with("bps");
    if (!has("--network") || !bits || !settings::read(settings::get("network"), speed)) continue;
    keep("--network=" + speed);
    at_ += apart;
    while (lists_word("ethernet infiniband network networking roce efa interconnect link links", lower_at(at_ + 1)))
      ++at_;
    return true;
  }
  return false;
}

bool WordReader::take_seconds(const std::string& word) {
  const bool apart = is_digits(word);
  const Result<Seconds> time = parse_duration(apart ? word + " " + lower_at(at_ + 1) : word);
  std::size_t what = at_ + (apart ? 2 : 1);
  if (meant_value("--resolution", lower_at(what)) != lower_at(what)) ++what;  // "a 5 second 720p video"
  if (!has("--frames") || !time || !lists_word("video videos clip clips", lower_at(what))) return false;
  at_ += apart;
  // The model may follow.
  Typed all{in_};
  keep(fmt::format("--frames={}", frames_in(in_seconds(*time), all)));
  out_.rest.notes.push_back(all.notes.back());
  return true;
}

bool WordReader::take_habit(const std::string& word) {
  const auto people = [](const std::string& one) { return thing_of(one) == Thing::kUser; };
  const auto [time, end] = time_at(at_ + 1);
  if (lists_word("every each", to_lower(word)) && !time.empty() && std::ranges::any_of(in_, people) &&
      (plans_ || has("--arrivals"))) {
    out_.think = in_seconds(*parse_duration(time));
    out_.rest.notes.push_back(fmt::format("each user waits {} between an answer and the next message (--think)", time));
    at_ = end - 1;
    return true;
  }
  const std::size_t day = at_ + (lists_word("a per each every", lower_at(at_ + 2)) ? 3 : 2);
  if (has("--hours-per-day") && plans_ && is_digits(word) && lists_word("hours hour h", lower_at(at_ + 1)) &&
      lists_word("day daily weekday workday", lower_at(day))) {
    keep("--hours-per-day=" + word);
    at_ = day;
    return true;
  }
  if (has("--speculate") && is_digits(word) && lists_word("draft drafted speculative", lower_at(at_ + 1)) &&
      lists_word("token tokens", lower_at(at_ + 2))) {
    keep("--speculate=" + word);
    at_ += 2;
    return true;
  }
  // "10000 5 second videos": how many, then how long.
  const auto [length, after] = time_at(at_ + 1);
  const std::size_t what = after + (meant_value("--resolution", lower_at(after)) != lower_at(after));
  if (!plans_ || !parse_amount(word) || length.empty() || !lists_word("videos clips", lower_at(what))) return false;
  out_.amounts.push_back({"", word + " " + lower_at(what), Thing::kItem, *parse_amount(word), false});
  return true;
}

bool WordReader::take_audio(const std::string& word) {
  const std::size_t unit = at_ + (lists_word("thousand million billion", lower_at(at_ + 1)) ? 2 : 1);
  const std::string number = unit > at_ + 1 ? word + " " + lower_at(at_ + 1) : word;
  const std::size_t what = unit + (lower_at(unit + 1) == "of" ? 2 : 1);
  auto amount = parse_amount(number);
  const bool minutes = lists_word("minutes minute mins min", lower_at(unit));
  if (!plans_ || !amount || !(minutes || lists_word("hours hour h", lower_at(unit))) ||
      !lists_word("audio speech podcasts calls recordings", lower_at(what)))
    return false;
  const std::size_t time = what + (lists_word("per a each every", lower_at(what + 1)) ? 2 : 1);  // "a" may be gone
  const auto rate = parse_amount("1 x per " + lower_at(time));
  const std::string per = rate && rate->per ? " per " + lower_at(time) : "";
  if (!per.empty()) amount->per = rate->per;
  if (minutes) amount->count /= 60;
  out_.amounts.push_back(
      {"", fmt::format("{} {} of audio{}", number, lower_at(unit), per), Thing::kAudioHour, *amount, false});
  at_ = per.empty() ? what : time;
  return true;
}

bool WordReader::take_data_set(const std::string& word) {
  if (!has("--model") || !has("--job")) return false;
  for (const bool joined : {true, false}) {  // "fineweb edu" before "fineweb"
    const std::string name = word + (joined ? lower_at(at_ + 1) : ""), size = meant_value("--dataset", name);
    const auto amount = size == name ? std::nullopt : parse_amount(size);
    if (!amount || (joined && at_ + 1 >= in_.size())) continue;
    at_ += joined;
    out_.rest.notes.push_back(fmt::format("assumed: {} has {} {}", name, format_count(amount->count), amount->thing));
    out_.amounts.push_back({"", name, thing_of(amount->thing), *amount, false});
    return true;
  }
  return false;
}

bool WordReader::take_range(const std::string& word) {
  // "from 16 to 64 concurrent users", "from 4 to 8 GPUs": a table.
  std::size_t noun = at_ + 4;
  while (lists_word("concurrent parallel simultaneous", lower_at(noun))) ++noun;
  const Thing thing = thing_of(lower_at(noun));
  const bool gpus = lists_word("gpu gpus", lower_at(noun)), load = thing == Thing::kUser || thing == Thing::kRequest;
  if (lists_word("from between", to_lower(word)) && lists_word("to and", lower_at(at_ + 2)) && has("--sweep") &&
      is_digits(lower_at(at_ + 1)) && is_digits(lower_at(at_ + 3)) && (gpus || load)) {
    const std::string name = gpus ? "gpus" : "concurrency";
    keep(fmt::format("--sweep={}={},{}", name, in_[at_ + 1], in_[at_ + 3]));
    keep(fmt::format("--{}={}", name, in_[at_ + 1]));
    at_ = noun;
    return true;
  }
  const auto low = parse_amount(lower_at(at_ + 1)), high = parse_amount(lower_at(at_ + 3) + " " + lower_at(at_ + 4));
  if (!lists_word("from between", to_lower(word)) || !lists_word("to and", lower_at(at_ + 2)) || !low || !high ||
      !high->per || low->per || thing_of(high->thing) == Thing::kToken)
    return false;
  if (!put_range(*low, *high, in_[at_ + 3] + " " + in_[at_ + 4])) return false;
  at_ += 4;
  while (lists_word("daily peak each every per day", lower_at(at_ + 1))) ++at_;
  return true;
}

bool WordReader::put_range(const Amount& low, const Amount& high, const std::string& typed) {
  const double unit = in_seconds(high.per.value_or(seconds(1)));
  const double least = low.count / unit, most = high.count / unit, mean = (least + most) / 2;
  if (out_.command == "autoscale" && most > least) {
    keep(fmt::format("--arrivals=diurnal:{:.4g},{:.4g}", mean, most / mean));
    out_.rest.notes.push_back(
        fmt::format("assumed: {:.4g} to {:.4g} requests/s over each day: --arrivals diurnal:{:.4g},{:.4g} (mean, "
                    "peak / mean)",
                    least, most, mean, most / mean));
  } else if (plans_) {
    out_.amounts.push_back({"", typed, Thing::kRequest, {most, seconds(1), ""}, true});
    out_.rest.notes.push_back(fmt::format("planned for the peak, {:.4g} requests/s", most));
  } else {
    return false;
  }
  return true;
}

}  // namespace rightsize::app
