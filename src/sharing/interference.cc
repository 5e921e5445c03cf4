#include "sharing/interference.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/embedded.h"
#include "base/parse_units.h"
#include "base/suggest.h"

namespace rightsize::sharing {
namespace {

constexpr std::array<std::string_view, 7> kNames = {"dedicated", "mig",  "mps",          "time-slicing",
                                                    "sleep",     "lora", "scale-to-zero"};

// One program next to another: both directions of a measured pair.
struct Pair {
  std::string how, kind, neighbour;
  double speed = 1;
};

const std::vector<Pair>& pairs() {
  static const std::vector<Pair> kPairs = [] {
    const Csv csv = *Csv::parse("data/sharing.csv", std::string(embedded_file("sharing.csv")));
    std::vector<Pair> all;
    const auto add = [&](const CsvRow& row, const char* kind, const char* neighbour, const char* speed) {
      if (csv.cell(row, speed).empty()) return;
      all.push_back({std::string(csv.cell(row, "how")), std::string(csv.cell(row, kind)),
                     std::string(csv.cell(row, neighbour)), std::min(1.0, *parse_number(csv.cell(row, speed)))});
    };
    for (const CsvRow& row : csv.rows()) {
      add(row, "first", "second", "first_speed");
      add(row, "second", "first", "second_speed");
    }
    return all;
  }();
  return kPairs;
}

bool is_heavy(const std::string& kind) { return kind == "train" || kind == "matmul" || kind == "copy"; }

// The slowest measured speed of pairs that match; 1 without one.
template <class Matches>
double slowest(std::string_view how, Matches matches) {
  double speed = 1;
  for (const Pair& pair : pairs()) {
    if (pair.how == how && matches(pair)) speed = std::min(speed, pair.speed);
  }
  return speed;
}

}  // namespace

std::string_view name_of(Mechanism how) { return kNames[static_cast<std::size_t>(how)]; }

const std::vector<std::string>& known_kinds() {
  static const std::vector<std::string> kKinds = {"decode", "prefill", "vision", "train", "matmul", "copy"};
  return kKinds;
}

Result<std::string> parse_kind(std::string_view text) {
  if (std::ranges::find(known_kinds(), text) != known_kinds().end()) return std::string(text);
  return fail(bad_input(fmt::format("unknown kind of work '{}'", text))
                  .with_hint(fmt::format("use {}", fmt::join(known_kinds(), ", ")))
                  .with_hint(did_you_mean(std::string(text), known_kinds())));
}

double speed_beside(Mechanism how, const std::string& kind, const std::string& neighbour) {
  const std::string_view name = name_of(how == Mechanism::kSleep ? Mechanism::kTimeSlicing : how);
  const double measured = slowest(name, [&](const Pair& p) { return p.kind == kind && p.neighbour == neighbour; });
  if (measured < 1) return measured;
  const double class_speed = slowest(name, [&](const Pair& p) {
    return is_heavy(p.kind) == is_heavy(kind) && is_heavy(p.neighbour) == is_heavy(neighbour);
  });
  return class_speed < 1 ? class_speed : slowest(name, [](const Pair&) { return true; });
}

double lora_speed() {
  return slowest(name_of(Mechanism::kLora), [](const Pair&) { return true; });
}

}  // namespace rightsize::sharing
