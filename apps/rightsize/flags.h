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
//   command.add("window", flags->window)->or_else("4h");           // a default other than the row's
//   command.add("fail-over", flags->fail_over);
//   command.add("from", flags->from)->meaning("files to read")->required();
//   command.add("once", flags->once);
//
// Names, aliases, kinds, units, ranges, meanings and defaults come from the rows of data/settings.csv. If a variable's
// type cannot hold the row's kind, the program aborts when the command is declared.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "settings/setting.h"

namespace rightsize::app {

// The description of a flag for help, manual pages, completions and the API.
struct FlagInfo {
  std::string name;                 // "--gpu", or a word in capitals for an argument without a flag
  std::vector<std::string> others;  // further spellings: "-q", "--levers"
  std::string argument;             // the bare word that may stand for the flag; empty: none
  std::string values;               // "N", "train|serve"; empty for a switch
  std::string meaning;
  std::string otherwise;                  // the default; empty: none
  std::vector<std::string> columns = {};  // of a condition: the columns it may name
  std::string group;                      // the heading in help; empty: the first
  bool required = false;
  bool repeatable = false;                     // may be given more than once
  bool list = false;                           // takes several values, separated by commas
  const settings::Setting* setting = nullptr;  // its row; never null

  bool is_called(std::string_view spelling) const;
  std::string_view json_type() const;             // of a value without a unit: see settings::json_type()
  std::vector<std::string_view> choices() const;  // the values it takes; empty: not a choice
};

// A declared flag by any of its spellings; nullptr if there is none.
const FlagInfo* find_flag(const std::deque<FlagInfo>& declared, std::string_view spelling);

// One declared flag.
class Flag {
 public:
  // Takes one value ("yes" or "no" for a switch). `first`: the value replaces the default instead of extending the
  // list.
  using Take = std::function<Result<>(const std::string& text, bool first)>;

  Flag* meaning(std::string text);                // instead of the row's
  Flag* values(std::string shown);                // the placeholder in help, instead of the row's
  Flag* or_else(const std::string& text);         // a default other than the row's
  Flag* or_words(std::string text);               // ... in words, if it is not one value
  Flag* argument(std::string word = {});          // a bare word may stand for the flag
  Flag* columns(std::vector<std::string> names);  // of a condition
  Flag* required(bool wanted = true);             // refused when absent
  Flag* one_value();                              // refuses a list, although the row takes one
  Flag* alone();                                  // may be given without a value; then it changes nothing
  Flag* single_words();                           // one value after each flag; further words are arguments
  // This command's name for the row's setting; the row's name still works.
  Flag* called(const std::string& name);

 private:
  friend class FlagSet;
  Result<> take_value(const std::string& text);

  FlagInfo info_;
  Take take_;
  bool many_words_ = false, alone_ = false;
  std::string given_;
  int count_ = 0;
};

// A verb of a command: `prices spot`.
struct Verb {
  std::string name;                // empty: the command without a verb
  std::vector<std::string> flags;  // in addition to those that all verbs take
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
  // Passes the value to `take` once the row has accepted it. A list is passed as one text.
  Flag* add(std::string_view setting, std::function<Result<>(const settings::Value&)> take);
  // Passes any text: for settings that take more than the row describes, such as --gpus 8xh100.
  Flag* add_unchecked(std::string_view setting, std::function<Result<>(const std::string&)> take);

  // The help heading of all flags declared after this call, instead of the rows' headings.
  void group(const std::string& heading) { heading_ = heading; }

  std::vector<Verb> verbs;  // of a command that has some

  // All declared flags, in order.
  std::deque<FlagInfo> declared() const;
  // A declared flag by any of its spellings; nullptr if there is none.
  Flag* find(std::string_view spelling);
  // The text given for a flag; empty if it was not given or is not declared. Call it after parse().
  std::string given(std::string_view name) const;

  // Reads a command line: --flag value, --flag=value, -f value, -fvalue, -qh, bare words, and -- before words that are
  // not flags. Bare words fill the arguments without a given flag, in the order of declaration. Returns unknown flags
  // and surplus words; fails with every wrong or missing value.
  Checked<std::vector<std::string>> parse(const std::vector<std::string>& words);

 private:
  Flag* declare(const settings::Setting& row, bool repeatable, Flag::Take take);
  void parse_short(const std::vector<std::string>& words, std::size_t& at, std::vector<std::string>& unknown,
                   Errors& errors);
  void give(Flag& flag, std::optional<std::string> value, const std::vector<std::string>& words, std::size_t& at,
            Errors& errors);

  std::string heading_;
  std::deque<Flag> flags_;
};

namespace flags_detail {

[[noreturn]] void cannot_hold(std::string_view setting);
// The values in a text: the elements of a list for a vector, the whole list as one text for a string, otherwise one.
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
  flag->info_.list = row.list && (Element::kMany || kText);
  // An optional stays empty unless the flag is given; its default is only shown.
  if (!row.preset.empty() && !Element::kOptional) flag->or_else(std::string(row.preset));
  return flag;
}

}  // namespace rightsize::app
