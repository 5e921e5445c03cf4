// A recording in bounded memory, its phases, and the part that a verdict is based on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/summary.h"

namespace rightsize::diagnose {

// Samples in time order. If there are too many, neighbours are averaged.
class SampleSeries {
 public:
  void add(const Sample& sample);
  const std::vector<Sample>& samples() const { return samples_; }
  // The first samples without averaging, if later ones were averaged; otherwise empty.
  const std::vector<Sample>& detail() const { return detail_; }

 private:
  static constexpr std::size_t kMost = 16384;
  std::vector<Sample> samples_, detail_;
  Sample pending_;
  std::size_t merged_ = 0, merge_ = 1;  // samples in `pending_`; samples to one kept
};

enum class PhaseKind { kStartUp, kSteady, kCheckpoint, kPause, kIdle };
std::string_view name_of(PhaseKind kind);

struct Phase {
  PhaseKind kind = PhaseKind::kSteady;
  Seconds begin, end;               // from the first sample
  double activity = 0;              // mean
  std::size_t first = 0, last = 0;  // samples, `last` excluded
};

// The phases of a recording in order, without gaps. Work that alternates with pauses is one steady phase. `from_start`:
// the recording begins with the program, so everything before its work is start-up, however long.
std::vector<Phase> find_phases(const std::vector<Sample>& samples, bool from_start);

// The share of the recording in pauses.
double pause_share(const std::vector<Phase>& phases);

// Statistics of the steady phases, which the verdict is based on.
Summary summarize_steady(const std::vector<Sample>& samples, const std::vector<Phase>& phases);

}  // namespace rightsize::diagnose
