// Text encodings.
#pragma once

#include <string>
#include <string_view>

namespace rightsize {

// Bytes of the UTF-8 sequence that `text` (not empty) begins with, 0 where it is none (RFC 3629: no overlong forms, no
// surrogates).
std::size_t utf8_length(std::string_view text);

// Appends a code point.
void append_utf8(std::string& text, unsigned code);

// Text in UTF-8: UTF-16 with a byte-order mark is converted, the mark of UTF-8 removed; other text is left as it is.
std::string to_utf8(std::string text);

}  // namespace rightsize
