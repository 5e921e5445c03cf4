#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace rightsize {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    std::size_t end = std::min(text.find(separator), text.size());
    if (std::string_view part = trim(text.substr(0, end)); !part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = to_lower(c);
  return lower;
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    if (utf8[i] == '\x1b') {  // a colour code: ESC [ ... m
      i = std::min(utf8.find('m', i), utf8.size() - 1);
    } else if ((static_cast<unsigned char>(utf8[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

}  // namespace rightsize
