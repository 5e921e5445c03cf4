// Reads the text formats of monitoring tools into Samples.
//
//   RIGHTSIZE_TRY(auto source, open_bytes("gpu.csv"));                    // "-" is standard input
//   RIGHTSIZE_TRY(ReadSummary summary, read_samples("gpu.csv", *source, sink));
//
// The format is detected from the first bytes. Memory is bounded for input of any length, because each sample goes to
// the sink as soon as it is complete. Lines that cannot be read are skipped and counted, and the first few are reported
// with their reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"
#include "telemetry/labels.h"
#include "telemetry/sample.h"

namespace rightsize::telemetry {

enum class SampleFormat {
  kUnknown,
  kRecording,   // our CSV, see recording.h
  kSmiQuery,    // nvidia-smi --query-gpu=... --format=csv
  kSmiDmon,     // nvidia-smi dmon, pmon
  kSmiXml,      // nvidia-smi -q -x, once or repeated with -l
  kDcgmiDmon,   // dcgmi dmon
  kExposition,  // text of dcgm-exporter and other exporters, one scrape or several
  kSmiText,     // nvidia-smi -q, and the table of nvidia-smi without options
  kKeywordCsv,  // a table of an experiment tracker, see formats/keyword_csv.h
  kGpustat,     // gpustat --json, once or repeated
  kJson,        // an API answer: not read here
};
std::string_view name_of(SampleFormat format);

// Detects the format from the first bytes of a text. A few kilobytes are enough; fewer may give kUnknown.
SampleFormat detect_format(std::string_view beginning);

struct SampleReadOptions {
  SampleFormat format = SampleFormat::kUnknown;  // unknown: detect it
  Seconds interval = seconds(1);                 // between scrapes and rows that carry no time
  std::string host = {};                         // for devices without a host in the text
  NameMap names = {};                            // the user's names of metrics and labels in exposition text
};

struct ReadSummary {
  SampleFormat format = SampleFormat::kUnknown;
  std::uint64_t lines = 0;
  std::uint64_t samples = 0;
  std::uint64_t refused = 0;  // lines that were not understood
  Errors reasons;             // of the first few of them, with their place
  std::string assumed = {};   // how the columns of a text were recognized
};

// Reads everything. Fails if the source cannot be read, if the format is unknown or JSON, or if no sample was found;
// the error then has the reason and the place of the first unreadable line. `name` is used in errors only.
Result<ReadSummary> read_samples(std::string_view name, ByteSource& source, SampleSink& sink,
                                 const SampleReadOptions& options = {});

}  // namespace rightsize::telemetry
