// Commands with verbs: `prices import`, `decisions show`, `rollout start`.
#pragma once

#include <string>
#include <vector>

#include "rightsize/command.h"

namespace rightsize::app {

// The verb of this name, or null.
const Verb* find_verb(const std::vector<Verb>& verbs, const std::string& name);
// Refuses flags that only other verbs take; they would have no effect.
Result<> check_flags(const FlagSet& command, const std::string& name, const std::vector<Verb>& verbs, const Verb& verb);

}  // namespace rightsize::app
