// Flags whose meaning depends on their values or on other flags: --power 0.22 is a price, --max-price 20000 a budget,
// -t 500M an amount of data, and --max-steps replaces --epochs.
#pragma once

#include <deque>

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Expects the words as typed, or of a file, with the command first.
void name_by_value(Typed& typed, const std::deque<FlagInfo>& declared);

}  // namespace rightsize::app
