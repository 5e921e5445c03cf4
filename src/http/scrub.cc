#include "http/scrub.h"

#include <cstdint>
#include <vector>

#include "base/url.h"

namespace rightsize::http {
namespace {

// Shorter texts are not secrets and would match everywhere.
constexpr std::size_t kShortest = 4;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

void replace_all(std::string& text, std::string_view secret) {
  if (secret.size() < kShortest) return;
  for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos; at += 3)
    text.replace(at, secret.size(), "***");
}

std::vector<std::string> secrets_in(const Auth& auth, std::string_view url) {
  std::vector<std::string> secrets = {auth.bearer, auth.password};
  if (!auth.password.empty()) secrets.push_back(base64(auth.user + ":" + auth.password));
  for (const auto& [name, value] : auth.headers) secrets.push_back(value);
  const std::size_t host = url.find("://");
  const std::string_view rest = host == std::string_view::npos ? url : url.substr(host + 3);
  if (const std::size_t at = rest.substr(0, rest.find('/')).rfind('@'); at != std::string_view::npos) {
    const std::string_view login = rest.substr(0, at);
    secrets.emplace_back(base64(login));
    if (const std::size_t colon = login.find(':'); colon != std::string_view::npos)
      secrets.emplace_back(login.substr(colon + 1));
  }
  if (const std::size_t query = rest.find('?'); query != std::string_view::npos)
    secrets.emplace_back(rest.substr(query + 1));
  return secrets;
}

}  // namespace

std::string scrubbed(std::string text, const Auth& auth, std::string_view url) {
  for (const std::string& secret : secrets_in(auth, url)) {
    replace_all(text, secret);
    replace_all(text, percent_encoded(secret));
  }
  return text;
}

}  // namespace rightsize::http
