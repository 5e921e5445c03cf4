#include "rightsize/flags.h"

#include <CLI/CLI.hpp>

namespace rightsize::app {

Flag* Flag::default_str(const std::string& shown) {
  option_.default_str(shown);
  return this;
}

Flag* Flag::type_name(const std::string& shown) {
  option_.type_name(shown);
  return this;
}

Flag* Flag::required(bool wanted) {
  option_.required(wanted);
  return this;
}

Flag* Flag::help(const std::string& text) {
  option_.description(text);
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
  return keep(*command_.add_option(name, value, help));
}
template Flag* FlagSet::add_option(const std::string&, std::string&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, int&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, unsigned&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, std::size_t&, const std::string&);
template Flag* FlagSet::add_option(const std::string&, double&, const std::string&);

Flag* FlagSet::add_flag(const std::string& name, bool& value, const std::string& help) {
  return keep(*command_.add_flag(name, value, help));
}

Flag* FlagSet::add_option_function(const std::string& name, std::function<void(const std::string&)> take,
                                   const std::string& help) {
  return keep(*command_.add_option_function<std::string>(name, std::move(take), help));
}

Flag* FlagSet::find(const std::string& name) { return keep(*command_.get_option(name)); }

std::string FlagSet::given(const std::string& name) const {
  const CLI::Option* option = command_.get_option_no_throw(name);
  return option == nullptr || option->count() == 0 ? std::string{} : option->as<std::string>();
}

Flag* FlagSet::keep(CLI::Option& option) { return &flags_.emplace_back(option); }

}  // namespace rightsize::app
