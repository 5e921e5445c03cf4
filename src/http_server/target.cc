#include "http_server/target.h"

#include <algorithm>

namespace rightsize::http_server {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Whether a segment is "." or "..". The path is already decoded: "%2e%2e" is "..", too.
bool climbs(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    if (segment == "." || segment == "..") return true;
    path.remove_prefix(segment.size());
  }
  return false;
}

Result<std::string> decode_path(std::string_view text) {
  if (!text.starts_with('/')) return fail(bad_input("the path does not begin with '/'"));
  const std::optional<std::string> path = percent_decode(text, false);
  if (!path) return fail(bad_input("invalid percent-encoding in the path"));
  if (std::any_of(path->begin(), path->end(), is_control) || path->find('\\') != std::string::npos)
    return fail(bad_input("a control character or backslash in the path"));
  if (climbs(*path)) return fail(bad_input("the path leaves its folder"));
  return *path;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

Result<RequestTarget> parse_target(std::string_view target) {
  if (target.size() > kLongestTarget) return fail(bad_input("the address is too long"));
  const std::size_t mark = target.find('?');
  RIGHTSIZE_TRY(std::string path, decode_path(target.substr(0, mark)));
  RequestTarget parsed{std::move(path), {}};
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    const auto name = percent_decode(pair.substr(0, equals), true);
    const auto value = percent_decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
    if (!name || !value) return fail(bad_input("a percent sign in the query encodes nothing"));
    parsed.query.emplace_back(*name, *value);
  }
  return parsed;
}

}  // namespace rightsize::http_server
