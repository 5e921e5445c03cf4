#include "base/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/long_work.h"
#include "base/raw_bytes.h"

namespace rightsize {
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
      if (cancelled()) return 0;  // as if the file ended here
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

constexpr std::size_t kPiece = 256U << 10;

class PutBackSource : public ByteSource {
 public:
  PutBackSource(std::string first, std::unique_ptr<ByteSource> rest)
      : first_(std::move(first)), rest_(std::move(rest)) {}
  Result<std::size_t> read(std::span<char> to) override {
    if (at_ == first_.size()) return rest_->read(to);
    const std::size_t got = std::min(to.size(), first_.size() - at_);
    std::memcpy(to.data(), first_.data() + at_, got);
    at_ += got;
    return got;
  }

 private:
  std::string first_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// The common part of gzip and zstd: a block of compressed input that is refilled when it is used up.
class Unpacker : public ByteSource {
 public:
  Unpacker(std::string path, std::unique_ptr<ByteSource> packed)
      : path_(std::move(path)), packed_(std::move(packed)), piece_(kPiece) {}

 protected:
  // Whether there is input; reads a new piece when the last one is used up.
  Result<bool> refill() {
    if (used_ < filled_) return true;
    RIGHTSIZE_TRY(filled_, packed_->read(piece_.from(0, kPiece)));
    used_ = 0;
    return filled_ > 0;
  }
  Error broken(std::string_view why) const {
    return unreadable(fmt::format("'{}' is truncated or damaged: {}", path_, why))
        .with_hint("the file was not used; copy it again or omit it");
  }

  std::string path_;
  std::unique_ptr<ByteSource> packed_;
  RawBytes piece_;
  std::size_t used_ = 0, filled_ = 0;
};

class GzipSource : public Unpacker {
 public:
  GzipSource(std::string path, std::unique_ptr<ByteSource> packed) : Unpacker(std::move(path), std::move(packed)) {
    inflateInit2(&stream_, 15 + 16);
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  Result<std::size_t> read(std::span<char> to) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    stream_.avail_out = static_cast<uInt>(to.size());
    while (stream_.avail_out == to.size()) {
      RIGHTSIZE_TRY(const bool more, refill());
      if (!more) {
        if (inside_) return fail(broken("the gzip stream does not end"));
        return 0;
      }
      if (!inside_) inflateReset(&stream_);
      inside_ = true;
      stream_.next_in = reinterpret_cast<Bytef*>(piece_.data() + used_);
      stream_.avail_in = static_cast<uInt>(filled_ - used_);
      const int state = inflate(&stream_, Z_NO_FLUSH);
      used_ = filled_ - stream_.avail_in;
      if (state == Z_STREAM_END) inside_ = false;
      if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
        return fail(broken(stream_.msg != nullptr ? stream_.msg : "not gzip data"));
      }
    }
    return to.size() - stream_.avail_out;
  }

 private:
  z_stream stream_{};
  bool inside_ = false;
};

class ZstdSource : public Unpacker {
 public:
  ZstdSource(std::string path, std::unique_ptr<ByteSource> packed)
      : Unpacker(std::move(path), std::move(packed)), stream_(ZSTD_createDStream()) {}
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }

  Result<std::size_t> read(std::span<char> to) override {
    ZSTD_outBuffer out{to.data(), to.size(), 0};
    while (out.pos == 0) {
      RIGHTSIZE_TRY(const bool more, refill());
      if (!more && expected_ == 0) return 0;
      ZSTD_inBuffer in{piece_.data(), filled_, used_};
      const std::size_t state = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(state) != 0) return fail(broken(ZSTD_getErrorName(state)));
      if (!more && out.pos == 0) return fail(broken("the zstd frame does not end"));
      used_ = in.pos;
      expected_ = state;
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  std::size_t expected_ = 0;  // 0: at the end of a frame
};

class BorrowedSource final : public ByteSource {
 public:
  explicit BorrowedSource(ByteSource& source) : source_(source) {}
  Result<std::size_t> read(std::span<char> buffer) override { return source_.read(buffer); }

 private:
  ByteSource& source_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path) {
  if (path == "-") return uncompress(path, std::make_unique<Descriptor>(STDIN_FILENO, "standard input", false));
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(unreadable(fmt::format("cannot open '{}': {}", path, std::strerror(errno))));
  return uncompress(path, std::make_unique<Descriptor>(fd, "'" + path + "'", true));
}

std::unique_ptr<ByteSource> bytes_of(std::string_view text) { return std::make_unique<Text>(text); }

Result<std::unique_ptr<ByteSource>> uncompress(const std::string& name, std::unique_ptr<ByteSource> source) {
  Result<std::string> first = read_beginning(*source, 4);
  if (!first) return fail(std::move(first).error());
  const bool gzip = first->compare(0, 2, "\x1f\x8b") == 0, zstd = first->compare("\x28\xb5\x2f\xfd") == 0;
  source = put_back(*std::move(first), std::move(source));
  if (gzip) return std::make_unique<GzipSource>(name, std::move(source));
  if (zstd) return std::make_unique<ZstdSource>(name, std::move(source));
  return source;
}

Result<std::string> read_beginning(ByteSource& source, std::size_t size) {
  std::string first(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    RIGHTSIZE_TRY(const std::size_t got, source.read(std::span(first).subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  first.resize(filled);
  return first;
}

std::unique_ptr<ByteSource> put_back(std::string first, std::unique_ptr<ByteSource> source) {
  return std::make_unique<PutBackSource>(std::move(first), std::move(source));
}

std::unique_ptr<ByteSource> put_back(std::string first, ByteSource& source) {
  return put_back(std::move(first), std::make_unique<BorrowedSource>(source));
}

Result<std::string> read_all(ByteSource& source, std::size_t limit) {
  std::string text;
  while (text.size() <= limit) {
    const std::size_t size = text.size();
    text.resize(size + kPiece);
    RIGHTSIZE_TRY(const std::size_t got, source.read(std::span(text).subspan(size)));
    text.resize(size + got);
    if (got == 0) return text;
  }
  return fail(unreadable(fmt::format("larger than {} MiB, the limit for a file of this kind", limit >> 20)));
}

}  // namespace rightsize
