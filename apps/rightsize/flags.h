// The flags of one command: declared by the command, filled when the command line is parsed.
//
//   struct Flags {
//     std::string gpu;
//     Seconds window;                     // becomes the row's default
//     std::optional<Usd> fail_over;       // stays empty unless given
//     std::vector<std::string> from;      // may be repeated
//     bool once = false;
//   };
//   command.add("gpu", flags->gpu)->argument();                    // a bare word may stand for --gpu
//   command.add("window", flags->window)->or_else("4h");           // another default than the row's
//   command.add("fail-over", flags->fail_over);
//   command.add("from", flags->from)->meaning("files to read")->required();
//   command.add("once", flags->once);
//
// Names, aliases, kinds, units, ranges, meanings and defaults come from the rows of src/settings; a type that cannot
// hold the row's kind ends the program when the command is declared.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/setting.h"

namespace rightsize::app {

// What help, manual pages, completions and the API say about a flag.
struct FlagInfo {
  std::string name;      // "--gpu", or a word in capitals for an argument without a flag
  std::string others;    // further spellings: "-q, --levers"
  std::string argument;  // the bare word that may stand for the flag; empty: none
  std::string values;    // "N", "train|serve"; empty for one that is present or absent
  std::string meaning;
  std::string otherwise;  // the default; empty: none
  std::string group;      // the heading in help; empty: the first
  bool required = false;
  bool repeatable = false;
  const settings::Setting* setting = nullptr;  // its row
};

// One declared flag.
class Flag {
 public:
  // Takes one value (of a switch: "yes" or "no"); `first` where it replaces what is there.
  using Take = std::function<Result<>(const std::string& text, bool first)>;

  Flag* meaning(std::string text);         // instead of the row's
  Flag* or_else(const std::string& text);  // another default than the row's
  Flag* or_words(std::string text);        // ... in words, where it is not one value
  Flag* argument(std::string word = {});   // a bare word may stand for the flag
  Flag* required(bool wanted = true);      // refused when absent
  Flag* single_words();                    // one value after each flag: what follows is an argument

  // For flags declared by add_option.
  Flag* default_str(std::string shown) { return or_words(std::move(shown)); }
  Flag* type_name(std::string shown);
  Flag* help(std::string text) { return meaning(std::move(text)); }
  Flag* one_value_each() { return single_words(); }
  Flag* delimiter(char between);
  Flag* range(int least, int most);
  Flag* check(std::function<std::string(const std::string&)> refuse);

 private:
  friend class FlagSet;
  Result<> take_value(const std::string& text);
  std::vector<std::string> spellings() const;  // "--quiet", "-q"

  FlagInfo info_;
  Take take_;
  bool many_words_ = false;
  char delimiter_ = 0;
  std::function<std::string(const std::string&)> refuse_;
  std::string given_;
  int count_ = 0;
};

class FlagSet {
 public:
  FlagSet() = default;
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // A setting of the table (settings/setting.h). `to` must outlive the parsing; it takes the row's default at once.
  // Value is std::string, bool, a number, a quantity of base/units.h, an optional of these, or a vector of them: then
  // the flag may be repeated, and lists are split at commas.
  template <class Value>
  Flag* add(std::string_view setting, Value& to);
  // Hands each value to `take`, after it was checked against the row.
  Flag* add(std::string_view setting, std::function<Result<>(const settings::Value&)> take, bool repeatable = false);

  // Flags without a row, while commands move to the table. `name` is "--long", "--long,-s", "--long,word" where a bare
  // word may stand for the flag, or a word alone. Values are checked against the row of that name where there is one.
  template <class Value>
  Flag* add_option(const std::string& name, Value& value, const std::string& help);
  Flag* add_flag(const std::string& name, bool& value, const std::string& help);
  Flag* add_flag_function(const std::string& name, std::function<void()> take, const std::string& help);
  Flag* add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                            const std::string& help);

  // The heading of what is declared from here on, instead of the rows'.
  void group(const std::string& heading) { heading_ = heading; }

  // Everything declared, in order.
  std::deque<FlagInfo> declared() const;
  // A flag declared already; it must exist.
  Flag* find(const std::string& name);
  // What was given for a declared flag, as text; empty where it was not given or is not declared. After parsing.
  std::string given(const std::string& name) const;

  // Reads a command line: --flag value, --flag=value, -f value, -fvalue, -qh, bare words, and -- before words that are
  // not flags. Bare words fill the arguments whose flags are absent, in the order of declaration. Returns what it does
  // not understand (unknown flags, words too many); fails with every wrong or missing value.
  Checked<std::vector<std::string>> parse(const std::vector<std::string>& words);

 private:
  Flag* declare(const std::string& names, const std::string& meaning, const std::string& values, Flag::Take take,
                const settings::Setting* row);
  Flag* declare(const settings::Setting& row, bool repeatable, Flag::Take take);
  Flag* look_up(std::string_view spelling);
  void parse_short(const std::vector<std::string>& words, std::size_t& at, std::vector<std::string>& unknown,
                   Errors& errors);
  void give(Flag& flag, std::optional<std::string> value, const std::vector<std::string>& words, std::size_t& at,
            Errors& errors);

  std::string heading_;
  std::deque<Flag> flags_;
};

namespace flags_detail {

[[noreturn]] void cannot_hold(std::string_view setting);
// The values of one text: the parts of a list for a vector, the whole list as one text for a string, otherwise one.
Result<std::vector<settings::Value>> read(const settings::Setting& row, const std::string& text, bool many,
                                          bool as_text);

template <class Value>
struct Element {
  using Type = Value;
  static constexpr bool kMany = false, kOptional = false;
};
template <class Value>
struct Element<std::optional<Value>> {
  using Type = Value;
  static constexpr bool kMany = false, kOptional = true;
};
template <class Value>
struct Element<std::vector<Value>> {
  using Type = Value;
  static constexpr bool kMany = true, kOptional = false;
};

template <class Value>
void put(const settings::Value& value, Value& to) {
  settings::store(value, to);
}
template <class Value>
void put(const settings::Value& value, std::optional<Value>& to) {
  settings::store(value, to.emplace());
}
template <class Value>
void put(const settings::Value& value, std::vector<Value>& to) {
  settings::store(value, to.emplace_back());
}

}  // namespace flags_detail

template <class Value>
Flag* FlagSet::add(std::string_view setting, Value& to) {
  using Element = flags_detail::Element<Value>;
  const settings::Setting& row = settings::get(setting);
  if (!settings::accepts(typename Element::Type{}, row.kind)) flags_detail::cannot_hold(setting);
  constexpr bool kText = std::is_same_v<typename Element::Type, std::string>;
  Flag* flag = declare(row, Element::kMany, [&row, &to](const std::string& text, bool first) -> Result<> {
    RIGHTSIZE_TRY(const std::vector<settings::Value> values, flags_detail::read(row, text, Element::kMany, kText));
    if constexpr (Element::kMany) {
      if (first) to.clear();
    }
    for (const settings::Value& value : values) flags_detail::put(value, to);
    return {};
  });
  // An optional stays empty unless the flag is given; its default is only shown.
  if (!row.preset.empty() && !Element::kOptional) flag->or_else(std::string(row.preset));
  return flag;
}

}  // namespace rightsize::app
