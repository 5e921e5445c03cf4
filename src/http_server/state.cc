#include "http_server/state.h"

namespace rightsize::http_server {

std::vector<std::shared_ptr<Connection>> Seats::everybody() const {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto* list : {&quiet_, &asking_}) {
    for (const std::weak_ptr<Connection>& one : *list) {
      if (auto held = one.lock()) all.push_back(std::move(held));
    }
  }
  return all;
}

namespace {

bool leads_to(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with("/*")) return pattern == path;
  return path.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

const Route* Server::State::find(std::string_view method, std::string_view path, bool& path_known) const {
  const Route* best = nullptr;
  for (const Route& route : routes) {
    if (!leads_to(route.path, path)) continue;
    path_known = path_known || route.path != "/*";
    if (route.method == method && (best == nullptr || route.path.size() > best->path.size())) best = &route;
  }
  // What the page does not know is not asked of its files where the path is known for another method.
  return best != nullptr && best->path == "/*" && path_known ? nullptr : best;
}

void Server::State::refuse(const std::string& peer, std::string_view what, const Refusal& refusal,
                           std::string_view kind) {
  statistics.count_refusal(kind);
  log.refuse(peer, what, refusal.status, refusal.reason);
}

const std::vector<std::pair<std::string, std::string>>& security_headers() {
  static const std::vector<std::pair<std::string, std::string>> kHeaders = {
      // The page loads nothing from elsewhere and runs no script but its own. Charts set styles of their own marks.
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
       "connect-src "
       "'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"}};
  return kHeaders;
}

}  // namespace rightsize::http_server
