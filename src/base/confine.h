// Restricts which files may be read and written: for a program that runs on behalf of others, and for attempts.
#pragma once

#include <string>
#include <vector>

namespace rightsize {

// After this call, read_file() reads only files inside these folders, after resolving links and "..", and refuses
// standard input. Applies to the whole program; call it before starting threads that read files.
void confine_files(const std::vector<std::string>& folders);

bool may_read(const std::string& path);

// While one exists, write_file() refuses in the whole program: commands are tried out before they are suggested, and
// that must not change anything.
class NoWrites {
 public:
  NoWrites();
  ~NoWrites();
  NoWrites(const NoWrites&) = delete;
  NoWrites& operator=(const NoWrites&) = delete;
};

bool may_write();

}  // namespace rightsize
