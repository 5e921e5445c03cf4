#include "rightsize/input/verbs.h"

#include <algorithm>

#include <fmt/format.h>

namespace rightsize::app {

const Verb* find_verb(const std::vector<Verb>& verbs, const std::string& name) {
  const auto find = [&](std::string_view wanted) {
    const auto found = std::ranges::find(verbs, wanted, &Verb::name);
    return found == verbs.end() ? nullptr : &*found;
  };
  if (const Verb* verb = find(name)) return verb;
  // Other tools' words for the same thing.
  constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {{" ls get history log all ", "list"},
                                                                         {" describe cat view ", "show"},
                                                                         {" begin launch canary ", "start"},
                                                                         {" promote approve continue next ", "confirm"},
                                                                         {" rollback undo revert abort stop ", "back"}};
  for (const auto& [words, meant] : kSynonyms) {
    if (!name.empty() && words.find(" " + name + " ") != std::string_view::npos) return find(meant);
  }
  return nullptr;
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
