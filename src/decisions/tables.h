// The ledger's tables, version by version.
#pragma once

#include "store/schema.h"

namespace rightsize::decisions {

const store::Schema& ledger_schema();

}  // namespace rightsize::decisions
