// Where the two versions of files come from: other programs, run without a shell, and files that hold both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace rightsize::app {

// What a program writes to standard output; empty if it is not installed, fails or writes over 32 MiB.
std::optional<std::string> output_of(std::vector<std::string> words);

// The files of a folder, or one file, in a git revision: by their path in the folder, or by `alias`. A file that the
// revision does not have is left out. Nothing is checked out, and no filter or hook of the repository runs.
using FileTexts = std::map<std::string, std::string>;
Result<FileTexts> files_in_revision(const std::string& path, const std::string& revision, const std::string& alias);

// Both versions in one file: a unified diff ('git diff > change.patch'; the changed parts of each file), or a Terraform
// plan ('terraform show -json'). Empty for other files.
struct TwoVersions {
  FileTexts before, after;
};
std::optional<TwoVersions> versions_in(const std::string& file, const std::string& text);

}  // namespace rightsize::app
