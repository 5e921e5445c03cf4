// Removes credentials from text that others wrote: some servers and proxies repeat what they were sent.
#pragma once

#include <string>
#include <string_view>

#include "http/http.h"

namespace rightsize::http {

// The text with every secret of `auth` and of the URL (password, query) replaced by "***", also where it is base64 or
// percent-encoded.
std::string scrubbed(std::string text, const Auth& auth, std::string_view url);

}  // namespace rightsize::http
