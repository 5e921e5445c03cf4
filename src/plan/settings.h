// Shared by the readers of settings.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "model/job.h"

namespace rightsize::plan {

// Adds the place of a setting to an error: its line in a file, or its flag.
inline Error placed(Error error, const model::Setting& setting) {
  const std::string flag = "--" + setting.name;
  if (setting.place.line == 0 && !error.message.starts_with(flag)) error.message = flag + ": " + error.message;
  return std::move(error).at(setting.place);
}

}  // namespace rightsize::plan
