// Bytes from a file, a pipe or memory, read in blocks. Files compressed with gzip or zstd are decompressed on the way.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rightsize {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills the beginning of `buffer` and returns the number of bytes; 0 at the end. Blocks until input is available.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
};

// A file, or standard input if the path is "-". Fails with kUnreadableSource and the system's reason if it cannot be
// opened.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

// Text in memory, which must outlive the source.
std::unique_ptr<ByteSource> bytes_of(std::string_view text);

// The decompressed bytes of `source`. gzip and zstd are recognised by their first bytes, not by the file's name.
// Several compressed members in a row (rotated logs joined with cat) are read as one text. Uses one buffer of memory. A
// truncated or damaged stream fails with kUnreadableSource when the damage is reached. `name` is only used in errors.
Result<std::unique_ptr<ByteSource>> uncompress(const std::string& name, std::unique_ptr<ByteSource> source);

// A source that returns `first` and then the rest of `source`: for a reader that had to inspect the beginning.
std::unique_ptr<ByteSource> put_back(std::string first, std::unique_ptr<ByteSource> source);
// The same for a source that is not owned; it must outlive the result.
std::unique_ptr<ByteSource> put_back(std::string first, ByteSource& source);

// Up to `size` bytes from the beginning; fewer only if the source is shorter.
Result<std::string> read_beginning(ByteSource& source, std::size_t size);

// All of a small source; more than `limit` bytes is an error.
Result<std::string> read_all(ByteSource& source, std::size_t limit);

}  // namespace rightsize
