// What a command is asked: its flags, without the dashes.
//
//   Settings{{"model", "llama-3.1-8b"}, {"batch", 4}, {"options", true}, {"price", "h100-sxm=2.49"}}
//
// `rightsize COMMAND --help` lists the names. A flag that may be repeated may stand more than once. `true` sets a flag
// without a value; of one that takes true or false it is the value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace rightsize::v1 {

struct Setting {
  Setting(std::string setting, std::string text) : name(std::move(setting)), value(std::move(text)) {}
  Setting(std::string setting, const char* text) : Setting(std::move(setting), std::string(text)) {}
  Setting(std::string setting, bool on) : Setting(std::move(setting), on ? "true" : "false") {}
  Setting(std::string setting, int number) : Setting(std::move(setting), std::to_string(number)) {}
  Setting(std::string setting, std::int64_t number) : Setting(std::move(setting), std::to_string(number)) {}
  Setting(std::string setting, double number);

  std::string name;
  std::string value;
};

using Settings = std::vector<Setting>;

}  // namespace rightsize::v1
