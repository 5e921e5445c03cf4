#include "rightsize/input/named_gpu.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <mutex>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "catalog/words.h"

namespace rightsize::app {

namespace {
std::atomic<int> quiet = 0;
std::mutex shown_lock;
std::optional<std::set<std::string>> shown;  // the notes of a command, while they are shown once
}  // namespace

QuietNotes::QuietNotes() { ++quiet; }
QuietNotes::~QuietNotes() { --quiet; }

NotesOnce::NotesOnce() { shown.emplace(); }
NotesOnce::~NotesOnce() { shown.reset(); }

void note(const std::string& text) {
  if (quiet != 0) return;
  const std::lock_guard lock(shown_lock);
  if (!shown || shown->insert(text).second) std::cerr << "note: " << text << '\n';
}

bool runs_modelled_software(const catalog::Gpu& gpu) { return gpu.vendor == "NVIDIA" || gpu.vendor == "AMD"; }

std::optional<int> take_replica_gpus(std::string& gpu) {
  const catalog::CountedGpu counted = catalog::split_gpu_count(gpu);
  if (gpu.find(',') != std::string::npos || !counted.count) return std::nullopt;
  gpu = counted.name;
  return counted.count;
}

Result<const catalog::Gpu*> named_gpu(const catalog::Catalog& catalog, const std::string& text) {
  if (text.find(',') != std::string::npos) {
    return fail(
        bad_input(fmt::format("one GPU at a time, not '{}'", text))
            .with_hint("'memory MODEL' compares every GPU; 'recommend MODEL --gpu h100,a100' ranks them by cost"));
  }
  // An instance type means its GPU: p5.48xlarge.
  const auto machine = std::find_if(catalog.machines.begin(), catalog.machines.end(), [&](const catalog::Machine& m) {
    return to_lower(m.instance) == to_lower(text) && catalog.match_gpus(m.gpu);
  });
  if (machine != catalog.machines.end() && !catalog.match_gpus(catalog::split_gpu_count(text).name)) {
    note(fmt::format("{} has {} x {}", machine->instance, machine->gpus, machine->gpu));
    return *catalog.find_gpu(machine->gpu);
  }
  const catalog::CountedGpu wanted = catalog::split_gpu_count(text);
  RIGHTSIZE_TRY(const catalog::UsualGpu usual, catalog::usual_gpu(catalog, wanted.name));
  if (!usual.others.empty()) {
    note(fmt::format("assuming '{}' means {}; other variants: {}", wanted.name, usual.gpu->name,
                     fmt::join(usual.others, ", ")));
  }
  if (!runs_modelled_software(*usual.gpu)) {
    note(
        fmt::format("no framework or engine that we model runs on {}: the answer comes from its data sheet, and "
                    "'recommend' does not plan it",
                    usual.gpu->name));
  }
  if (wanted.count) note(fmt::format("the GPU count {} in '{}' has no effect here", *wanted.count, text));
  return usual.gpu;
}

}  // namespace rightsize::app
