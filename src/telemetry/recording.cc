#include "telemetry/recording.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

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

struct RecordingWriter::State {
  std::FILE* file = nullptr;
  std::string path;
  bool failed = false;
  std::vector<Device> devices;
  std::string row;

  void write(const std::string& text) {
    failed = failed || std::fwrite(text.data(), 1, text.size(), file) != text.size();
  }
};

RecordingWriter::RecordingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

RecordingWriter::~RecordingWriter() {
  if (state_->file != nullptr && state_->file != stdout) std::fclose(state_->file);
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::string& path) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
  if (state->file == nullptr) {
    return fail(unreadable(fmt::format("cannot write '{}': {}", path, std::strerror(errno))));
  }
  std::string header = "t_s,gpu";
  for (const MetricName& column : metric_names(Vocabulary::kRecording)) header += "," + column.name;
  state->write(header + ",uuid,name\n");
  return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(state)));
}

int RecordingWriter::open(const Device& device) {
  state_->devices.push_back(device);
  return static_cast<int>(state_->devices.size()) - 1;
}

void RecordingWriter::add(int device, const Sample& sample) {
  const Device& whose = state_->devices[static_cast<std::size_t>(device)];
  std::string& row = state_->row;
  row.clear();
  auto out = std::back_inserter(row);
  fmt::format_to(out, "{:.3f},{}", in_unix_seconds(sample.time), whose.index);
  for (const auto& [name, spec] : metric_names(Vocabulary::kRecording)) {
    row += ',';
    if (auto value = sample.get(spec.metric)) fmt::format_to(out, "{:.9g}", *value / spec.scale);
  }
  fmt::format_to(out, ",{},{}\n", plain(whose.uuid + (whose.mig_id.empty() ? "" : "/" + whose.mig_id)),
                 plain(whose.name));
  state_->write(row);
}

Result<> RecordingWriter::finish() {
  if (std::fflush(state_->file) != 0) state_->failed = true;
  if (state_->failed) return fail(unreadable(fmt::format("not all of '{}' could be written", state_->path)));
  return {};
}

}  // namespace rightsize::telemetry
