#include "telemetry/feeds/uncompress.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "telemetry/raw_bytes.h"

namespace rightsize::telemetry {
namespace {

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

// What gzip and zstd share: a piece of compressed input that is refilled when used up.
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
    return unreadable(fmt::format("'{}' is cut short or damaged: {}", path_, why))
        .with_hint("what was read before that point is not used; copy the file again, or leave it out");
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
        if (inside_) return fail(broken("the gzip stream has no end"));
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
      if (!more && out.pos == 0) return fail(broken("the zstd frame has no end"));
      used_ = in.pos;
      expected_ = state;
    }
    return out.pos;
  }

 private:
  ZSTD_DStream* stream_;
  std::size_t expected_ = 0;  // 0: at the end of a frame
};

}  // namespace

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

Result<std::string> read_all(ByteSource& source, std::size_t limit) {
  std::string text;
  while (text.size() <= limit) {
    const std::size_t size = text.size();
    text.resize(size + kPiece);
    RIGHTSIZE_TRY(const std::size_t got, source.read(std::span(text).subspan(size)));
    text.resize(size + got);
    if (got == 0) return text;
  }
  return fail(unreadable(fmt::format("larger than the {} MiB a file of this kind may have", limit >> 20)));
}

}  // namespace rightsize::telemetry
