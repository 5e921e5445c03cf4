// Commands with verbs: `prices import`, `decisions show`, `rollout start`.
#pragma once

#include <string>
#include <vector>

#include "rightsize/command.h"

namespace rightsize::app {

struct Verb {
  std::string name;                // empty: the command without a verb
  std::vector<std::string> flags;  // in addition to those that all verbs take
};

// The verb of this name, or null.
const Verb* find_verb(const std::vector<Verb>& verbs, const std::string& name);
// Refuses flags that only other verbs take; they would have no effect.
Result<> check_flags(const FlagSet& command, const std::string& name, const std::vector<Verb>& verbs, const Verb& verb);

}  // namespace rightsize::app
