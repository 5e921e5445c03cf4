// URLs that may contain credentials.
#pragma once

#include <string>
#include <string_view>

namespace rightsize {

// The URL without user name, password, query and fragment, safe to show and log. An unescaped password may extend into
// the address if there are several '@', if one of them follows the first '/', '?' or '#', or if the port is not a
// number. Only the scheme is shown then: "https://***".
std::string shown_url(std::string_view url);

// Whether shown_url() shows only the scheme.
bool may_hide_password(std::string_view url);

// Writes every byte except letters, digits, "-._~" and those in `keep` as %XX (RFC 3986).
std::string percent_encoded(std::string_view bytes, std::string_view keep = {});

}  // namespace rightsize
