#include "watch.h"

#include <fmt/format.h>

namespace rightsize::python {

Result<std::unique_ptr<Watch>> Watch::start(const std::string& file, double hertz) {
  constexpr double kLeast = 0.01, kMost = 100;
  if (!(hertz >= kLeast && hertz <= kMost))
    return fail(bad_input(fmt::format("{} readings a second are not between {} and {}", hertz, kLeast, kMost)));
  RIGHTSIZE_TRY(auto source, telemetry::open_nvml());
  RIGHTSIZE_TRY(auto writer, telemetry::RecordingWriter::create(file));
  return std::unique_ptr<Watch>(new Watch(std::move(source), std::move(writer), hertz));
}

Watch::Watch(std::unique_ptr<telemetry::LiveSource> source, std::unique_ptr<telemetry::RecordingWriter> writer,
             double hertz)
    : source_(std::move(source)), writer_(std::move(writer)), sampler_(*source_, *writer_, seconds(1 / hertz)) {
  sampler_.start();
}

Result<std::vector<std::vector<unsigned>>> Watch::stop() {
  if (std::exchange(stopped_, true)) return fail(bad_input("the watch was stopped before"));
  const telemetry::SamplerReport report = sampler_.stop();
  if (Result<> written = writer_->finish(); !written) return fail(written.error());
  std::vector<std::vector<unsigned>> seen;
  for (const auto& processes : report.seen_by) seen.emplace_back(processes.begin(), processes.end());
  return seen;
}

}  // namespace rightsize::python
