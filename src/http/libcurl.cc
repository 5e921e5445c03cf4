#include "http/libcurl.h"

#include "base/lazy_library.h"

namespace rightsize::http {

const Libcurl& libcurl() {
  static const Libcurl kLibrary = [] {
    static LazyLibrary library("libcurl.so.4");
    Libcurl curl;
    library.find(curl.global_init, "curl_global_init");
    library.find(curl.easy_init, "curl_easy_init");
    library.find(curl.easy_cleanup, "curl_easy_cleanup");
    library.find(curl.easy_reset, "curl_easy_reset");
    library.find(curl.easy_setopt, "curl_easy_setopt");
    library.find(curl.easy_getinfo, "curl_easy_getinfo");
    library.find(curl.easy_perform, "curl_easy_perform");
    library.find(curl.easy_escape, "curl_easy_escape");
    library.find(curl.easy_strerror, "curl_easy_strerror");
    library.find(curl.free, "curl_free");
    library.find(curl.slist_append, "curl_slist_append");
    library.find(curl.slist_free_all, "curl_slist_free_all");
    library.find(curl.getdate, "curl_getdate");
    curl.loaded = library.loaded();
    if (curl.loaded) curl.global_init(CURL_GLOBAL_DEFAULT);
    return curl;
  }();
  return kLibrary;
}

}  // namespace rightsize::http
