#include "rightsize/recommend/terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/format.h"
#include "plan/candidates.h"
#include "plan/layouts.h"
#include "plan/stored_data.h"
#include "rightsize/input/availability.h"
#include "rightsize/recommend/own.h"
#include "rightsize/recommend/risks.h"
#include "rightsize/recommend/words.h"

namespace rightsize::app {
namespace {

using catalog::Purchase;
using plan::WorkKind;

std::string place_of(const market::Offer& offer) {
  const std::string& region = offer.price->region;
  std::string place = region == "any" ? "" : " " + region;
  if (!offer.price->zone.empty()) place += fmt::format(" ({})", offer.price->zone);
  return place;
}

// A smaller saving is not worth mentioning: prices move by more before the job is done.
constexpr double kWorthIt = 0.97;

// The same machines for a month at spot prices.
std::string spot_service(const plan::Request& request, const plan::Plan& plan) {
  if (!plan.spot) return {};
  const market::PriceOutlook& price = plan.spot->price;
  const auto month = [&](UsdPerMachineSecond rate) { return rate * machines(plan.machines) * plan.time.total(); };
  return fmt::format(
      "Spot: the same machines in{} for {}/month ({} to {}), {}; expect {} ({} machine{} x {}/h); {}.",
      place_of(plan.spot->offer), format_usd(month(price.likely)), format_usd(month(price.low)),
      format_usd(month(price.high)), compare(month(price.likely) / plan.cost),
      interruptions_in_words(in_hours(kMonth) * plan.machines * request.assumptions.spot_interruptions_per_hour) +
          " per month",
      plan.machines, plan.machines == 1 ? "" : "s", format_number(request.assumptions.spot_interruptions_per_hour),
      describe_evidence(price));
}

std::string spot_sentence(const plan::Request& request, const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  const bool paid_already = !(first.cost > Usd{}) || !first.draws.empty();
  if (first.offer.price->purchase != Purchase::kOnDemand || paid_already) return {};
  if (request.work.kind == WorkKind::kServing) return spot_service(request, first);
  const auto change = std::find_if(found.changes.begin(), found.changes.end(), [](const plan::RequestChange& c) {
    return c.kind == plan::RequestChangeKind::kSpot;
  });
  if (change == found.changes.end()) return {};
  const plan::Plan& spot = change->plan;
  const double ratio = spot.cost / first.cost;
  if (ratio > kWorthIt)
    return ratio < 1 ? fmt::format("Spot would save only {} ({}): not worth the interruptions.",
                                   format_percent(Ratio::fraction(1 - ratio)), format_usd(spot.cost))
                     : fmt::format("Spot would not be cheaper (likely {}).", format_usd(spot.cost));
  return fmt::format("Spot: {}{}, {} in {}, {}; {}; {}.", describe_order(spot.offer, spot.machines),
                     place_of(spot.offer), describe_cost(request, spot), format_duration(spot.time.total()),
                     compare(ratio), interruptions_in_words(spot.expected_interruptions(request.assumptions)),
                     describe_evidence(spot.price));
}

std::string spend_sentence(const plan::Request& request, const plan::Plan& plan) {
  if (plan.draws.empty()) return {};
  std::string text = "Committed spend:";
  for (const market::Draw& draw : plan.draws)
    text += fmt::format("{} {}{} from {}", text.ends_with(':') ? "" : ",", format_usd(draw.amount),
                        request.work.kind == plan::WorkKind::kServing ? "/month" : "", market::describe(*draw.from));
  return text + fmt::format("; new money: {}.", format_usd(plan.cost - market::sum_of(plan.draws)));
}

std::string commitment_sentence(const plan::Request& request, const plan::Plan& plan) {
  if (plan.offer.is_own() || is_short_for(request, plan, kYear)) return {};
  if (plan.commitments.empty())
    return plan.offer.price->purchase == Purchase::kOnDemand
               ? fmt::format("No reserved price on file for {} from {}.", plan.offer.machine->instance,
                             plan.offer.machine->provider)
               : std::string();
  std::string text = "Commitment:";
  for (const plan::Commitment& c : plan.commitments) {
    text += fmt::format("{} {} costs {} in total", text.ends_with(':') ? "" : ";",
                        catalog::name_of(c.offer.price->purchase), format_usd(c.total));
    if (c.break_even > 0)
      text +=
          fmt::format(", cheaper than on demand above {} utilization", format_percent(Ratio::fraction(c.break_even)));
  }
  return text + ".";
}

std::string quota_sentence(const plan::Plan& plan) {
  if (plan.offer.is_own() || !plan.quota) return {};
  const char* unit = plan.quota->vcpus ? "vCPUs" : plan.quota->amount == 1 ? "GPU" : "GPUs";
  const std::string& region = plan.offer.price->region;
  return fmt::format("Quota needed: {} {} of \"{}\" ({}){}.", format_count(plan.quota->amount), unit, plan.quota->name,
                     plan.quota->code, region == "any" ? "" : " in " + region);
}

// Published availability of the machines, and what to order if there are none.
std::string availability_sentence(const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  std::string text = availability_words(first.offer, found.availability);
  if (const plan::Plan* other = text.empty() ? nullptr : found.fallback())
    text += fmt::format(" Fallback: {}, {}{}.", describe_machines(*other), compare(other->cost / first.cost),
                        other->cost < first.cost * 0.995 ? " (ranks lower)" : "");
  return text;
}

std::string basis_caveat(const plan::Plan& plan) {
  if (plan.benchmarked && !plan.extrapolated) return {};
  return plan.extrapolated || plan.relative.empty()
             ? fmt::format("no benchmark of {}: its speed is extrapolated from its data sheet", plan.offer.gpu->name)
             : fmt::format("no benchmark of {}: its speed is transferred from {}", plan.offer.gpu->name, plan.relative);
}

std::string tight_memory(const plan::Request& request, const plan::Plan& plan) {
  constexpr double kTight = 0.95;
  // An engine that generates text takes what memory there is for its cache.
  const bool grows = request.work.kind == WorkKind::kTraining || answers_at_once(request);
  if (!grows || request.work.is_measured() || plan.memory.high <= plan.fit.capacity * kTight) return {};
  const model::TrainSettings& train = plan.job.train;
  const bool whole_loss = request.work.kind == WorkKind::kTraining && request.model.image_size == 0 &&
                          train.cross_entropy == model::CrossEntropy::kEager &&
                          !train.preference;  // no trainer computes that of pairs in chunks
  return fmt::format("memory is tight, {} of {} at the high end{}", format_bytes(plan.memory.high),
                     format_bytes(plan.fit.capacity), whole_loss ? " (--cross-entropy chunked needs less)" : "");
}

// What the GPUs of a request without a rate can serve.
std::string rate_sentence(const plan::Request& request, const plan::Plan& plan) {
  if (request.work.kind != WorkKind::kServing || request.work.rate > RequestsPerSecond{}) return {};
  const plan::PlanLimits& limits = request.limits;
  const bool one = plan.gpus == 1, limited = limits.ttft || limits.tpot || limits.latency;
  std::string text =
      fmt::format("{} GPU{} serve{} up to {} requests/s ({} {}/s){}.", plan.gpus, one ? "" : "s", one ? "s" : "",
                  format_number(plan.requests_per_second, 3), format_count(std::round(plan.units_per_second)),
                  plan::is_one_pass(request) ? "texts" : "output tokens",
                  limited ? " within your limits" : "; no limit on latency was given");
  if (plan::is_one_pass(request)) return text;
  constexpr double kThinkSeconds = 60;  // between an answer and the next message
  return text +
         fmt::format(
             " That is about {} users at the same time, each with 1 min between an answer and the next message, or {} "
             "requests in flight (Little's law).",
             format_count(std::floor(plan.requests_per_second * (kThinkSeconds + in_seconds(plan.latency)))),
             format_count(std::ceil(plan.requests_per_second * in_seconds(plan.latency))));
}

// How much of the prompts need not be computed, which depends on the router.
std::string cache_sentence(const plan::Request& request, const plan::Plan& plan) {
  if (const double hit = request.job.serve.prefix_hit; !plan.prefix_hit && hit > 0 && plan.replicas > 1)
    return fmt::format(
        "{} replicas find {} of the prompt tokens in their caches only if the router sends similar prompts to the same "
        "one (--prefix-hit 0 sizes for any router).",
        plan.replicas, format_percent(Ratio::fraction(hit)));
  if (!plan.prefix_hit) return {};
  return fmt::format("The prefix cache finds {} of the prompt tokens.",
                     format_percent(Ratio::fraction(*plan.prefix_hit)));
}

std::string hours_sentence(const plan::Plan& plan) {
  const std::vector<int>& hours = plan.machines_by_hour;
  if (hours.empty()) return {};
  const auto [fewest, most] = std::minmax_element(hours.begin(), hours.end());
  const double mean = std::accumulate(hours.begin(), hours.end(), 0.0) / static_cast<double>(hours.size());
  const double quiet = static_cast<double>(std::count(hours.begin(), hours.end(), *fewest));
  const std::string all = short_usd(plan.rate() * kMonth);
  if (*fewest == 0 && hours.size() == 24)
    return fmt::format(
        "This assumes that the machines are off {} hours a day; running all the time, they cost {}/month.",
        format_count(quiet), all);
  return fmt::format(
      "This assumes that machines follow the traffic: {} to {} machines, {} on average. Running all the time, they "
      "cost "
      "{}/month.",
      *fewest, *most, format_number(mean, 3), all);
}

// Names lengths, and their variation, that were not given.
std::string lengths_assumed(const plan::Request& request) {
  const plan::Work& work = request.work;
  const auto count = [](double n) { return format_count(std::round(n)); };
  if (const auto audio = perf::work_of(request.model).audio_seconds; audio > 0 && work.kind != WorkKind::kTraining)
    return request.sequence_assumed
               ? fmt::format("{} tokens of text per {} s of audio (--osl)",
                             count(static_cast<double>(request.job.serve.osl)), format_number(audio))
               : std::string();
  if (request.sequence_assumed)
    return work.kind == WorkKind::kTraining
               ? fmt::format("sequences of {} tokens (--seq)", format_count(static_cast<double>(request.job.sequence)))
               : fmt::format("{} tokens per request (--isl)", format_count(static_cast<double>(request.job.sequence)));
  const bool tokens = work.kind == WorkKind::kServing && !answers_at_once(request) && request.model.image_size == 0;
  if (!tokens) return {};
  const sim::RequestShape lengths = plan::request_lengths(request);
  const std::int64_t isl = request.job.serve.isl - request.job.image.tokens;  // --isl is without images
  const std::string in = count(lengths.size_at(sim::Statistic::kP95)),
                    out = count(lengths.output_at(sim::Statistic::kP95));
  if (request.lengths_assumed)
    return fmt::format("{} tokens in, {} out, p95 {} and {} as in public traces (--isl, --osl)", count(lengths.size),
                       count(lengths.output), in, out);
  if (work.isl_varies_as_usual && work.osl_varies_as_usual)
    return fmt::format(
        "lengths vary as in public traces, p95 {} in, {} out (--isl {},fixed if all have the same length)", in, out,
        isl);
  if (work.isl_varies_as_usual)
    return fmt::format("prompts vary as in public traces, p95 {} (--isl {},fixed if all have the same length)", in,
                       isl);
  if (work.osl_varies_as_usual)
    return fmt::format("answers vary as in public traces, p95 {} (--osl {},fixed if all are alike)", out,
                       request.job.serve.osl);
  return {};
}

// Names image settings that were not given.
std::string image_assumed(const plan::Request& request) {
  if (!request.model.pipeline || request.job.kind != model::JobKind::kServe) return {};
  const model::ImagePipeline& pipeline = *request.model.pipeline;
  const model::ImageSettings& image = request.job.image;
  std::vector<std::string> parts, flags;
  if (!image.steps) parts.push_back(fmt::format("{} steps", pipeline.steps)), flags.push_back("--steps");
  if (!image.guidance) parts.push_back(pipeline.guidance ? "guidance" : "no guidance"), flags.push_back("--guidance");
  if (!image.resolution)
    parts.push_back(fmt::format("{} pixels", resolution_of(request))), flags.push_back("--resolution");
  return parts.empty() ? std::string()
                       : fmt::format("{}: {} ({})", pipeline.frames > 0 ? "video" : "images", fmt::join(parts, ", "),
                                     fmt::join(flags, ", "));
}

// How the purchase price of the user's machines becomes an hourly cost, if no hourly cost was given.
std::string ownership_assumed(const plan::Request& request, const plan::Plan& plan) {
  const market::OwnHardware usual;
  for (const market::OwnHardware& own : request.own) {
    if (!plan.offer.is_own() || own.gpu != plan.offer.gpu->name) continue;
    std::vector<std::string> parts;
    if (own.price > Usd{} && own.years == usual.years)
      parts.push_back(fmt::format("written off over {:g} years (--amortise-years)", own.years));
    if (own.price > Usd{} && (own.busy == usual.busy || own.busy == 1))
      parts.push_back(fmt::format("in use {:.0f} % of the time (--busy-share)", 100 * own.busy));
    if (own.usd_per_kwh == usual.usd_per_kwh) parts.push_back(fmt::format("${:g}/kWh (--kwh-price)", own.usd_per_kwh));
    if (own.power_usage_effectiveness == usual.power_usage_effectiveness)
      parts.push_back(fmt::format("PUE {:g} (--pue)", own.power_usage_effectiveness));
    if (!parts.empty()) return fmt::format("your machines: {}", fmt::join(parts, ", "));
  }
  return {};
}

// Settings that the plan's files give the engine or trainer.
void add_engine_assumed(const plan::Request& request, const plan::Plan& plan, std::vector<std::string>& parts) {
  const model::ModelShape& model = request.model;
  if (request.work.kind == WorkKind::kTraining && request.choices.precisions.empty())
    parts.push_back(fmt::format("{} (--precision)", model::name_of(plan.job.precision)));
  const bool generates = request.job.kind == model::JobKind::kServe && !request.work.is_measured() &&
                         !answers_at_once(request) && model.kind == model::ModelKind::kDecoder;
  if (!generates || plan.job.stack == model::Stack::kHf) return;
  if (request.choices.precision_auto)
    parts.push_back(fmt::format("{} weights, the best of --precision auto", model::name_of(plan.job.precision)));
  if (!request.job.serve.kv_precision && plan::has_fp8_cache(request, plan))
    parts.emplace_back("fp8 KV cache (--kv-precision)");
  if (!request.max_model_len)
    parts.push_back(fmt::format("requests up to {} tokens (--max-model-len)",
                                format_count(static_cast<double>(plan::longest_request(request, plan)))));
}

// The limit on the load, and what is left of it if a replica fails.
std::string load_assumed(const plan::Request& request, const plan::Plan* plan) {
  const std::string most = format_percent(Ratio::fraction(request.limits.max_load));
  if (request.limits.allow_single || (request.limits.gpus && (plan == nullptr || plan->replicas < 2)))
    return fmt::format("load at most {} (--max-load)", most);
  if (plan == nullptr || plan->replicas < 2)
    return fmt::format("load at most {} (--max-load); one spare machine (none with --allow-single)", most);
  const double left = load_after_loss(*plan);
  return fmt::format("load at most {} (--max-load), {:.0f} % with a {} down (--allow-single: no spare)", most,
                     100 * (left > 0 ? left : plan->load * plan->replicas / (plan->replicas - 1)),
                     left > 0 ? "machine" : "replica");
}

// Samples per step and checkpoints.
void add_training_assumed(const plan::Request& request, const plan::Plan& plan, std::vector<std::string>& parts) {
  const auto count = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  const std::int64_t samples = plan.job.batch * plan.job.parallel.data() * plan.job.train.accumulation;
  parts.push_back(samples == request.global_batch
                      ? fmt::format("{} samples per step (--global-batch)", count(samples))
                      : fmt::format("{} samples per step, because {} cannot be split over {} GPUs (--global-batch)",
                                    count(samples), count(request.global_batch), plan.gpus));
  if (const model::Parallelism& split = plan.job.parallel; split.tensor * split.pipeline > 1)
    parts.push_back(fmt::format("each copy split over {} GPUs (--tp {}, --pp {})", split.tensor * split.pipeline,
                                split.tensor, split.pipeline));
  if (plan.offer.is_own() && plan.machines > 1)
    parts.emplace_back("the usual network of its generation between your machines");
  if (std::string input = plan::describe_image_input(request, plan); !input.empty()) parts.push_back(std::move(input));
  if (request.loss_assumed && plan.job.train.cross_entropy == model::CrossEntropy::kChunked)
    parts.emplace_back("the loss in chunks, for its memory (--cross-entropy)");
  const Bytes checkpoint = plan::checkpoint_bytes(perf::work_of(request.model), plan.job);
  std::string saved = fmt::format("{} checkpoint", format_bytes(checkpoint));
  if (plan.time.interval > Seconds{})
    saved += fmt::format(" every {} (--checkpoint-every)", format_duration(plan.time.interval));
  if (!request.assumptions.storage && plan.side_cost > Usd{})
    saved += fmt::format(", {} kept (--storage)", plan::kKeptCheckpoints);
  parts.push_back(saved);
}

// "$80.6/month ($62.3 to $104)".
std::string rounded_cost(const plan::Request& request, const plan::Plan& plan) {
  const char* each = request.work.kind == WorkKind::kServing ? "/month" : "";
  const std::string cost = short_usd(plan.cost), low = short_usd(plan.cost_low), high = short_usd(plan.cost_high);
  const bool exact = (low == cost && high == cost) || !plan.interval_known;
  return exact ? cost + each : fmt::format("{}{} ({} to {})", cost, each, low, high);
}

// ", $1.41 per 1,000 h of audio", ", $0.23 per 1M texts": of offline work.
std::string unit_cost(const plan::Request& request, const plan::Plan& plan) {
  const plan::Work& work = request.work;
  if (work.kind != WorkKind::kOffline || work.is_measured() || !(work.amount > 0)) return {};
  const double window = perf::work_of(request.model).audio_seconds;
  const auto cost_of = [&](double units) { return short_usd(plan.cost * (units / work.amount)); };
  if (window > 0) return fmt::format(", {} per 1,000 h of audio", cost_of(3.6e6 / window));
  if (const auto& pipeline = request.model.pipeline)
    return fmt::format(", {} per 1,000 {}", cost_of(1e3), pipeline->frames > 0 ? "videos" : "images");
  return fmt::format(", {} per 1M {}", cost_of(1e6), answers_at_once(request) ? "texts" : "requests");
}

// "$21.88/h ($16.77/h listed)": of all machines, as the cost counts it.
std::string describe_rate(const plan::Plan& plan) {
  constexpr double kSame = 0.005;
  const auto hourly = [&](UsdPerMachineSecond rate) {
    return format_usd_per_hour(rate * static_cast<double>(plan.machines)) + "/h";
  };
  const bool listed = std::abs(plan.price.likely / plan.price.listed - 1) < kSame;
  return hourly(plan.price.likely) + (listed ? "" : fmt::format(" ({} listed)", hourly(plan.price.listed)));
}

// The answer in plain words.
std::string answer_sentence(const plan::Request& request, const plan::Recommendation& found) {
  const plan::Plan& plan = found.plans.front();
  const auto is_old = [](const plan::PriceWarning& w) { return w.kind == plan::PriceWarning::Kind::kOld; };
  std::string text = fmt::format(
      "{} {}: ", plan.offer.machine->provider == market::kOwn || plan.offer.price->available ? "Use" : "Rent",
      describe_machines(plan));
  if (request.work.kind == WorkKind::kServing) {
    text += rounded_cost(request, plan);
    if (request.model.image_size == 0 && plan.tpot > Seconds{})
      text += fmt::format(", {} per 1M {}", short_usd(usd(plan.usd_per_million_units())),
                          plan::is_one_pass(request) ? "texts" : "output tokens");
  } else {
    text += fmt::format("done in {} for {}{}", format_duration(plan.elapsed()), rounded_cost(request, plan),
                        unit_cost(request, plan));
    if (plan.day_share < 1) text += fmt::format(", running {} hours a day", format_number(24 * plan.day_share));
  }
  if (!plan.offer.is_own() && !plan.offer.price->available)
    text += fmt::format(" at {}{}; {}{}", plan.machines_by_hour.empty() ? "" : "up to ", describe_rate(plan),
                        describe_evidence(plan.price),
                        std::any_of(found.warnings.begin(), found.warnings.end(), is_old) ? ": confirm it" : "");
  // The whole obligation, not only its first month.
  for (const plan::Commitment& c : plan.commitments)
    if (c.offer.price->purchase == plan.offer.price->purchase)
      text += fmt::format("; the commitment is {} over {}", short_usd(c.total),
                          c.offer.price->purchase == Purchase::kOneYear ? "1 year" : "3 years");
  return text + ".";
}

}  // namespace

std::vector<std::string> assumptions(const plan::Request& request, const plan::Plan* plan) {
  std::vector<std::string> parts;
  for (const std::string& assumed : {lengths_assumed(request), image_assumed(request),
                                     plan == nullptr ? std::string() : ownership_assumed(request, *plan)})
    if (!assumed.empty()) parts.push_back(assumed);
  if (plan != nullptr) add_engine_assumed(request, *plan, parts);
  const bool service = request.work.kind == WorkKind::kServing;
  if (service && request.work.rate > RequestsPerSecond{}) parts.push_back(load_assumed(request, plan));
  const std::vector<double>& hours = request.work.rate_by_hour;
  const auto is_off = [](double rate) { return rate == 0; };
  if (!hours.empty() && std::none_of(hours.begin(), hours.end(), is_off))
    parts.emplace_back("hours of the profile in UTC");
  if (!service && plan != nullptr)
    parts.push_back(fmt::format("{} start-up (--startup)", format_duration(plan->time.startup)));
  if (plan != nullptr)
    if (const std::string data = plan::describe_data(request, *plan); !data.empty()) parts.push_back("data of " + data);
  if (request.work.kind == WorkKind::kTraining && plan != nullptr) add_training_assumed(request, *plan, parts);
  if (request.work.kind == WorkKind::kTraining && plan == nullptr && request.global_batch_assumed)
    parts.push_back(
        fmt::format("{} samples per step (--global-batch)", format_count(static_cast<double>(request.global_batch))));
  if (request.limits.max_gpus_assumed) {
    const int usual = plan::PlanLimits{}.max_gpus, most = request.limits.max_gpus;
    parts.push_back(most == usual ? fmt::format("at most {} GPUs (--max-gpus)", format_count(most))
                    : plan == nullptr
                        ? fmt::format("up to {} GPUs were tried (--max-gpus)", format_count(most))
                        : fmt::format("up to {} GPUs, because {} are not enough or cost more (--max-gpus)",
                                      format_count(most), usual));
  }
  for (const std::string& understood : request.assumed) parts.push_back(understood);
  return parts;
}

std::string nearest_miss(const plan::Recommendation& found) {
  const plan::Rejection* nearest = nullptr;  // without a number: the GPU that was rejected last
  for (const plan::Rejection& r : found.rejected) {
    if (r.partly || r.stage == plan::RejectionStage::kPrice) continue;
    const NeedAndHave words = describe_shortfall(r.nearest);
    if (r.nearest.kind == plan::Shortfall::Kind::kSloAlone)
      return fmt::format("{} reaches a {}; the limit is {}", r.gpu, words.need, words.have);
    if (r.nearest.kind == plan::Shortfall::Kind::kBudget && words.have.find(" and ") == std::string::npos)
      return fmt::format("{} costs {}; your budget is {}", r.gpu, words.need, words.have);
    if (words.have.ends_with(" at most"))
      return fmt::format("{} needs {}; the limit is {}", r.gpu, words.need, r.nearest.have_gpus);
    if (!words.have.empty()) return fmt::format("{} needs {}, limit {}", r.gpu, words.need, words.have);
    if (nearest == nullptr || r.stage > nearest->stage) nearest = &r;
  }
  return nearest != nullptr ? fmt::format("{}: {}", nearest->gpu, describe_shortfall(nearest->nearest).need) : "";
}

std::vector<std::string> answer_paragraphs(const plan::Request& request, const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  std::string text = answer_sentence(request, found), own = own_sentence(request, found);
  // Machines that are paid for come first if their electricity costs less.
  if (own.starts_with("Use ")) text = std::exchange(own, {}) + "\n" + text;
  for (const std::string& sentence :
       {rate_sentence(request, first), asked_terms_sentence(request, found), hours_sentence(first),
        doubt_sentence(found), decision_sentence(request, found), cache_sentence(request, first),
        held_back_sentence(found), own, scale_sentence(request, found), experiment_sentence(request, found),
        sooner_sentence(request, found), safer_sentence(request, found), levers_sentence(request, found),
        spend_sentence(request, first)})
    if (!sentence.empty()) text += "\n" + sentence;
  std::string details;
  std::vector<std::string> notes = caveats(request, found);
  for (const plan::PriceWarning& w : found.warnings)
    if (w.kind == plan::PriceWarning::Kind::kOld || !first.price.may_lead()) std::erase(notes, describe_warning(w));
  if (!notes.empty()) details = fmt::format("Caveats: {}.", fmt::join(notes, "; "));
  if (const std::vector<std::string> assumed = assumptions(request, &first); !assumed.empty())
    details += fmt::format("{}Assumed: {}.", details.empty() ? "" : "\n", fmt::join(assumed, "; "));
  return details.empty() ? std::vector{std::move(text)} : std::vector{std::move(text), std::move(details)};
}

bool is_short_for(const plan::Request& request, const plan::Plan& job, Seconds term) {
  constexpr double kLeastShare = 1.0 / 3;
  return request.work.kind != plan::WorkKind::kServing && job.time.total() < term * kLeastShare;
}

std::vector<std::string> terms_sentences(const plan::Request& request, const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  std::vector<std::string> sentences;
  for (std::string& sentence : std::vector{spot_sentence(request, found), commitment_sentence(request, first),
                                           quota_sentence(first), availability_sentence(found)})
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  return sentences;
}

std::string cut_work(const plan::Request& request) {
  constexpr double kFew = 0.01;
  if (!(request.work.beyond_context > kFew) || answers_at_once(request)) return {};
  const std::string share = format_percent(Ratio::fraction(request.work.beyond_context)),
                    context = format_count(static_cast<double>(request.model.context));
  return fmt::format("{} of the requests are longer than the context of {} tokens and count as long as it", share,
                     context);
}

std::vector<std::string> plan_caveats(const plan::Request& request, const plan::Plan& plan) {
  std::vector<std::string> lines;
  for (std::string& line : std::vector{cut_work(request), plan::short_of_cpus(request, plan)})
    if (!line.empty()) lines.push_back(std::move(line));
  if (const std::string basis = basis_caveat(plan); !basis.empty()) lines.push_back(basis);
  if (plan::has_arm_host(plan.offer))
    lines.push_back(
        fmt::format("{} machines have Arm hosts: images and wheels must be built for arm64", plan.offer.gpu->name));
  if (plan.offer.gpu->vendor == "AMD")
    lines.push_back(fmt::format("{} needs ROCm builds of the software", plan.offer.gpu->name));
  for (const perf::Note& note : plan.notes) {
    // A GPU without benchmarks has none of this combination either.
    const bool repeated = note.kind == perf::NoteKind::kUntestedStack && !plan.benchmarked;
    const bool served_in_half =
        note.kind == perf::NoteKind::kHalfInsteadOfBf16 && request.work.kind != WorkKind::kTraining;
    if (note.kind == perf::NoteKind::kNetworkAssumed)
      lines.push_back(fmt::format("assumed network between machines: {} GB/s per GPU", format_number(note.value)));
    else if (served_in_half)
      lines.emplace_back("the GPU has no bf16 arithmetic, so the model runs in fp16");
    else if (!repeated)
      lines.push_back(std::string(perf::describe(note)));
  }
  if (perf::work_of(request.model).audio_seconds > 0)
    lines.emplace_back(
        "recordings do not fill every window of 30 s: published runs reach a third to all of this speed");
  for (const std::string& warning : plan.memory.warnings) lines.push_back(warning);
  if (plan.starts_over)
    lines.push_back(fmt::format(
        "an interruption starts the job over, because SkyPilot mounts no storage on {}; the cost includes it",
        plan.offer.machine->provider));
  for (const std::string& text : {plan::limit_risk(request, plan), spot_caveat(request, plan),
                                  machine_loss(request, plan), tight_memory(request, plan)})
    if (!text.empty()) lines.push_back(text);
  if (request.work.kind == WorkKind::kServing && plan.machines > plan.replicas)
    lines.push_back(
        "we have no benchmark of a pipeline over several machines: the estimate includes only a small network cost, so "
        "test it first");
  if (plan.job.serve.disaggregated && request.choices.separate && !request.job.serve.disaggregated)
    lines.push_back(
        "separate prefill and decode workers need a router that transfers the KV cache: test it first, or use plain "
        "replicas (--disaggregated off)");
  if (const std::string quality = quality_caveat(request, plan); !quality.empty()) lines.push_back(quality);
  return lines;
}

std::vector<std::string> caveats(const plan::Request& request, const plan::Recommendation& found) {
  std::vector<std::string> lines;
  for (const plan::PriceWarning& w : found.warnings) lines.push_back(describe_warning(w));
  for (const std::string& missing : {unpriced_words(request, found), unlisted_words(found)})
    if (!missing.empty()) lines.push_back(missing);
  if (const std::string over = over_budget(request, found); !over.empty()) lines.push_back(over);
  for (std::string& line : plan_caveats(request, found.plans.front())) lines.push_back(std::move(line));
  const auto is_plain = [](const plan::Plan* plan) { return !plan->job.serve.disaggregated; };
  const std::vector<const plan::Plan*> all = found.compared();
  const auto plain = std::find_if(all.begin(), all.end(), is_plain);
  if (!is_plain(all.front()) && plain != all.end())
    lines.push_back(fmt::format("plain replicas cost {} ({})", short_usd((*plain)->cost), describe_machines(**plain)));
  return lines;
}

std::string no_other_gpu(const plan::Recommendation& found) {
  const std::string nearest = nearest_miss(found);
  return nearest.empty() ? "No other GPU has a price on these terms."
                         : fmt::format("No other GPU meets your limits; closest: {}.", nearest);
}

std::string next_best_sentence(const plan::Request& request, const plan::Recommendation& found) {
  const plan::Plan& first = found.plans.front();
  const plan::Plan* other = found.next_gpu();
  if (other == nullptr) return no_other_gpu(found);
  const bool drawn = !first.draws.empty() || !other->draws.empty() || !(first.cost > Usd{});
  const auto new_money = [](const plan::Plan& p) { return format_usd(p.cost - market::sum_of(p.draws)); };
  std::string text =
      fmt::format("{}: {}, {}", other->cost < first.cost ? "Cheaper GPU that ranks lower" : "Next best GPU",
                  describe_machines(*other),
                  drawn ? fmt::format("{} of new money instead of {}", new_money(*other), new_money(first))
                        : compare(other->cost / first.cost));
  if (request.work.kind != WorkKind::kServing) {
    const double slower = other->time.total() / first.time.total();
    text += slower > 1.05   ? fmt::format(" and {}x as long", format_number(slower, 2))
            : slower < 0.95 ? fmt::format(" but {}x as fast", format_number(1 / slower, 2))
                            : " and as fast";
  }
  const auto gpus_of = [](const plan::Plan& p) { return p.offer.machine->gpus * p.machines; };
  text += fmt::format(": {}/GPU-h against {}", format_usd(usd(in_usd_per_gpu_hour(other->rate_per_gpu()))),
                      format_usd(usd(in_usd_per_gpu_hour(first.rate_per_gpu()))));
  if (request.work.kind != WorkKind::kServing)
    text += fmt::format(", {} GPU-hours against {}", format_number(in_hours(other->time.total()) * gpus_of(*other)),
                        format_number(in_hours(first.time.total()) * gpus_of(first)));
  else if (gpus_of(*other) != gpus_of(first))
    text += fmt::format(", {} GPUs against {}", gpus_of(*other), gpus_of(first));
  if (!found.confidence) return text + ".";
  return text + fmt::format(". Within the error bars of speeds and prices, {} is the cheapest in {} of cases{}.",
                            first.offer.gpu->name, format_percent(Ratio::fraction(*found.confidence)),
                            among_whom(found));
}

}  // namespace rightsize::app
