#include "rightsize/decisions/review.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/format.h"
#include "base/located_json.h"
#include "plan/plan.h"
#include "plan/read_request.h"
#include "rightsize/decisions/words.h"

namespace rightsize::app {
namespace {

using decisions::Decision;
using decisions::Sample;

std::string name_of(const Decision& decision) {
  return fmt::format("{} ({})", decisions::label(decision.summary.id), decision.summary.workload);
}

// The list price of one machine when it was decided.
std::optional<double> old_price(const Decision& decision) {
  const Checked<LocatedJson> plan = LocatedJson::parse("plan", decision.plan);
  const JsonMember* chosen = plan ? plan->root().find("plan") : nullptr;
  const JsonMember* price = chosen == nullptr ? nullptr : chosen->value.find("list_usd_per_machine_hour");
  if (price != nullptr && price->value.type == JsonType::kNumber) return price->value.number;
  return std::nullopt;
}

std::optional<market::MachineQuote> price_today(const Decision& decision, const market::PriceBook& book) {
  const decisions::Choice& choice = decision.summary.choice;
  const catalog::Machine* machine = book.catalog().find_machine(choice.provider, choice.instance);
  const std::optional<catalog::Purchase> purchase = catalog::parse_purchase(choice.purchase);
  if (machine == nullptr || !purchase) return std::nullopt;
  return book.list_price(*machine, *purchase, choice.region);
}

double mean_of(const double* begin, const double* end) {
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

// What the chosen machines cost today for the same work: the predicted amount at the new price.
std::optional<Usd> cost_today(const Decision& decision, const market::PriceBook& book) {
  if (!decision.cost) return std::nullopt;
  const std::optional<double> old = old_price(decision);
  const std::optional<market::MachineQuote> now = price_today(decision, book);
  if (!old || !now || *old <= 0) return decision.cost->likely;
  return decision.cost->likely * (in_usd_per_machine_hour(now->rate) / *old);
}

}  // namespace

void review_price(const Decision& decision, const catalog::Catalog& catalog, const ReviewLimits& limits,
                  Review& review) {
  const market::PriceBook book(catalog);
  const std::optional<double> old = old_price(decision);
  const std::optional<market::MachineQuote> now = price_today(decision, book);
  if (!old || *old <= 0) return;
  if (!now) {
    review.alerts.push_back({"price",
                             decision.summary,
                             fmt::format("{}: the catalogue has no price of {} on these terms any more",
                                         name_of(decision), decision.summary.choice.instance),
                             {}});
    return;
  }
  const double price = in_usd_per_machine_hour(now->rate), change = price / *old - 1;
  if (std::abs(change) < limits.price_change) return;
  review.alerts.push_back({"price",
                           decision.summary,
                           fmt::format("{}: {} costs {}/h, {}/h when it was decided ({:+.1f} %)", name_of(decision),
                                       decision.summary.choice.instance, format_usd_per_hour(price),
                                       format_usd_per_hour(*old), change * 100),
                           {}});
}

void review_use(const Decision& decision, const std::vector<Sample>& samples, const ReviewLimits& limits,
                Review& review) {
  constexpr std::size_t kRecent = 20;
  const auto alert = [&](std::string_view what, double was, const char* basis, double is) {
    if (std::abs(is - was) < limits.drift) return;
    review.alerts.push_back(
        {"utilization",
         decision.summary,
         fmt::format("{}: {} is {}, {} {}", name_of(decision), what, format_percent(Ratio::fraction(is)),
                     format_percent(Ratio::fraction(was)), basis),
         {}});
  };
  const std::vector<double> load = values_of(samples, decisions::kUtilization);
  const decisions::Prediction* predicted = decision.find(decisions::kUtilization);
  if (!load.empty() && predicted != nullptr) {
    const std::size_t some = std::min(kRecent, load.size());
    alert("utilization", predicted->value.likely, "predicted",
          mean_of(load.data() + load.size() - some, load.data() + load.size()));
  }
  // GPU utilization is not predicted: the latest readings against the first.
  const std::vector<double> busy = values_of(samples, decisions::kGpuUtil);
  if (busy.size() < 2 * kRecent) return;
  alert("GPU utilization", mean_of(busy.data(), busy.data() + kRecent), "when it was first measured",
        mean_of(busy.data() + busy.size() - kRecent, busy.data() + busy.size()));
}

void review_choice(const Decision& decision, const catalog::Catalog& catalog, const perf::Constants& constants,
                   const ReviewLimits& limits, Review& review) {
  const auto skip = [&](const std::string& why) {
    review.not_asked_again.push_back(fmt::format("{}: {}", name_of(decision), why));
  };
  if (decision.request.empty()) return skip("the plan does not say what was asked");
  std::vector<model::Setting> settings;
  for (const auto& [name, value] : decision.request) settings.push_back({name, value, {}});
  const Checked<plan::Request> request = plan::read_request(settings, catalog);
  if (!request) return skip(request.error().front().message);
  catalog::Catalog own = catalog;
  for (const market::OwnHardware& mine : request->own) {
    if (Result<> added = market::add_own_hardware(own, mine); !added) return skip(added.error().message);
  }
  const market::PriceBook book(own, request->prices);
  const plan::Recommendation found = plan::recommend(*request, book, constants);
  const std::optional<Usd> today = cost_today(decision, book);
  if (found.plans.empty() || !today) return skip("no plan is feasible today");
  const plan::Plan& best = found.plans.front();
  const double share = 1 - best.cost / *today;
  if (share < limits.cheaper) return;
  const decisions::Choice& choice = decision.summary.choice;
  const bool same = best.offer.gpu->name == choice.gpu && best.offer.machine->instance == choice.instance;
  const Usd saving = *today - best.cost;
  review.alerts.push_back(
      {"cheaper", decision.summary,
       fmt::format("{}: {} x {} ({} x {} at {}, {}) would cost {}, {:.0f} % less than {}{}", name_of(decision),
                   best.gpus, best.offer.gpu->name, best.machines, best.offer.machine->instance,
                   best.offer.machine->provider, catalog::name_of(best.offer.price->purchase),
                   show_cost(best.cost, decision.summary.per), share * 100, show_cost(*today, decision.summary.per),
                   same ? " (the same machines, other settings)" : ""),
       saving});
}

}  // namespace rightsize::app
