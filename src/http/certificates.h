// Which authorities this machine trusts. The library we link looks where Debian has them; a program that is copied to
// another system must look where that has them.
#pragma once

#include <string>

namespace rightsize::http {

// $SSL_CERT_FILE, or the file of the system; empty where none is found: then libcurl decides.
std::string system_certificates();

}  // namespace rightsize::http
