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

// A file, or standard input when the path is "-". kUnreadableSource with the system's reason when it cannot be opened.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

// Text in memory, which must outlive the source.
std::unique_ptr<ByteSource> bytes_of(std::string_view text);

// The decompressed bytes of `source`. gzip and zstd are recognised by their first bytes, whatever the file is called;
// several compressed members in sequence (rotated logs joined with cat) read as one text. Memory is one buffer. A
// truncated or damaged stream fails with kUnreadableSource when the damage is reached. `name` appears in errors only.
Result<std::unique_ptr<ByteSource>> uncompress(const std::string& name, std::unique_ptr<ByteSource> source);

// A source that returns `first` and then the rest of `source`: for a reader that had to look at the beginning.
std::unique_ptr<ByteSource> put_back(std::string first, std::unique_ptr<ByteSource> source);

// Up to `size` bytes from the beginning, fewer only when the source ends before.
Result<std::string> read_beginning(ByteSource& source, std::size_t size);

// All of a small source; more than `limit` bytes is an error.
Result<std::string> read_all(ByteSource& source, std::size_t limit);

}  // namespace rightsize
