// The flags of one command, declared by the command and filled when the command line is parsed.
//
// A thin front of the command-line library, which only flags.cc and main.cc see: it is slow to compile.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rightsize::app {

// What help, manual pages and completions say of a flag.
struct FlagInfo {
  std::string name;      // "--gpu", or a bare word for an argument without a flag
  std::string others;    // further spellings: "-w, --levers"
  std::string argument;  // the bare word that may stand for the flag; empty: none
  std::string values;    // "N", "train|serve"; empty for one that is present or absent
  std::string meaning;
  std::string otherwise;  // the default; empty: none, or said in the meaning
  std::string group;      // the heading it stands under; empty: the first
  bool required = false;
};

// One declared flag, to say more about it.
class Flag {
 public:
  Flag(CLI::Option& option, FlagInfo& info) : option_(option), info_(info) {}

  Flag* default_str(const std::string& shown);  // the default --help shows
  Flag* type_name(const std::string& shown);    // what --help shows for the value
  Flag* required(bool wanted = true);           // refused when absent
  Flag* help(const std::string& text);          // instead of what was said when it was declared
  Flag* one_value_each();                       // of a list: what follows the value is an argument, not another value
  Flag* delimiter(char between);                // lists may also be given as one word
  Flag* range(int least, int most);             // refused outside
  Flag* check(std::function<std::string(const std::string&)> refuse);  // refused with what it returns, unless empty

 private:
  CLI::Option& option_;
  FlagInfo& info_;
};

class FlagSet {
 public:
  explicit FlagSet(CLI::App& command) : command_(command) {}
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // `name` is "--long", "--long,-s", "--long,word" where a bare word may stand for the flag, or a word alone for an
  // argument without a flag. `value` must outlive the parsing
  // and keeps what it holds where the flag is not given. Value is std::string, int, unsigned, std::size_t, double, or a
  // vector of strings, which takes the flag repeatedly.
  template <class Value>
  Flag* add_option(const std::string& name, Value& value, const std::string& help);
  // Present or absent.
  Flag* add_flag(const std::string& name, bool& value, const std::string& help);
  // The same; calls `take` where it is present.
  Flag* add_flag_function(const std::string& name, std::function<void()> take, const std::string& help);
  // Hands the text to `take` each time the flag is given.
  Flag* add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                            const std::string& help);

  // The heading of what is declared from here on. A meaning that begins "train: " or the like has its own.
  void group(const std::string& heading) { heading_ = heading; }

  // Everything declared, in order.
  const std::deque<FlagInfo>& declared() const { return infos_; }

  // A flag declared already, which must be there.
  Flag* find(const std::string& name);

  // What was given for a declared flag, as text; empty where it was not given or is not declared. After parsing.
  std::string given(const std::string& name) const;

 private:
  Flag* keep(CLI::Option& option, const std::string& names, const std::string& meaning, const std::string& values);

  CLI::App& command_;
  std::string heading_;
  std::deque<FlagInfo> infos_;
  std::deque<Flag> flags_;
};

}  // namespace rightsize::app
