// Converts parsed JSON into JSON that can be written.
#pragma once

#include "base/json.h"
#include "base/located_json.h"

namespace rightsize {

Json copy_of(const JsonValue& value);

}  // namespace rightsize
