#include "telemetry/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/long_work.h"

namespace rightsize::telemetry {
namespace {

class Descriptor final : public ByteSource {
 public:
  Descriptor(int fd, std::string name, bool owned) : fd_(fd), name_(std::move(name)), owned_(owned) {}
  ~Descriptor() override {
    if (owned_) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  Result<std::size_t> read(std::span<char> buffer) override {
    for (;;) {
      if (cancelled()) return 0;  // asked to end: as if the file ended here
      const ssize_t got = ::read(fd_, buffer.data(), buffer.size());
      if (got >= 0) {
        LongWork::step(static_cast<std::uint64_t>(got));
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) return fail(unreadable(fmt::format("cannot read {}: {}", name_, std::strerror(errno))));
    }
  }

 private:
  int fd_;
  std::string name_;
  bool owned_;
};

class Text final : public ByteSource {
 public:
  explicit Text(std::string_view text) : rest_(text) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    const std::size_t size = std::min(buffer.size(), rest_.size());
    std::copy_n(rest_.data(), size, buffer.data());
    rest_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view rest_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path == "-") return std::make_unique<Descriptor>(STDIN_FILENO, "standard input", false);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(unreadable(fmt::format("cannot open '{}': {}", path, std::strerror(errno))));
  return std::make_unique<Descriptor>(fd, "'" + path + "'", true);
}

std::unique_ptr<ByteSource> bytes_of(std::string_view text) { return std::make_unique<Text>(text); }

}  // namespace rightsize::telemetry
