#include "bill/reconcile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::bill {
namespace {

// "arn:aws:ec2:us-east-1:1:instance/i-0ab" -> "i-0ab"
std::string last_part(std::string_view id) {
  const std::size_t at = id.find_last_of("/:");
  return to_lower(at == std::string_view::npos ? id : id.substr(at + 1));
}
std::string short_name(std::string_view host) { return to_lower(host.substr(0, host.find('.'))); }

// The share of a day within the window.
double share_of_day(int day, double first, double last) {
  return std::clamp(std::min(last, day + 1.0) - std::max(first, static_cast<double>(day)), 0.0, 1.0);
}

struct Sum {
  double gpu_hours = 0, usd = 0;
};

}  // namespace

Reconciliation reconcile(const Bill& bill, const std::vector<SeenHost>& fleet, double first, double last) {
  Reconciliation found;
  std::map<std::string, Sum> seen_hosts, seen_types;  // by host; by GPU
  for (const SeenHost& seen : fleet) {
    found.fleet_usd += seen.usd;
    for (Sum* sum : {&seen_hosts[short_name(seen.host)], &seen_types[seen.gpu]}) {
      sum->gpu_hours += seen.gpu_hours;
      sum->usd += seen.usd;
    }
  }
  std::map<std::string, Sum> billed_types, idle_types, silent_types;  // of all machines; of matched machines; of others
  std::set<std::string> matched;
  for (const MachineUse& use : bill.uses) {
    Sum billed;
    for (const auto& [day, amount] : use.days) {
      const double share = share_of_day(day, first, last);
      billed.gpu_hours += share * amount.hours * use.machine->gpus;
      billed.usd += share * amount.effective.amount();
    }
    if (billed.usd == 0 && billed.gpu_hours == 0) continue;
    const std::string& gpu = use.machine->gpu;
    billed_types[gpu].gpu_hours += billed.gpu_hours;
    billed_types[gpu].usd += billed.usd;
    auto host = seen_hosts.find(last_part(use.id));
    if (host == seen_hosts.end()) host = seen_hosts.find(short_name(use.name));
    if (host == seen_hosts.end()) {
      ++found.unmatched_machines;
      silent_types[gpu].gpu_hours += billed.gpu_hours;
      silent_types[gpu].usd += billed.usd;
      continue;
    }
    matched.insert(host->first);
    // Hours that are billed without a reading.
    const double missing = std::max(0.0, billed.gpu_hours - host->second.gpu_hours);
    idle_types[gpu].gpu_hours += missing;
    if (billed.gpu_hours > 0) idle_types[gpu].usd += billed.usd * missing / billed.gpu_hours;
  }
  found.matched_hosts = matched.size();
  double idle = 0, silent = 0, prices = 0, unbilled = 0, apart = 0;
  std::set<std::string> types;
  for (const auto* some : {&billed_types, &seen_types}) {
    for (const auto& [gpu, sum] : *some) types.insert(gpu);
  }
  for (const std::string& gpu : types) {
    const Sum billed = billed_types[gpu], seen = seen_types[gpu];
    found.bill_gpu_usd += billed.usd;
    if (billed.gpu_hours <= 0) {
      unbilled -= seen.usd;
      apart += billed.usd;
      continue;
    }
    const double rate = billed.usd / billed.gpu_hours;
    // If names do not match, hours beyond the observed ones belong to machines without telemetry.
    const double gap = billed.gpu_hours - seen.gpu_hours;
    const double of_matched = matched.empty() ? 0 : std::min(std::max(gap, 0.0), idle_types[gpu].gpu_hours);
    idle += of_matched * rate;
    if (gap > 0)
      silent += (gap - of_matched) * rate;
    else
      unbilled += gap * rate;
    prices += seen.gpu_hours * rate - seen.usd;
  }
  double unused = 0;
  for (const Commitment& commitment : bill.commitments) unused += commitment.unused.amount();
  const int days = bill.last_day - bill.first_day + 1;
  // The part of the bill's days that the window covers.
  const double covered = std::min(last, bill.last_day + 1.0) - std::max(first, static_cast<double>(bill.first_day));
  const double window_share = days > 0 ? std::clamp(covered / days, 0.0, 1.0) : 0;
  found.overlaps = window_share > 0;
  unused *= window_share;
  found.bill_gpu_usd += unused;
  Money listed;
  for (const MachineUse& use : bill.uses) {
    for (const auto& [day, amount] : use.days) listed += amount.effective;
  }
  const double unlisted = (bill.gpu - listed).amount() * window_share;
  apart += unlisted;
  found.bill_gpu_usd += unlisted;
  const auto add = [&](double amount, std::string what, std::string why) {
    if (std::abs(amount) >= 0.005) found.parts.push_back({std::move(what), std::move(why), amount});
  };
  add(prices, "price", "the bill's effective prices instead of the fleet's");
  add(idle, "idle-nodes", "billed hours of known hosts in which no GPU reported");
  add(silent, "no-telemetry", fmt::format("GPU machines without telemetry ({} on the bill)", found.unmatched_machines));
  add(unused, "commitments-unused", "commitments that covered no usage");
  add(apart, "no-machine", "GPU charges without a machine or without hours");
  add(unbilled, "not-billed", "GPU-hours with telemetry that this bill does not have");
  std::ranges::stable_sort(found.parts,
                           [](const Difference& a, const Difference& b) { return std::abs(a.usd) > std::abs(b.usd); });
  for (const auto& [service, money] : bill.services) {
    if (const double amount = money.amount() * window_share; std::abs(amount) >= 0.005)
      found.beside.push_back({service, "usage of other services", amount});
  }
  for (const auto& [category, costs] : bill.categories) {
    if (category == Category::kUsage || category == Category::kPurchase) continue;
    if (const double amount = costs.effective.amount() * window_share; std::abs(amount) >= 0.005)
      found.beside.push_back({std::string(name_of(category)), "charged on the bill as a whole", amount});
  }
  // Charges that name no machine cannot be compared with telemetry.
  found.explained = found.bill_gpu_usd > 0 ? std::max(0.0, 1 - std::abs(apart) / found.bill_gpu_usd) : 0;
  return found;
}

}  // namespace rightsize::bill
