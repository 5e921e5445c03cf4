// Removes credentials from text of other programs: some servers and proxies repeat the request.
#pragma once

#include <string>
#include <string_view>

#include "http/http.h"

namespace rightsize::http {

// The text with every secret of `auth` and of the URL (password, query) replaced by "***", including base64 and
// percent-encoded forms.
std::string scrubbed(std::string text, const Auth& auth, std::string_view url);

}  // namespace rightsize::http
