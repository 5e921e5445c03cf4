#include "rightsize/flags.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/text.h"

namespace rightsize::app {

Flag* Flag::default_str(const std::string& shown) {
  option_.default_str(shown);
  info_.otherwise = shown;
  return this;
}

Flag* Flag::type_name(const std::string& shown) {
  option_.type_name(shown);
  info_.values = shown;
  return this;
}

Flag* Flag::required(bool wanted) {
  option_.required(wanted);
  info_.required = wanted;
  return this;
}

Flag* Flag::help(const std::string& text) {
  info_.meaning = text;
  return this;
}

Flag* Flag::one_value_each() {
  option_.allow_extra_args(false);
  return this;
}

Flag* Flag::delimiter(char between) {
  option_.delimiter(between);
  return this;
}

Flag* Flag::range(int least, int most) {
  option_.check(CLI::Range(least, most));
  return this;
}

Flag* Flag::check(std::function<std::string(const std::string&)> refuse) {
  option_.check(std::move(refuse));
  return this;
}

template <class Value>
Flag* FlagSet::add_option(const std::string& name, Value& value, const std::string& help) {
  return keep(*command_.add_option(name, value, help), name, help, std::is_arithmetic_v<Value> ? "N" : "TEXT");
}
template Flag* FlagSet::add_option(const std::string&, std::string&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, int&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, unsigned&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, std::size_t&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, double&, const std::string&);

Flag* FlagSet::add_flag(const std::string& name, bool& value, const std::string& help) {
  return keep(*command_.add_flag(name, value, help), name, help, "");
}

Flag* FlagSet::add_flag_function(const std::string& name, std::function<void()> take, const std::string& help) {
  return keep(*command_.add_flag_function(
                  name, [take = std::move(take)](std::int64_t) { take(); }, help),
              name, help, "");
}

Flag* FlagSet::add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                                   const std::string& help) {
  return keep(*command_.add_option_function<std::string>(name, take, help), name, help, "TEXT");
}

Flag* FlagSet::find(const std::string& name) {
  const auto found =
      std::find_if(infos_.begin(), infos_.end(), [&](const FlagInfo& info) { return info.name == name; });
  return &flags_[static_cast<std::size_t>(found - infos_.begin())];
}

std::string FlagSet::given(const std::string& name) const {
  const CLI::Option* option = command_.get_option_no_throw(name);
  return option == nullptr || option->count() == 0 ? std::string{} : option->as<std::string>();
}

namespace {

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

// "train: tokens per sequence" stands under Training without its first word. What is said of several kinds of work
// stays where it is.
void move_to_group(FlagInfo& info) {
  if (info.meaning.find("; serve: ") != std::string::npos) return;
  for (const auto& [prefix, heading] : kGroups) {
    if (info.meaning != prefix && !info.meaning.starts_with(std::string(prefix) + ": ")) continue;
    info.group = heading;
    info.meaning.erase(0, std::min(info.meaning.size(), prefix.size() + 2));
    return;
  }
}

// The names of "--long,-s,word": the first long one is the name, or the word where there is no flag.
void take_names(std::string_view names, FlagInfo& info) {
  for (std::string_view name : split_list(names, ',')) {
    if (!name.starts_with('-'))
      info.argument = name;
    else if (info.name.empty() && name.starts_with("--"))
      info.name = name;
    else
      info.others += (info.others.empty() ? "" : ", ") + std::string(name);
  }
  if (info.name.empty()) info.name = std::exchange(info.argument, {});
}

}  // namespace

Flag* FlagSet::keep(CLI::Option& option, const std::string& names, const std::string& meaning,
                    const std::string& values) {
  FlagInfo& info = infos_.emplace_back();
  take_names(names, info);
  info.meaning = meaning, info.values = values, info.group = heading_;
  move_to_group(info);
  return &flags_.emplace_back(option, info);
}

}  // namespace rightsize::app
