// Compressed files as if they were not, and a look at a file's beginning before it is read.
//
// gzip and zstd are recognised by their first bytes, whatever the file is called; several compressed members one after
// the other (rotated logs joined with cat) read as one text. Memory is one buffer, however long the file.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "telemetry/byte_source.h"

namespace rightsize::telemetry {

// The bytes of `source`, unpacked where they are packed. `name` is used in errors only. A packed text that is cut short
// or damaged fails with kUnreadableSource when the damage is reached.
Result<std::unique_ptr<ByteSource>> uncompress(const std::string& name, std::unique_ptr<ByteSource> source);

// A source that gives `first` again and then the rest of `source`: for a reader that had to look at the beginning.
std::unique_ptr<ByteSource> put_back(std::string first, std::unique_ptr<ByteSource> source);

// Up to `size` bytes of the beginning, fewer only when the source ends before.
Result<std::string> read_beginning(ByteSource& source, std::size_t size);

// All of a small source; more than `limit` bytes fail.
Result<std::string> read_all(ByteSource& source, std::size_t limit);

}  // namespace rightsize::telemetry
