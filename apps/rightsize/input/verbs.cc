#include "rightsize/input/verbs.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::app {

const Verb* find_verb(const std::vector<Verb>& verbs, const std::string& name) {
  const auto found = std::ranges::find(verbs, name, &Verb::name);
  return found == verbs.end() ? nullptr : &*found;
}

Result<> check_flags(const FlagSet& command, const std::string& name, const std::vector<Verb>& verbs,
                     const Verb& verb) {
  const auto call = [&](const Verb& of) { return of.name.empty() ? name : name + " " + of.name; };
  for (const Verb& other : verbs) {
    for (const std::string& flag : other.flags) {
      if (command.given(flag).empty() || std::ranges::find(verb.flags, flag) != verb.flags.end()) continue;
      return fail(bad_input(fmt::format("'{}' does not take {}", call(verb), flag))
                      .with_hint(fmt::format("'{}' does", call(other))));
    }
  }
  return {};
}

}  // namespace rightsize::app
