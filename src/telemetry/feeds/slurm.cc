#include "telemetry/feeds/slurm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <zlib.h>

#include "base/located_json.h"
#include "base/text.h"
#include "telemetry/feeds/feeds.h"
#include "telemetry/feeds/json_stream.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kMostHosts = 10'000;
constexpr std::size_t kLongestLine = 64U << 20;
constexpr double kReading = 300;

std::optional<std::string> decode_base64(std::string_view text) {
  static constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    if (c == '=') break;
    const std::size_t value = kLetters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<char>(bits >> have & 0xFF));
    }
  }
  return out;
}

std::optional<std::string> gunzip(const std::string& packed) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return std::nullopt;
  std::string out;
  std::array<char, 16384> piece;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int state = Z_OK;
  while (state == Z_OK && out.size() < kLongestLine) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return out;
}

// "billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2": the value of a name, the longest first where a type is given.
std::optional<std::string_view> tres(std::string_view list, std::string_view name) {
  for (std::string_view part : split_list(list, ',')) {
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.substr(0, equals) == name) return part.substr(equals + 1);
  }
  return std::nullopt;
}

double number_of(std::string_view text) {
  double value = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc()) return 0;
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (unit.starts_with('K')) return value * 1024;
  if (unit.starts_with('M')) return value * 1024 * 1024;
  if (unit.starts_with('G')) return value * 1024 * 1024 * 1024;
  return value;
}

std::string gpu_model(std::string_view allocated) {
  for (std::string_view part : split_list(allocated, ',')) {
    constexpr std::string_view kTyped = "gres/gpu:";
    if (part.starts_with(kTyped)) return std::string(part.substr(kTyped.size(), part.find('=') - kTyped.size()));
  }
  return {};
}

// {"nodes": {"host": {"gpu_utilization": {"0": 95.2}, "gpu_used_memory": {...}, "gpu_total_memory": {...}}}}
std::vector<JobGpu> gpus_of_jobstats(const std::string& text) {
  std::vector<JobGpu> gpus;
  Checked<LocatedJson> json = LocatedJson::parse("AdminComment", text);
  if (!json) return gpus;
  const JsonMember* nodes = json->root().find("nodes");
  if (nodes == nullptr) return gpus;
  for (const JsonMember& node : nodes->value.members) {
    const JsonMember* busy = node.value.find("gpu_utilization");
    if (busy == nullptr) continue;
    auto number = [&](const char* table, const std::string& index) -> std::optional<double> {
      const JsonMember* member = node.value.find(table);
      const JsonMember* value = member != nullptr ? member->value.find(index) : nullptr;
      if (value == nullptr || value->value.type != JsonType::kNumber) return std::nullopt;
      return value->value.number;
    };
    for (const JsonMember& gpu : busy->value.members) {
      JobGpu one{node.name, static_cast<int>(number_of(gpu.name)), std::nullopt, std::nullopt, std::nullopt};
      if (const auto percent = number("gpu_utilization", gpu.name)) one.utilization = *percent / 100;
      one.used_bytes = number("gpu_used_memory", gpu.name);
      one.total_bytes = number("gpu_total_memory", gpu.name);
      gpus.push_back(std::move(one));
    }
  }
  return gpus;
}

struct Header {
  std::vector<std::string> names;
  std::string_view cell(const std::vector<std::string_view>& cells, std::string_view name) const {
    for (std::size_t i = 0; i < names.size() && i < cells.size(); ++i) {
      if (names[i] == name) return cells[i];
    }
    return {};
  }
  bool has(std::string_view name) const { return std::find(names.begin(), names.end(), name) != names.end(); }
};

std::vector<std::string_view> split_cells(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t bar = line.find('|');
    cells.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return cells;
    line.remove_prefix(bar + 1);
  }
}

enum class Row { kJob, kNoGpu, kStep, kNonsense };

Row read_row(const Header& header, std::string_view line, Job& job) {
  const std::vector<std::string_view> cells = split_cells(line);
  auto cell = [&](std::string_view name) { return header.cell(cells, name); };
  job.id = cell("JobID");
  if (job.id.find('.') != std::string::npos) return Row::kStep;
  const std::string_view allocated = cell("AllocTRES");
  const std::optional<std::string_view> count = tres(allocated, "gres/gpu");
  const std::optional<double> start = parse_iso_time(cell("Start"));
  if (job.id.empty() || cells.size() < header.names.size()) return Row::kNonsense;
  if (!count && gpu_model(allocated).empty()) return Row::kNoGpu;
  if (!start) return Row::kNonsense;  // "Unknown": it has not begun
  job.user = cell("User");
  job.account = cell("Account");
  job.name = cell("JobName");
  job.gpu_model = gpu_model(allocated);
  job.start = *start;
  const double elapsed = number_of(cell("ElapsedRaw"));
  job.end = parse_iso_time(cell("End")).value_or(job.start + elapsed);
  if (job.end <= job.start) return Row::kNonsense;
  if (const auto inside = unpack_jobstats(cell("AdminComment"))) job.gpus = gpus_of_jobstats(*inside);
  if (!job.gpus.empty()) return Row::kJob;
  const std::vector<std::string> hosts = expand_hosts(cell("NodeList"));
  const double all = count ? number_of(*count) : 1;
  if (hosts.empty() || !(all >= 1) || all > 1e6) return Row::kNonsense;
  std::optional<double> busy, used;
  if (const auto text = tres(cell("TRESUsageInAve"), "gres/gpuutil")) busy = std::min(1.0, number_of(*text) / 100);
  if (const auto text = tres(cell("TRESUsageInAve"), "gres/gpumem")) used = number_of(*text);
  const auto each = static_cast<std::size_t>(std::max(1.0, all / static_cast<double>(hosts.size())));
  for (const std::string& host : hosts) {
    for (std::size_t i = 0; i < std::min<std::size_t>(each, 64); ++i)
      job.gpus.push_back({host, -1, busy, used, std::nullopt});
  }
  return Row::kJob;
}

}  // namespace

std::optional<std::string> unpack_jobstats(std::string_view comment) {
  if (!comment.starts_with("JS1:")) return std::nullopt;
  const std::optional<std::string> packed = decode_base64(trim(comment.substr(4)));
  return packed ? gunzip(*packed) : std::nullopt;
}

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  while (!list.empty() && hosts.size() < kMostHosts) {
    // One entry ends at a comma outside brackets.
    std::size_t end = 0;
    for (bool inside = false; end < list.size() && (inside || list[end] != ','); ++end) {
      inside = list[end] == '[' || (inside && list[end] != ']');
    }
    const std::string_view entry = trim(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
    const std::size_t open = entry.find('['), close = entry.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      if (!entry.empty()) hosts.emplace_back(entry);
      continue;
    }
    for (std::string_view part : split_list(entry.substr(open + 1, close - open - 1), ',')) {
      const std::string_view from = part.substr(0, part.find('-'));
      const std::string_view to = part.find('-') == std::string_view::npos ? from : part.substr(part.find('-') + 1);
      long low = 0, high = -1;
      std::from_chars(from.data(), from.data() + from.size(), low);
      std::from_chars(to.data(), to.data() + to.size(), high);
      for (long n = low; n <= high && hosts.size() < kMostHosts; ++n) {
        hosts.push_back(fmt::format("{}{:0{}}{}", entry.substr(0, open), n, std::min<std::size_t>(from.size(), 12),
                                    entry.substr(close + 1)));
      }
    }
  }
  return hosts;
}

Result<JobTable> read_jobs(ByteSource& source, const std::string& file) {
  JobTable table;
  Header header;
  std::string pending;
  std::vector<char> piece(256U << 10);
  auto take_line = [&](std::string_view line) -> bool {
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (trim(line).empty()) return true;
    if (header.names.empty()) {
      for (std::string_view name : split_cells(line)) header.names.emplace_back(trim(name));
      return header.has("JobID") && header.has("Start") && header.has("AllocTRES");
    }
    Job job;
    switch (read_row(header, line, job)) {
      case Row::kJob:
        table.jobs.push_back(std::move(job));
        break;
      case Row::kNoGpu:
        ++table.without_gpu;
        break;
      case Row::kNonsense:
        ++table.refused;
        break;
      case Row::kStep:
        break;
    }
    return true;
  };
  bool understood = true;
  while (understood) {
    RIGHTSIZE_TRY(const std::size_t got, source.read(piece));
    pending.append(piece.data(), got);
    std::size_t from = 0;
    for (std::size_t end; understood && (end = pending.find('\n', from)) != std::string::npos; from = end + 1) {
      understood = take_line(std::string_view(pending).substr(from, end - from));
    }
    pending.erase(0, from);
    if (got == 0 || pending.size() > kLongestLine) break;
  }
  if (understood && !pending.empty()) understood = take_line(pending);
  if (!understood || header.names.empty()) {
    return fail(bad_input(fmt::format("{}: no table of sacct with JobID, Start and AllocTRES", file))
                    .with_hint("sacct -P -a -o JobID,User,Account,JobName,Start,End,ElapsedRaw,AllocTRES,NodeList,"
                               "TRESUsageInAve,AdminComment"));
  }
  return table;
}

void samples_of(const JobTable& table, SampleSink& sink) {
  for (const Job& job : table.jobs) {
    int unknown_index = 0;
    std::string last_host;
    for (const JobGpu& gpu : job.gpus) {
      if (!gpu.utilization) continue;
      unknown_index = gpu.host == last_host ? unknown_index + 1 : 0;
      last_host = gpu.host;
      Device device;
      device.host = gpu.host;
      device.index = gpu.index >= 0 ? gpu.index : unknown_index;
      device.name = job.gpu_model;
      device.labels = {{"user", job.user}, {"account", job.account}, {"jobid", job.id}, {"job_name", job.name}};
      const int number = sink.open(device);
      Sample sample;
      sample.set(Metric::kGpuUtil, std::clamp(*gpu.utilization, 0.0, 1.0));
      if (gpu.used_bytes) sample.set(Metric::kMemoryUsed, *gpu.used_bytes);
      if (gpu.total_bytes && *gpu.total_bytes > 0) sample.set(Metric::kMemoryTotal, *gpu.total_bytes);
      const double readings = std::clamp(std::round((job.end - job.start) / kReading), 1.0, 1e5);
      for (double i = 0; i < readings; ++i) {
        sample.time = job.start + i * kReading;
        sink.add(number, sample);
      }
    }
  }
}

}  // namespace rightsize::telemetry
