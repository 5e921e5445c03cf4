// Text encodings.
#pragma once

#include <string>
#include <string_view>

namespace rightsize {

// The length in bytes of the UTF-8 sequence at the beginning of `text`, which must not be empty; 0 if there is none
// (RFC 3629: no overlong forms, no surrogates).
std::size_t utf8_length(std::string_view text);

// Appends a code point.
void append_utf8(std::string& text, unsigned code);

// Converts UTF-16 with a byte-order mark to UTF-8 and removes the mark of UTF-8. Other text is returned unchanged.
std::string to_utf8(std::string text);

}  // namespace rightsize
