// Other tools' names for commands: tables only.
#pragma once

#include <span>
#include <string_view>

namespace rightsize::app {

// `typed` is the command `meant`, with a further word where `with` names one.
struct OtherName {
  std::string_view typed, meant, with = {};
};
std::span<const OtherName> other_names();

// What other tools do and this one does not, and what to do instead.
struct NotOurs {
  std::string_view typed, instead;
};
std::span<const NotOurs> not_ours();

// Names of tools and of their groups of commands, in front of what is meant: `kubectl top`, `ec2 describe-...`.
std::span<const std::string_view> tools();

}  // namespace rightsize::app
