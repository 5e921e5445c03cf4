#include "plan/read_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/test_requests.h"

namespace rightsize::plan {
namespace {

using model::Setting;
using testing::HasSubstr;

std::string mistakes(const Given& settings) {
  const Checked<Request> request = read_given(settings);
  return request ? "none" : describe(request.error());
}

TEST(ReadRequest, ReadsAmountsOfWork) {
  EXPECT_EQ(read_given({{"model", "gpt2"}, {"tokens", "1B"}})->work.amount, 1e9);
  EXPECT_EQ(read_given({{"model", "gpt2"}, {"epochs", "3"}, {"dataset-tokens", "100M"}})->work.amount, 3e8);
  EXPECT_EQ(read_given({{"model", "resnet-50"}, {"epochs", "90"}, {"dataset-samples", "1M"}})->work.amount, 9e7);
  EXPECT_EQ(read_given({{"model", "gpt2"}, {"samples", "10"}, {"seq", "512"}})->work.amount, 5120);
  EXPECT_EQ(read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"items", "5k"}})->work.kind, WorkKind::kOffline);
}

TEST(ReadRequest, WorkThatImpliesServingNeedsNoJob) {
  EXPECT_EQ(read_given({{"model", "llama-3.2-1b"}, {"rate", "3/s"}})->work.kind, WorkKind::kServing);
  EXPECT_EQ(read_given({{"model", "llama-3.2-1b"}, {"items", "5k"}})->work.kind, WorkKind::kOffline);
  EXPECT_EQ(read_given({{"model", "llama-3.2-1b"}, {"rate", "3/s"}, {"precision", "auto"}})->choices.precision_auto,
            true);
  EXPECT_THAT(mistakes({{"model", "llama-3.2-1b"}, {"rate", "3/s"}, {"job", "train"}}), HasSubstr("belong to serving"));
}

TEST(ReadRequest, MissingAndContradictorySettingsAreReported) {
  EXPECT_THAT(mistakes({{"tokens", "1B"}}), HasSubstr("--model is missing"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}}), HasSubstr("amount of training data is missing"));
  EXPECT_THAT(mistakes({{"model", "resnet-50"}, {"tokens", "1B"}}), HasSubstr("has images, not tokens"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"rate", "3/s"}}), HasSubstr("belong to serving"));
  EXPECT_THAT(mistakes({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"tokens", "1B"}}),
              HasSubstr("belong to training"));
  EXPECT_THAT(mistakes({{"job", "serve"}, {"items", "5"}, {"per-item", "1s"}}), HasSubstr("needs the GPU"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"tokens", "2B"}}), HasSubstr("given twice"));
}

TEST(ReadRequest, WrongNamesGetASuggestion) {
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"providers", "awss"}}), HasSubstr("did you mean 'aws'"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"dedline", "3d"}}), HasSubstr("did you mean 'deadline'"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"purchase", "spott"}}), HasSubstr("did you mean 'spot'"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"precision", "bf61"}}), HasSubstr("bf16"));
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"objective", "speed"}}), HasSubstr("cost-time"));
}

TEST(ReadRequest, ListsBecomeAllowedChoices) {
  const Checked<Request> request =
      read_given({{"model", "gpt2"}, {"tokens", "1B"}, {"method", "full,lora"}, {"zero", "0,3"}, {"batch", "2,8"}});
  ASSERT_TRUE(request);
  EXPECT_EQ(request->choices.methods.size(), 2U);
  EXPECT_EQ(request->choices.zero, (std::vector<int>{0, 3}));
  EXPECT_EQ(request->choices.batches, (std::vector<std::int64_t>{2, 8}));
}

TEST(ReadRequest, PurchaseIsOnDemandByDefault) {
  using catalog::Purchase;
  EXPECT_EQ(read_given({{"model", "gpt2"}, {"tokens", "1B"}})->filter.purchases,
            (std::vector<Purchase>{Purchase::kOnDemand}));
  EXPECT_EQ(read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"rate", "1/s"}})->filter.purchases,
            (std::vector<Purchase>{Purchase::kOnDemand}));
}

// fp8 on GPUs that support it; 4 bits only if named.
TEST(ReadRequest, AutomaticPrecision) {
  using model::Precision;
  const Checked<Request> request = read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"precision", "auto"}});
  ASSERT_TRUE(request) << describe(request.error());
  const auto formats = precisions_for(*request, model::Method::kFull);
  EXPECT_EQ(formats, (std::vector{Precision::kBf16, Precision::kFp8}));
  const catalog::Catalog catalog = *catalog::load_catalog("");
  EXPECT_TRUE(suits(*request, Precision::kFp8, **catalog.find_gpu("h100-sxm")));
  EXPECT_FALSE(suits(*request, Precision::kFp8, **catalog.find_gpu("a100-80gb-sxm")));
  const Checked<Request> four = read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"precision", "auto,int4"}});
  EXPECT_EQ(precisions_for(*four, model::Method::kFull).back(), Precision::kInt4);
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {"precision", "auto"}}), HasSubstr("--job serve"));
}

TEST(ReadRequest, AbsurdAmountsAreRefused) {
  EXPECT_THAT(mistakes({{"model", "gpt2"}, {"tokens", "1e30"}}), HasSubstr("between 1 and 1e18"));
}

// Underscores and aliases of every setting mean the setting.
TEST(ReadRequest, OtherSpellingsOfSettingsAreUnderstood) {
  const auto at = [](const char* ttft, const char* tpot) {
    return read_given({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "1/s"}, {ttft, "800ms"}, {tpot, "40ms"}});
  };
  for (const auto& [ttft, tpot] : {std::pair{"ttft-slo", "tpot-slo"}, {"ttft", "tpot"}, {"ttft_slo", "tpot_slo"}}) {
    const auto request = at(ttft, tpot);
    ASSERT_TRUE(request) << ttft;
    EXPECT_EQ(request->limits.ttft, milliseconds(800));
    EXPECT_EQ(request->limits.tpot, milliseconds(40));
  }
}

TEST(ReadRequest, TrainingSpreadsExpertsIfTheFrameworkDoes) {
  const auto with = [](const char* stack, const char* groups) {
    return std::vector<std::pair<std::string, std::string>>{
        {"model", "qwen3-30b-a3b"}, {"tokens", "1B"}, {"stack", stack}, {"ep", groups}};
  };
  EXPECT_EQ(read_given(with("megatron", "8"))->choices.expert, std::vector<int>{8});
  EXPECT_THAT(mistakes(with("hf", "8")), HasSubstr("does not spread experts"));
  EXPECT_THAT(mistakes(with("megatron", "3")), HasSubstr("do not divide"));
}

TEST(ReadRequest, OnlyMixturesSpreadExperts) {
  EXPECT_THAT(mistakes({{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "1/s"}, {"ep", "4"}}),
              HasSubstr("no experts to spread"));
  EXPECT_EQ(read_given({{"model", "gpt-oss-120b"}, {"job", "serve"}, {"rate", "1/s"}, {"ep", "1,4"}})->choices.expert,
            (std::vector<int>{1, 4}));
}

TEST(ReadRequest, RequestsFitTheContextOfTheModel) {
  const auto asked = [](const char* isl) {
    return Given{{"model", "llama-3.1-8b"}, {"job", "serve"}, {"rate", "1/s"}, {"isl", isl}, {"osl", "100"}};
  };
  EXPECT_TRUE(read_given(asked("130000")));
  EXPECT_THAT(mistakes(asked("200000")), HasSubstr("context"));
  EXPECT_TRUE(read_given({{"model", "bert-large"}, {"job", "serve"}, {"rate", "1/s"}, {"isl", "512"}}));
}

TEST(ReadRequest, SharesOfAMixSumToOne) {
  const Checked<Request> request =
      read_given({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"mix", "100:10=3,500:50=1"}});
  ASSERT_TRUE(request);
  EXPECT_NEAR(request->work.mix[0].share, 0.75, 1e-12);
  EXPECT_THAT(mistakes({{"model", "llama-3.2-1b"}, {"job", "serve"}, {"mix", "100=3"}}), HasSubstr("ISL:OSL=SHARE"));
}

TEST(WorkloadFile, OneWorkloadOrSeveralOverDefaults) {
  const auto one = read_workload_file("w.yaml", "model: gpt2\ntokens: 1B\nproviders: [aws, gcp]\n");
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1U);
  EXPECT_EQ((*one)[0][2].value, "aws,gcp");
  EXPECT_EQ((*one)[0][2].place.line, 3);
  const auto two = read_workload_file(
      "w.yaml", "defaults: {tokens: 1B, seq: 512}\nworkloads:\n  - {model: gpt2}\n  - {model: gpt2-xl, seq: 1024}\n");
  ASSERT_TRUE(two);
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ((*two)[0].size(), 3U);
  EXPECT_EQ((*two)[1].size(), 3U);
}

TEST(WorkloadFile, MistakesAreReportedWithTheirPlace) {
  const auto wrong = read_workload_file("w.yaml", "model: gpt2\ntokens:\nseq: 1\nseq: 2\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().size(), 2U);
  EXPECT_EQ(wrong.error()[0].place.line, 2);
  const auto nested = read_workload_file("w.yaml", "model: gpt2\ntraffic:\n  rps: 8\n");
  ASSERT_TRUE(nested);
  EXPECT_EQ((*nested)[0][1].name, "traffic.rps");
  EXPECT_EQ((*nested)[0][1].place.line, 3);
  EXPECT_THAT(describe(read_workload_file("w.yaml", "- a\n").error()), HasSubstr("mapping of settings"));
  EXPECT_THAT(describe(read_workload_file("w.yaml", "workloads: []\n").error()), HasSubstr("at least one"));
  EXPECT_THAT(describe(read_workload_file("w.yaml", "modle: x\nworkloads: [{model: a}]\n").error()),
              HasSubstr("'defaults:'"));
}

// A number alone has the same unit as in every other command: per hour.
TEST(ReadRequest, InterruptionsArePerHour) {
  for (const char* text : {"0.05", "0.05/h", "1.2/d"}) {
    const auto request = read_given({{"model", "gpt2"}, {"tokens", "1B"}, {"interruptions", text}});
    ASSERT_TRUE(request) << text;
    EXPECT_NEAR(request->assumptions.spot_interruptions_per_hour, 0.05, 1e-12) << text;
  }
}

// No numeric setting accepts a meaningless number.
TEST(ReadRequest, NumbersOutOfRangeAreRefused) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong = {
      {"busy-share", {"70", "0", "1.01"}}, {"pue", {"0.5", "6"}},     {"kwh-price", {"11"}},
      {"amortise-years", {"0", "51"}},     {"max-gpus", {"0", "1M"}}, {"on-prem-machines", {"0", "20k"}},
      {"interruptions", {"101", "30/s"}}};
  for (const auto& [name, values] : wrong) {
    for (const std::string& value : values)
      EXPECT_NE(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {name, value}}), "none") << name << " " << value;
    for (const char* value : {"nan", "inf", "-1", ""})
      EXPECT_NE(mistakes({{"model", "gpt2"}, {"tokens", "1B"}, {name, value}}), "none") << name << " " << value;
  }
}

}  // namespace
}  // namespace rightsize::plan
