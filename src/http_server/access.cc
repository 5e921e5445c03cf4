#include "http_server/access.h"

#include <algorithm>

namespace rightsize::http_server {
namespace {

// "localhost:8080" -> "localhost", "[::1]:8080" -> "::1"; empty if the name is followed by anything but a port.
std::string_view host_of(std::string_view authority) {
  const bool bracketed = authority.starts_with('[');
  const std::size_t end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed && end == std::string_view::npos) return {};
  const std::string_view host = authority.substr(bracketed ? 1 : 0, end - (bracketed ? 1 : 0));
  const std::string_view port = authority.substr(std::min(authority.size(), end + (bracketed ? 1 : 0)));
  if (end == std::string_view::npos || port.empty()) return host;
  const bool is_port =
      port[0] == ':' && std::all_of(port.begin() + 1, port.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_port ? host : std::string_view();
}

bool equal_in_constant_time(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ wanted[i % wanted.size()]);
  return difference == 0;
}

bool is_other_site(const Request& request) {
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none") return true;
  if (request.origin.empty()) return false;
  const std::size_t scheme = request.origin.find("://");
  return scheme == std::string::npos || std::string_view(request.origin).substr(scheme + 3) != request.host;
}

}  // namespace

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && host.size() <= 15 &&
         std::all_of(host.begin(), host.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

std::optional<Refusal> check_origin(const AccessRules& access, const Request& request, bool is_page) {
  if (access.loopback_only && !is_loopback(host_of(request.host)))
    return Refusal{403, "the Host header names another machine"};
  const bool follows_link = is_page && request.method == "GET" && request.fetch_mode == "navigate" &&
                            request.fetch_dest == "document" && request.origin.empty();
  if (is_other_site(request) && !follows_link) return Refusal{403, "the request comes from a page of another site"};
  return std::nullopt;
}

std::optional<Refusal> check_token(const AccessRules& access, const Request& request) {
  if (access.token.empty()) return std::nullopt;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view given = request.authorization;
  if (given.starts_with(kScheme) && equal_in_constant_time(given.substr(kScheme.size()), access.token))
    return std::nullopt;
  return Refusal{401, given.empty() ? "no token" : "wrong token"};
}

void TokenGuesses::count(const std::string& peer, Clock::time_point now) {
  if (by_peer_.size() >= kMostPeers)
    std::erase_if(by_peer_, [&](const auto& each) { return now - each.second.begun >= kPeriod; });
  if (by_peer_.size() >= kMostPeers && !by_peer_.contains(peer)) by_peer_.clear();
  Period& period = by_peer_[peer];
  if (period.wrong == 0 || now - period.begun >= kPeriod) period = {now, 0};
  ++period.wrong;
}

bool TokenGuesses::must_wait(const std::string& peer, Clock::time_point now) const {
  const auto found = by_peer_.find(peer);
  return found != by_peer_.end() && found->second.wrong >= kMost && now - found->second.begun < kPeriod;
}

}  // namespace rightsize::http_server
