#include "live_service/right_size.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/format.h"
#include "base/threads.h"
#include "capacity/planner.h"
#include "plan/read_request.h"
#include "plan/search_serving.h"
#include "plan/widen.h"

namespace rightsize::live_service {
namespace {

using capacity::Quantity;

class Sizing {
 public:
  Sizing(const ServiceReading& reading, const Description& d, const ServedModel& model,
         const perf::Constants& constants, const market::PriceBook& book, const SizeOptions& options)
      : reading_(reading), d_(d), model_(model), constants_(constants), book_(book), options_(options) {}

  Result<RightSize> run() {
    RIGHTSIZE_TRY(plan::Request request, take_traffic({}));
    compare_with_measured();
    if (!options_.what_if.as_it_is()) {
      RIGHTSIZE_TRY(request, take_traffic(options_.what_if));
    }
    for (const capacity::Slo& slo : options_.slos) limit(request, slo);
    if (options_.slos.empty()) hold_today(request);
    set_service(request);
    if (result_.traffic.lengths_assumed)
      result_.notes.emplace_back(
          "the engine publishes no histogram of lengths; they are assumed to vary as in public traces");
    request.plans_only = options_.plans_only;
    plan::Recommendation moves;
    for_each_index(2, 2, [&](std::size_t i) {
      if (i == 0)
        moves = plan::recommend_widely(request, book_, constants_);
      else if (d_.gpu != nullptr)
        size_here();
    });
    for (const plan::Plan& one : moves.plans) add_move(one);
    request.plans_only = false;
    ttft_ = tpot_ = {};
    for (const capacity::Slo& slo : options_.slos.empty() ? result_.held : options_.slos) limit(request, slo);
    result_.request = std::move(request);
    result_.unexplained = unexplained();
    choose();
    return std::move(result_);
  }

 private:
  // A replica on the current GPUs.
  struct CurrentGpus {
    capacity::Replica replica;
    int tensor = 1;
  };

  // The measured latency of the current replicas over the simulated one, if they contradict each other, and the ends of
  // its bucket relative to it. Every plan is slower or faster by this factor.
  struct Slowdown {
    double factor = 1;
    perf::Interval bucket = {1, 1};
  };
  const Slowdown& slowdown(Quantity quantity) const { return quantity == Quantity::kTpot ? tpot_ : ttft_; }

  Result<plan::Request> take_traffic(const WhatIf& what_if) {
    std::optional<PeakTraffic> traffic = peak_traffic(reading_, d_, what_if);
    if (!traffic)
      return fail(bad_input("the engine publishes no requests or no lengths, so there is nothing to plan for"));
    result_.traffic = *std::move(traffic);
    if (Result<> fits = check_lengths(); !fits) return fail(std::move(fits).error());
    RIGHTSIZE_TRY(plan::Request request, make_request());
    set_service(request);
    return request;
  }

  bool missed(Quantity quantity) const {
    return std::any_of(d_.slos.begin(), d_.slos.end(),
                       [&](const SloVerdict& v) { return v.slo.quantity == quantity && v.kept == false; });
  }

  // Whether the service meets an SLO that its simulation misses.
  bool surely_kept(Quantity quantity, Seconds simulated) const {
    return std::any_of(d_.slos.begin(), d_.slos.end(), [&](const SloVerdict& v) {
      return v.slo.quantity == quantity && v.kept == true && v.sure && simulated > v.slo.limit;
    });
  }

  // Traffic as it is. Differences within the interval of the speed model are not a slowdown, unless they decide an SLO.
  void compare_with_measured() {
    if (d_.gpu == nullptr || options_.what_if.other_model) return;
    const Result<capacity::Replica> today = replica_of(d_.gpus_per_replica);
    if (!today) return;
    as_is_ = assess(capacity::Planner(service_, {*today}));
    if (!as_is_) return;
    const auto compare = [&](Quantity quantity, const Percentiles& spread, bool comparable) -> Slowdown {
      constexpr double kMost = 4;  // beyond that, something else slows the service down
      const double simulated = in_seconds(as_is_->value(quantity, options_.percentile));
      const std::optional<Quantile> shown = quantile(spread);
      if (!shown || !(simulated > 0)) return {};
      const bool outside = comparable && shown->low > simulated * today->interval.high;
      const double value = std::isfinite(shown->value) ? shown->value : shown->low;
      const bool slower = (outside || missed(quantity)) && value > simulated;
      if (!slower && !surely_kept(quantity, seconds(simulated))) return {};
      const double factor = std::clamp(value / simulated, 1 / kMost, kMost);
      result_.notes.push_back(
          fmt::format("the measured {} {} is {}, the simulated one {}: the {} of every plan is multiplied by {}{}",
                      capacity::name_of(options_.percentile), capacity::name_of(quantity),
                      format_duration(seconds(value)), format_duration(seconds(simulated)), capacity::name_of(quantity),
                      format_number(factor, 3), factor < kMost ? "" : ", the maximum"));
      return {factor, {shown->low / value, std::isfinite(shown->high) ? shown->high / value : 1}};
    };
    ttft_ = compare(Quantity::kTtft, d_.ttft, true);
    tpot_ = compare(Quantity::kTpot, d_.tpot, d_.tpot_source == Signal::kTpot);
  }

  // Replicas of the current layout that were measured to miss an SLO, at this load or less.
  int too_few() const {
    const WhatIf& w = options_.what_if;
    if (w.other_model || w.traffic < 1 || w.isl < 1 || w.osl < 1) return 0;
    if (!missed(Quantity::kTtft) && !missed(Quantity::kTpot)) return 0;
    return std::max(1, static_cast<int>(reading_.replica_seconds / reading_.seconds() + 0.1));
  }

  // Longer prompts and answers must fit the model's context. Otherwise no engine would accept them.
  Result<> check_lengths() const {
    const double tokens = result_.traffic.isl + result_.traffic.osl;
    const auto context = static_cast<double>(model_.shape.context);
    if (context <= 0 || tokens <= context) return {};
    return fail(bad_input(fmt::format("requests of {} tokens on average exceed the context of {}: {} tokens",
                                      format_count(tokens), model_.name, format_count(context)))
                    .with_hint("use a smaller --longer-prompts or --longer-answers, or --other-model"));
  }

  model::Job job() const {
    model::Job job = job_of(reading_, d_, model_, 1);
    job.serve.prefix_hit = 0;  // the prompts of the trace exclude cached prefixes
    job.serve.isl = std::max<std::int64_t>(1, std::llround(result_.traffic.isl));
    job.serve.osl = std::max<std::int64_t>(1, std::llround(result_.traffic.osl));
    return job;
  }

  void set_service(const plan::Request& request) {
    service_ = plan::service_of(request, perf::work_of(model_.shape), result_.traffic.requests_per_second);
    service_.one_to_spare = spare();
  }

  // Plans are simulated, so they have to meet the limit for simulated times.
  void limit(plan::Request& request, const capacity::Slo& slo) const {
    (slo.quantity == Quantity::kTpot ? request.limits.tpot : request.limits.ttft) =
        slo.limit * (1 / slowdown(slo.quantity).factor);
  }

  // Without SLOs, no plan may be slower than today: as measured, or as simulated for this traffic if that is slower.
  void hold_today(plan::Request& request) {
    constexpr double kNoticed = 1.05;  // smaller differences between two simulations are noise
    const std::optional<capacity::Assessment> now = options_.what_if.as_it_is() ? as_is_ : std::nullopt;
    const auto hold = [&](Quantity quantity, const Percentiles& spread, bool comparable) {
      std::optional<Seconds> most;
      if (now) most = now->value(quantity, options_.percentile) * (kNoticed * slowdown(quantity).factor);
      if (const auto shown = measured(spread); shown && (comparable || !most))
        most = most ? std::max(*most, *shown) : shown;
      if (!most || !std::isfinite(in_seconds(*most)) || !(*most > Seconds{})) return;
      result_.held.push_back({quantity, options_.percentile, *most});
      limit(request, result_.held.back());
    };
    hold(Quantity::kTtft, d_.ttft, true);
    hold(Quantity::kTpot, d_.tpot, d_.tpot_source == Signal::kTpot);  // single gaps vary more than their mean
  }

  // At the percentile of the SLOs; not set if the histogram does not cover it.
  std::optional<Quantile> quantile(const Percentiles& spread) const {
    return options_.percentile == capacity::Statistic::kP50   ? spread.p50
           : options_.percentile == capacity::Statistic::kP95 ? spread.p95
           : options_.percentile == capacity::Statistic::kP99 ? spread.p99
                                                              : std::nullopt;
  }
  std::optional<Seconds> measured(const Percentiles& spread) const {
    const std::optional<Quantile> q = quantile(spread);
    return q && std::isfinite(q->value) ? std::optional(seconds(q->value)) : std::nullopt;
  }

  Result<capacity::Replica> replica_of(int tensor) const {
    const perf::ModelWork work = perf::work_of(model_.shape);
    model::Job as = job();
    as.parallel.tensor = tensor;
    return capacity::token_replica({constants_, model_.shape, work}, as, *d_.gpu, perf::gpu_speed(constants_, *d_.gpu),
                                   perf::default_cluster(*d_.gpu));
  }

  // On the current GPUs: the fewest replicas that meet the SLOs, the fewest in each hour, and fewer GPUs per replica.
  void size_here() {
    Result<capacity::Replica> today = replica_of(d_.gpus_per_replica);
    if (!today) {
      result_.notes.push_back(fmt::format("the current GPUs cannot be planned for: {}", today.error().message));
      return;
    }
    const CurrentGpus here{*std::move(today), d_.gpus_per_replica};
    const capacity::Planner planner(service_, {here.replica});
    assess_today(planner);
    if (!d_.price) return;
    const std::optional<capacity::Assessment> found = fewest(planner, 4096, too_few() + 1);
    if (kept_today() && (!found || found->configuration.replicas() > replicas_today())) {
      add_today(here);
    } else if (found) {
      add_here(SizeChange::kReplicas, here, *found, found->configuration.replicas());
      add_schedule(here, *found);
    } else {
      result_.notes.push_back(fmt::format("no number of replicas on {} meets the SLOs", d_.gpu->name));
    }
    if (found) compare_cache(here, found->configuration.replicas());
    for (int tensor = d_.gpus_per_replica / 2; tensor >= 1; tensor /= 2) {
      Result<capacity::Replica> narrower = replica_of(tensor);
      if (!narrower) break;  // the model does not fit
      const CurrentGpus as{*std::move(narrower), tensor};
      if (const auto fit = fewest(capacity::Planner(service_, {as.replica}), 4096))
        add_here(SizeChange::kLayout, as, *fit, fit->configuration.replicas());
    }
  }

  // The counters of an engine do not show the hits of a cache of another size; a trace does ('rightsize cache').
  void compare_cache(const CurrentGpus& here, int replicas) {
    if (!d_.prefix_hit || replicas < 2) return;
    auto trace = std::make_shared<sim::Trace>(*sim::trace_of(service_.arrivals));
    trace->arrivals.change([](sim::Arrival& arrival) { arrival.size = std::max(1, arrival.size / 2); });
    capacity::Service fewer_tokens = service_;
    fewer_tokens.arrivals = std::shared_ptr<const sim::Trace>(std::move(trace));
    if (const auto found = fewest(capacity::Planner(fewer_tokens, {here.replica}), replicas))
      result_.larger_cache = {(1 + *d_.prefix_hit) / 2,
                              (replicas - found->configuration.replicas()) * d_.gpus_per_replica};
  }

  // A service with more than one replica should survive the loss of one, as in the plans of `recommend`.
  bool spare() const { return reading_.most_replicas > 1; }

  std::optional<capacity::Assessment> fewest(const capacity::Planner& planner, int most, int least = 1) const {
    return planner.fewest(0, {.step = 1, .most = most, .at_least = std::max(least, spare() ? 2 : 1)});
  }

  // Measured compliance takes precedence over the simulation, which has only approximate request lengths.
  bool kept_today() const {
    return options_.what_if.as_it_is() && result_.as_is && !(d_.slos.empty() && result_.held.empty()) &&
           std::all_of(d_.slos.begin(), d_.slos.end(), [](const SloVerdict& v) { return v.kept == true && v.sure; });
  }

  void add_today(const CurrentGpus& here) {
    SizedPlan& p = add_here(SizeChange::kReplicas, here, *result_.as_is, replicas_today());
    p.ttft = measured(d_.ttft).value_or(p.ttft), p.tpot = measured(d_.tpot).value_or(p.tpot);
    if (!result_.held.empty()) return;
    result_.notes.emplace_back(
        "the current replicas meet the SLOs by measurement; the simulation alone would need more");
  }

  int replicas_today() const { return std::max({1, d_.replicas, replicas_at_peak()}); }

  void assess_today(const capacity::Planner& planner) {
    const double most_rate = planner.capacity(today()) * capacity::kMostLoad;
    result_.headroom = std::clamp(1 - d_.peak_hour * options_.what_if.traffic / most_rate, 0.0, 1.0);
    result_.as_is = options_.what_if.as_it_is() ? as_is_ : assess(planner);
  }

  capacity::Configuration today() const {
    capacity::Configuration today;
    today.groups = {{0, replicas_today()}};
    return today;
  }

  std::optional<capacity::Assessment> assess(const capacity::Planner& planner) const {
    return planner.assess(today(), {30'000, 1});
  }

  int replicas_at_peak() const {
    const auto hour = static_cast<std::size_t>((d_.peak_hour_begin - reading_.from) / 3600);
    return hour < reading_.hours.size() ? static_cast<int>(std::lround(reading_.hours[hour].replicas)) : 0;
  }

  SizedPlan& add_here(SizeChange kind, const CurrentGpus& here, const capacity::Assessment& found,
                      double mean_replicas) {
    SizedPlan p;
    p.kind = kind;
    p.gpu = d_.gpu;
    p.tensor = here.tensor;
    p.replicas = found.configuration.replicas();
    p.gpus = p.replicas * p.tensor;
    p.precision = model_.precision;
    p.ttft = found.tested(Quantity::kTtft, options_.percentile) * ttft_.factor;
    p.tpot = found.tested(Quantity::kTpot, options_.percentile) * tpot_.factor;
    p.load = found.load;
    p.running = found.profile.mean_batch;
    p.sequences = found.configuration.engine.max_sequences;
    p.token_budget = found.configuration.engine.token_budget;
    p.month = d_.price->rate * gpus(mean_replicas * here.tensor) * kMonth;
    p.interval = here.replica.interval;
    p.speed = widened(here.replica.interval);
    p.price_source = d_.price->source();
    result_.plans.push_back(std::move(p));
    return result_.plans.back();
  }

  // The fewest replicas at several shares of the peak traffic. Every hour uses the share above its own rate and that of
  // the next hour: replicas must be up before they are needed.
  void add_schedule(const CurrentGpus& here, const capacity::Assessment& peak) {
    constexpr double kShares[] = {0.2, 0.4, 0.6, 0.8};
    const int most = peak.configuration.replicas();
    if (most < 2 || !(d_.peak_hour > 0)) return;
    std::vector<std::pair<double, int>> needs;
    for (double share : kShares) {
      capacity::Service thinner = service_;
      thinner.arrivals = sim::scaled(service_.arrivals, share);
      const auto found = fewest(capacity::Planner(thinner, {here.replica}), most);
      needs.emplace_back(share, found ? found->configuration.replicas() : most);
    }
    const auto need = [&](double rate) {
      for (const auto& [share, replicas] : needs) {
        if (rate <= share * d_.peak_hour) return replicas;
      }
      return most;
    };
    std::array<int, 24> schedule{};
    double sum = 0;
    for (std::size_t h = 0; h < 24; ++h) {
      const double rate = std::max(worst_of_hour(h), worst_of_hour((h + 1) % 24));
      schedule[h] = need(rate);
      sum += schedule[h];
    }
    if (sum >= 24.0 * most) return;
    add_here(SizeChange::kSchedule, here, peak, sum / 24).schedule = schedule;
  }

  // The highest rate in this hour of the day within the window.
  double worst_of_hour(std::size_t of_day) const {
    double worst = 0;
    for (std::size_t h = 0; h < reading_.hours.size(); ++h) {
      const double begin = reading_.from / 3600 + static_cast<double>(h);
      if (static_cast<std::size_t>(std::fmod(begin, 24)) == of_day)
        worst = std::max(worst, reading_.hours[h].requests / 3600);
    }
    return worst;
  }

  // The same work as a request to `recommend`. Only the user's own settings are read as text.
  Result<plan::Request> make_request() const {
    const model::Job as = job();
    std::vector<model::Setting> settings = {
        {"model", model_.name, {}}, {"job", "serve", {}}, {"stack", std::string(model::name_of(as.stack)), {}}};
    const auto given = [&](std::string_view name) {
      return std::any_of(options_.settings.begin(), options_.settings.end(),
                         [&](const model::Setting& s) { return s.name == name; });
    };
    if (!given("precision")) settings.push_back({"precision", std::string(model::name_of(as.precision)), {}});
    settings.insert(settings.end(), options_.settings.begin(), options_.settings.end());
    Checked<plan::Request> request = plan::read_request(settings, book_.catalog());
    if (!request) return fail(std::move(request).error().front());
    request->name = reading_.name();
    request->job.serve.isl = as.serve.isl, request->job.serve.osl = as.serve.osl;
    request->lengths_assumed = false;
    request->work.rate = requests_per_s(result_.traffic.requests_per_second);
    request->work.trace = result_.traffic.trace;
    request->top = options_.top;
    request->limits.slo_percentile = options_.percentile;
    if (!given("allow-single")) request->limits.allow_single = !spare();
    // Only changes that an operator can make today: other layouts are a different architecture, and not every engine
    // supports them.
    if (!given("pp")) request->choices.pipeline = {1};
    request->choices.separate = false;
    return *std::move(request);
  }

  perf::Interval widened(const perf::Interval& speed) const {
    return {speed.low * std::min(ttft_.bucket.low, tpot_.bucket.low),
            speed.high * std::max(ttft_.bucket.high, tpot_.bucket.high)};
  }

  void add_move(const plan::Plan& one) {
    const bool same = one.offer.gpu == d_.gpu && one.job.parallel.tensor == d_.gpus_per_replica &&
                      one.job.precision == model_.precision;
    if (same && one.replicas <= too_few()) return;
    SizedPlan p;
    p.kind = SizeChange::kMove;
    p.gpu = one.offer.gpu;
    p.replicas = one.replicas, p.gpus = one.gpus, p.tensor = one.job.parallel.tensor;
    p.precision = one.job.precision;
    p.ttft = one.ttft * ttft_.factor, p.tpot = one.tpot * tpot_.factor;
    p.load = one.load, p.running = one.running;
    p.sequences = one.sequences, p.token_budget = one.token_budget;
    p.month = one.cost;
    if (one.cost > Usd{}) p.interval = {one.cost_low / one.cost, one.cost_high / one.cost};
    p.speed = widened(one.speed);
    p.price_source = market::describe(one.offer);
    p.move = one;
    result_.plans.push_back(std::move(p));
  }

  // If a service is slower than its traffic explains, it was busier than its metrics show: requests still wait, they
  // arrived in bursts between two scrapes, or something else slows it down. A plan for the counted traffic would make
  // it worse.
  std::string unexplained() const {
    const auto running = reading_.gauge(Signal::kRunning), waiting = reading_.gauge(Signal::kWaiting);
    if (running && waiting && waiting->mean > std::max(1.0, running->mean)) {
      return fmt::format(
          "{} requests wait on average while {} run, so the measured rate is the capacity of the service, not its "
          "demand",
          format_number(waiting->mean, 3), format_number(running->mean, 3));
    }
    if (!result_.as_is) return "";
    const auto slower = [](const std::optional<Quantile>& shows, Seconds expected) {
      return shows && shows->low > 2 * in_seconds(expected) + 0.05;
    };
    const Seconds ttft = result_.as_is->value(Quantity::kTtft, capacity::Statistic::kP95),
                  tpot = result_.as_is->value(Quantity::kTpot, capacity::Statistic::kP95);
    if (slower(d_.ttft.p95, ttft)) {
      return fmt::format("p95 TTFT is over {}, but the simulation of this traffic gives {}",
                         format_duration(seconds(d_.ttft.p95->low)), format_duration(ttft));
    }
    if (slower(d_.tpot.p50, tpot)) {
      return fmt::format("the median TPOT is over {}, but the simulation of this traffic gives a p95 of {}",
                         format_duration(seconds(d_.tpot.p50->low)), format_duration(tpot));
    }
    return "";
  }

  void choose() {
    std::vector<SizedPlan>& plans = result_.plans;
    std::stable_sort(plans.begin(), plans.end(),
                     [](const SizedPlan& a, const SizedPlan& b) { return a.month < b.month; });
    // At the user's own price, machines of different providers with the same GPUs are the same plan.
    const auto same = [](const SizedPlan& a, const SizedPlan& b) {
      return a.gpu == b.gpu && a.tensor == b.tensor && a.replicas == b.replicas && a.precision == b.precision &&
             a.schedule == b.schedule && format_usd(a.month) == format_usd(b.month);
    };
    plans.erase(std::unique(plans.begin(), plans.end(), same), plans.end());
    // Savings below 1 % do not justify a change.
    const auto saves = [&](const SizedPlan& p) { return !d_.month || p.month < *d_.month * 0.99; };
    if (!result_.unexplained.empty()) return;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (!saves(plans[i])) continue;
      if (!result_.best) result_.best = i;
      if (!result_.first_change && plans[i].kind != SizeChange::kMove) result_.first_change = i;
    }
  }

  const ServiceReading& reading_;
  const Description& d_;
  const ServedModel& model_;
  const perf::Constants& constants_;
  const market::PriceBook& book_;
  const SizeOptions& options_;
  capacity::Service service_;
  std::optional<capacity::Assessment> as_is_;  // the current replicas with their own traffic
  Slowdown ttft_, tpot_;
  RightSize result_;
};

}  // namespace

std::string_view name_of(SizeChange kind) {
  constexpr std::array<std::string_view, 4> kNames = {"replicas", "schedule", "layout", "move"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<RightSize> right_size(const ServiceReading& reading, const Description& description, const ServedModel& model,
                             const std::optional<LearnedSpeed>& learned, const perf::Constants& constants,
                             const market::PriceBook& book, const SizeOptions& options) {
  return Sizing(reading, description, model, learned ? learned->constants : constants, book, options).run();
}

}  // namespace rightsize::live_service
