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

// One declared flag, to say more about it.
class Flag {
 public:
  explicit Flag(CLI::Option& option) : option_(option) {}

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
};

class FlagSet {
 public:
  explicit FlagSet(CLI::App& command) : command_(command) {}
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

  // `name` is "--long", "--long,-s", or a bare word for an argument without a flag. `value` must outlive the parsing
  // and keeps what it holds where the flag is not given. Value is std::string, int, unsigned, std::size_t, double, or a
  // vector of strings, which takes the flag repeatedly.
  template <class Value>
  Flag* add_option(const std::string& name, Value& value, const std::string& help);
  // Present or absent.
  Flag* add_flag(const std::string& name, bool& value, const std::string& help);
  // Hands the text to `take` each time the flag is given.
  Flag* add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                            const std::string& help);

  // A flag declared already, which must be there.
  Flag* find(const std::string& name);

  // What was given for a declared flag, as text; empty where it was not given or is not declared. After parsing.
  std::string given(const std::string& name) const;

 private:
  Flag* keep(CLI::Option& option);

  CLI::App& command_;
  std::deque<Flag> flags_;
};

}  // namespace rightsize::app
