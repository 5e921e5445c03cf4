#include "telemetry/formats/bare_csv.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "telemetry/formats/line_reader.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kRows = 200;
constexpr double kLeastMemory = 3500, kMostMemory = 1e6;  // MiB of a GPU; the clocks of its SMs are lower

using Cells = std::vector<std::string_view>;  // of one column

bool is_name(std::string_view cell) {
  return std::ranges::any_of(std::initializer_list<std::string_view>{"NVIDIA", "Tesla", "GeForce", "Quadro"},
                             [&](std::string_view brand) { return cell.find(brand) != std::string_view::npos; });
}

bool has_unit(const Cells& cells, std::string_view unit) {
  return leading_number(cells.front()) && cells.front().ends_with(unit);
}

bool is_whole(const Cells& cells, double most) {
  return std::ranges::all_of(cells, [&](std::string_view cell) {
    return cell.find_first_not_of("0123456789") == std::string_view::npos &&
           leading_number(cell).value_or(most) <= most;
  });
}

// nvidia-smi writes powers, and nothing else, with two decimals.
bool is_power(const Cells& cells) {
  return std::ranges::all_of(cells, [](std::string_view cell) {
    return cell.size() > 3 && cell[cell.size() - 3] == '.' && leading_number(cell);
  });
}

// A temperature stays above that of a cool room, and close to the reading before of the same GPU.
bool may_be_temperature(const Cells& cells, const Cells& gpus) {
  constexpr double kCoolest = 20, kHottest = 95, kStep = 4;
  std::map<std::string_view, double> last;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double value = leading_number(cells[i]).value_or(0);
    const auto [before, is_first] = last.try_emplace(gpus.empty() ? "" : gpus[i], value);
    if (value < kCoolest || value > kHottest || std::abs(value - before->second) > kStep) return false;
    before->second = value;
  }
  return true;
}

// All of a GPU's memory next to the part in use.
bool are_memory(const Cells& total, const Cells& used) {
  const double all = leading_number(total.front()).value_or(0);
  return all >= kLeastMemory && is_whole(total, kMostMemory) && is_whole(used, all) &&
         std::ranges::all_of(total, [&](std::string_view cell) { return cell == total.front(); });
}

std::vector<Cells> columns_of(std::string_view text) {
  std::vector<Cells> columns;
  for (std::size_t row = 0; row < kRows && !text.empty(); ++row) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && row > 0) break;  // may be cut off
    const Cells cells = split_list(text.substr(0, end), ',');
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
    if (row == 0) columns.resize(cells.size());
    if (cells.size() != columns.size()) continue;
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].push_back(cells[i]);
  }
  return columns;
}

}  // namespace

BareHeader inferred_header(std::string_view rows) {
  const std::vector<Cells> columns = columns_of(rows);
  std::vector<std::string> names(columns.size());
  std::vector<std::size_t> bare;  // whole numbers up to 100
  const Cells* gpus = nullptr;
  int shares = 0, sizes = 0, powers = 0, smi = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Cells& cells = columns[i];
    const std::string_view first = cells.front();
    names[i] = fmt::format("column{}", i);
    if (first.find('/') != std::string_view::npos && first.find(':') != std::string_view::npos) {
      names[i] = "timestamp", ++smi;
    } else if (first.starts_with("GPU-")) {
      names[i] = "uuid", ++smi, gpus = &cells;
    } else if (is_name(first)) {
      names[i] = "name", ++smi;
    } else if (has_unit(cells, " %") && shares < 2) {
      names[i] = shares++ == 0 ? "utilization.gpu [%]" : "utilization.memory [%]";
    } else if (has_unit(cells, " MiB") && sizes < 2) {
      names[i] = sizes++ == 0 ? "memory.used [MiB]" : "memory.total [MiB]";
    } else if ((has_unit(cells, " W") || is_power(cells)) && powers++ == 0) {
      names[i] = "power.draw [W]";
    } else if (is_whole(cells, 63) && i + 1 < columns.size() && (i == 0 || (i == 1 && names[0] == "timestamp"))) {
      names[i] = "index", gpus = &cells;
    } else if (is_whole(cells, 100)) {
      bare.push_back(i);
    }
  }
  const auto header = [&](bool guessed) { return BareHeader{fmt::format("{}", fmt::join(names, ", ")), guessed}; };
  if (shares > 0 && sizes + shares > 1) return header(false);
  if (shares > 0 || sizes > 0 || smi < 2 || bare.empty()) return {};

  // The largest number that may be the memory of the GPU is; a second pair may be clocks.
  const auto used = [&](std::size_t i) { return !names[i].starts_with("column"); };
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return leading_number(columns[i].front()).value_or(0); });
  for (const std::size_t i : order) {
    const auto beside = [&](std::size_t j) {
      return j < columns.size() && !used(i) && !used(j) && are_memory(columns[i], columns[j]);
    };
    const auto is_share = [&](std::size_t j) { return is_whole(columns[j], 100); };
    // Beside a share on one side, the memory in use is on the other.
    const std::size_t j = beside(i - 1) && (!is_share(i - 1) || !beside(i + 1)) ? i - 1 : i + 1;
    if (!beside(j) || (sizes > 0 && is_share(j))) continue;
    if (sizes++ > 0) return {.unclear = true};
    names[i] = "memory.total [MiB]", names[j] = "memory.used [MiB]";
  }
  std::erase_if(bare, used);
  if (bare.empty()) return {.unclear = true};
  const auto maybe_temperature = [&](std::size_t i) {
    return may_be_temperature(columns[i], gpus == nullptr ? Cells() : *gpus);
  };
  if (bare.size() > 1 && maybe_temperature(bare[0])) return {.unclear = true};
  names[bare[0]] = "utilization.gpu [%]";
  if (bare.size() > 1 && bare[1] == bare[0] + 1 && !maybe_temperature(bare[1]))
    names[bare[1]] = "utilization.memory [%]";
  return header(true);
}

}  // namespace rightsize::telemetry
