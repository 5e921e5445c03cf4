#include "rightsize/profile/watch.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rightsize/input/file_kind.h"
#include "rightsize/profile/child.h"
#include "telemetry/feeds/read_feed.h"
#include "telemetry/read.h"
#include "telemetry/recording.h"
#include "telemetry/sampler.h"

namespace rightsize::app {
namespace {

// Passes samples to the sinks and to the file of --record.
class Tee final : public telemetry::SampleSink {
 public:
  // `path` may be empty.
  static Result<Tee> create(ProfileSinks& sinks, const std::string& path) {
    Tee tee(sinks);
    if (!path.empty()) {
      RIGHTSIZE_TRY(tee.recording_, telemetry::RecordingWriter::create(path));
    }
    return tee;
  }
  int open(const telemetry::Device& device) override {
    if (recording_) recording_->open(device);
    const int number = sinks_.observer.open(device);
    numbers_.resize(sinks_.observer.gpus().size());
    numbers_[static_cast<std::size_t>(number)] = sinks_.use.open(device);
    return number;
  }
  void add(int device, const telemetry::Sample& sample) override {
    sinks_.observer.add(device, sample);
    sinks_.use.add(numbers_[static_cast<std::size_t>(device)], sample);
    if (recording_) recording_->add(device, sample);
  }
  Result<> finish() { return recording_ ? recording_->finish() : Result<>(); }

 private:
  explicit Tee(ProfileSinks& sinks) : sinks_(sinks) {}

  ProfileSinks& sinks_;
  std::vector<int> numbers_;  // the accumulator's GPU numbers, by the observer's
  std::unique_ptr<telemetry::RecordingWriter> recording_;
};

// All processes that a process ever started, including those that have ended.
class TreeWatch {
 public:
  explicit TreeWatch(const std::atomic<unsigned>& root) : root_(root), thread_([this] { run(); }) {}
  ~TreeWatch() { stop(); }
  TreeWatch(const TreeWatch&) = delete;
  TreeWatch& operator=(const TreeWatch&) = delete;

  std::set<unsigned> stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    return seen_;
  }

 private:
  void run() {
    for (int tick = 0; !stopping_; ++tick) {
      if (root_ != 0 && tick % 10 == 0) seen_.merge(process_tree(root_));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  const std::atomic<unsigned>& root_;
  std::set<unsigned> seen_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// The GPUs that the command ran on; all GPUs if the driver reports process IDs of another namespace (containers).
std::vector<bool> used_gpus(const telemetry::SamplerReport& report, const std::set<unsigned>& tree) {
  std::vector<bool> used(report.seen_by.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (unsigned pid : report.seen_by[i]) used[i] = used[i] || tree.contains(pid);
    any = any || used[i];
  }
  if (!any) used.assign(used.size(), true);
  return used;
}

}  // namespace

Result<ProfileRun> replay(const ProfileFlags& flags, ProfileSinks& sinks) {
  RIGHTSIZE_TRY(Tee tee, Tee::create(sinks, flags.record));
  RIGHTSIZE_TRY(auto bytes, open_bytes(flags.replay));
  RIGHTSIZE_TRY(telemetry::ReadSummary summary, telemetry::read_samples(flags.replay, *bytes, tee));
  if (Result<> written = tee.finish(); !written) return fail(written.error());
  ProfileSource source;
  source.name = flags.replay == "-" ? "standard input" : flags.replay;
  source.format = std::string(telemetry::name_of(summary.format));
  source.lines = summary.lines;
  source.refused = summary.refused;
  source.reasons = std::move(summary.reasons);
  if (!summary.assumed.empty()) source.notes.push_back(std::move(summary.assumed));
  return ProfileRun{std::move(source), std::vector<bool>(sinks.observer.gpus().size(), true)};
}

Result<std::unique_ptr<telemetry::LiveSource>> open_gpus() {
  Result<std::unique_ptr<telemetry::LiveSource>> gpus = telemetry::open_nvml();
  if (gpus) return gpus;
  std::error_code ignored;
  constexpr std::size_t kMostFiles = 1000;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(".", ignored)) {
    if (names.size() < kMostFiles) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  const auto found = std::ranges::find_if(names, [](const std::string& name) {
    const std::vector<std::string> command = command_for_file(name);
    return !command.empty() && command.front() == "profile";
  });
  if (found == names.end()) return gpus;
  return fail(std::move(gpus).error().with_hint(fmt::format("{0} is a recording: --replay {0}", *found)));
}

Result<ProfileRun> watch(const ProfileFlags& flags, ProfileSinks& sinks) {
  RIGHTSIZE_TRY(auto nvml, open_gpus());
  RIGHTSIZE_TRY(Tee tee, Tee::create(sinks, flags.record));
  InterruptGuard guard;
  std::atomic<unsigned> root = flags.pid;
  ProfileRun watched;
  telemetry::Sampler sampler(*nvml, tee, seconds(1 / flags.hertz));
  TreeWatch tree(root);
  sampler.start();
  std::optional<Result<int>> status;
  if (!flags.command.empty()) {
    status = run_command(flags.command, !flags.text() || flags.record == "-", root);
  } else {
    wait_for(flags.pid, flags.duration);
  }
  const telemetry::SamplerReport report = sampler.stop();
  const std::set<unsigned> processes = tree.stop();
  if (status && !*status) return fail(status->error());
  if (Result<> written = tee.finish(); !written) return fail(written.error());
  watched.used = used_gpus(report, processes);
  ProfileSource& source = watched.source;
  source.name = !flags.command.empty() ? "command"
                : flags.pid != 0       ? fmt::format("process {}", flags.pid)
                                       : "this machine";
  source.command = fmt::format("{}", fmt::join(flags.command, " "));
  source.format = nvml->describe();
  if (status) source.exit_status = **status;
  source.wall = report.wall;
  source.sampler = report.processor;
  source.notes = report.lost;
  if (InterruptGuard::interrupted()) source.notes.emplace_back("Interrupted: the report covers the time until then.");
  if (report.late > 0) source.notes.push_back(fmt::format("{} late samples were left out.", report.late));
  return watched;
}

}  // namespace rightsize::app
