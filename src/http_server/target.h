// The target of an HTTP request ("/api/recommend?model=x") as a path and a query, or the reason for refusing it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace rightsize::http_server {

struct RequestTarget {
  std::string path;                                        // decoded, begins with '/'
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in order
};

// Refuses invalid paths: no leading slash, "." and ".." segments in any encoding, control characters, backslashes,
// invalid percent signs, more than `kLongestTarget` characters.
inline constexpr std::size_t kLongestTarget = 8192;
Result<RequestTarget> parse_target(std::string_view target);

// "a%20b" -> "a b"; empty if a percent sign is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

}  // namespace rightsize::http_server
