// Any words as a command line, one per line: they are translated or refused with an explanation. Translating the result
// again must not change it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "rightsize/call.h"
#include "rightsize/typed/typed.h"

namespace {

// Building the flags of a command takes milliseconds, which is too slow for every input of a fuzzer.
const rightsize::app::CommandInfo* described(const std::string& name) {
  using namespace rightsize;
  static const std::map<std::string, app::CommandInfo> kAll = [] {
    std::map<std::string, app::CommandInfo> commands;
    for (const std::string& command : app::command_names()) commands.emplace(command, *app::describe_command(command));
    return commands;
  }();
  const auto found = kAll.find(name);
  return found == kAll.end() ? nullptr : &found->second;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rightsize;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size() && words.size() < 32;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  static const std::vector<std::string> kNames = app::command_names();
  app::Typed typed = app::meant_command(words, kNames);
  if (typed.words.empty()) return 0;
  const app::CommandInfo* command = described(typed.words.front());
  if (command == nullptr) return 0;
  typed = app::meant_flags(std::move(typed), command->flags);
  if (typed.words.empty()) std::abort();  // the command itself must remain
  for (const std::string& note : typed.notes) {
    if (note.empty()) std::abort();
  }
  return 0;
}
