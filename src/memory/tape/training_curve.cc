#include <algorithm>
#include <cmath>

#include "memory/tape/session.h"
#include "memory/tape/training_tape.h"

namespace rightsize::memory::tape {
namespace {

// With three layers there is a first, a middle and a last one; a fourth shows what one more costs.
constexpr int kFew = 3;

using Peaks = std::array<double, std::size_t{kPhases} * kZones>;

Peaks peaks_of(const workload::ModelShape& model, const Plan& plan, bool& exact) {
  Session session(model, plan, nullptr, nullptr);
  session.run();
  exact = exact && session.exact();
  Peaks peaks{};
  for (std::size_t i = 0; i < peaks.size(); ++i) {
    peaks[i] =
        static_cast<double>(session.recorder().peak_in(static_cast<Phase>(i / kZones), static_cast<Zone>(i % kZones)));
  }
  return peaks;
}

// Layers may be left out when they are all alike: one block repeated, or one for each stack.
bool can_be_cut(const workload::ModelShape& model, const Plan& plan) {
  if (!model.stages.empty() || plan.layers <= kFew + 1) return false;
  if (model.encoder_layers > 0) return plan.encoder_layers == plan.layers;
  int blocks = 0, last = 0;
  for (const workload::Weight& weight : model.weights) {
    if (weight.block != last && weight.block != 0 && !weight.images_only) ++blocks;
    last = weight.block;
  }
  // Windows that the sequence reaches give layers of two kinds, which a few layers do not show in the right proportion.
  return blocks == 1 && (model.full_attention_every == 0 || plan.all_tokens < model.sliding_window);
}

Peaks extrapolated_peaks(const workload::ModelShape& model, Plan plan, bool& exact) {
  if (!can_be_cut(model, plan)) return peaks_of(model, plan, exact);
  const int layers = plan.layers;
  auto cut = [&](int to) {
    plan.layers = to;
    if (plan.encoder_layers > 0) plan.encoder_layers = to;
    return peaks_of(model, plan, exact);
  };
  Peaks few = cut(kFew), more = cut(kFew + 1);
  for (std::size_t i = 0; i < few.size(); ++i) few[i] += (more[i] - few[i]) * (layers - kFew);
  return few;
}

}  // namespace

TrainingCurve::TrainingCurve(const workload::ModelShape& model, const workload::Job& job,
                             std::span<const std::int64_t> batches) {
  std::vector<std::vector<Peaks>> stages;  // by batch, by end of the pipeline
  for (std::int64_t batch : batches) {
    workload::Job sized = job;
    sized.batch = batch;
    std::vector<Peaks>& ends = stages.emplace_back();
    ends.push_back(extrapolated_peaks(model, make_plan(model, sized, false), exact_));
    if (job.parallel.pipeline > 1) ends.push_back(extrapolated_peaks(model, make_plan(model, sized, true), exact_));
  }
  for (std::size_t k = 0; k + 1 < batches.size(); ++k) {
    const double from = static_cast<double>(batches[k]), to = static_cast<double>(batches[k + 1]);
    std::vector<Line> lines;
    for (std::size_t end = 0; end < stages[k].size(); ++end) {
      for (std::size_t i = 0; i < Peaks().size(); ++i) {
        const double low = stages[k][end][i], slope = (stages[k + 1][end][i] - low) / (to - from);
        lines.push_back({low - slope * from, slope, static_cast<Phase>(i / kZones)});
      }
    }
    // Only what is highest at some batch of the stretch matters; the last stretch has no end.
    auto value = [](const Line& line, double batch) { return line.fixed + line.per_sample * batch; };
    const double far = k + 2 == batches.size() ? 1e6 : to;
    Stretch stretch{from, {}};
    for (const Line& line : lines) {
      const bool below = std::any_of(lines.begin(), lines.end(), [&](const Line& other) {
        const double at_from = value(other, from) - value(line, from), at_far = value(other, far) - value(line, far);
        return at_from >= 0 && at_far >= 0 && (at_from > 0 || at_far > 0 || &other < &line);
      });
      if (!below) stretch.lines.push_back(line);
    }
    stretches_.push_back(std::move(stretch));
  }
}

TrainingCurve::Point TrainingCurve::at(double batch) const {
  std::size_t k = stretches_.size() - 1;
  while (k > 0 && stretches_[k].from > batch) --k;
  double highest = 0;
  Phase phase = Phase::kForward;
  for (const Line& line : stretches_[k].lines) {
    const double value = line.fixed + line.per_sample * batch;
    if (value <= highest) continue;
    highest = value;
    phase = line.phase;
  }
  return {bytes(highest), phase};
}

std::int64_t TrainingCurve::largest_batch(Bytes limit) const {
  if (at(1).peak_allocated > limit) return 0;
  std::int64_t low = 1, high = 2;
  while (high < (std::int64_t{1} << 40) && at(static_cast<double>(high)).peak_allocated <= limit) high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (at(static_cast<double>(middle)).peak_allocated <= limit ? low : high) = middle;
  }
  return low;
}

}  // namespace rightsize::memory::tape
