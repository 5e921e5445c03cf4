#include "base/utf8.h"

namespace rightsize {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

void append_utf8(std::string& text, unsigned code) {
  auto put = [&](unsigned byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

std::string to_utf8(std::string text) {
  if (text.starts_with("\xEF\xBB\xBF")) return text.substr(3);
  const bool big = text.starts_with("\xFE\xFF");
  if (!big && !text.starts_with("\xFF\xFE")) return text;
  const auto unit = [&](std::size_t at) {
    const unsigned first = static_cast<unsigned char>(text[at]), second = static_cast<unsigned char>(text[at + 1]);
    return big ? first << 8 | second : second << 8 | first;
  };
  std::string utf8;
  for (std::size_t at = 2; at + 1 < text.size(); at += 2) {
    unsigned code = unit(at);
    const bool pair = code >= 0xD800 && code < 0xDC00 && at + 3 < text.size();
    if (pair && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
      at += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;  // half a pair
    }
    append_utf8(utf8, code);
  }
  return utf8;
}

}  // namespace rightsize
