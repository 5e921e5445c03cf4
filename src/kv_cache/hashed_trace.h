// Recorded prompts as lists of block hashes: one JSON object per line, as Mooncake publishes its traces.
//
//   {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 48, 2353]}
//
// Timestamps are milliseconds. The same number in hash_ids means the same block of tokens after the same beginning; the
// last block of a prompt may be incomplete.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace rightsize::kv_cache {

inline constexpr std::int64_t kBlockTokens = 512;  // of Mooncake's traces

struct HashedRequest {
  double at_ms = 0;
  std::int64_t input = 0, output = 0;          // tokens; output is at least 1
  std::span<const std::uint64_t> blocks = {};  // valid during the call
};

// Calls `use` with every request, in the order of the file. Fails on text that is not JSON, on a request without
// hash_ids or with a length below 0, on a time that is missing, negative or earlier than the one before, and on an
// empty file.
Result<> each_request(ByteSource& source, const std::string& file,
                      const std::function<void(const HashedRequest&)>& use);

// Whether a text looks like such a trace rather than like a table.
bool is_hashed_trace(std::string_view beginning);

}  // namespace rightsize::kv_cache
