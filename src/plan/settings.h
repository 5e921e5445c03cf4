// What readers of settings share.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "model/job.h"

namespace rightsize::plan {

// A mistake of a setting with its place: where it stands in a file, or the flag that gave it.
inline Error placed(Error error, const model::Setting& setting) {
  const std::string flag = "--" + setting.name;
  if (setting.place.line == 0 && !error.message.starts_with(flag)) error.message = flag + ": " + error.message;
  return std::move(error).at(setting.place);
}

}  // namespace rightsize::plan
