// rightsize profile: what a workload really does to a GPU, and what to do about it.
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/format.h"
#include "base/parse_units.h"
#include "rightsize/command.h"
#include "rightsize/input/price_flag.h"
#include "rightsize/input/speed_input.h"
#include "rightsize/profile/child.h"
#include "rightsize/profile/report.h"
#include "telemetry/recording.h"
#include "telemetry/sampler.h"

namespace rightsize::app {
namespace {

struct Flags {
  std::vector<std::string> command;
  std::string replay, record, catalog, duration, step_time;
  JobFlags job;  // what runs, where the user says it; its GPU is the one watched
  PriceFlag price;
  unsigned pid = 0;
  double hertz = 10;
  const FlagSet* all = nullptr;

  bool live() const { return replay.empty(); }
  bool text() const { return all->given("--format").empty() || all->given("--format") == "text"; }
};

// To the observer and to the file, where there is one.
class Tee final : public telemetry::SampleSink {
 public:
  Tee(diagnose::Observer& observer, telemetry::RecordingWriter* recording)
      : observer_(observer), recording_(recording) {}
  int open(const telemetry::Device& device) override {
    if (recording_ != nullptr) recording_->open(device);
    return observer_.open(device);
  }
  void add(int device, const telemetry::Sample& sample) override {
    observer_.add(device, sample);
    if (recording_ != nullptr) recording_->add(device, sample);
  }

 private:
  diagnose::Observer& observer_;
  telemetry::RecordingWriter* recording_;
};

Result<> check(const Flags& flags) {
  const int ways = (flags.replay.empty() ? 0 : 1) + (flags.command.empty() ? 0 : 1) + (flags.pid == 0 ? 0 : 1);
  if (ways > 1) return fail(bad_input("--replay, --pid and a command exclude each other"));
  if (!(flags.hertz >= 1 && flags.hertz <= 100)) {
    return fail(bad_input(fmt::format("--hz {} is not between 1 and 100", flags.hertz)));
  }
  if (flags.pid != 0 && !process_exists(flags.pid))
    return fail(bad_input(fmt::format("there is no process {}", flags.pid)));
  return {};
}

Result<ProfileSource> replay(const Flags& flags, telemetry::SampleSink& sink) {
  RIGHTSIZE_TRY(auto bytes, telemetry::open_bytes(flags.replay));
  RIGHTSIZE_TRY(telemetry::ReadSummary summary, telemetry::read_samples(flags.replay, *bytes, sink));
  ProfileSource source;
  source.name = flags.replay == "-" ? "standard input" : flags.replay;
  source.format = std::string(telemetry::name_of(summary.format));
  source.lines = summary.lines;
  source.refused = summary.refused;
  source.reasons = std::move(summary.reasons);
  return source;
}

// The process tree as it grows: what has ended by the end was a child, too.
class TreeWatch {
 public:
  explicit TreeWatch(const unsigned& root) : root_(root), thread_([this] { run(); }) {}
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
  const unsigned& root_;
  std::set<unsigned> seen_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// The GPUs the command was seen on; all of them when the driver's process numbers are not ours (containers).
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

struct Watched {
  ProfileSource source;
  std::vector<bool> used;
};

std::string words_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Result<Watched> watch(const Flags& flags, diagnose::Observer& observer) {
  std::optional<Seconds> limit;
  if (!flags.duration.empty()) {
    RIGHTSIZE_TRY(limit, parse_duration(flags.duration));
  }
  RIGHTSIZE_TRY(auto nvml, telemetry::open_nvml());
  std::unique_ptr<telemetry::RecordingWriter> recording;
  if (!flags.record.empty()) {
    RIGHTSIZE_TRY(recording, telemetry::RecordingWriter::create(flags.record));
  }
  Tee tee(observer, recording.get());
  InterruptGuard guard;
  unsigned root = flags.pid;
  Watched watched;
  telemetry::Sampler sampler(*nvml, tee, seconds(1 / flags.hertz));
  TreeWatch tree(root);
  sampler.start();
  std::optional<Result<int>> status;
  if (!flags.command.empty()) {
    status = run_command(flags.command, !flags.text() || flags.record == "-", root);
  } else {
    wait_for(flags.pid, limit);
  }
  const telemetry::SamplerReport report = sampler.stop();
  const std::set<unsigned> processes = tree.stop();
  if (status && !*status) return fail(status->error());
  if (recording) {
    RIGHTSIZE_TRY([[maybe_unused]] const bool written, recording->finish().map([] { return true; }));
  }
  watched.used = used_gpus(report, processes);
  ProfileSource& source = watched.source;
  source.name = !flags.command.empty() ? "command"
                : flags.pid != 0       ? fmt::format("process {}", flags.pid)
                                       : "this machine";
  source.command = words_of(flags.command);
  source.format = nvml->describe();
  if (status) source.exit_status = **status;
  source.wall = report.wall;
  source.sampler = report.processor;
  source.notes = report.lost;
  if (InterruptGuard::interrupted()) source.notes.emplace_back("Interrupted: this is the report up to then.");
  if (report.late > 0) source.notes.push_back(fmt::format("{} readings were late and left out.", report.late));
  return watched;
}

// Settings of a job without its model, and a measured step of nobody knows what, say nothing.
Checked<std::optional<KnownWork>> known_work(const Flags& flags, const perf::Constants& constants) {
  if (flags.job.model.empty()) {
    if (flags.job.settings.empty() && flags.step_time.empty()) return std::nullopt;
    const std::string flag = flags.step_time.empty() ? flags.job.settings.begin()->first : "step-time";
    return fail(one(bad_input(fmt::format("--{} describes a job: which model?", flag))
                        .with_hint("add --model NAME, e.g. --model llama-3.1-8b")));
  }
  RIGHTSIZE_TRY(ModelAndJob input, read_job(flags.job));
  KnownWork known{{&constants, std::move(input.model), input.job}, {}, {}};
  known.described = describe_job(known.job.model, known.job.job);
  if (!flags.step_time.empty()) {
    Result<Seconds> step = parse_duration(flags.step_time);
    if (!step) return fail(one(std::move(step).error()));
    known.step = *step;
  }
  return known;
}

Checked<Outcome> run(const Flags& flags) {
  if (Result<> fine = check(flags); !fine) return fail(one(fine.error()));
  RIGHTSIZE_TRY(catalog::Catalog catalog, open_catalog(flags.catalog));
  RIGHTSIZE_TRY(const perf::Constants constants, open_constants(flags.catalog));
  RIGHTSIZE_TRY(const market::PriceBook prices, open_prices(catalog, flags.price));
  const catalog::Gpu* gpu = nullptr;
  if (!flags.job.gpu.empty()) {
    Result<const catalog::Gpu*> found = catalog.find_gpu(flags.job.gpu);
    if (!found) return fail(one(found.error()));
    gpu = *found;
  }
  RIGHTSIZE_TRY(const std::optional<KnownWork> known, known_work(flags, constants));
  diagnose::Observer observer;
  Watched watched;
  if (flags.live()) {
    Result<Watched> live = watch(flags, observer);
    if (!live) return fail(one(live.error()));
    watched = std::move(*live);
  } else {
    std::unique_ptr<telemetry::RecordingWriter> recording;
    if (!flags.record.empty()) {
      auto created = telemetry::RecordingWriter::create(flags.record);
      if (!created) return fail(one(created.error()));
      recording = std::move(*created);
    }
    Tee tee(observer, recording.get());
    Result<ProfileSource> source = replay(flags, tee);
    if (!source) return fail(one(source.error()));
    watched.source = std::move(*source);
    watched.used.assign(observer.gpus().size(), true);
    if (recording) {
      if (Result<> written = recording->finish(); !written) return fail(one(written.error()));
    }
  }
  std::vector<diagnose::GpuProfile> gpus;
  for (std::size_t i = 0; i < observer.gpus().size(); ++i) {
    if (watched.used[i]) {
      gpus.push_back(diagnose::understand(observer.gpus()[i], catalog, gpu, !flags.command.empty()));
    }
  }
  return Outcome{
      profile_report(gpus, watched.source, perf::SpeedTable(catalog, constants), prices, known ? &*known : nullptr),
      watched.source.exit_status.value_or(kDone)};
}

}  // namespace

Run add_profile(FlagSet& command) {
  auto flags = std::make_shared<Flags>();
  flags->all = &command;
  command.add_option("command", flags->command, "what to run and watch, behind --");
  command.add_option("--pid", flags->pid, "watch a process that runs already, until it ends");
  command.add_option(
      "--replay", flags->replay,
      "no GPU: a recording, nvidia-smi csv, dmon or xml, dcgmi dmon, dcgm-exporter text; - is standard input");
  command.add_option("--record", flags->record, "write every reading to this CSV file");
  command.add_option("--hz", flags->hertz, "readings a second, 1 to 100")->default_str("10");
  command.add_option("--duration", flags->duration,
                     "without a command: how long to watch, e.g. 30s (else until Ctrl-C)");
  add_job_flags(command, flags->job);
  command.find("--model")->required(false)->help(
      "what runs, with its settings: the speed on other GPUs is then that of its estimates");
  command.find("--gpu")->help("which GPU it is, where the source does not say");
  command.add_option("--step-time", flags->step_time,
                     "with --model: what a step took (an optimizer step, an output token, a batch), e.g. 410ms");
  add_price_flag(command, flags->price);
  add_catalog_flag(command, flags->catalog);
  return [flags] { return run(*flags); };
}

}  // namespace rightsize::app
