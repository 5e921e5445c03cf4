#include "rightsize/estimate/estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "rightsize/estimate/report.h"

namespace rightsize::app {
namespace {

using Settings = std::map<std::string, std::string>;

std::shared_ptr<const Facts> facts() {
  static const auto kFacts = std::make_shared<const Facts>(open_facts("").value());
  return kFacts;
}

// Without caching: reads everything again.
std::string fresh(const EstimateFlags& flags) {
  const Checked<SpeedInput> input = read_input(facts()->catalog, facts()->constants, flags, flags.job);
  if (!input) return describe(input.error());
  const Result<SpeedEstimate> estimate = estimate_speed(facts()->constants, *input);
  return document_of({*input, estimate}).dump();
}

std::string kept(Estimator& estimator, const EstimateFlags& flags) {
  const Checked<Json> document = estimator.document(flags);
  return document ? document->dump() : describe(document.error());
}

EstimateFlags flags_of(std::string model, std::string gpu, Settings settings) {
  EstimateFlags flags;
  flags.job = {std::move(model), std::move(gpu), std::move(settings)};
  return flags;
}

RC_GTEST_PROP(Estimator, AnswersLikeTheCommandInAnyOrder, ()) {
  static Estimator estimator(facts());  // shared by all cases, to detect state that leaks between them
  const auto model = *rc::gen::element<std::string>("llama-3.1-8b", "mixtral-8x7b", "bert-large", "resnet-50",
                                                    "qwen2.5-vl-7b", "whisper-large-v3", "no-such-model");
  const auto gpu = *rc::gen::element<std::string>("h100-sxm", "l4", "mi300x", "");
  Settings settings;
  settings["job"] = *rc::gen::element<std::string>("train", "serve");
  if (*rc::gen::arbitrary<bool>()) settings["batch"] = *rc::gen::element<std::string>("1", "8", "64", "-1");
  if (*rc::gen::arbitrary<bool>()) settings["gpus"] = *rc::gen::element<std::string>("1", "2", "8");
  if (*rc::gen::arbitrary<bool>()) settings["tp"] = *rc::gen::element<std::string>("1", "2", "3");
  if (*rc::gen::arbitrary<bool>()) settings["precision"] = *rc::gen::element<std::string>("bf16", "fp8", "fp32");
  if (*rc::gen::arbitrary<bool>()) settings["isl"] = *rc::gen::element<std::string>("128", "2048", "200k");
  if (*rc::gen::inRange(0, 4) == 0) settings["resolution"] = *rc::gen::element<std::string>("224", "448x448");
  if (*rc::gen::inRange(0, 4) == 0) settings["images"] = "2";
  EstimateFlags flags = flags_of(model, gpu, std::move(settings));
  if (*rc::gen::inRange(0, 3) == 0) flags.rate = *rc::gen::element<std::string>("2/s", "500/s", "fast");
  if (*rc::gen::inRange(0, 3) == 0) flags.slot_wait = "yes";
  RC_ASSERT(kept(estimator, flags) == fresh(flags));
}

TEST(Estimator, TakesAConfigurationAsText) {
  Estimator estimator(facts());
  const std::string config =
      R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 256, "intermediate_size": 512,)"
      R"( "num_attention_heads": 4, "vocab_size": 1000})";
  const EstimateFlags flags = flags_of(config, "h100-sxm", {{"batch", "2"}});
  EXPECT_THAT(kept(estimator, flags), testing::HasSubstr("tokens_per_second_per_gpu"));
  EXPECT_EQ(kept(estimator, flags), fresh(flags));
}

}  // namespace
}  // namespace rightsize::app
