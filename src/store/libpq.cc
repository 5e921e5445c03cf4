#include "store/libpq.h"

#include "base/lazy_library.h"

namespace rightsize::store {

const Libpq& libpq() {
  static const Libpq kLibrary = [] {
    static LazyLibrary library("libpq.so.5");
    Libpq pq;
    library.find(pq.PQclear, "PQclear");
    library.find(pq.PQconnectdb, "PQconnectdb");
    library.find(pq.PQerrorMessage, "PQerrorMessage");
    library.find(pq.PQexec, "PQexec");
    library.find(pq.PQexecParams, "PQexecParams");
    library.find(pq.PQfinish, "PQfinish");
    library.find(pq.PQgetResult, "PQgetResult");
    library.find(pq.PQgetisnull, "PQgetisnull");
    library.find(pq.PQgetlength, "PQgetlength");
    library.find(pq.PQgetvalue, "PQgetvalue");
    library.find(pq.PQntuples, "PQntuples");
    library.find(pq.PQputCopyData, "PQputCopyData");
    library.find(pq.PQputCopyEnd, "PQputCopyEnd");
    library.find(pq.PQresultErrorField, "PQresultErrorField");
    library.find(pq.PQresultStatus, "PQresultStatus");
    library.find(pq.PQsetNoticeProcessor, "PQsetNoticeProcessor");
    library.find(pq.PQstatus, "PQstatus");
    pq.loaded = library.loaded();
    return pq;
  }();
  return kLibrary;
}

}  // namespace rightsize::store
