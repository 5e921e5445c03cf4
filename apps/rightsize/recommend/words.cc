#include "rightsize/recommend/words.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/date.h"
#include "base/format.h"
#include "base/text.h"
#include "plan/layouts.h"
#include "plan/session_rate.h"

namespace rightsize::app {
namespace {

using plan::WorkKind;

std::string plural(double n, std::string_view word) {
  return fmt::format("{} {}{}", format_count(n), word, n == 1 ? "" : "s");
}

std::string percent_apart(double ratio) {
  return fmt::format("{} {}", format_percent(Ratio::fraction(std::abs(1 - ratio))), ratio < 1 ? "less" : "more");
}

std::string limits_of(const plan::Request& request) {
  std::string text;
  const plan::PlanLimits& limits = request.limits;
  if (limits.deadline) text += fmt::format(" within {}", format_duration(*limits.deadline));
  if (limits.budget)
    text += fmt::format(" for at most {}{}", format_usd(*limits.budget),
                        request.work.kind == WorkKind::kServing ? "/month" : "");
  if (limits.ttft)
    text += fmt::format(", p{} {} {}", percentile_of(request), plan::is_one_pass(request) ? "latency" : "TTFT",
                        format_duration(*limits.ttft));
  if (limits.tpot) text += fmt::format(", p{} TPOT {}", percentile_of(request), format_duration(*limits.tpot));
  if (limits.latency)
    text += fmt::format(", p{} of whole answers {}", percentile_of(request), format_duration(*limits.latency));
  if (limits.power) text += fmt::format(", at most {}", format_power(*limits.power));
  if (limits.co2_kg) text += fmt::format(", at most {} kg of CO2", format_number(*limits.co2_kg));
  if (request.objective == plan::Objective::kEnergy) text += " with the least energy";
  return text;
}

// "1,024 tokens in" on average; with a variation from the user, "1,000 tokens in at the median, 8,000 at p95".
std::string tokens_shown(std::int64_t mean, double variation, bool usual, std::string_view what) {
  const double tokens = static_cast<double>(mean);
  if (usual || !(variation > 0)) return format_count(tokens) + std::string(what);
  const auto shown = [](double n) {
    const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(n)) - 2));  // the mean is rounded
    return format_count(std::round(n / unit) * unit);
  };
  const sim::RequestShape lengths{.size = tokens, .size_variation = variation};
  return fmt::format("{}{} at the median, {} at p95", shown(sim::median_of(tokens, variation)), what,
                     shown(lengths.size_at(sim::Statistic::kP95)));
}

// " in int4" if the weights are not in 16 bits.
std::string format_of(const plan::Request& request) {
  const std::vector<model::Precision> formats = plan::precisions_for(request, model::Method::kFull);
  const bool usual = formats.size() != 1 || formats[0] == model::Precision::kBf16 || answers_at_once(request);
  return usual ? std::string() : fmt::format(" in {}", model::name_of(formats[0]));
}

// "LoRA adapters of "; empty if full training is one of the methods.
std::string adapters_of(const plan::Request& request) {
  const std::vector<model::Method>& methods = request.choices.methods;
  const auto has = [&](model::Method method) {
    return std::find(methods.begin(), methods.end(), method) != methods.end();
  };
  if (methods.empty() || has(model::Method::kFull)) return {};
  return !has(model::Method::kLora)   ? "QLoRA adapters of "
         : has(model::Method::kQlora) ? "adapters of "
                                      : "LoRA adapters of ";
}

// " in 10 hours a day", " as in the rate profile".
std::string hours_of(const plan::Request& request) {
  const std::vector<double>& hours = request.work.rate_by_hour;
  if (hours.empty()) return {};
  const double peak = in_requests_per_s(request.work.rate);
  const auto full = std::count(hours.begin(), hours.end(), peak), none = std::count(hours.begin(), hours.end(), 0.0);
  if (hours.size() == 24 && full + none == 24) return fmt::format(" in {} hours a day", full);
  return fmt::format(" in the busiest hour, {} on average", format_number(peak * request.work.mean_traffic()));
}

// " with 3 draft tokens (70 % accepted)", " behind a prefix-aware router": what the plan's speed is based on.
std::string engine_of(const plan::Request& request) {
  const std::string settings = plan::assumed_engine(request);
  return settings.empty() ? std::string() : " with " + settings;
}

// "81 frames, 1280x720, 50 steps": what decides the cost of an image; empty for models that read images.
std::string picture_of(const plan::Request& request) {
  if (!request.model.pipeline) return {};
  const model::ImagePipeline& usual = *request.model.pipeline;
  const model::ImageSettings& image = request.job.image;
  const int frames = image.frames.value_or(usual.frames);
  return fmt::format("{}{}, {} steps", frames > 0 ? fmt::format("{} frames, ", frames) : "", resolution_of(request),
                     image.steps.value_or(usual.steps));
}

// " (10.5/s in the busiest minute)", if that is clearly more than the mean.
std::string busiest_minute_of(const plan::Request& request) {
  const sim::ArrivalList& all = request.work.trace->arrivals;
  std::size_t most = 0;
  for (std::size_t from = 0, until = 0; until < all.size(); most = std::max(most, ++until - from))
    while (all.time(until) - all.time(from) > sim::to_sim_time(seconds(60))) ++from;
  const double rate = static_cast<double>(most) / 60, usual = in_requests_per_s(request.work.rate);
  return rate > 1.2 * usual ? fmt::format(" ({:.3g}/s in the busiest minute)", rate) : "";
}

// The lengths of requests, the main driver of cost.
std::string lengths_of(const plan::Request& request) {
  const auto count = [](std::int64_t n) { return format_count(static_cast<double>(n)); };
  if (request.model.image_size > 0) return picture_of(request).empty() ? "" : ", " + picture_of(request);
  if (const double window = perf::work_of(request.model).audio_seconds; window > 0)
    return fmt::format(" of {} s of audio", format_number(window));
  if (answers_at_once(request) && request.work.documents > 1)
    return fmt::format(" of {} documents with {} tokens each", request.work.documents, count(request.job.sequence));
  if (answers_at_once(request)) return fmt::format(" of {} tokens", count(request.job.sequence));
  if (!request.work.mix.empty())
    return fmt::format(" of {}", plural(static_cast<double>(request.work.mix.size()), "size"));
  if (request.work.sessions) {
    const std::optional<Seconds> wait = plan::waiting_in(request);
    return fmt::format("{}, {} tokens in and {} out on average",
                       wait ? fmt::format(", an answer takes {}", format_duration(*wait)) : "",
                       count(request.job.serve.isl), count(request.job.serve.osl));
  }
  if (request.work.trace)
    return fmt::format(" as recorded{}, {} tokens in and {} out on average", busiest_minute_of(request),
                       count(request.job.serve.isl), count(request.job.serve.osl));
  const plan::Work& work = request.work;
  if (plan::is_one_pass(request))
    return ", one pass over " +
           tokens_shown(request.job.serve.isl, work.isl_variation, work.isl_varies_as_usual, " tokens");
  const std::int64_t images = request.job.image.tokens;
  const double cached = request.job.serve.prefix_hit;
  return fmt::format(", {}{}{}, {}",
                     tokens_shown(request.job.serve.isl, work.isl_variation, work.isl_varies_as_usual, " tokens in"),
                     images > 0 ? fmt::format(" ({} of them images)", count(images)) : "",
                     cached > 0 ? fmt::format(" ({} cached)", format_percent(Ratio::fraction(cached))) : "",
                     tokens_shown(request.job.serve.osl, work.osl_variation, work.osl_varies_as_usual, " out"));
}

// "Generate 2,000 videos (81 frames, 1280x720, 50 steps) with wan2.1", "Process 200 M texts of 300 tokens with bge".
std::string describe_items(const plan::Request& request) {
  const double items = request.work.amount;
  const std::string many = items < 1e6 ? format_count(items) : format_magnitude(items);
  const char* const plural = items == 1 ? "" : "s";
  const std::string with = request.model.name.empty() ? "" : " with " + plan::model_shown(request);
  if (const std::string picture = picture_of(request); !picture.empty())
    return fmt::format("Generate {} {} ({}){}", many, request.model.pipeline->frames > 0 ? "videos" : "images", picture,
                       with);
  const bool texts = answers_at_once(request) && request.model.image_size == 0;
  if (texts && !with.empty())
    return fmt::format("Process {} text{} of {} tokens{}", many, plural, request.job.sequence, with);
  return fmt::format("Process {} request{}{}{}{}", many, plural, with, format_of(request),
                     request.work.is_measured() || answers_at_once(request) ? "" : lengths_of(request));
}

std::string bound_sentence(const plan::Plan& plan) {
  constexpr double kLittle = 0.03;
  switch (plan.bound) {
    case perf::Bound::kCompute:
      return plan.mfu > 0
                 ? fmt::format("bound by compute at {} of the GPU's peak", format_percent(Ratio::fraction(plan.mfu)))
                 : "bound by compute";
    case perf::Bound::kMemory:
      return plan.arithmetic_gain < kLittle
                 ? "bound by memory bandwidth: more TFLOP/s alone would not help"
                 : fmt::format(
                       "bound by memory bandwidth and by the arithmetic of prompts: 20 % more TFLOP/s would "
                       "shorten the tightest limit by {:.0f} %",
                       100 * plan.arithmetic_gain);
    case perf::Bound::kCommunication:
      return "bound by communication between GPUs";
    case perf::Bound::kHost:
      return "bound by the host that launches kernels: a faster GPU would not help";
  }
  return {};
}

// "3 d 4 h and $540" against "2 d and $500": every limit that the plan breaks.
NeedAndHave broken_limits(const plan::Shortfall& s) {
  std::vector<std::string> need, have;
  const auto add = [&](bool broken, std::string needs, std::string has) {
    if (broken) need.push_back(std::move(needs)), have.push_back(std::move(has));
  };
  add(s.have_time > Seconds{}, format_duration(s.need_time), format_duration(s.have_time));
  // Rounded up, as the budget that is enough.
  const double dollars = in_usd(s.need_cost), unit = dollars < 1000 ? 0.01 : 1;
  add(s.have_cost > Usd{}, format_usd(usd(std::ceil(dollars / unit - 0.005) * unit)), format_usd(s.have_cost));
  add(s.have_power > Watts{}, s.need_power > Watts{} ? format_power(s.need_power) : "unknown power",
      format_power(s.have_power));
  add(s.have_kg > 0, s.need_kg > 0 ? format_number(s.need_kg) + " kg of CO2" : "unknown CO2 (no figure for the region)",
      format_number(s.have_kg) + " kg");
  if (s.unconfirmed || s.no_benchmark)
    need.back() += fmt::format(" ({})", s.no_benchmark ? "no benchmark" : "unconfirmed price");
  return {(s.at_least ? "at least " : "") + fmt::format("{}", fmt::join(need, " and ")),
          fmt::format("{}", fmt::join(have, " and "))};
}

// "12 % more than the first plan: GPU-hours are 30 % cheaper, but it needs 60 % more of them". Empty for the first plan
// itself, which is also on the Pareto front.
std::string against_first(const plan::Plan& plan, const plan::Plan& first) {
  const bool same = plan.offer.price == first.offer.price && plan.machines == first.machines && plan.cost == first.cost;
  if (same || !(first.cost > Usd{}) || !(first.rate_per_gpu() > UsdPerGpuSecond{})) return {};
  const double cost = plan.cost / first.cost, price = plan.rate_per_gpu() / first.rate_per_gpu();
  const double hours = cost / price;
  const auto alike = [](double ratio) { return std::abs(1 - ratio) < 0.005; };
  const std::string all = alike(cost) ? "the same cost as the first plan"
                          : cost >= 3 ? fmt::format("{} as the first plan", compare(cost))
                                      : fmt::format("{} than the first plan", compare(cost));
  if (alike(price) && alike(hours)) return all + ": the same GPU-hours at the same price";
  const bool against = (price < 1) != (hours < 1) && !alike(price) && !alike(hours);
  const std::string many = alike(hours) ? "the same number"
                           : hours >= 3 ? fmt::format("{}x as many", format_number(hours, 2))
                                        : fmt::format("{} {}", format_percent(Ratio::fraction(std::abs(1 - hours))),
                                                      hours < 1 ? "fewer" : "more");
  return fmt::format("{}: price per GPU-hour {}, {} {} GPU-hours", all, compare(price), against ? "but" : "and", many);
}

}  // namespace

std::string resolution_of(const plan::Request& request) {
  const model::ModelShape& model = request.model;
  const auto pixels = [&](int side) { return side * static_cast<std::int64_t>(model.pipeline->pixels); };
  if (const auto& given = request.job.image.resolution) return fmt::format("{}x{}", given->width, given->height);
  return fmt::format("{}x{}", pixels(model.image_size),
                     pixels(model.image_height > 0 ? model.image_height : model.image_size));
}

WorkUnit work_unit(const plan::Request& request) {
  if (request.work.kind == WorkKind::kOffline || answers_at_once(request)) return WorkUnit::kRequests;
  const bool images = request.work.kind == WorkKind::kTraining && request.model.image_size > 0;
  return images ? WorkUnit::kSamples : WorkUnit::kTokens;
}

std::string_view unit_of(const plan::Request& request) {
  const WorkUnit unit = work_unit(request);
  return unit == WorkUnit::kRequests ? "requests" : unit == WorkUnit::kSamples ? "images" : "tokens";
}

bool answers_at_once(const plan::Request& request) {
  return request.job.kind == model::JobKind::kServe && perf::serves_batches(perf::work_of(request.model));
}

std::string short_usd(Usd amount) {
  const double value = in_usd(amount);
  if (!(value >= 0.1)) return format_usd(amount);
  if (value < 99.995) return fmt::format("${:.2f}", value);
  const double digits = std::pow(10, std::floor(std::log10(value)) - 2);
  return "$" + format_count(std::round(value / digits) * digits);
}

std::string compare(double ratio) {
  if (!std::isfinite(ratio)) return "more";  // the other is already paid for
  if (std::abs(1 - ratio) < 0.005) return "the same";
  if (ratio >= 3) return fmt::format("{}x as much", format_number(ratio, 2));
  return percent_apart(ratio);
}

std::string quality_caveat(const plan::Request& request, const plan::Plan& plan) {
  using model::Precision;
  if (request.job.kind != model::JobKind::kServe || request.work.is_measured()) return {};
  if (plan.job.precision == request.model.checkpoint) return {};  // as it was published
  switch (plan.job.precision) {
    case Precision::kFp8:
      return "fp8 weights are usually within 1 % of the 16-bit model: check your own tasks";
    case Precision::kInt8:
      return "8-bit weights are usually within 1 % of the 16-bit model: check your own tasks";
    case Precision::kInt4:
    case Precision::kNf4:
    case Precision::kFp4:
      return "4-bit weights lose a few percent on hard tasks: evaluate your own tasks";
    default:
      return {};
  }
}

std::string describe_order(const market::Offer& offer, int machines) {
  return fmt::format("{} x {} ({} x {}){}", machines, offer.machine->instance, offer.machine->gpus, offer.gpu->name,
                     offer.machine->provider == market::kOwn ? ", your own" : " from " + offer.machine->provider);
}

std::string describe_outline(const plan::PlanOutline& plan) {
  const std::string order = describe_order(plan.offer, plan.machines);
  if (plan.offer.machine->provider == market::kOwn) return order;
  return fmt::format("{}, {}", order,
                     plan.offer.is_own() ? "at your price" : catalog::name_of(plan.offer.price->purchase));
}

const ChangeWords& describe_change(plan::RequestChangeKind kind) {
  // In the order of RequestChangeKind.
  static const ChangeWords kChanges[] = {
      {"8-bit optimizer states", "same quality in published runs (Dettmers et al. 2022)",
       "8-bit states are unpacked and packed again in every step"},
      {"pure bf16 training", "weights and optimizer states in 16 bits: small updates can be lost", ""},
      {"LoRA adapters", "adapters only: enough for most fine-tuning, not for new knowledge",
       "LoRA saves memory, not time: the frozen base still runs forwards and backwards, and PEFT's fp32 adapters "
       "convert "
       "their inputs at every matrix"},
      {"QLoRA adapters over an nf4 base", "like LoRA over 4-bit weights: slower, slightly less exact",
       "QLoRA unpacks the 4-bit base before every product, in addition to the overhead of LoRA"},
      {"fp8 weights", "usually within 1 % of the 16-bit model; check your own tasks", ""},
      {"4-bit weights (AWQ, GPTQ)", "a few percent on hard tasks; check your own", ""},
      {"4-bit weights (NVFP4, MXFP4)", "a few percent on hard tasks; check your own", ""},
      {"a longer TTFT limit", "answers start later", ""},
      {"a longer TPOT limit", "answers come more slowly", ""},
      {"a longer latency limit", "answers take longer", ""},
      {"a later deadline", "done later", ""},
      {"spot machines", "occasional interruptions; the cost includes repeated work", ""},
      {"on-demand machines", "no commitment", ""},
      {"more GPUs", "", ""},
      {"the model's usual number format", "", ""},
      {"the loss in chunks", "same result, same speed", ""},
      {"optimizer offload", "same result; states in host memory, where the CPU updates the weights", ""},
      {"parameter offload", "same result; in host memory, every layer is copied to the GPU in every pass", ""},
      {"a larger batch for more GPUs", "fewer, larger steps: may need more tokens for the same loss", ""},
      {"the soonest plan", "", ""},
      {"a larger budget", "", ""},
      {"a higher power limit", "", ""},
      {"a higher limit on CO2", "", ""},
      {"no limits", "", ""},
      {"machines that are off at night", "no answers in the other hours", ""},
      {"requests of one length", "if yours do not vary", ""},
      {"an fp8 KV cache", "usually within 1 % of the 16-bit cache; check your own tasks", ""},
      {"no spare machine", "if a machine fails, answers are late or missing until it is back", ""},
      {"any region", "", ""},
      {"any provider", "", ""},
      {"a power cap", "slower, with less energy", ""},
      {"torchtitan", "the same training; its configuration replaces your script", ""},
      {"Megatron-LM", "the same training; weights and data in its format", ""},
      {"longer latency limits", "answers take longer", ""},
      {"two changes", "", ""}};
  static_assert(std::size(kChanges) == static_cast<std::size_t>(plan::RequestChangeKind::kTwoChanges) + 1);
  return kChanges[static_cast<std::size_t>(kind)];
}

NeedAndHave describe_shortfall(const plan::Shortfall& s) {
  using Kind = plan::Shortfall::Kind;
  const std::string gpus = plural(s.need_gpus, "GPU"), least = s.at_least ? "at least " : "";
  switch (s.kind) {
    case Kind::kNoPrice:
      return {"a price with source and date", "none on these terms"};
    case Kind::kForeignChip:
      return {std::string(model::name_of(s.stack)), "CUDA and ROCm only"};
    case Kind::kOldChip:
      return {std::string(model::name_of(s.stack)), "newer GPUs only"};
    case Kind::kFormat:
      return {s.reason, ""};
    case Kind::kNoNetwork:
      return {"a network between machines", "none documented"};
    case Kind::kNoRdma:
      return {fmt::format("RDMA to train on more than {}", plural(s.have_gpus, "machine")), "Ethernet without RDMA"};
    case Kind::kMemory:
      return {fmt::format("{} on {}{}{}", format_bytes(s.need_bytes), s.need_gpus == 1 ? "" : "each of ", gpus,
                          s.serving ? fmt::format(" in {}", model::name_of(s.precision)) : ""),
              format_bytes(s.have_bytes)};
    case Kind::kMemoryHeld:
      return {"the memory of the profiled run", format_bytes(s.have_bytes)};
    case Kind::kGpus:
      return {least + gpus, fmt::format("{} at most", s.have_gpus)};
    case Kind::kReplicas:
      return {least + gpus + " for the load with a spare machine", fmt::format("{} at most", s.have_gpus)};
    case Kind::kGlobalBatch:
      return {fmt::format("{} per step", plural(s.need_gpus, "sample")),
              fmt::format("not divisible by {}", plural(s.have_gpus, "GPU"))};
    case Kind::kSloAlone:
      return {fmt::format("{} {} of {}{}{} on {}", capacity::name_of(s.slos.front().at),
                          capacity::name_of(s.slos.front().quantity), least, format_duration(s.need_time),
                          s.at_least ? " without load" : "", gpus),
              format_duration(s.have_time)};
    case Kind::kSloUnderLoad: {
      std::vector<std::string> slos;
      for (const capacity::Slo& slo : s.slos)
        slos.push_back(fmt::format("{} {}", capacity::describe(slo), format_duration(slo.limit)));
      return {s.have_gpus > 0 ? fmt::format("more than {}", plural(s.have_gpus, "GPU"))
                              : std::string("a longer limit (more replicas do not help)"),
              slos.empty() ? "the load" : fmt::format("{}", fmt::join(slos, ", "))};
    }
    case Kind::kInterruptions:
      return {"time to save between interruptions", "too little"};
    case Kind::kDeadline:
    case Kind::kBudget:
    case Kind::kPower:
    case Kind::kCarbon:
      return broken_limits(s);
  }
  return {};
}

std::string describe_fix(const plan::Request& request, const plan::Rejection& rejection, const plan::Plan* first) {
  if (rejection.stage == plan::RejectionStage::kPrice)
    return "your own price (--price, or --catalog DIR/prices.csv), or other --providers and --purchase";
  if (!rejection.fix) return {};
  const plan::PlanOutline& fixed = rejection.fix->plan;
  std::string text =
      fmt::format("{}: {} for {}", rejection.fix->flags, describe_outline(fixed), format_usd(fixed.cost));
  if (first == nullptr) return text;
  text += ", " + percent_apart(fixed.cost / first->cost);
  if (request.work.kind == WorkKind::kServing) return text;
  const double slower = fixed.time / first->time.total();
  return text + (slower > 0.95 && slower < 1.05 ? ", as fast"
                 : slower > 1                   ? fmt::format(", {}x slower", format_number(slower, 2))
                                                : fmt::format(", {}x faster", format_number(1 / slower, 2)));
}

BreakpointWords describe_breakpoint(const plan::Breakpoint& point, const plan::Plan& first) {
  const std::string plan = fmt::format("{} for {}", describe_outline(point.plan), format_usd(point.plan.cost));
  if (point.cost_ratio == 0)
    return {fmt::format("the deadline is under {}", format_duration(point.deadline_under)),
            fmt::format("{} in {}", plan, format_duration(point.plan.time))};
  return {fmt::format("{} costs {} more per hour, or {} {} less", first.offer.gpu->name,
                      format_percent(Ratio::fraction(point.cost_ratio - 1)), point.plan.offer.gpu->name,
                      format_percent(Ratio::fraction(1 - 1 / point.cost_ratio))),
          plan};
}

std::string held_back(const market::PriceOutlook& price) {
  return price.may_lead() ? std::string() : "its price is " + price_doubt(price);
}

std::string price_doubt(const market::PriceOutlook& price) {
  if (price.floor) return "a launch price, a tenth of on-demand";
  const std::string age = price.age ? fmt::format("{:.0f} days old", in_days(*price.age)) : "undated";
  return price.unconfirmed || price.is_old() ? age + " and unconfirmed" : age;
}

std::string doubt_of_price(const plan::Plan& plan) {
  if (!plan.price.may_lead()) return "price " + price_doubt(plan.price);
  return plan.has_old_price() ? "price " + price_doubt(plan.price) : std::string();
}

std::string describe_evidence(const market::PriceOutlook& price) {
  std::string text = price.age ? fmt::format("price {:.0f} days old, ", in_days(*price.age)) : "price undated, ";
  text += price.unconfirmed    ? std::string("unconfirmed")
          : price.is_old()     ? std::string("unconfirmed (one source)")
          : price.sources == 1 ? std::string("one source")
                               : fmt::format("{} sources agree", price.sources);
  if (price.others > 0)
    text += fmt::format(" ({} from {})", price.others, price.others == 1 ? "another provider" : "other providers");
  return text;
}

std::string describe_basis(const plan::Plan& plan) {
  if (plan.benchmarked && plan.basis == perf::Basis::kCalibrated) return "calibrated with your measurements";
  if (plan.benchmarked) return std::string(perf::name_of(plan.basis));
  return plan.relative.empty() || plan.extrapolated ? "no benchmark"
                                                    : fmt::format("no benchmark, from {}", plan.relative);
}

std::string describe_warning(const plan::PriceWarning& warning) {
  switch (warning.kind) {
    case plan::PriceWarning::Kind::kUnconfirmed:
      return "its price is unconfirmed: ask the provider";
    case plan::PriceWarning::Kind::kOld:
      return fmt::format("confirm its price ({} days old)", warning.age_days);
    case plan::PriceWarning::Kind::kFarBelowOtherRegions:
      return fmt::format("other regions charge {}x as much (median {}/h): the price may not last",
                         format_number(warning.times, 2), format_usd_per_hour(warning.elsewhere));
  }
  return {};
}

int percentile_of(const plan::Request& request) {
  using capacity::Statistic;
  const Statistic at = request.limits.slo_percentile;
  return at == Statistic::kP50 ? 50 : at == Statistic::kP95 ? 95 : 99;
}

std::string describe_request(const plan::Request& request) {
  const std::string model = plan::model_shown(request);
  switch (request.work.kind) {
    case WorkKind::kTraining:
      return fmt::format("Train {}{} on {} {}{}{}", adapters_of(request), model, format_magnitude(request.work.amount),
                         unit_of(request), request.job.train.preference ? " of preference pairs (DPO)" : "",
                         limits_of(request));
    case WorkKind::kServing: {
      const double rate = in_requests_per_s(request.work.rate);
      return fmt::format(
          "Serve {}{}{}{}{}{}{}", model, format_of(request), engine_of(request),
          request.work.sessions ? fmt::format(" for {} users in conversation (about {} requests/s)",
                                              format_count(request.work.sessions->users), format_number(rate))
          : rate > 0            ? fmt::format(" at {} request{}/s", format_number(rate), rate == 1 ? "" : "s")
          : request.limits.gpus ? fmt::format(" as fast as {} allow{}", plural(*request.limits.gpus, "GPU"),
                                              *request.limits.gpus == 1 ? "s" : "")
                                : std::string(" at the lowest cost per token"),
          hours_of(request), lengths_of(request), limits_of(request));
    }
    case WorkKind::kOffline:
      if (!request.work.profiled_gpu.empty())
        return fmt::format("Run the work profiled on {} for {}{}", request.work.profiled_gpu,
                           format_duration(seconds(request.work.amount)), limits_of(request));
      if (const double window = model.empty() ? 0 : perf::work_of(request.model).audio_seconds; window > 0)
        return fmt::format("Transcribe {} h of audio with {} ({} windows of {} s){}",
                           format_count(std::round(request.work.amount * window / 3600)), model,
                           format_magnitude(request.work.amount), format_number(window), limits_of(request));
      return describe_items(request) + limits_of(request);
  }
  return {};
}

std::string describe_machines(const plan::Plan& plan) {
  const std::string& region = plan.offer.price->region;
  const std::string order = describe_order(plan.offer, plan.machines);
  if (plan.offer.machine->provider == market::kOwn) return order;
  if (plan.offer.is_own())
    return fmt::format("{} at your price of ${:.2f} per GPU-hour", order,
                       in_usd_per_gpu_hour(plan.offer.rate_per_gpu()));
  return fmt::format("{}{}, {}", order, region == "any" ? "" : " in " + region,
                     catalog::name_of(plan.offer.price->purchase));
}

std::string describe_settings(const plan::Request& request, const plan::Plan& plan) {
  if (request.work.is_measured()) return "as measured: " + request.work.measured_how;
  return plan::settings_words(request, plan);
}

std::string describe_speed(const plan::Request& request, const plan::Plan& plan) {
  if (!request.work.profiled_gpu.empty())
    return fmt::format("{}x the speed of one {}", format_number(plan.units_per_second), request.work.profiled_gpu);
  return fmt::format("{} {}/s", format_number(plan.units_per_second, 4), unit_of(request));
}

std::string describe_margins(const plan::Request& request, const plan::Plan& plan) {
  if (request.work.is_measured())
    return request.work.profiled_gpu.empty()
               ? "Memory was not checked: no model was given."
               : "The profiled run fits in its memory; several GPUs split the work into separate runs.";
  std::string text =
      fmt::format("The plan is {}. Memory: {} of {} per GPU ({} at the high end), {} to spare.", bound_sentence(plan),
                  format_bytes(plan.memory.device), format_bytes(plan.fit.capacity), format_bytes(plan.memory.high),
                  format_percent(Ratio::fraction(1 - plan.memory.high / plan.fit.capacity)));
  const plan::PlanLimits& limits = request.limits;
  if (limits.deadline)
    text += fmt::format(" The deadline leaves {}.", format_duration(*limits.deadline - plan.elapsed()));
  if (limits.budget) text += fmt::format(" The budget leaves {}.", format_usd(*limits.budget - plan.cost));
  if (request.work.kind == WorkKind::kServing) {
    const std::string load = format_percent(Ratio::fraction(plan.load));
    text += plan.tpot > Seconds{} && !plan::is_one_pass(request)
                ? fmt::format(" Simulated: p{0} TTFT {1}, p{0} TPOT {2}, at {3} of capacity.", percentile_of(request),
                              format_duration(plan.ttft), format_duration(plan.tpot), load)
                : fmt::format(" Simulated: p{} latency {}, at {} of capacity.", percentile_of(request),
                              format_duration(plan.ttft), load);
  }
  return text;
}

std::string describe_cost(const plan::Request& request, const plan::Plan& plan) {
  const char* each = request.work.kind == WorkKind::kServing ? "/month" : "";
  const std::string cost = format_usd(plan.cost), low = format_usd(plan.cost_low), high = format_usd(plan.cost_high);
  if ((low == cost && high == cost) || !plan.interval_known) return cost + each;
  return fmt::format("{}{} ({} to {})", cost, each, low, high);
}

std::string price_source(const plan::Plan& plan, const catalog::Catalog& catalog) {
  const catalog::Provenance& from = plan.offer.price->provenance;
  const std::vector<std::string>& keys = from.sources;
  if (keys.empty()) return from.file;
  const catalog::Source* source = catalog.find_source(keys.front());
  if (source != nullptr) return source->title;
  return plan.offer.is_own() ? fmt::format("{}: {}", keys.front(), from.note) : keys.front();
}

std::string price_date(const plan::Plan& plan) {
  const auto& date = plan.offer.price->provenance.date;
  return date ? format_date(*date) : std::string();
}

std::string describe_price(const plan::Plan& plan, const catalog::Catalog& catalog) {
  // Spot prices move: the cost counts the likely price, not the one that was listed.
  const double likely = plan.price.likely / plan.price.listed;
  const std::string listed = format_usd_per_hour(plan.price.listed);
  constexpr double kSame = 0.005;
  const std::string rate = std::abs(likely - 1) < kSame ? listed + "/h per machine"
                                                        : fmt::format("{}/h per machine expected ({}/h listed)",
                                                                      format_usd_per_hour(plan.price.likely), listed);
  return fmt::format("{}, {}, {}", rate, price_source(plan, catalog), price_date(plan));
}

std::vector<std::string> reasons(const plan::Request& request, const plan::Plan& plan, const plan::Plan& first,
                                 const catalog::Catalog& catalog) {
  std::vector<std::string> list;
  list.push_back("fastest settings that fit: " + describe_settings(request, plan));
  if (!request.work.is_measured()) list.push_back(bound_sentence(plan));
  if (const std::string against = against_first(plan, first); !against.empty()) list.push_back(against);
  if (!plan.benchmarked)
    list.push_back(plan.relative.empty() || plan.extrapolated
                       ? "speed from the data sheet: we have no benchmark of this GPU"
                       : fmt::format("speed transferred from {}: we have no benchmark of this GPU", plan.relative));
  list.push_back(describe_price(plan, catalog));
  return list;
}

}  // namespace rightsize::app
