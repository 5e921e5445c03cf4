#include "telemetry/recording.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "telemetry/metric_names.h"

namespace rightsize::telemetry {
namespace {

// A cell may not hold a comma: the reader splits at commas without looking for quotes.
std::string plain(std::string text) {
  for (char& c : text) {
    if (c == ',' || c == '\n' || c == '"') c = ' ';
  }
  return text;
}

}  // namespace

void RecordingWriter::write(const std::string& text) {
  failed_ = failed_ || std::fwrite(text.data(), 1, text.size(), file_) != text.size();
}

RecordingWriter::~RecordingWriter() {
  if (file_ != stdout) std::fclose(file_);
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path) {
  std::FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
  if (file == nullptr) return fail(unreadable(fmt::format("cannot write '{}': {}", path, std::strerror(errno))));
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(file, path));
  std::string header = "t_s,gpu";
  for (const MetricName& column : metric_names(Vocabulary::kRecording)) header += "," + column.name;
  writer->write(header + ",uuid,name\n");
  return writer;
}

int RecordingWriter::open(const Device& device) {
  devices_.push_back(device);
  return static_cast<int>(devices_.size()) - 1;
}

void RecordingWriter::add(int device, const Sample& sample) {
  const Device& whose = devices_[static_cast<std::size_t>(device)];
  row_.clear();
  auto out = std::back_inserter(row_);
  fmt::format_to(out, "{:.3f},{}", in_unix_seconds(sample.time), whose.index);
  for (const auto& [name, spec] : metric_names(Vocabulary::kRecording)) {
    row_ += ',';
    if (auto value = sample.get(spec.metric)) fmt::format_to(out, "{:.9g}", *value / spec.scale);
  }
  fmt::format_to(out, ",{},{}\n", plain(whose.uuid + (whose.mig_id.empty() ? "" : "/" + whose.mig_id)),
                 plain(whose.name));
  write(row_);
}

Result<> RecordingWriter::finish() {
  if (std::fflush(file_) != 0) failed_ = true;
  if (failed_) return fail(unreadable(fmt::format("not all of '{}' could be written", path_)));
  return {};
}

}  // namespace rightsize::telemetry
