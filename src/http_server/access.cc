#include "http_server/access.h"

#include <algorithm>

namespace rightsize::http_server {
namespace {

// "localhost:8080" -> "localhost", "[::1]:8080" -> "::1".
std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.rfind(':'));
}

// As long for a wrong first character as for a wrong last one.
bool equal_in_constant_time(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  return difference == 0;
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && host.size() <= 15 &&
         std::all_of(host.begin(), host.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

std::optional<Refusal> check_origin(const Access& access, const Request& request) {
  if (access.loopback_only && !is_loopback(host_of(request.host)))
    return Refusal{403, "the Host header names another machine"};
  // Browsers say where a request comes from. Pages of other sites get nothing, not even the work done.
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none")
    return Refusal{403, "asked by a page of another site"};
  const std::size_t scheme = request.origin.find("://");
  if (scheme != std::string::npos && std::string_view(request.origin).substr(scheme + 3) != request.host)
    return Refusal{403, "asked by a page of another site"};
  return std::nullopt;
}

std::optional<Refusal> check_token(const Access& access, const Request& request) {
  if (access.token.empty()) return std::nullopt;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.authorization;
  if (given.starts_with(kScheme) && equal_in_constant_time(given.substr(kScheme.size()), access.token))
    return std::nullopt;
  return Refusal{401, given.empty() ? "no token" : "wrong token"};
}

}  // namespace rightsize::http_server
