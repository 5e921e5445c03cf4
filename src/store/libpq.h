// libpq, loaded when the first server is connected to.
#pragma once

#include <libpq-fe.h>

#include "base/result.h"

namespace rightsize::store {

struct Libpq {
  decltype(::PQclear)* PQclear = nullptr;
  decltype(::PQconnectdb)* PQconnectdb = nullptr;
  decltype(::PQerrorMessage)* PQerrorMessage = nullptr;
  decltype(::PQexec)* PQexec = nullptr;
  decltype(::PQexecParams)* PQexecParams = nullptr;
  decltype(::PQfinish)* PQfinish = nullptr;
  decltype(::PQgetResult)* PQgetResult = nullptr;
  decltype(::PQgetisnull)* PQgetisnull = nullptr;
  decltype(::PQgetlength)* PQgetlength = nullptr;
  decltype(::PQgetvalue)* PQgetvalue = nullptr;
  decltype(::PQntuples)* PQntuples = nullptr;
  decltype(::PQputCopyData)* PQputCopyData = nullptr;
  decltype(::PQputCopyEnd)* PQputCopyEnd = nullptr;
  decltype(::PQresultErrorField)* PQresultErrorField = nullptr;
  decltype(::PQresultStatus)* PQresultStatus = nullptr;
  decltype(::PQsetNoticeProcessor)* PQsetNoticeProcessor = nullptr;
  decltype(::PQstatus)* PQstatus = nullptr;
  Result<> loaded;  // where it failed, no function may be called
};

const Libpq& libpq();

}  // namespace rightsize::store
