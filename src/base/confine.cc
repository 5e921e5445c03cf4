#include "base/confine.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <optional>
#include <system_error>

namespace rightsize {
namespace {

namespace fs = std::filesystem;

std::optional<std::vector<fs::path>>& allowed() {
  static std::optional<std::vector<fs::path>> folders;
  return folders;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::atomic<int> attempts = 0;

}  // namespace

void confine_files(const std::vector<std::string>& folders) {
  std::vector<fs::path> real;
  std::error_code failed;
  for (const std::string& folder : folders) {
    fs::path path = fs::weakly_canonical(folder, failed);  // it may be created later
    if (!failed) real.push_back(std::move(path));
  }
  allowed() = std::move(real);
}

bool may_read(const std::string& path) {
  if (!allowed()) return true;
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  if (failed) return false;
  return std::any_of(allowed()->begin(), allowed()->end(),
                     [&](const fs::path& folder) { return lies_in(real, folder); });
}

NoWrites::NoWrites() { ++attempts; }
NoWrites::~NoWrites() { --attempts; }

bool may_write() { return attempts == 0; }

}  // namespace rightsize
