// libcurl, loaded when the first client is made.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace rightsize::http {

struct Libcurl {
  decltype(::curl_global_init)* global_init = nullptr;
  decltype(::curl_easy_init)* easy_init = nullptr;
  decltype(::curl_easy_cleanup)* easy_cleanup = nullptr;
  decltype(::curl_easy_reset)* easy_reset = nullptr;
  decltype(::curl_easy_setopt)* easy_setopt = nullptr;
  decltype(::curl_easy_getinfo)* easy_getinfo = nullptr;
  decltype(::curl_easy_perform)* easy_perform = nullptr;
  decltype(::curl_easy_escape)* easy_escape = nullptr;
  decltype(::curl_easy_strerror)* easy_strerror = nullptr;
  decltype(::curl_free)* free = nullptr;
  decltype(::curl_slist_append)* slist_append = nullptr;
  decltype(::curl_slist_free_all)* slist_free_all = nullptr;
  decltype(::curl_getdate)* getdate = nullptr;
  Result<> loaded;  // where it failed, no function may be called
};

// Loaded and started once a process.
const Libcurl& libcurl();

}  // namespace rightsize::http
