#include "portfolio/work_options.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/cancel.h"
#include "base/format.h"
#include "base/parse_units.h"
#include "plan/read_request.h"
#include "plan/widen.h"

namespace rightsize::portfolio {
namespace {

using plan::Plan;
using plan::Request;

class OptionMaker {
 public:
  OptionMaker(const Organisation& organisation, const market::PriceBook& book, const perf::Constants& constants)
      : organisation_(organisation), book_(book), constants_(constants) {}

  Checked<> make(Workload& w) {
    RIGHTSIZE_TRY(Request request, request_of(w));
    if (w.runs != 1 && request.work.kind == plan::WorkKind::kServing)
      return fail(Errors(bad_input("'every' is for jobs that end; a service always runs").at(w.place)));
    add_bought(request, w);
    for (std::size_t p = 0; p < organisation_.pools.size() && !cancelled(); ++p) add_pool(request, p, w);
    if (!w.options.empty()) {
      if (w.now && *w.now >= static_cast<int>(w.options.size())) w.now.reset();
      if (Result<> applied = apply_rules(organisation_, w); !applied)
        return fail(Errors(std::move(applied.error()).at(w.place)));
      return {};
    }
    return fail(Errors(bad_input(fmt::format("no GPU meets the limits of '{}'", w.name))
                           .with_hint("'rightsize recommend' with the same settings shows why each GPU was rejected")
                           .at(w.place)));
  }

 private:
  // The request at its highest rate.
  Checked<Request> request_of(const Workload& w) {
    std::vector<model::Setting> settings = w.work;
    settings.push_back({"name", w.name, w.place});
    if (!w.regions.empty()) settings.push_back({"regions", fmt::format("{}", fmt::join(w.regions, ",")), w.place});
    double most = 0;
    for (const auto& [block, rate] : w.rate_by_block)
      most = std::max(most, in_requests_per_s(*parse_request_rate(rate)));
    if (most > 0) settings.push_back({"rate", fmt::format("{:.9g}/s", most), w.place});
    Checked<Request> request = plan::read_request(settings, book_.catalog());
    if (!request) {
      for (Error& error : request.error()) {
        if (error.place.file.empty()) error.place = w.place;
      }
      return request;
    }
    request->plans_only = true;
    request->top = kPlans;
    return request;
  }

  // Recommended plans, rented for this workload alone. A plan that costs less than the first one but ranks behind it,
  // because it has no benchmark or a doubtful price, is named and not chosen.
  void add_bought(Request request, Workload& w) {
    const plan::Recommendation found = plan::recommend_widely(request, book_, constants_);
    for (const Plan& plan : found.plans) {
      const catalog::Price& price = *plan.offer.price;
      if (&plan != found.best() && !found.is_sound(plan)) {
        if (plan.cost < found.best()->cost && w.left_out.empty())
          w.left_out = fmt::format("{}x {} at {} for {}/month, {}", plan.gpus, plan.offer.gpu->name,
                                   plan.offer.machine->provider, format_usd(plan.cost * w.runs),
                                   plan.extrapolated ? "no benchmark" : "old price of one source");
        continue;
      }
      Option option;
      option.where = fmt::format("{} {} {}", plan.offer.machine->provider, plan.offer.machine->instance, price.region);
      option.region = price.region;
      option.how = price.purchase == catalog::Purchase::kSpot ? How::kSpot : How::kDedicated;
      option.gpus.assign(organisation_.blocks.size(), 0);
      option.usd = in_usd(plan.cost) * w.runs;
      option.kwh = plan.energy_kwh() * w.runs;
      option.takes = fmt::format("{}x {}", plan.gpus, plan.offer.gpu->name);
      // The request has already matched the provider's regions; it knows more names than the file's prefixes.
      if (!w.regions.empty()) option.region = w.regions.front();
      w.options.push_back(std::move(option));
    }
  }

  void add_pool(const Request& request, std::size_t pool, Workload& w) {
    const Pool& p = organisation_.pools[pool];
    if (p.gpu == nullptr) return;
    Option option = organisation_.in_pool(pool, How::kDedicated);
    if (request.work.kind == plan::WorkKind::kServing) {
      for (std::size_t b = 0; b < organisation_.blocks.size(); ++b) {
        const auto at = std::ranges::find(w.rate_by_block, organisation_.blocks[b].name,
                                          &std::pair<std::string, std::string>::first);
        if (!w.rate_by_block.empty() && at == w.rate_by_block.end()) continue;  // no traffic
        Request then = request;
        if (at != w.rate_by_block.end()) then.work.rate = *parse_request_rate(at->second);
        const Found found = fewest(then, *p.gpu);
        if (found.gpus == 0) return;
        option.gpus[b] = found.gpus;
        option.kwh += found.kwh * organisation_.blocks[b].hours / in_hours(kMonth);
      }
      w.options.push_back(std::move(option));
      return;
    }
    // Work with an amount runs once a month or as often as stated, in one block or in all, on few GPUs for a long time
    // or on many for a short time.
    option.how = How::kQueue;
    const std::size_t blocks = organisation_.blocks.size();
    for (const int gpus : {0, 1, 2, 4, 8, 16, 32}) {
      if (gpus > p.reserved + p.quota.value_or(p.gpus_per_machine)) continue;
      Request then = request;
      if (gpus > 0) then.limits.gpus = gpus;
      const Found found = fewest(then, *p.gpu);
      for (std::size_t b = 0; found.gpus > 0 && b <= blocks; ++b) {
        const bool all = b == blocks;
        const double hours = found.hours * w.runs;
        if (all ? blocks == 1 || organisation_.month_hours() < hours : organisation_.blocks[b].hours < hours) continue;
        option.kwh = found.kwh * w.runs;
        option.gpus.assign(blocks, all ? found.gpus : 0);
        if (!all) option.gpus[b] = found.gpus;
        if (std::ranges::none_of(
                w.options, [&](const Option& other) { return other.pool == option.pool && other.gpus == option.gpus; }))
          w.options.push_back(option);
      }
    }
  }

  struct Found {
    int gpus = 0;  // 0: no plan
    double hours = 0, kwh = 0;
  };
  // The use of the best plan on this GPU. Pools with the same GPU share the result.
  Found fewest(Request request, const catalog::Gpu& gpu) {
    request.filter = {.gpus = {gpu.name}, .community = true};
    request.top = 1;
    const auto key = std::pair(
        fmt::format("{} {} {}", request.name, in_requests_per_s(request.work.rate), request.limits.gpus.value_or(0)),
        gpu.name);
    if (const auto known = found_.find(key); known != found_.end()) return known->second;
    const plan::Recommendation found = plan::recommend_widely(request, book_, constants_);
    Found& made = found_[key];
    if (const Plan* best = found.best()) made = {best->gpus, in_hours(best->time.total()), best->energy_kwh()};
    return made;
  }

  static constexpr int kPlans = 6;
  const Organisation& organisation_;
  const market::PriceBook& book_;
  const perf::Constants& constants_;
  std::map<std::pair<std::string, std::string>, Found> found_;  // by workload and rate, and GPU
};

}  // namespace

Checked<> add_work_options(Organisation& organisation, const market::PriceBook& book,
                           const perf::Constants& constants) {
  OptionMaker maker(organisation, book, constants);
  Errors errors;
  for (Workload& w : organisation.workloads) {
    if (w.work.empty()) continue;
    Checked<> made = maker.make(w);
    if (!made) errors.insert(errors.end(), made.error().begin(), made.error().end());
  }
  if (!errors.empty()) return fail(std::move(errors));
  return {};
}

Checked<std::vector<RelaxedLimit>> relaxed_limits(const Organisation& organisation, const market::PriceBook& book,
                                                  const perf::Constants& constants) {
  std::vector<RelaxedLimit> made;
  for (std::size_t w = 0; w < organisation.workloads.size() && !cancelled(); ++w) {
    const Workload& workload = organisation.workloads[w];
    for (const bool deadline : {true, false}) {
      Workload relaxed = workload;
      bool any = false;
      for (model::Setting& setting : relaxed.work) {
        const bool is_slo = setting.name.ends_with("-slo");
        if (deadline ? setting.name != "deadline" : !is_slo) continue;
        const Result<Seconds> limit = parse_duration(setting.value);
        if (!limit) continue;                                    // a named day
        constexpr double kMoreSlo = 0.01, kMoreDeadline = 3600;  // seconds
        setting.value = fmt::format("{:.9g}s", in_seconds(*limit) + (deadline ? kMoreDeadline : kMoreSlo));
        any = true;
      }
      if (!any) continue;
      relaxed.options.clear();
      if (Checked<> options = OptionMaker(organisation, book, constants).make(relaxed); !options)
        return fail(options.error());
      RelaxedLimit limit{fmt::format("{}:{}", deadline ? "deadline" : "slo", workload.name), organisation};
      Workload& into = limit.organisation.workloads[w];
      into.options.insert(into.options.end(), relaxed.options.begin(), relaxed.options.end());
      if (Result<> applied = apply_rules(organisation, into); !applied)
        return fail(Errors(std::move(applied.error()).at(workload.place)));
      made.push_back(std::move(limit));
    }
  }
  return made;
}

}  // namespace rightsize::portfolio
