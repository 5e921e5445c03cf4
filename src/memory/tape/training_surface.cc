// Peaks interpolated by planes.
#include <algorithm>
#include <future>

#include "memory/tape/replay_cache.h"
#include "memory/tape/session.h"
#include "memory/tape/training_tape.h"

namespace rightsize::memory::tape {
namespace {

// Three layers are a first, a middle and a last one; a fourth shows the cost of one more.
constexpr int kFew = 3;

using Peaks = std::array<double, std::size_t{kPhases} * kZones>;

struct Replayed {
  Peaks peaks{};
  Count saved_by_forward = 0;
};

// Pipelines of any length run the same few layers: they differ in the micro-batches in flight, which only add to the
// peaks.
Peaks peaks_of(const model::ModelShape& model, const GpuPlan& plan, bool& exact) {
  static ReplayCache<GpuPlan, Replayed> kept;
  GpuPlan alike = plan;
  const bool adds = Session::needs_one_iteration(plan);
  if (adds) alike.in_flight = 1;
  Replayed replayed = kept.get(model, alike, [&] {
    Session session(model, alike, nullptr, nullptr);
    session.run_for_peaks();
    Replayed made{{}, session.saved_by_forward()};
    for (std::size_t i = 0; i < made.peaks.size(); ++i)
      made.peaks[i] = static_cast<double>(
          session.recorder().peak_in(static_cast<TrainPhase>(i / kZones), static_cast<Zone>(i % kZones)));
    return made;
  });
  exact = exact && model.forward->exact;
  const Count others = adds ? Session::bytes_in_flight(plan.in_flight, replayed.saved_by_forward) : 0;
  for (double& peak : replayed.peaks)
    if (peak > 0) peak += static_cast<double>(others);
  return replayed.peaks;
}

// The number of layers to run before one more layer shows the cost of all others: the different layers of this stage
// (the first layers of a mixture), then a few equal ones. 0: layers cannot be left out. Skips only different layers.
int layers_needed(const model::ModelShape& model, GpuPlan& plan) {
  if (!model.stages.empty() || plan.layers <= kFew + 1) return 0;
  if (model.encoder_layers > 0) return plan.encoder_layers == plan.layers ? kFew : 0;
  int blocks = 0, last = 0;
  std::int64_t others = 0, alike = 0;
  for (const model::Weight& weight : model.weights) {
    if (weight.block != last && weight.block != 0 && !weight.images_only) {
      ++blocks;
      others += alike;
      alike = weight.copies / std::max<std::int64_t>(1, weight.per_block);
    }
    last = weight.block;
  }
  // If the sequence reaches the window, there are two kinds of layers, and a few layers do not have the right
  // proportion.
  const bool regular = model.full_attention_every == 0 || plan.all_tokens < model.sliding_window;
  const int needed = kFew + static_cast<int>(std::max<std::int64_t>(0, others - plan.skipped));
  if (blocks < 1 || blocks > 2 || !regular || plan.layers <= needed + 1) return 0;
  plan.skipped = static_cast<int>(std::min<std::int64_t>(plan.skipped, others));  // all later layers are equal
  return needed;
}

Peaks extrapolated_peaks(const model::ModelShape& model, GpuPlan plan, bool& exact) {
  const int needed = layers_needed(model, plan);
  if (needed == 0) return peaks_of(model, plan, exact);
  const int layers = plan.layers;
  auto cut = [&](int to) {
    plan.layers = to;
    if (plan.encoder_layers > 0) plan.encoder_layers = to;
    return peaks_of(model, plan, exact);
  };
  Peaks few = cut(needed), more = cut(needed + 1);
  for (std::size_t i = 0; i < few.size(); ++i) few[i] += (more[i] - few[i]) * (layers - needed);
  return few;
}

// By pipeline stage; a single entry without a pipeline.
using Ends = std::vector<Peaks>;

Ends peaks_at(const model::ModelShape& model, model::Job job, std::int64_t batch, bool& exact) {
  job.batch = batch;
  Ends ends;
  for (const Stage stage : fullest_stages(model, job))
    ends.push_back(extrapolated_peaks(model, make_plan(model, job, stage), exact));
  return ends;
}

// The corners of a TrainingSurface.
constexpr std::array<std::int64_t, 3> kSurfaceBatches = {1, 4, 64};
constexpr int kManyShards = 1024;

// With fewer replicas than expert groups, memory does not fall in proportion to 1 / replicas.
int few_shards(const model::Parallelism& parallel) {
  const int replica = std::max(1, parallel.context * parallel.tensor);
  return std::max(2, (std::max(1, parallel.expert) + replica - 1) / replica);
}

model::Job with_replicas(model::Job job, int replicas) {
  job.parallel.gpus = replicas * job.parallel.tensor * job.parallel.pipeline * job.parallel.context;
  return job;
}

}  // namespace

TrainingSurface::TrainingSurface(const model::ModelShape& model, const model::Job& job) {
  sharded_ = job.parallel.zero > 0 && job.parallel.data() > 1;
  few_shards_ = few_shards(job.parallel);
  const int few = sharded_ ? few_shards_ : std::min(few_shards_, std::max(1, job.parallel.data()));
  const auto by_batch = [&](int replicas, bool& exact) {
    std::vector<Ends> ends;
    for (std::int64_t batch : kSurfaceBatches)
      ends.push_back(peaks_at(model, with_replicas(job, replicas), batch, exact));
    return ends;
  };
  // The two sides are independent and can run in parallel.
  bool exact_at_many = true;
  std::future<std::vector<Ends>> many;
  if (sharded_) many = std::async(std::launch::async, [&] { return by_batch(kManyShards, exact_at_many); });
  const std::vector<Ends> at_few = by_batch(few, exact_);
  const std::vector<Ends> at_many = sharded_ ? many.get() : at_few;
  exact_ = exact_ && exact_at_many;
  for (std::size_t k = 0; k + 1 < kSurfaceBatches.size(); ++k) {
    Stretch stretch{static_cast<double>(kSurfaceBatches[k]), static_cast<double>(kSurfaceBatches[k + 1]), {}};
    std::vector<Plane> planes;
    for (std::size_t end = 0; end < at_few[k].size(); ++end) {
      for (std::size_t i = 0; i < Peaks().size(); ++i)
        planes.push_back({at_few[k][end][i], at_few[k + 1][end][i], at_many[k][end][i], at_many[k + 1][end][i]});
    }
    // A plane below another at every corner is below it everywhere between them.
    for (const Plane& plane : planes) {
      const bool below = std::ranges::any_of(planes, [&](const Plane& other) {
        const bool under = other.few_low >= plane.few_low && other.few_high >= plane.few_high &&
                           other.many_low >= plane.many_low && other.many_high >= plane.many_high;
        const bool same = other == plane;
        return under && (!same || &other < &plane);
      });
      if (!below) stretch.planes.push_back(plane);
    }
    stretches_.push_back(std::move(stretch));
  }
}

Bytes TrainingSurface::at(double batch, double shards) const {
  const Stretch& stretch = stretches_[batch < stretches_[1].from ? 0 : 1];
  const double along = (batch - stretch.from) / (stretch.to - stretch.from);
  const double share =
      sharded_ ? std::max(0.0, (1 / shards - 1.0 / kManyShards) / (1.0 / few_shards_ - 1.0 / kManyShards)) : 1;
  double highest = 0;
  for (const Plane& plane : stretch.planes) {
    const double few = plane.few_low + (plane.few_high - plane.few_low) * along;
    const double many = plane.many_low + (plane.many_high - plane.many_low) * along;
    highest = std::max(highest, few * share + many * (1 - share));
  }
  return bytes(highest);
}

}  // namespace rightsize::memory::tape
