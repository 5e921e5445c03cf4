#include "fleet/accumulate.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_map>

namespace rightsize::fleet {
namespace {

constexpr std::size_t kMostSteps = 512;
constexpr std::size_t kBuckets = 64;
constexpr std::size_t kMostTenancies = 32;  // of one GPU; later owners are counted together
constexpr double kYear2000 = 946684800;

// Metrics with a curve over time, and their row; -1 for the others.
constexpr int row_of(Metric metric) {
  switch (metric) {
    case Metric::kSmActive:
      return 0;
    case Metric::kGraphicsActive:
      return 1;
    case Metric::kGpuUtil:
      return 2;
    case Metric::kDramActive:
      return 3;
    case Metric::kMemoryUsed:
      return 4;
    default:
      return -1;
  }
}
constexpr std::size_t kRows = 5;
constexpr std::size_t kActivityRows = 3;
constexpr std::size_t kMemoryRow = 4, kDramRow = 3;

constexpr bool is_share(Metric metric) {
  switch (metric) {
    case Metric::kGpuUtil:
    case Metric::kMemoryUtil:
    case Metric::kGraphicsActive:
    case Metric::kSmActive:
    case Metric::kSmOccupancy:
    case Metric::kTensorActive:
    case Metric::kDramActive:
    case Metric::kFp64Active:
    case Metric::kFp32Active:
    case Metric::kFp16Active:
    case Metric::kIntegerActive:
    case Metric::kHmmaActive:
    case Metric::kImmaActive:
    case Metric::kDfmaActive:
      return true;
    default:
      return false;
  }
}

// What a reading of this metric can at most be; more is a sentinel or a broken exporter.
constexpr double most_of(Metric metric) {
  if (is_share(metric)) return 1.5;  // DCGM counts up to a few per cent over 1 on MIG instances
  switch (metric) {
    case Metric::kMemoryUsed:
    case Metric::kMemoryTotal:
      return 4e12;
    case Metric::kPower:
    case Metric::kPowerLimit:
      return 5000;
    default:
      return 1e18;
  }
}

// The same by number: this is looked up for every reading.
struct Kind {
  double most = 0;
  int row = -1;
  bool share = false;
};
constexpr auto kKinds = [] {
  std::array<Kind, telemetry::kMetrics> kinds{};
  for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
    const auto metric = static_cast<Metric>(i);
    kinds[i] = {most_of(metric), row_of(metric), is_share(metric)};
  }
  return kinds;
}();

// One step of one curve. Counts stay below 2^16: when one would not, all sums are halved, which keeps the means.
struct Cell {
  float sum = 0, max = 0;
  std::uint16_t count = 0, idle = 0;

  void add(double value, bool is_idle) {
    if (count == std::numeric_limits<std::uint16_t>::max()) halve();
    sum += static_cast<float>(value);
    max = count == 0 ? static_cast<float>(value) : std::max(max, static_cast<float>(value));
    ++count;
    idle = static_cast<std::uint16_t>(idle + (is_idle ? 1 : 0));
  }
  void halve() {
    sum /= 2;
    count /= 2;
    idle /= 2;
  }
  void merge(Cell other) {
    if (other.count == 0) return;
    while (count + other.count > std::numeric_limits<std::uint16_t>::max()) {
      halve();
      other.halve();
    }
    max = count == 0 ? other.max : std::max(max, other.max);
    sum += other.sum;
    count = static_cast<std::uint16_t>(count + other.count);
    idle = static_cast<std::uint16_t>(idle + other.idle);
  }
};

struct Tally {
  std::uint64_t count = 0;
  double sum = 0, max = 0;
  double first = 0, last = 0, previous = 0;
  std::array<float, 15> gaps{};  // the first few times between readings
  std::uint8_t gap_count = 0;
  std::array<std::uint32_t, kBuckets> histogram{};  // of shares

  void add(double time, double value) {
    const double gap = std::abs(time - previous);
    if (count > 0 && gap_count < gaps.size() && gap > 0) gaps[gap_count++] = static_cast<float>(gap);
    first = count == 0 ? time : std::min(first, time);
    last = count == 0 ? time : std::max(last, time);
    previous = time;
    max = count == 0 ? value : std::max(max, value);
    sum += value;
    ++count;
  }
  double step() const {
    if (gap_count == 0) return 0;
    std::array<float, 15> sorted = gaps;
    const auto end = sorted.begin() + gap_count;
    std::nth_element(sorted.begin(), sorted.begin() + gap_count / 2, end);
    return static_cast<double>(sorted[gap_count / 2]);
  }
  // The middle of the bucket in which the quantile falls.
  double quantile(double share) const {
    const double target = share * static_cast<double>(count);
    double below = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      below += histogram[i];
      if (below >= target) return std::min((static_cast<double>(i) + 0.5) / kBuckets, max);
    }
    return max;
  }
};

struct TenancyTally {
  Owner owner;
  std::array<std::uint64_t, kActivityRows> count{}, idle{};
  std::uint64_t readings = 0;
  double first = 0, last = 0;

  void note_time(double time) {
    first = readings == 0 ? time : std::min(first, time);
    last = readings == 0 ? time : std::max(last, time);
    ++readings;
  }
};

struct GpuTally {
  Device device;
  std::array<std::unique_ptr<Tally>, telemetry::kMetrics> tallies;
  std::array<std::vector<Cell>, kRows> rows;
  std::array<std::uint64_t, kActivityRows> changes{};
  std::array<signed char, kActivityRows> was_idle{-1, -1, -1};
  std::int64_t origin = 0;  // of the first step, in steps since 1970
  std::size_t steps = 0;
  double width = 1;
  std::vector<TenancyTally> tenancies;

  std::size_t step_at(double time);
  void coarsen();
  void extend_front(std::size_t by);
};

// Neighbouring steps become one; steps stay aligned with the clock.
void GpuTally::coarsen() {
  const double wider = wider_step(width);
  const auto factor = static_cast<std::int64_t>(std::llround(wider / width));
  const auto ahead = static_cast<std::size_t>(origin - origin / factor * factor);  // of the first step in its new one
  const auto by = static_cast<std::size_t>(factor);
  for (std::vector<Cell>& row : rows) {
    if (row.empty()) continue;
    std::vector<Cell> wide((row.size() + ahead + by - 1) / by);
    for (std::size_t i = 0; i < row.size(); ++i) wide[(i + ahead) / by].merge(row[i]);
    row = std::move(wide);
  }
  steps = (steps + ahead + by - 1) / by;
  origin /= factor;
  width = wider;
}

void GpuTally::extend_front(std::size_t by) {
  for (std::vector<Cell>& row : rows) {
    if (!row.empty()) row.insert(row.begin(), by, Cell{});
  }
  origin -= static_cast<std::int64_t>(by);
  steps += by;
}

std::size_t GpuTally::step_at(double time) {
  auto index = static_cast<std::int64_t>(std::floor(time / width));
  if (steps == 0) {
    origin = index;
    steps = 1;
    return 0;
  }
  // Feeds that give the newest first would insert at the front with every reading: some room ahead of time.
  constexpr std::int64_t kAhead = 32;
  while (index < origin || index - origin >= static_cast<std::int64_t>(kMostSteps)) {
    if (index < origin &&
        origin - index + kAhead + static_cast<std::int64_t>(steps) <= static_cast<std::int64_t>(kMostSteps)) {
      extend_front(static_cast<std::size_t>(origin - index + kAhead));
      break;
    }
    if (index < origin && origin - index + static_cast<std::int64_t>(steps) <= static_cast<std::int64_t>(kMostSteps)) {
      extend_front(static_cast<std::size_t>(origin - index));
      break;
    }
    coarsen();
    index = static_cast<std::int64_t>(std::floor(time / width));
  }
  const auto at = static_cast<std::size_t>(index - origin);
  steps = std::max(steps, at + 1);
  return at;
}

Curve curve_of(const std::vector<Cell>& row, std::size_t begin, std::size_t end) {
  Curve curve;
  if (row.empty()) return curve;
  for (std::size_t i = begin; i < end; ++i) {
    const Cell cell = i < row.size() ? row[i] : Cell{};
    const float none = std::numeric_limits<float>::quiet_NaN();
    curve.mean.push_back(cell.count > 0 ? cell.sum / static_cast<float>(cell.count) : none);
    curve.max.push_back(cell.count > 0 ? cell.max : none);
  }
  return curve;
}

int activity_row(const GpuTally& gpu) {
  for (Metric metric : kActivityMetrics) {
    if (gpu.tallies[static_cast<std::size_t>(metric)]) return row_of(metric);
  }
  return -1;
}

Profile profile_of(const GpuTally& gpu, int activity) {
  Profile profile;
  std::size_t begin = gpu.steps, end = 0;
  for (const std::vector<Cell>& row : gpu.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i].count == 0) continue;
      begin = std::min(begin, i);
      end = std::max(end, i + 1);
    }
  }
  if (begin >= end) return profile;
  profile.start = static_cast<double>(gpu.origin + static_cast<std::int64_t>(begin)) * gpu.width;
  profile.width = gpu.width;
  profile.dram = curve_of(gpu.rows[kDramRow], begin, end);
  profile.memory = curve_of(gpu.rows[kMemoryRow], begin, end);
  if (activity < 0) return profile;
  const std::vector<Cell>& row = gpu.rows[static_cast<std::size_t>(activity)];
  profile.activity = curve_of(row, begin, end);
  for (std::size_t i = begin; i < end; ++i) {
    const Cell cell = i < row.size() ? row[i] : Cell{};
    profile.idle.push_back(cell.count > 0 ? static_cast<float>(cell.idle) / static_cast<float>(cell.count)
                                          : std::numeric_limits<float>::quiet_NaN());
  }
  return profile;
}

// Memory is reported beside activity but not always in the same series: a step's idle readings are held when its mean
// memory is.
double held_share(const GpuTally& gpu, int activity, const IdleRule& rule) {
  double idle = 0, all = 0;
  const std::vector<Cell>& row = gpu.rows[static_cast<std::size_t>(activity)];
  const std::vector<Cell>& memory = gpu.rows[kMemoryRow];
  for (std::size_t i = 0; i < row.size(); ++i) {
    all += row[i].count;
    if (i >= memory.size() || memory[i].count == 0) continue;
    if (memory[i].sum / static_cast<float>(memory[i].count) > rule.held_above_bytes) idle += row[i].idle;
  }
  return all > 0 ? idle / all : 0;
}

std::optional<MetricUse> metric_use(const Tally& tally, Metric metric) {
  if (tally.count == 0) return std::nullopt;
  MetricUse use{tally.sum / static_cast<double>(tally.count), std::nullopt, std::nullopt, tally.max};
  if (is_share(metric)) {
    use.p50 = tally.quantile(0.5);
    use.p95 = tally.quantile(0.95);
  }
  return use;
}

// Quantiles of what has no histogram, from the means of the steps.
void add_curve_quantiles(std::optional<MetricUse>& use, const Curve& curve) {
  if (!use || curve.empty()) return;
  std::vector<float> values;
  for (float v : curve.mean) {
    if (!std::isnan(v)) values.push_back(v);
  }
  if (values.empty()) return;
  std::sort(values.begin(), values.end());
  auto at = [&](double share) {
    return static_cast<double>(values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)]);
  };
  use->p50 = at(0.5);
  use->p95 = at(0.95);
}

std::vector<Tenancy> tenancies_of(const GpuTally& gpu, int activity, double seconds) {
  std::vector<Tenancy> result;
  double all = 0;
  auto readings = [&](const TenancyTally& t) {
    return static_cast<double>(activity >= 0 ? t.count[static_cast<std::size_t>(activity)] : t.readings);
  };
  for (const TenancyTally& tally : gpu.tenancies) all += readings(tally);
  for (const TenancyTally& tally : gpu.tenancies) {
    const double share = all > 0 ? readings(tally) / all : 0;
    if (share <= 0) continue;
    const double idle = activity >= 0 ? static_cast<double>(tally.idle[static_cast<std::size_t>(activity)]) : 0;
    result.push_back({tally.owner, seconds * share, seconds * idle / all, tally.first, tally.last});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Tenancy& a, const Tenancy& b) { return a.seconds > b.seconds; });
  return result;
}

// Readings times their step. More of them than the time holds means that several series say the same.
void measure_time(GpuUse& use, const GpuTally& gpu, double fixed_step) {
  for (const std::unique_ptr<Tally>& tally : gpu.tallies) {
    if (!tally || tally->count == 0) continue;
    const double step = fixed_step > 0 ? fixed_step : tally->step();
    const double span = tally->last - tally->first + step;
    const double counted = static_cast<double>(tally->count) * step;
    const double seconds = std::min(counted, span);
    if (seconds <= use.seconds && use.step > 0) continue;
    use.seconds = seconds;
    use.step = step;
    use.first = tally->first;
    use.last = tally->last;
    use.duplicated = counted > span * 1.5 && tally->count > 20;
  }
}

// Adds readings of one metric of one GPU and owner. What does not change from one to the next is looked up once.
class Adder {
 public:
  Adder(const AccumulateOptions& options, GpuTally& gpu, TenancyTally& tenancy, Metric metric)
      : options_(options),
        gpu_(gpu),
        tenancy_(tenancy),
        kind_(kKinds[static_cast<std::size_t>(metric)]),
        slot_(gpu.tallies[static_cast<std::size_t>(metric)]),
        activity_(kind_.row >= 0 && kind_.row < static_cast<int>(kActivityRows)) {}

  std::size_t readings = 0, refused = 0;

  void add(double time, double value) {
    if ((options_.from > 0 && time < options_.from) || (options_.until > 0 && time >= options_.until)) return;
    // Times are seconds since 1970, or since the beginning of a recording; between the two lies nothing.
    const bool dated = time >= kYear2000;
    if (!(value >= 0) || value > kind_.most || (!dated && (time < 0 || time > 86400.0 * 400)) || time > 1e11) {
      ++refused;
      return;
    }
    if (!slot_) slot_ = std::make_unique<Tally>();
    Tally& tally = *slot_;
    if (tally.count > 0 && tally.previous == time) return;  // the same reading from a second series
    tally.add(time, value);
    if (kind_.share) ++tally.histogram[std::min(kBuckets - 1, static_cast<std::size_t>(value * kBuckets))];
    ++readings;
    tenancy_.note_time(time);
    if (kind_.row >= 0) add_to_curve(time, value);
  }

 private:
  void add_to_curve(double time, double value) {
    const bool idle = activity_ && value <= options_.idle.active_above;
    if (!(time >= begin_ && time < end_)) find_cell(time);
    cell_->add(value, idle);
    if (!activity_) return;
    const auto row = static_cast<std::size_t>(kind_.row);
    if (gpu_.was_idle[row] >= 0 && (gpu_.was_idle[row] == 1) != idle) ++gpu_.changes[row];
    gpu_.was_idle[row] = idle ? 1 : 0;
    ++tenancy_.count[row];
    tenancy_.idle[row] += idle ? 1 : 0;
  }

  void find_cell(double time) {
    const std::size_t step = gpu_.step_at(time);
    std::vector<Cell>& cells = gpu_.rows[static_cast<std::size_t>(kind_.row)];
    if (cells.size() <= step) cells.resize(gpu_.steps);
    cell_ = &cells[step];
    begin_ = static_cast<double>(gpu_.origin + static_cast<std::int64_t>(step)) * gpu_.width;
    end_ = begin_ + gpu_.width;
  }

  const AccumulateOptions& options_;
  GpuTally& gpu_;
  TenancyTally& tenancy_;
  const Kind kind_;
  std::unique_ptr<Tally>& slot_;
  const bool activity_;
  Cell* cell_ = nullptr;  // of the times from begin_ to before end_
  double begin_ = 0, end_ = 0;
};

}  // namespace

struct Accumulator::State {
  AccumulateOptions options;
  struct Handle {
    int gpu = -1, tenancy = -1;
  };
  std::vector<Handle> handles;
  std::unordered_map<std::string, int> by_key;
  std::vector<std::unique_ptr<GpuTally>> gpus;
  std::size_t readings = 0, refused = 0, left_out = 0;

  int tenancy_of(GpuTally& gpu, const Owner& owner) {
    for (std::size_t i = 0; i < gpu.tenancies.size(); ++i) {
      if (gpu.tenancies[i].owner == owner) return static_cast<int>(i);
    }
    if (gpu.tenancies.size() == kMostTenancies) return static_cast<int>(kMostTenancies - 1);
    gpu.tenancies.push_back({.owner = owner});
    return static_cast<int>(gpu.tenancies.size() - 1);
  }

  GpuUse finish(GpuTally& gpu) const {
    GpuUse use;
    use.device = gpu.device;
    measure_time(use, gpu, options.step);
    while (gpu.steps > 1 && gpu.width < use.step) gpu.coarsen();  // every step has a reading, or nobody read
    for (std::size_t i = 0; i < telemetry::kMetrics; ++i) {
      if (gpu.tallies[i]) use.metrics[i] = metric_use(*gpu.tallies[i], static_cast<Metric>(i));
    }
    const int activity = activity_row(gpu);
    use.profile = profile_of(gpu, activity);
    add_curve_quantiles(use.metrics[static_cast<std::size_t>(Metric::kMemoryUsed)], use.profile.memory);
    if (activity >= 0) {
      double idle = 0, all = 0;
      for (const TenancyTally& tally : gpu.tenancies) {
        idle += static_cast<double>(tally.idle[static_cast<std::size_t>(activity)]);
        all += static_cast<double>(tally.count[static_cast<std::size_t>(activity)]);
      }
      use.idle_share = all > 0 ? idle / all : 0;
      use.changes = static_cast<double>(gpu.changes[static_cast<std::size_t>(activity)]);
      use.held_share = std::min(held_share(gpu, activity, options.idle), use.idle_share);
    }
    use.tenancies = tenancies_of(gpu, activity, use.seconds);
    return use;
  }
};

Accumulator::Accumulator(AccumulateOptions options) : state_(std::make_unique<State>()) { state_->options = options; }
Accumulator::~Accumulator() = default;

int Accumulator::open(const Device& device) {
  const std::string key = device.key();
  auto [found, is_new] = state_->by_key.try_emplace(key, -1);
  if (is_new) {
    if (state_->gpus.size() < state_->options.most_gpus) {
      found->second = static_cast<int>(state_->gpus.size());
      state_->gpus.push_back(std::make_unique<GpuTally>());
      state_->gpus.back()->device = device;
    } else {
      ++state_->left_out;
    }
  }
  State::Handle handle{found->second, -1};
  if (handle.gpu >= 0) {
    GpuTally& gpu = *state_->gpus[static_cast<std::size_t>(handle.gpu)];
    if (gpu.device.name.empty()) gpu.device.name = device.name;
    if (gpu.device.host.empty()) gpu.device.host = device.host;
    gpu.device.labels.insert(device.labels.begin(), device.labels.end());
    handle.tenancy = state_->tenancy_of(gpu, owner_of(device));
  }
  state_->handles.push_back(handle);
  return static_cast<int>(state_->handles.size() - 1);
}

void Accumulator::add(int device, const telemetry::Sample& sample) {
  for (std::uint32_t rest = sample.present(); rest != 0; rest &= rest - 1) {
    const auto metric = static_cast<Metric>(std::countr_zero(rest));
    add(device, metric, sample.time, *sample.get(metric));
  }
}

void Accumulator::add(int device, Metric metric, double time, double value) {
  const telemetry::Point point{time, value};
  add_points(device, metric, {&point, 1});
}

void Accumulator::add_points(int device, Metric metric, std::span<const telemetry::Point> points) {
  const State::Handle handle = state_->handles[static_cast<std::size_t>(device)];
  if (handle.gpu < 0) return;
  GpuTally& gpu = *state_->gpus[static_cast<std::size_t>(handle.gpu)];
  Adder adder(state_->options, gpu, gpu.tenancies[static_cast<std::size_t>(handle.tenancy)], metric);
  for (const telemetry::Point& point : points) adder.add(point.time, point.value);
  state_->readings += adder.readings;
  state_->refused += adder.refused;
}

std::size_t Accumulator::readings() const { return state_->readings; }
std::size_t Accumulator::refused() const { return state_->refused; }
std::size_t Accumulator::gpus_left_out() const { return state_->left_out; }

std::vector<GpuUse> Accumulator::finish() {
  std::vector<GpuUse> gpus;
  for (std::unique_ptr<GpuTally>& tally : state_->gpus) {
    gpus.push_back(state_->finish(*tally));
    tally.reset();
  }
  std::sort(gpus.begin(), gpus.end(), [](const GpuUse& a, const GpuUse& b) {
    return std::tie(a.device.host, a.device.index, a.device.uuid, a.device.mig_id) <
           std::tie(b.device.host, b.device.index, b.device.uuid, b.device.mig_id);
  });
  state_->gpus.clear();
  state_->handles.clear();
  state_->by_key.clear();
  return gpus;
}

}  // namespace rightsize::fleet
