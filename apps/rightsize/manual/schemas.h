// JSON schemas of the documents that commands print with --format json.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace rightsize::app {

// "batch", "calibrate", ...: of every document the program prints.
std::vector<std::string> document_names();

// References to the document itself are written as `self`.
Result<Json> document_schema(const std::string& name, std::string_view self = "#");

// What `rightsize schema [NAME]` prints: the names with their meanings, one schema, or `all` of them in one object.
Result<std::string> schema_text(const std::string& name);

}  // namespace rightsize::app
