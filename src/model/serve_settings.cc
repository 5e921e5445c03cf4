#include "model/serve_settings.h"

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/text.h"

namespace rightsize::model {
namespace {

Result<int> parse_workers(const std::string& text) {
  constexpr double kMost = 100'000;
  RIGHTSIZE_TRY(const double count, parse_count(text));
  if (count < 1 || count > kMost) return fail(bad_input(fmt::format("{} is not between 1 and {:.0f}", text, kMost)));
  return static_cast<int>(count);
}

Error malformed(const std::string& text) {
  return bad_input(fmt::format("'{}' is not prefill=NxTP,decode=NxTP", text))
      .with_hint("two prefill workers of one GPU and one decode worker of four: prefill=2x1,decode=1x4");
}

}  // namespace

Result<Disaggregated> parse_disaggregated(const std::string& text) {
  Disaggregated d;
  bool prefill = false, decode = false;
  for (const std::string_view piece : split_list(text, ',')) {
    const std::string part(piece);
    const std::size_t equals = part.find('='), times = part.find('x', equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || times == std::string::npos) return fail(malformed(text));
    const std::string kind = to_lower(part.substr(0, equals));
    const bool first = kind == "prefill" && !prefill, second = kind == "decode" && !decode;
    if (!first && !second) return fail(malformed(text));
    RIGHTSIZE_TRY((first ? d.prefill_workers : d.decode_workers),
                  parse_workers(part.substr(equals + 1, times - equals - 1)));
    RIGHTSIZE_TRY((first ? d.prefill_tensor : d.decode_tensor), parse_workers(part.substr(times + 1)));
    (first ? prefill : decode) = true;
  }
  if (!prefill || !decode) return fail(malformed(text));
  return d;
}

Result<double> parse_share(const char* name, const std::string& text) {
  RIGHTSIZE_TRY(const double share, parse_number(text));
  if (!(share >= 0 && share < 1)) return fail(bad_input(fmt::format("{} of {} is not from 0 to below 1", name, text)));
  return share;
}

Result<Speculation> parse_speculation(const std::string& text) {
  constexpr double kMost = 16;
  Speculation speculation;
  const std::size_t comma = text.find(',');
  RIGHTSIZE_TRY(const double tokens, parse_count(text.substr(0, comma)));
  if (tokens < 1 || tokens > kMost)
    return fail(bad_input(fmt::format("{} tokens ahead is not between 1 and {:.0f}", text.substr(0, comma), kMost)));
  speculation.tokens = static_cast<int>(tokens);
  if (comma == std::string::npos) return speculation;
  constexpr std::string_view kMethod = "method=";
  const std::string rest = text.substr(comma + 1);
  if (rest.starts_with(kMethod)) {
    speculation.method = to_lower(rest.substr(kMethod.size()));
  } else {
    RIGHTSIZE_TRY(speculation.acceptance, parse_share("acceptance", rest));
  }
  return speculation;
}

Job prefill_worker(const Job& job) {
  Job worker = job;
  worker.serve.disaggregated.reset();
  Parallelism& p = worker.parallel;
  p.tensor = p.gpus = job.serve.disaggregated->prefill_tensor;
  // With its own prompt on every GPU, attention needs no exchange.
  p.attention_data = p.attention_data > 1 || p.expert > 1 ? p.tensor : 1;
  p.expert = p.expert > 1 ? p.tensor : 1;
  return worker;
}

std::int64_t expert_slots(std::int64_t experts, int groups) { return (experts + groups - 1) / groups * groups; }

Precision checkpoint_precision(const ModelShape& model) { return model.checkpoint.value_or(Precision::kBf16); }

Precision default_precision(const ModelShape& model, Stack stack) {
  const bool engine = stack != Stack::kHf && model.kind == ModelKind::kDecoder;
  return engine ? checkpoint_precision(model) : Precision::kBf16;
}

ServedFormats served_formats(bool mixture, Precision checkpoint, Precision asked) {
  ServedFormats formats{asked, asked};
  if (!mixture) return formats;
  if (asked == Precision::kFp4) formats.dense = Precision::kBf16;
  // A mixture published in fp4 has no fp8 version: engines keep the published experts.
  if (asked == Precision::kFp8 && checkpoint == Precision::kFp4) formats = {Precision::kBf16, Precision::kFp4};
  return formats;
}

}  // namespace rightsize::model
