#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/confine.h"

namespace rightsize {
namespace {

struct Close {
  void operator()(std::FILE* f) const {
    if (f != stdin) std::fclose(f);
  }
};

Error cannot(std::string_view what, const std::string& path, int reason) {
  return unreadable(fmt::format("cannot {} '{}': {}", what, path, std::strerror(reason)));
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  if (!may_read(path)) return fail(bad_input(fmt::format("this server may not read '{}'", path.substr(0, 100))));
  std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return fail(cannot("read", path, errno));
  std::string content;
  char block[1 << 16];
  while (std::size_t n = std::fread(block, 1, sizeof block, file.get())) {
    content.append(block, n);
    if (content.size() > limit) return fail(cannot("read", path, EFBIG));
  }
  if (std::ferror(file.get())) return fail(cannot("read", path, errno));
  return content;
}

Result<> write_file(const std::string& path, const std::string& content) {
  if (!may_write()) return fail(cannot("write", path, EROFS));
  const std::string temporary = path + ".new";
  std::unique_ptr<std::FILE, Close> file(std::fopen(temporary.c_str(), "wb"));
  if (!file) return fail(cannot("write", path, errno));
  bool written = std::fwrite(content.data(), 1, content.size(), file.get()) == content.size();
  written = std::fclose(file.release()) == 0 && written;
  if (!written || std::rename(temporary.c_str(), path.c_str()) != 0) {
    int reason = errno;
    std::remove(temporary.c_str());
    return fail(cannot("write", path, reason));
  }
  return {};
}

std::string user_path(const char* variable, const char* fallback, const char* name) {
  if (const char* base = std::getenv(variable); base != nullptr && *base == '/')
    return fmt::format("{}/rightsize/{}", base, name);
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : fmt::format("{}/{}/rightsize/{}", home, fallback, name);
}

}  // namespace rightsize
