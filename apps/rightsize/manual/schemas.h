// JSON schemas of the documents that commands print with --format json.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rightsize/call.h"

namespace rightsize::app {

// The names of all documents that the program prints: "batch", "calibrate", ...
std::vector<std::string> document_names();

// References to the document itself are written as `self`.
Result<Json> document_schema(const std::string& name, std::string_view self = "#");

// A command with its flags, for the Python module and its stubs.
Json describe_flags(const CommandInfo& command);

// The output of `rightsize schema [NAME]`. Without a name it lists the documents; `all` is an object with every schema,
// and `commands` describes the flags of every command.
Result<std::string> schema_text(const std::string& name);

}  // namespace rightsize::app
