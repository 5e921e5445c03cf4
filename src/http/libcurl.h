// libcurl, loaded on first use.
#pragma once

#include <curl/curl.h>

#include "base/lazy_library.h"

namespace rightsize::http {

struct Libcurl : LazyLibrary {
  Libcurl() : LazyLibrary("libcurl.so.4") {
    if (loaded()) global_init(CURL_GLOBAL_DEFAULT);
  }
  RIGHTSIZE_SYMBOL(curl_, global_init);
  RIGHTSIZE_SYMBOL(curl_, easy_init);
  RIGHTSIZE_SYMBOL(curl_, easy_cleanup);
  RIGHTSIZE_SYMBOL(curl_, easy_reset);
  RIGHTSIZE_SYMBOL(curl_, easy_setopt);
  RIGHTSIZE_SYMBOL(curl_, easy_getinfo);
  RIGHTSIZE_SYMBOL(curl_, easy_perform);
  RIGHTSIZE_SYMBOL(curl_, easy_strerror);
  RIGHTSIZE_SYMBOL(curl_, slist_append);
  RIGHTSIZE_SYMBOL(curl_, slist_free_all);
  RIGHTSIZE_SYMBOL(curl_, getdate);
};

inline const Libcurl& libcurl() {
  static const Libcurl kLibrary;
  return kLibrary;
}

}  // namespace rightsize::http
