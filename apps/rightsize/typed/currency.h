// Money in other currencies.
#pragma once

#include "rightsize/typed/typed.h"

namespace rightsize::app {

// Converts money to dollars at the latest rate on file, with a note: "3000 euros", "2.10EUR/h", "8xh100=€260k" and
// "EUR 500". Words after -- and the name of a currency without an amount stay as they are.
void convert_money(Typed& typed);

}  // namespace rightsize::app
