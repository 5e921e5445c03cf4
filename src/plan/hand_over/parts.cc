#include "plan/hand_over/parts.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>

#include "base/format.h"
#include "base/text.h"

namespace rightsize::plan {
namespace {

// A name of the user's must not end a comment.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

std::string cost_sentence(const Request& request, const Plan& plan) {
  const auto dollars = [&](double factor) { return format_usd(plan.cost * factor); };
  const std::string between =
      fmt::format("80 % between {} and {}", dollars(plan.cost_interval.low), dollars(plan.cost_interval.high));
  const std::string rate = format_usd_per_hour(plan.rate());
  if (request.work.kind == WorkKind::kServing)
    return fmt::format("Expected: {} a month ({}), at {} an hour.", dollars(1), between, rate);
  return fmt::format("Expected: {} and {} ({}), at {} an hour.", format_duration(plan.time.total()), dollars(1),
                     between, rate);
}

std::string settings_sentence(const Request& request, const Plan& plan) {
  const model::Job& job = plan.job;
  if (job.kind == model::JobKind::kTrain) {
    std::string text =
        fmt::format("Settings: {} training in {}, micro-batch {}, accumulation {}, recompute {}, ZeRO {}",
                    model::name_of(job.train.method), model::name_of(job.precision), job.batch, job.train.accumulation,
                    model::name_of(job.train.recompute), job.parallel.zero);
    if (job.parallel.tensor > 1) text += fmt::format(", tp {}", job.parallel.tensor);
    if (job.parallel.pipeline > 1) text += fmt::format(", pp {}", job.parallel.pipeline);
    return text + ".";
  }
  if (request.work.is_measured()) return "Settings: one worker a GPU.";
  return fmt::format("Settings: {}, {} x tensor parallel {}.", model::name_of(job.precision),
                     std::max(1, plan.replicas), job.parallel.tensor);
}

}  // namespace

std::string object_name(const Request& request) {
  constexpr std::size_t kLongest = 50;  // of 63: controllers add endings
  std::string name;
  for (char c : to_lower(request.name)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  name.resize(std::min(name.size(), kLongest));
  while (!name.empty() && name.back() == '-') name.pop_back();
  // A Service's name must begin with a letter.
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "work-");
  while (name.back() == '-') name.pop_back();
  return name;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : one_line(std::string(text))) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string indented(const std::string& text, std::string_view by) {
  std::string out;
  bool begins = true;
  for (char c : text) {
    if (begins && c != '\n') out += by;
    out += c;
    begins = c == '\n';
  }
  return out;
}

std::string header(const Request& request, const Plan& plan, const std::string& what,
                   const std::vector<std::string>& fill_in) {
  const market::Offer& offer = plan.offer;
  const std::string region = offer.price->region == "any" ? "" : " " + offer.price->region;
  std::string date = offer.price->provenance.date ? ", read " + format_date(*offer.price->provenance.date) : "";
  std::vector<std::string> lines = {
      what,
      fmt::format("Plan of rightsize for {}: {} x {} on {} x {} at {}{}, {}.", one_line(request.name), plan.gpus,
                  offer.gpu->name, plan.machines, offer.machine->instance, offer.machine->provider, region,
                  catalog::name_of(offer.price->purchase)),
      cost_sentence(request, plan), fmt::format("Price: {}{}.", fmt::join(offer.price->provenance.sources, ", "), date),
      settings_sentence(request, plan)};
  if (is_committed(plan)) lines.emplace_back("The price is that of a commitment: buy it first, or pay more.");
  lines.emplace_back("Fill in:");
  for (const std::string& line : fill_in) lines.push_back("  " + line);
  std::string out;
  for (const std::string& line : lines) out += "# " + one_line(line) + "\n";
  return out;
}

std::vector<std::string> inputs_and(const Request& request, const Plan& plan, std::vector<std::string> more) {
  std::vector<std::string> lines;
  for (const Input& input : inputs_of(request, plan)) lines.push_back(fmt::format("{}: {}", input.name, input.meaning));
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return lines;
}

bool is_spot(const Plan& plan) { return plan.offer.price->purchase == catalog::Purchase::kSpot; }

bool is_committed(const Plan& plan) {
  const catalog::Purchase purchase = plan.offer.price->purchase;
  return purchase == catalog::Purchase::kOneYear || purchase == catalog::Purchase::kThreeYears;
}

bool is_served(const Request& request) { return request.work.kind == WorkKind::kServing; }

int working_gpus(const Plan& plan) { return std::max(1, (plan.gpus + plan.machines - 1) / plan.machines); }

int machine_replicas(const Plan& plan) { return std::max(1, plan.replicas / plan.machines); }

std::string_view resource(const Plan& plan) {
  return plan.offer.gpu->vendor == "AMD" ? "amd.com/gpu" : "nvidia.com/gpu";
}

}  // namespace rightsize::plan
