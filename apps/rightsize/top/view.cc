#include "rightsize/top/view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"
#include "report/fields.h"

namespace rightsize::app {
namespace {

using telemetry::Metric;
using telemetry::Sample;

std::string percent(double share) { return format_percent(Ratio::fraction(share)); }

// Text in pieces, which can be cut to a width without cutting colour codes.
class ScreenLine {
 public:
  ScreenLine& add(std::string text, const char* colour = "") {
    pieces_.push_back({std::move(text), colour});
    return *this;
  }
  ScreenLine& pad_to(std::size_t column) {
    std::size_t width = 0;
    for (const Piece& piece : pieces_) width += display_width(piece.text);
    return add(std::string(column > width ? column - width : 1, ' '));
  }
  std::string render(const TopSize& size) const {
    std::string out;
    auto room = static_cast<std::size_t>(std::max(1, size.columns));
    for (const Piece& piece : pieces_) {
      const std::string shown = cut(piece.text, room);
      room -= std::min(room, display_width(shown));
      const bool coloured = size.colour && *piece.colour != '\0';
      out += coloured ? fmt::format("\x1b[{}m{}\x1b[0m", piece.colour, shown) : shown;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out + "\n";
  }

 private:
  struct Piece {
    std::string text;
    const char* colour;
  };
  // The first `columns` characters of UTF-8 text.
  static std::string cut(const std::string& text, std::size_t columns) {
    std::size_t seen = 0, at = 0;
    for (; at < text.size(); ++at) {
      const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
      if (begins && seen++ == columns) break;
    }
    return text.substr(0, at);
  }
  std::vector<Piece> pieces_;
};

constexpr const char* kBold = "1";
constexpr const char* kDim = "2";

const char* colour_of(diagnose::Verdict verdict) {
  using diagnose::Verdict;
  switch (verdict) {
    case Verdict::kComputeBound:
    case Verdict::kMemoryBound:
      return "32";  // busy
    case Verdict::kIdle:
    case Verdict::kIdleHeld:
      return "31";
    case Verdict::kUnknown:
      return "2";
    default:
      return "33";
  }
}

std::string energy_text(Joules energy) {
  const double kwh = in_joules(energy) / 3.6e6;
  return kwh < 0.01 ? fmt::format("{} kJ", format_number(in_joules(energy) / 1e3)) : format_number(kwh) + " kWh";
}

ScreenLine headline(const TopScreen& screen) {
  UsdPerSecond spent, lost;
  Watts drawn;
  Joules energy;
  double whole = 0;
  bool priced = false;
  for (const TopGpu& gpu : screen.gpus) {
    const UsdPerSecond price = gpu.price.value_or(UsdPerSecond{});
    spent += price;
    lost += price * gpu.diagnosis.wasted;
    whole += gpu.device.mig_id.empty() ? 1 : gpu.share;
    priced = priced || gpu.price;
    // Every instance of a GPU reports the power of the whole GPU.
    drawn += gpu.mean_power().value_or(Watts{}) * gpu.share;
    energy += gpu.energy * gpu.share;
  }
  const auto count = static_cast<std::size_t>(std::ceil(whole - 0.01));
  const auto instances =
      std::ranges::count_if(screen.gpus, [](const TopGpu& gpu) { return !gpu.device.mig_id.empty(); });
  ScreenLine line;
  line.add("rightsize top", kBold).add(fmt::format("  {}  {} GPU{}", screen.title, count, count == 1 ? "" : "s"));
  if (instances > 0) line.add(fmt::format(" ({} MIG instance{})", instances, instances == 1 ? "" : "s"));
  if (priced) {
    line.add(fmt::format("  {}/h, ", format_usd_per_hour(spent)));
    line.add(fmt::format("{} of it wasted", format_usd_per_hour(lost)), lost > 0.2 * spent ? "31" : "");
  }
  if (energy > Joules{}) line.add(fmt::format("  {}, {}", format_power(drawn), energy_text(energy)));
  return line;
}

ScreenLine gpu_line(const TopGpu& gpu) {
  ScreenLine line;
  std::string name = fmt::format("GPU {}", gpu.device.index);
  if (!gpu.device.mig_id.empty()) name += fmt::format(".{}", gpu.device.mig_id);
  if (!gpu.device.host.empty()) name = gpu.device.host + " " + name;
  line.add(
      fmt::format("{} {}  ", name, gpu.device.name.empty() && gpu.gpu != nullptr ? gpu.gpu->name : gpu.device.name),
      kBold);
  line.add(std::string(name_of(gpu.diagnosis.verdict)), colour_of(gpu.diagnosis.verdict));
  line.add(fmt::format(" ({:.0f} %)", gpu.diagnosis.confidence * 100), kDim);
  if (gpu.price)
    line.add(fmt::format("  {}/h, {} wasted", format_usd_per_hour(*gpu.price),
                         format_usd_per_hour(*gpu.price * gpu.diagnosis.wasted)));
  return line;
}

struct Sparkline {
  const char* label;
  std::vector<std::optional<double>> values;
  std::string now;
};

Sparkline curve_of(const TopGpu& gpu, const char* label, Metric metric, double full, std::string (*show)(double)) {
  Sparkline curve{label, {}, "-"};
  for (const Sample& sample : gpu.recent) {
    auto value = sample.get(metric);
    curve.values.push_back(value ? std::optional(std::clamp(*value / full, 0.0, 1.0)) : std::nullopt);
    if (value) curve.now = show(*value);
  }
  return curve;
}

double power_limit(const TopGpu& gpu) {
  for (auto sample = gpu.recent.rbegin(); sample != gpu.recent.rend(); ++sample) {
    if (auto limit = sample->get(Metric::kPowerLimit)) return *limit;
  }
  return gpu.gpu != nullptr && gpu.gpu->tdp ? in_watts(*gpu.gpu->tdp) : 700;
}

bool has(const TopGpu& gpu, Metric metric) {
  return std::ranges::any_of(gpu.recent, [&](const Sample& sample) { return sample.has(metric); });
}

// Four curves; utilization replaces counters that the source lacks.
std::vector<Sparkline> curves_of(const TopGpu& gpu) {
  std::vector<Sparkline> curves;
  if (has(gpu, Metric::kSmActive)) {
    curves.push_back(curve_of(gpu, "SM", Metric::kSmActive, 1, percent));
  } else if (has(gpu, Metric::kGraphicsActive)) {
    curves.push_back(curve_of(gpu, "engine", Metric::kGraphicsActive, 1, percent));
  } else {
    curves.push_back(curve_of(gpu, "busy", Metric::kGpuUtil, 1, percent));
  }
  curves.push_back(curve_of(gpu, "tensor", Metric::kTensorActive, 1, percent));
  curves.push_back(has(gpu, Metric::kDramActive) ? curve_of(gpu, "DRAM", Metric::kDramActive, 1, percent)
                                                 : curve_of(gpu, "memory", Metric::kMemoryUtil, 1, percent));
  curves.push_back(
      curve_of(gpu, "power", Metric::kPower, power_limit(gpu), [](double v) { return format_power(watts(v)); }));
  return curves;
}

void curve_lines(std::vector<ScreenLine>& lines, const TopGpu& gpu, const TopSize& size) {
  constexpr std::size_t kLabel = 9, kValue = 9;
  const auto columns = static_cast<std::size_t>(std::max(1, size.columns));
  const std::size_t each = columns >= 80 ? columns / 2 : columns;
  const std::size_t width = each > kLabel + kValue + 4 ? each - kLabel - kValue - 3 : 4;
  const std::vector<Sparkline> curves = curves_of(gpu);
  ScreenLine line;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const std::size_t column = (i % 2) * each;
    if (i % 2 == 1 && each < columns) {
      line.pad_to(column);
    } else if (i > 0) {
      lines.push_back(line);
      line = {};
    }
    line.add(fmt::format("  {:<7}", curves[i].label), kDim);
    line.add(sparkline(curves[i].values, width, size.blocks), "36");
    line.add(fmt::format("{:>{}}", curves[i].now, kValue));
  }
  lines.push_back(line);
}

std::string latest(const TopGpu& gpu, Metric metric, std::string (*show)(double)) {
  for (auto sample = gpu.recent.rbegin(); sample != gpu.recent.rend(); ++sample) {
    if (auto value = sample->get(metric)) return show(*value);
  }
  return "";
}

ScreenLine details(const TopGpu& gpu) {
  std::string text;
  auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "  " : "   ") + part;
  };
  std::string memory = latest(gpu, Metric::kMemoryUsed, [](double v) { return format_bytes(bytes(v)); });
  std::string total = latest(gpu, Metric::kMemoryTotal, [](double v) { return format_bytes(bytes(v)); });
  if (total.empty() && gpu.gpu != nullptr) total = format_bytes(gpu.gpu->capacity());
  if (!memory.empty()) add("memory " + memory + (total.empty() ? "" : " of " + total));
  add(latest(gpu, Metric::kSmClock, [](double v) { return fmt::format("{:.0f} MHz", v / 1e6); }));
  add(latest(gpu, Metric::kTemperature, [](double v) { return fmt::format("{:.0f} C", v); }));
  add(latest(gpu, Metric::kPcieRx, [](double v) { return "PCIe in " + format_bandwidth(bytes_per_s(v)); }));
  add(latest(gpu, Metric::kPcieTx, [](double v) { return "out " + format_bandwidth(bytes_per_s(v)); }));
  ScreenLine line;
  line.add(text);
  return line;
}

std::vector<ScreenLine> gpu_lines(const TopGpu& gpu, const TopSize& size) {
  std::vector<ScreenLine> lines = {gpu_line(gpu)};
  curve_lines(lines, gpu, size);
  lines.push_back(details(gpu));
  if (!gpu.diagnosis.evidence.empty()) {
    lines.emplace_back();
    lines.back().add("  " + gpu.diagnosis.evidence.front(), kDim);
  }
  for (const telemetry::GpuProcess& process : gpu.processes) {
    lines.emplace_back();
    lines.back().add(fmt::format("  process {:<8} {:<16} {}", process.pid, process.name.empty() ? "?" : process.name,
                                 process.memory ? format_bytes(*process.memory) : "-"));
  }
  return lines;
}

using report::Fields;

std::vector<std::pair<std::string_view, double>> values_now(const TopGpu& gpu) {
  std::vector<std::pair<std::string_view, double>> now;
  for (std::size_t i = 0; i < telemetry::kMetrics && !gpu.recent.empty(); ++i) {
    const auto metric = static_cast<Metric>(i);
    if (auto value = gpu.recent.back().get(metric)) now.emplace_back(telemetry::name_of(metric), *value);
  }
  return now;
}

const Fields<telemetry::GpuProcess> kProcessFields = {
    {"pid", "process ID", &telemetry::GpuProcess::pid},
    {"name", "program", &telemetry::GpuProcess::name},
    {"memory_bytes", "GPU memory it holds", &telemetry::GpuProcess::memory},
};

const Fields<TopGpu> kTopGpuFields = {
    {"index", "number on the host", [](const TopGpu& g) { return g.device.index; }},
    {"uuid", "UUID", [](const TopGpu& g) { return g.device.uuid; }},
    {"name", "the driver's name for it", [](const TopGpu& g) { return g.device.name; }},
    {"mig_id?", "MIG instance", [](const TopGpu& g) { return g.device.mig_id; }},
    {"verdict", "what limits it", [](const TopGpu& g) { return g.diagnosis.verdict; }},
    {"confidence", "0 to 1", [](const TopGpu& g) { return g.diagnosis.confidence; }},
    {"wasted", "share of the time without useful work", [](const TopGpu& g) { return g.diagnosis.wasted; }},
    {"usd_per_hour", "price of this GPU or MIG instance; null: none known", &TopGpu::price},
    {"mean_power_watts?", "mean power since the first reading", &TopGpu::mean_power},
    {"energy_kwh?", "energy since the first reading",
     [](const TopGpu& g) { return report::when(g.powered > Seconds{}, g.energy); }},
    {"now", "the latest value of each metric", values_now},
    {"processes", "processes on the GPU", kProcessFields, &TopGpu::processes},
};

const Fields<TopScreen> kTopFields = {
    {"gpus", "the GPUs of this machine", kTopGpuFields, &TopScreen::gpus},
    {"ended", "whether a recording has been replayed to its end", &TopScreen::ended},
};
const report::Document<TopScreen> kTopDocument("top", "The GPUs of this machine now", kTopFields);

}  // namespace

std::string sparkline(const std::vector<std::optional<double>>& values, std::size_t width, bool blocks) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr const char* kLetters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
  std::string out;
  const std::size_t shown = std::min(values.size(), width);
  out.append(width - shown, ' ');
  for (std::size_t i = values.size() - shown; i < values.size(); ++i) {
    if (!values[i]) {
      out += ' ';
      continue;
    }
    const auto step = static_cast<std::size_t>(std::clamp(*values[i] * 8, 0.0, 7.0));
    out += blocks ? kBlocks[step] : kLetters[step];
  }
  return out;
}

std::string draw_top(const TopScreen& screen, const TopSize& size) {
  std::string out = headline(screen).render(size);
  const auto rows = static_cast<std::size_t>(std::max(2, size.rows));
  std::size_t used = 1, drawn = 0;
  for (const TopGpu& gpu : screen.gpus) {
    const std::vector<ScreenLine> lines = gpu_lines(gpu, size);
    const bool last = drawn + 1 == screen.gpus.size();
    const std::size_t spare = last ? 0 : 1;  // for the line that counts the others
    if (used + 1 + lines.size() + spare > rows && drawn > 0) break;
    out += "\n";
    ++used;
    for (const ScreenLine& line : lines) {
      if (used + spare >= rows) break;
      out += line.render(size);
      ++used;
    }
    ++drawn;
  }
  if (drawn < screen.gpus.size() && used < rows) {
    ScreenLine rest;
    rest.add(fmt::format("... and {} more; enlarge the window to see them", screen.gpus.size() - drawn), kDim);
    out += rest.render(size);
  }
  return out;
}

report::Json top_document(const TopScreen& screen) { return kTopDocument.of(screen); }

}  // namespace rightsize::app
