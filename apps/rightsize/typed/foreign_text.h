// Keys and values in the files of other tools, whatever their format: YAML, JSON, TOML, protobuf text, Python, shell
// scripts and Dockerfiles. The format follows from the content, not from the file's name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rightsize/typed/aliases.h"

namespace rightsize::app {

// Keys in lower case with hyphens, those of nested groups joined by dots: vllmConfig: {maxModelLen: 8192} has the key
// vllm-config.max-model-len. The flags of a command line inside the file are keys without a group.
using Entries = std::vector<std::pair<std::string, std::string>>;

// Empty where the text has no keys. The key file.format names any format other than YAML and JSON: toml, script,
// python, modelfile or protobuf.
Entries read_entries(const std::string& file, const std::string& text);

// The engine or trainer that a word of a command line or an image's name contains; nullptr if there is none.
const NameRow* program_named(std::string_view word);

// Standard input as a file that may be read again: of a pipe, it becomes a copy. Empty for terminals and devices.
std::string standard_input();

std::string plain_key(std::string_view key);  // "maxModelLen" and "MAX_MODEL_LEN" as "max-model-len"

}  // namespace rightsize::app
