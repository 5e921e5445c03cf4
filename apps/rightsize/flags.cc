#include "rightsize/flags.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::app {
namespace {

bool is_flag(std::string_view name) { return name.starts_with('-'); }
bool is_switch(const FlagInfo& info) { return info.values.empty() && is_flag(info.name); }

Error takes_one_value(std::string_view name, const std::string& text) {
  Error error = bad_input(fmt::format("{} takes one value, not '{}'", name, text));
  return name == "--gpu" ? std::move(error).with_hint(
                               fmt::format("'rightsize recommend --gpu {}' ranks several GPUs by cost", text))
                         : error;
}

}  // namespace

const FlagInfo* find_flag(const std::deque<FlagInfo>& declared, std::string_view spelling) {
  for (const FlagInfo& flag : declared) {
    if (flag.is_called(spelling)) return &flag;
  }
  return nullptr;
}

bool FlagInfo::is_called(std::string_view spelling) const {
  return name == spelling || std::find(others.begin(), others.end(), spelling) != others.end();
}

std::string_view FlagInfo::json_type() const { return settings::json_type(*setting); }

std::vector<std::string_view> FlagInfo::choices() const {
  const bool is_choice = setting->kind == settings::Kind::kChoice;
  return is_choice ? split_list(setting->values, '|') : std::vector<std::string_view>();
}

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
  return fail(takes_one_value(fmt::format("--{}", row.name), text));
}

}  // namespace flags_detail

Flag* Flag::meaning(std::string text) {
  info_.meaning = std::move(text);
  return this;
}

Flag* Flag::values(std::string shown) {
  info_.values = std::move(shown);
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

Flag* Flag::columns(std::vector<std::string> names) {
  info_.columns = std::move(names);
  return this;
}

Flag* Flag::required(bool wanted) {
  info_.required = wanted;
  return this;
}

Flag* Flag::alone() {
  alone_ = true;
  return this;
}

Flag* Flag::one_value() {
  info_.list = false;
  return this;
}

Flag* Flag::single_words() {
  many_words_ = false;
  return this;
}

Flag* Flag::called(const std::string& name) {
  std::erase(info_.others, "--" + name);
  info_.others.push_back(std::exchange(info_.name, "--" + name));
  return this;
}

Result<> Flag::take_value(const std::string& text) {
  // A folder is all its files, where a flag takes several.
  if (std::error_code ignored; info_.setting->kind == settings::Kind::kFile && info_.repeatable &&
                               std::filesystem::is_directory(text, ignored)) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(text, ignored))
      if (entry.is_regular_file(ignored) && !entry.path().filename().string().starts_with('.'))
        files.push_back(entry.path().string());
    std::ranges::sort(files);
    for (const std::string& file : files) {
      if (Result<> taken = take_value(file); !taken) return taken;
    }
    if (!files.empty()) return {};
  }
  if (info_.setting->list && !info_.list) {
    const auto values = settings::read_list(*info_.setting, text);
    if (values && values->size() > 1) return fail(takes_one_value(info_.name, text));
  }
  const bool first = count_++ == 0;
  given_ = text;
  Result<> taken = take_(text, first);
  // The command may call the setting by another name.
  const std::string row = "--" + std::string(info_.setting->name);
  if (taken || info_.name == row || !taken.error().message.starts_with(row)) return taken;
  Error error = std::move(taken).error();
  error.message.replace(0, row.size(), info_.name);
  return fail(std::move(error));
}

Flag* FlagSet::declare(const settings::Setting& row, bool repeatable, Flag::Take take) {
  Flag& flag = flags_.emplace_back();
  const bool argument = row.name.front() >= 'A' && row.name.front() <= 'Z';
  flag.info_.name = argument ? std::string(row.name) : "--" + std::string(row.name);
  for (const std::string_view alias : split_list(row.aliases, ' '))
    flag.info_.others.push_back((alias.size() == 1 ? "-" : "--") + std::string(alias));
  flag.info_.values = argument ? "TEXT" : settings::placeholder(row);
  flag.info_.meaning = settings::help(row);
  flag.info_.otherwise = row.preset.empty() ? row.preset_words : row.preset;
  flag.info_.group = heading_.empty() ? std::string(row.heading) : heading_;
  flag.info_.repeatable = repeatable;
  flag.info_.list = row.list;
  flag.info_.setting = &row;
  flag.many_words_ = row.many_words && repeatable;
  flag.take_ = std::move(take);
  return &flag;
}

Flag* FlagSet::add(std::string_view setting, std::function<Result<>(const settings::Value&)> take) {
  const settings::Setting& row = settings::get(setting);
  return declare(row, false, [&row, take = std::move(take)](const std::string& text, bool) -> Result<> {
    RIGHTSIZE_TRY(const std::vector<settings::Value> values, flags_detail::read(row, text, false, true));
    return take(values.front());
  });
}

Flag* FlagSet::add_unchecked(std::string_view setting, std::function<Result<>(const std::string&)> take) {
  return declare(settings::get(setting), false,
                 [take = std::move(take)](const std::string& text, bool) { return take(text); });
}

std::deque<FlagInfo> FlagSet::declared() const {
  std::deque<FlagInfo> infos;
  for (const Flag& flag : flags_) infos.push_back(flag.info_);
  return infos;
}

// A name has priority over other flags' alternative spellings.
Flag* FlagSet::find(std::string_view spelling) {
  for (Flag& flag : flags_) {
    if (flag.info_.name == spelling) return &flag;
  }
  for (Flag& flag : flags_) {
    if (flag.info_.is_called(spelling)) return &flag;
  }
  return nullptr;
}

std::string FlagSet::given(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.count_ > 0 && flag.info_.is_called(name)) return flag.given_;
  }
  return {};
}

// Reads a flag's value: the text after '=', or the next words.
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
  const auto is_value = [&](std::size_t i) {
    return i < words.size() && find(words[i].substr(0, words[i].find('='))) == nullptr;
  };
  if (flag.count_ > 0 && !flag.info_.repeatable) {
    if (!value && is_value(at + 1)) ++at;
    return errors.push_back(bad_input(fmt::format("{} is given more than once", name)));
  }
  if (value) return take(*value);
  if (!is_value(at + 1)) {
    if (flag.alone_) return;
    const std::string kind = flag.info_.values == "TEXT" || flag.info_.values == "NAME" ? "" : ": " + flag.info_.values;
    return errors.push_back(bad_input(fmt::format("{} needs a value{}", name, kind)));
  }
  take(words[++at]);
  while (flag.many_words_ && is_value(at + 1) && (words[at + 1] == "-" || !is_flag(words[at + 1]))) take(words[++at]);
}

// "-q", "-o json", "-ojson", "-qh".
void FlagSet::parse_short(const std::vector<std::string>& words, std::size_t& at, std::vector<std::string>& unknown,
                          Errors& errors) {
  const std::string& word = words[at];
  for (std::size_t i = 1; i < word.size(); ++i) {
    Flag* flag = find(std::string{'-', word[i]});
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
      Flag* flag = find(word.substr(0, equals));
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
