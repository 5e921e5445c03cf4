// Restricts which files may be read, for a program that runs on behalf of others.
#pragma once

#include <string>
#include <vector>

namespace rightsize {

// After this call, read_file() reads only files inside these folders, after resolving links and "..", and refuses
// standard input. Applies to the whole program; call it before starting threads that read files.
void confine_files(const std::vector<std::string>& folders);

bool may_read(const std::string& path);

}  // namespace rightsize
