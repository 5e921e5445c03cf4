#include "base/url.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace rightsize {
namespace {

struct UrlParts {
  std::string_view scheme;  // with "://"; may be empty
  std::string_view host;    // and port
  std::string_view path;
  bool doubtful = false;  // the password may extend into host or path
};

UrlParts split(std::string_view url) {
  UrlParts parts;
  if (const std::size_t scheme = url.find("://"); scheme < url.find_first_of("/?#@")) {
    parts.scheme = url.substr(0, scheme + 3);
    url.remove_prefix(scheme + 3);
  }
  const std::size_t end = std::min(url.find_first_of("/?#"), url.size());
  const std::string_view authority = url.substr(0, end);
  parts.host = authority.substr(authority.rfind('@') + 1);
  parts.path = url.substr(end, std::min(url.find_first_of("?#"), url.size()) - end);
  const std::size_t colon = parts.host.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? "" : parts.host.substr(colon + 1);
  const bool is_address = parts.host.starts_with('[');  // IPv6: [::1]:5432
  parts.doubtful = url.find('@', end) != std::string_view::npos ||
                   std::count(authority.begin(), authority.end(), '@') > 1 ||
                   (!is_address && port.find_first_not_of("0123456789") != std::string_view::npos);
  return parts;
}

}  // namespace

std::string shown_url(std::string_view url) {
  const UrlParts parts = split(url);
  if (parts.doubtful) return fmt::format("{}***", parts.scheme);
  return fmt::format("{}{}{}", parts.scheme, parts.host, parts.path);
}

bool may_hide_password(std::string_view url) { return split(url).doubtful; }

std::string percent_encoded(std::string_view bytes, std::string_view keep) {
  std::string text;
  for (const char c : bytes) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string_view::npos;
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<std::uint8_t>(c));
  }
  return text;
}

}  // namespace rightsize
