// URLs that may hold credentials.
#pragma once

#include <string>
#include <string_view>

namespace rightsize {

// The URL without user name, password, query and fragment: fit to be shown and logged. An unescaped password may reach
// into the address where there are several '@', one of them follows the first '/', '?' or '#', or the port is not a
// number: then only the scheme is shown, as "https://***".
std::string shown_url(std::string_view url);

// Whether shown_url() shows the scheme only.
bool may_hide_password(std::string_view url);

// Every byte but letters, digits, "-._~" and those of `keep` as %XX (RFC 3986).
std::string percent_encoded(std::string_view bytes, std::string_view keep = {});

}  // namespace rightsize
