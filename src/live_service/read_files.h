// Running services from files: scrapes of /metrics, or what a metrics server exports as JSON.
//
// A scrape names neither pod nor time. Files of one folder are one replica's, and a file's time is that of its lines,
// else of its last change. One scrape alone tells of the time since its engine started, which it must then say
// (process_start_time_seconds).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "live_service/read_server.h"

namespace rightsize::live_service {

// Fails with the first file that cannot be read, and where no file has an engine's metrics.
Result<ServicesRead> read_service_files(const std::vector<std::string>& files);

}  // namespace rightsize::live_service
