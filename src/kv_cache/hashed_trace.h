// Recorded prompts as lists of block hashes: one JSON object per line, as Mooncake publishes its traces.
//
//   {"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 48, 2353]}
//
// Timestamps are milliseconds. The same number in hash_ids means the same block of tokens after the same beginning; the
// last block of a prompt may be incomplete.
//
// Logs of chats have the text instead, at any depth, with times in seconds (or milliseconds since 1970) or ISO 8601:
//
//   {"timestamp": 11.5, "messages": [{"role": "user", "content": "..."}], "usage": {"prompt_tokens": 820, ...}}
//
// Their blocks are hashes of the text from its beginning. Without a tokenizer, all tokens have the same number of
// characters: as many as in the first prompt with a token count, otherwise 4.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace rightsize::kv_cache {

inline constexpr std::int64_t kBlockTokens = 512;     // of Mooncake's traces
inline constexpr std::int64_t kTextBlockTokens = 16;  // of texts: the blocks of vLLM

struct HashedRequest {
  double at_ms = 0;
  std::int64_t input = 0, output = 0;          // tokens; output is at least 1
  std::span<const std::uint64_t> blocks = {};  // valid during the call
  double token_characters = 0;                 // 0: the blocks were recorded
};

// Calls `use` with every request, in the order of the file (texts: of time); blocks of texts have `text_block` tokens.
// Fails on text that is not JSON, on a request without hash_ids and text or with a length below 0, on a time that is
// missing, negative or earlier than the one before, and on an empty file.
Result<> each_request(ByteSource& source, const std::string& file, const std::function<void(const HashedRequest&)>& use,
                      std::int64_t text_block = kTextBlockTokens);

// The tokens of a block, unless the user says otherwise.
std::int64_t usual_block(std::string_view beginning);

// Whether a text looks like such a trace rather than like a table.
bool is_hashed_trace(std::string_view beginning);

}  // namespace rightsize::kv_cache
