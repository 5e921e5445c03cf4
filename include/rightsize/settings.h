// Settings of a command: its flags without the dashes.
//
//   Settings{{"model", "llama-3.1-8b"}, {"batch", 4}, {"options", true}, {"price", "h100-sxm=2.49"}}
//
// `rightsize COMMAND --help` lists the names. A repeatable flag may be given more than once. `true` sets a flag that
// takes no value; for a flag that takes true or false it is the value.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rightsize::v1 {

struct Setting {
  Setting(std::string setting, std::string text) : name(std::move(setting)), value(std::move(text)) {}
  Setting(std::string setting, const char* text) : Setting(std::move(setting), std::string(text)) {}
  Setting(std::string setting, bool on) : Setting(std::move(setting), on ? "true" : "false") {}
  Setting(std::string setting, double number);
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Setting(std::string setting, Integer number) : Setting(std::move(setting), std::to_string(number)) {}

  std::string name;
  std::string value;
};

using Settings = std::vector<Setting>;

}  // namespace rightsize::v1
