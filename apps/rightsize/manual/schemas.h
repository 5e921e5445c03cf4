// JSON schemas of the documents that commands print with --format json.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rightsize/call.h"

namespace rightsize::app {

// "batch", "calibrate", ...: of every document the program prints.
std::vector<std::string> document_names();

// References to the document itself are written as `self`.
Result<Json> document_schema(const std::string& name, std::string_view self = "#");

// A command with its flags, as the Python module and its stubs read it.
Json describe_flags(const CommandInfo& command);

// What `rightsize schema [NAME]` prints: the names with their meanings, one schema, `all` of them in one object, or what
// the `commands` take.
Result<std::string> schema_text(const std::string& name);

}  // namespace rightsize::app
