#include "rightsize/flags.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <utility>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::app {
namespace {

bool is_flag(std::string_view name) { return name.starts_with('-'); }
bool is_switch(const FlagInfo& info) { return info.values.empty() && is_flag(info.name); }

// "--providers, -q" of the row's aliases "providers,q".
std::string other_spellings(const settings::Setting& row) {
  std::vector<std::string> names;
  for (const std::string_view alias : split_list(row.aliases, ','))
    names.push_back((alias.size() == 1 ? "-" : "--") + std::string(alias));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

namespace flags_detail {

void cannot_hold(std::string_view setting) {
  std::cerr << "internal error: the type of a variable does not fit the setting '" << setting << "'\n";
  std::abort();
}

Result<std::vector<settings::Value>> read(const settings::Setting& row, const std::string& text, bool many,
                                          bool as_text) {
  RIGHTSIZE_TRY(std::vector<settings::Value> values, settings::read_list(row, text));
  if (many || values.size() == 1) return values;
  if (as_text) return std::vector{settings::Value{text}};
  return fail(bad_input(fmt::format("--{} takes one value, not '{}'", row.name, text)));
}

}  // namespace flags_detail

Flag* Flag::meaning(std::string text) {
  info_.meaning = std::move(text);
  return this;
}

Flag* Flag::or_else(const std::string& text) {
  info_.otherwise = text;
  if (const Result<> taken = take_(text, true); !taken) flags_detail::cannot_hold(info_.name + " (default)");
  return this;
}

Flag* Flag::or_words(std::string text) {
  info_.otherwise = std::move(text);
  return this;
}

Flag* Flag::argument(std::string word) {
  info_.argument = word.empty() ? info_.name.substr(2) : std::move(word);
  return this;
}

Flag* Flag::required(bool wanted) {
  info_.required = wanted;
  return this;
}

Flag* Flag::single_words() {
  many_words_ = false;
  return this;
}

Flag* Flag::type_name(std::string shown) {
  info_.values = std::move(shown);
  return this;
}

Flag* Flag::delimiter(char between) {
  delimiter_ = between;
  return this;
}

Flag* Flag::range(int least, int most) {
  return check([least, most](const std::string& text) {
    const Result<double> value = parse_number(text);
    if (value && *value >= least && *value <= most) return std::string{};
    return fmt::format("{} is not between {} and {}", text, least, most);
  });
}

Flag* Flag::check(std::function<std::string(const std::string&)> refuse) {
  refuse_ = std::move(refuse);
  return this;
}

Result<> Flag::take_value(const std::string& text) {
  if (refuse_) {
    if (const std::string why = refuse_(text); !why.empty())
      return fail(bad_input(fmt::format("{}: {}", info_.name, why)));
  }
  const bool first = count_++ == 0;
  given_ = text;
  if (delimiter_ == 0 || text.empty()) return take_(text, first);
  bool still_first = first;
  for (const std::string_view part : split_list(text, delimiter_)) {
    if (Result<> taken = take_(std::string(part), std::exchange(still_first, false)); !taken) return taken;
  }
  return {};
}

std::vector<std::string> Flag::spellings() const {
  std::vector<std::string> all{info_.name};
  for (const std::string_view other : split_list(info_.others, ',')) all.emplace_back(other);
  return all;
}

Flag* FlagSet::declare(const settings::Setting& row, bool repeatable, Flag::Take take) {
  Flag& flag = flags_.emplace_back();
  const bool argument = row.name.front() >= 'A' && row.name.front() <= 'Z';
  flag.info_.name = argument ? std::string(row.name) : "--" + std::string(row.name);
  flag.info_.others = other_spellings(row);
  flag.info_.values = argument ? "TEXT" : settings::placeholder(row);
  flag.info_.meaning = settings::help(row);
  flag.info_.otherwise = row.preset.empty() ? row.preset_words : row.preset;
  flag.info_.group = heading_.empty() ? std::string(row.heading) : heading_;
  flag.info_.repeatable = repeatable;
  flag.info_.setting = &row;
  flag.many_words_ = row.many_words && repeatable;
  flag.take_ = std::move(take);
  return &flag;
}

Flag* FlagSet::add(std::string_view setting, std::function<Result<>(const settings::Value&)> take, bool repeatable) {
  const settings::Setting& row = settings::get(setting);
  return declare(row, repeatable, [&row, take = std::move(take)](const std::string& text, bool) -> Result<> {
    RIGHTSIZE_TRY(const std::vector<settings::Value> values, flags_detail::read(row, text, false, true));
    return take(values.front());
  });
}

namespace {

// The names of "--long,-s,word": the first long one is the name, or the word where there is no flag.
void take_names(std::string_view names, FlagInfo& info) {
  for (const std::string_view name : split_list(names, ',')) {
    if (!is_flag(name))
      info.argument = name;
    else if (info.name.empty() && name.starts_with("--"))
      info.name = name;
    else
      info.others += (info.others.empty() ? "" : ", ") + std::string(name);
  }
  if (info.name.empty()) info.name = std::exchange(info.argument, {});
}

struct Group {
  std::string_view prefix, heading;
};
constexpr Group kGroups[] = {{"train", "Training"},
                             {"serve", "Serving"},
                             {"offline", "Offline work"},
                             {"profile", "Measured work"},
                             {"on-prem", "Your own machines"},
                             {"continuous", "Continuous batching"},
                             {"language models", "Language models"},
                             {"with --slo", "With --slo"},
                             {"spot", "Spot"},
                             {"import", "Import and update"},
                             {"import, update", "Import and update"},
                             {"update", "Import and update"},
                             {"history, diff", "History"},
                             {"forget", "History"}};

// "train: tokens per sequence" is listed under Training without its first word.
void move_to_group(FlagInfo& info) {
  if (info.meaning.find("; serve: ") != std::string::npos) return;
  for (const auto& [prefix, heading] : kGroups) {
    if (info.meaning != prefix && !info.meaning.starts_with(std::string(prefix) + ": ")) continue;
    info.group = heading;
    info.meaning.erase(0, std::min(info.meaning.size(), prefix.size() + 2));
    return;
  }
}

// The number a variable of the old interface expects: hours where the row counts seconds.
double plain_number(const settings::Setting& row, double number) {
  return row.kind == settings::Kind::kDuration && row.unit == "h" ? in_hours(seconds(number)) : number;
}

Result<> put(const std::string& text, std::string& to, const settings::Setting* row) {
  to = text;
  if (row == nullptr || (row->kind == settings::Kind::kText && !text.empty())) return {};
  RIGHTSIZE_TRY(const std::vector<settings::Value> values, settings::read_list(*row, text));
  if (values.size() == 1) to = values.front().text;
  return {};
}

template <class Number>
requires std::is_arithmetic_v<Number> Result<> put(const std::string& text, Number& to, const settings::Setting* row) {
  if (row != nullptr && settings::is_number(row->kind)) {
    RIGHTSIZE_TRY(const settings::Value value, settings::read(*row, text));
    to = static_cast<Number>(plain_number(*row, value.number));
    return {};
  }
  RIGHTSIZE_TRY(const double value, parse_number(text));
  to = static_cast<Number>(value);
  return {};
}

Result<> put(const std::string& text, std::vector<std::string>& to, const settings::Setting* row) {
  return put(text, to.emplace_back(), row);
}

// Digits, or what a parser of numbers would take for one: "nan", "-inf", "1e26".
bool is_plain_number(const std::string& text) {
  double value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return stop == text.data() + text.size() && problem != std::errc::invalid_argument;
}

template <class Value>
bool fits(const settings::Setting& row) {
  if constexpr (std::is_integral_v<Value>) return row.kind == settings::Kind::kCount;
  return true;
}

}  // namespace

Flag* FlagSet::declare(const std::string& names, const std::string& meaning, const std::string& values, Flag::Take take,
                       const settings::Setting* row) {
  Flag& flag = flags_.emplace_back();
  take_names(names, flag.info_);
  if (row == nullptr && is_flag(flag.info_.name)) row = settings::find(flag.info_.name.substr(2));
  flag.info_.meaning = meaning, flag.info_.values = values, flag.info_.group = heading_, flag.info_.setting = row;
  if (row != nullptr && heading_.empty()) flag.info_.group = row->heading;
  move_to_group(flag.info_);
  flag.take_ = std::move(take);
  return &flag;
}

template <class Value>
Flag* FlagSet::add_option(const std::string& name, Value& value, const std::string& help) {
  FlagInfo names;
  take_names(name, names);
  const settings::Setting* row = is_flag(names.name) ? settings::find(names.name.substr(2)) : nullptr;
  if (row != nullptr && !fits<Value>(*row)) row = nullptr;
  constexpr bool kMany = std::is_same_v<Value, std::vector<std::string>>;
  Flag* flag = declare(
      name, help, std::is_arithmetic_v<Value> ? "N" : "TEXT",
      [&value, row, label = names.name](const std::string& text, bool first) -> Result<> {
        if (text.empty()) return fail(bad_input(label + " needs a value"));
        if constexpr (kMany) {
          if (first) value.clear();
        }
        Result<> taken = put(text, value, row);
        if (!taken && row == nullptr) return fail(bad_input(fmt::format("{}: {}", label, taken.error().message)));
        return taken;
      },
      row);
  flag->info_.repeatable = flag->many_words_ = kMany;
  return flag;
}
template Flag* FlagSet::add_option(const std::string&, std::string&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, int&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, unsigned&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, std::size_t&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, double&, const std::string&);

Flag* FlagSet::add_flag(const std::string& name, bool& value, const std::string& help) {
  return declare(
      name, help, "",
      [&value](const std::string& text, bool) -> Result<> {
        value = text == "yes";
        return {};
      },
      nullptr);
}

Flag* FlagSet::add_flag_function(const std::string& name, std::function<void()> take, const std::string& help) {
  return declare(
      name, help, "",
      [take = std::move(take)](const std::string& text, bool) -> Result<> {
        if (text == "yes") take();
        return {};
      },
      nullptr);
}

Flag* FlagSet::add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                                   const std::string& help) {
  const std::string label = name.substr(0, name.find(','));
  const settings::Setting* row = is_flag(label) ? settings::find(label.substr(2)) : nullptr;
  return declare(
      name, help, "TEXT",
      [take = std::move(take), label, row](const std::string& text, bool) -> Result<> {
        if (text.empty()) return fail(bad_input(label + " needs a value"));
        // The command may know further spellings ("8xh100"), but a plain number must be in the range of the row.
        if (row != nullptr && settings::is_number(row->kind) && is_plain_number(text)) {
          RIGHTSIZE_TRY([[maybe_unused]] const std::vector<settings::Value> values, settings::read_list(*row, text));
        }
        take(text);
        return {};
      },
      nullptr);
}

std::deque<FlagInfo> FlagSet::declared() const {
  std::deque<FlagInfo> infos;
  for (const Flag& flag : flags_) infos.push_back(flag.info_);
  return infos;
}

Flag* FlagSet::look_up(std::string_view spelling) {
  for (Flag& flag : flags_) {
    if (flag.info_.name == spelling) return &flag;
  }
  for (Flag& flag : flags_) {
    const std::vector<std::string> all = flag.spellings();
    if (is_flag(spelling) && std::find(all.begin(), all.end(), spelling) != all.end()) return &flag;
  }
  return nullptr;
}

Flag* FlagSet::find(const std::string& name) { return look_up(name); }

std::string FlagSet::given(const std::string& name) const {
  for (const Flag& flag : flags_) {
    const std::vector<std::string> all = flag.spellings();
    if (flag.count_ > 0 && std::find(all.begin(), all.end(), name) != all.end()) return flag.given_;
  }
  return {};
}

// The value of a flag: behind its '=', or the next words.
void FlagSet::give(Flag& flag, std::optional<std::string> value, const std::vector<std::string>& words, std::size_t& at,
                   Errors& errors) {
  const std::string& name = flag.info_.name;
  const auto take = [&](const std::string& text) {
    if (Result<> taken = flag.take_value(text); !taken) errors.push_back(std::move(taken).error());
  };
  if (is_switch(flag.info_)) {
    const std::string word = to_lower(value.value_or("yes"));
    const bool yes = word == "yes" || word == "true" || word == "1" || word == "on";
    if (!yes && word != "no" && word != "false" && word != "0" && word != "off")
      return errors.push_back(bad_input(fmt::format("{} takes no value, not '{}'", name, *value)));
    return take(yes ? "yes" : "no");
  }
  const auto is_value = [&](std::size_t i) { return i < words.size() && look_up(words[i]) == nullptr; };
  if (flag.count_ > 0 && !flag.info_.repeatable) {
    if (!value && is_value(at + 1)) ++at;
    return errors.push_back(bad_input(fmt::format("{} is given more than once", name)));
  }
  if (value) return take(*value);
  if (!is_value(at + 1)) {
    const std::string kind = flag.info_.values == "TEXT" || flag.info_.values == "NAME" ? "" : ": " + flag.info_.values;
    return errors.push_back(bad_input(fmt::format("{} needs a value{}", name, kind)));
  }
  take(words[++at]);
  while (flag.many_words_ && is_value(at + 1) && (words[at + 1] == "-" || !is_flag(words[at + 1]))) take(words[++at]);
}

// "-q", "-o json", "-ojson", "-qh".
void FlagSet::parse_short(const std::vector<std::string>& words, std::size_t& at, std::vector<std::string>& unknown,
                          Errors& errors) {
  const std::string word = words[at];
  for (std::size_t i = 1; i < word.size(); ++i) {
    Flag* flag = look_up(std::string{'-', word[i]});
    if (flag == nullptr) return unknown.push_back(word);
    if (is_switch(flag->info_)) {
      give(*flag, std::nullopt, words, at, errors);
    } else {
      const std::string rest = word.substr(word[i + 1] == '=' ? i + 2 : i + 1);
      return give(*flag, i + 1 < word.size() ? std::optional(rest) : std::nullopt, words, at, errors);
    }
  }
}

Checked<std::vector<std::string>> FlagSet::parse(const std::vector<std::string>& words) {
  std::vector<std::string> unknown, bare;
  Errors errors;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      bare.insert(bare.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
      break;
    }
    const std::size_t equals = word.find('=');
    if (word.starts_with("--")) {
      Flag* flag = look_up(word.substr(0, equals));
      if (flag == nullptr) {
        unknown.push_back(word);
      } else {
        give(*flag, equals == std::string::npos ? std::nullopt : std::optional(word.substr(equals + 1)), words, at,
             errors);
      }
    } else if (word.size() > 1 && word.front() == '-' && (word[1] < '0' || word[1] > '9')) {
      parse_short(words, at, unknown, errors);
    } else {
      bare.push_back(word);
    }
  }
  std::size_t next = 0;
  for (Flag& flag : flags_) {
    const bool takes_words = !is_flag(flag.info_.name) || !flag.info_.argument.empty();
    if (!takes_words || (flag.count_ > 0 && !flag.info_.repeatable)) continue;
    const std::size_t end = flag.info_.repeatable ? bare.size() : std::min(next + 1, bare.size());
    for (; next < end; ++next) {
      if (Result<> taken = flag.take_value(bare[next]); !taken) errors.push_back(std::move(taken).error());
    }
  }
  unknown.insert(unknown.end(), bare.begin() + static_cast<std::ptrdiff_t>(next), bare.end());
  for (const Flag& flag : flags_) {
    if (flag.info_.required && flag.count_ == 0) {
      const std::string& argument = flag.info_.argument;
      errors.push_back(
          bad_input(fmt::format("{} is required", flag.info_.name))
              .with_hint(argument.empty() ? "" : fmt::format("the first bare word may be the {}", argument)));
    }
  }
  if (unknown.empty() && !errors.empty()) return fail(std::move(errors));
  return unknown;
}

}  // namespace rightsize::app
