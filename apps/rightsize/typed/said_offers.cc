// Terms, places, limits, money, demand and hardware in the bare words of a command line.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "base/text.h"
#include "presets/presets.h"
#include "rightsize/typed/aliases.h"
#include "rightsize/typed/lists.h"
#include "rightsize/typed/question.h"
#include "rightsize/typed/said_words.h"
#include "rightsize/typed/sentence.h"

namespace rightsize::app {

bool WordReader::take_offer(const std::string& word) {
  const bool verb = std::exchange(first_bare_, false) && out_.command == "prices" && !is_link(word);  // prices spot
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

bool WordReader::take_stated_limit() {
  if (!has("--slo") && !has("--ttft-slo")) return false;
  std::string name;  // "p95 first token": the middle of a name may be none
  std::optional<LatencyLimitName> limit;
  std::size_t at = at_, end = at_;
  constexpr std::size_t kLongest = 6, kUnread = 2;
  for (; at < in_.size() && at < at_ + kLongest && at < end + kUnread && !is_flag_word(in_[at]); ++at) {
    if (lists_word("less than is < <= =", lower_at(at))) {
      if (end == at) ++end;
      continue;
    }
    name += (name.empty() ? "" : "-") + lower_at(at);
    if (const auto read = read_limit_name(name)) limit = read, end = at + 1;
  }
  at = end;
  if (!limit || at >= in_.size()) return false;
  std::string value = in_[at];
  if (at + 1 < in_.size() && lists_word("s ms sec second seconds millisecond milliseconds", lower_at(at + 1)))
    value += (lower_at(++at).starts_with('m') ? "ms" : "s");
  const auto stated = read_limit(*limit, value);
  if (!stated || (stated->unit_assumed && !limit->metric)) return false;  // "avg 900 in 250 out"
  out_.limits.push_back(*stated);
  at_ = at;
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
  if (!has("--ttft-slo") || !lists_word("under below within in", to_lower(word)) || at_ + 1 >= in_.size()) return false;
  constexpr Seconds kLongest = seconds(60);
  std::size_t at = at_ + 1;
  while (at + 1 < in_.size() && lists_word("under below less than at most", lower_at(at))) ++at;
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
  limit.metric = whole ? LatencyMetric::kLatency : LatencyMetric::kTtft;
  limit.most = *time;
  out_.limits.push_back(limit);
  if (!whole)
    out_.rest.notes.push_back(fmt::format("'{} {}' limits the time to the first token: --ttft-slo {}", word, limit.text,
                                          format_duration(*time)));
  at_ = at + (per ? 2 : each);
  return true;
}

bool WordReader::take_money(const std::string& typed) {
  if (!has("--budget")) return false;
  // "5000 dollars a month", "budget 5000 usd".
  if (lists_word("budget", to_lower(typed)) &&
      (lower_at(at_ + 1).starts_with('$') || lists_word("dollars dollar usd bucks", lower_at(at_ + 2))))
    return true;
  const bool dollars = lists_word("dollars dollar usd bucks", lower_at(at_ + 1)) && parse_amount(typed).has_value();
  const bool unit_price = has("--api-price") && parse_number(typed) && lower_at(at_ + 1) == "per" &&
                          lists_word("million 1m mtok", lower_at(at_ + 2));  // "0.20 per million tokens"
  const std::string word = dollars || unit_price ? "$" + typed : typed;
  if (dollars) in_[++at_] = word;
  if (word.size() < 2 || word.front() != '$') return false;
  std::string text = word;
  std::size_t at = at_;
  // "$0.60 per million tokens": the unit price of an API, never a budget.
  for (std::size_t i = at_ + 1; i < in_.size() && i <= at_ + 4 && has("--api-price"); ++i) {
    if (!lists_word("tokens token tok mtok million 1m", lower_at(i))) continue;
    keep("--api-price=" + word.substr(1));
    at_ = i + lists_word("tokens token", lower_at(i + 1));
    return true;
  }
  if (lists_word("per a an", lower_at(at + 1)) && continues_amount(lower_at(at + 2)))
    text += "/" + lower_at(at + 2), at += 2;
  else if (const std::string time = lower_at(at + 1); lists_word("hour hourly day daily month monthly", time))
    text += "/" + time.substr(0, time.starts_with("da") ? 3
                                 : time.ends_with("ly") ? time.size() - 2
                                                        : time.size()),
        ++at;
  const std::optional<Amount> money = parse_amount(std::string_view(text).substr(1));
  if (!money) return false;
  // "under $1/hour": rented GPUs are priced by the hour.
  const bool hourly = money->per && *money->per == hours(1) && has("--max-price");
  keep(hourly ? fmt::format("--max-price={:g}", money->count) : "--budget=" + text);
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
  if ((apart || in_[at_].ends_with('%')) && is_digits(in_[at_].substr(0, 1)) &&
      (lists_word(kBusy, lower_at(at_ + 1 + apart)) || lists_word(kBusy, lower_at(at_ - 1))))
    busy_ = std::min(std::atof(in_[at_].c_str()) / 100, 1.0);
  else if (words > 0)
    busy_ = share;
  else
    return false;
  at_ += words > 0 ? words - 1 : apart;
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
  out_.rest.notes.push_back(
      fmt::format("in use for {:.0f} of the 168 hours of a week (share={:.3g})", 168 * busy_, busy_));
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
