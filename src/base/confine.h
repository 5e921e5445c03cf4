// Which files may be read, for a program that runs on behalf of others.
#pragma once

#include <string>
#include <vector>

namespace rightsize {

// From here on read_file() reads only what lies in these folders, whatever links or ".." a path holds, and not standard
// input. For the whole program; before any thread that reads is started.
void confine_files(const std::vector<std::string>& folders);

bool may_read(const std::string& path);

}  // namespace rightsize
