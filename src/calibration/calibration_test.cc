#include "calibration/calibration.h"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/random.h"
#include "catalog/test_catalog.h"
#include "perf/test_constants.h"

namespace rightsize::calibration {
namespace {

using perf::Constants;
using perf::estimate_serving;
using perf::estimate_training;
using perf::gpu_speed;
using perf::load_constants;
using perf::TrainEstimate;

Checked<std::vector<Measurement>> read(const std::string& text) {
  return read_measurements("mine.csv", text, built_in_catalog());
}

constexpr const char* kHeader = "model,gpu,job,stack,batch,seq,tokens_per_second_per_gpu\n";

TEST(Measurements, RatesAreConvertedToStepTimes) {
  const auto rows = read(std::string(kHeader) + "llama-3.2-1b,h200-sxm,train,hf,8,1024,16384\n");
  ASSERT_TRUE(rows) << describe(rows.error());
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_DOUBLE_EQ(in_seconds(*rows->front().step), 0.5);  // 8 x 1024 tokens at 16,384 per second
  EXPECT_EQ(rows->front().line, 2);
}

TEST(Measurements, RatesOfAWholeJobAreDividedByItsGpus) {
  const auto rows = read(
      "model,gpu,gpus,zero,stack,batch,seq,tokens_per_second\n"
      "llama-2-7b,h100-sxm,8,3,torchtitan,4,2048,65536\n");
  ASSERT_TRUE(rows) << describe(rows.error());
  EXPECT_DOUBLE_EQ(in_seconds(*rows->front().step), 1.0);  // 8 x 4 x 2048 tokens at 65,536 per second
}

TEST(Measurements, EveryMistakeIsReportedWithItsPlace) {
  const auto rows = read(std::string(kHeader) +
                         "llama-9,h200-sxm,train,hf,8,1024,16384\n"
                         "llama-3.2-1b,h20x,train,hf,8,1024,16384\n"
                         "llama-3.2-1b,h200-sxm,train,hg,8,1024,16384\n"
                         "llama-3.2-1b,h200-sxm,train,hf,8,1024,fast\n"
                         "llama-3.2-1b,h200-sxm,train,hf,8,1024,\n"
                         "llama-3.2-1b,h200-sxm,train,hf,8,1024,-4\n"
                         "-,h200-sxm,train,hf,8,1024,4\n");
  ASSERT_FALSE(rows);
  const std::string text = describe(rows.error());
  for (const char* said : {"mine.csv:2:", "mine.csv:3:", "mine.csv:4:", "mine.csv:5:", "mine.csv:6:", "mine.csv:7:",
                           "mine.csv:8:", "did you mean"}) {
    EXPECT_THAT(text, testing::HasSubstr(said));
  }
}

TEST(Measurements, UnknownColumnsAndEmptyFilesAreRefused) {
  const auto wrong = read("model,gpu,tokens_per_secnd\nllama-3.2-1b,h200-sxm,4\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(describe(wrong.error()), testing::HasSubstr("did you mean 'tokens_per_second'"));
  EXPECT_FALSE(read("model,gpu,step_ms\n"));
  EXPECT_FALSE(read(""));
}

// The same run as vLLM, SGLang and GenAI-Perf report it.
// A table of another tool is one mistake, not one per column.
TEST(Measurements, ATableOfAnotherToolIsOneMistake) {
  for (const char* text :
       {"build_commit,gpu_info,model_filename,n_prompt,n_gen,avg_ts\na,NVIDIA L4,m.gguf,512,0,1240.1\n",
        "date,model,gpu,loss,lr,grad_norm,epoch\n2026-01-01,llama-3.1-8b,l4,1,1,1,1\n"}) {
    const auto rows = read(text);
    ASSERT_FALSE(rows);
    ASSERT_EQ(rows.error().size(), 1u);
    EXPECT_THAT(describe(rows.error()), testing::HasSubstr("ttft_ms"));
  }
}

TEST(Measurements, ResultsOfLoadGeneratorsAreRows) {
  const char* results[] = {
      R"({"backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct", "request_rate": "inf",
          "max_concurrency": 8, "completed": 100, "total_input_tokens": 102400, "total_output_tokens": 12800,
          "mean_ttft_ms": 61.5, "mean_tpot_ms": 12.25, "ttfts": [0.06, 0.07]})",
      (R"({"backend": "vllm", "model_id": "llama-3.1-8b", "max_concurrency": 8, "completed": 100,)"
       R"( "total_input_tokens": 102400, "total_output_tokens": 12800, "mean_ttft_ms": 61.5, "mean_tpot_ms": 12.25})"),
      R"({"input_config": {"model": ["llama-3.1-8b"]}, "request_throughput": {"avg": 4.946},
          "input_sequence_length": {"avg": 1024}, "output_sequence_length": {"avg": 128},
          "time_to_first_token": {"unit": "ms", "avg": 61.5}, "inter_token_latency": {"unit": "ms", "avg": 12.25}})",
  };
  for (const char* result : results) {
    const auto rows = read_measurements("bench.json", result, built_in_catalog(), {{{"gpu", "h100-sxm"}, {"tp", "2"}}});
    ASSERT_TRUE(rows) << describe(rows.error());
    const Measurement& m = rows->front();
    EXPECT_EQ(m.model, "llama-3.1-8b");
    EXPECT_EQ(m.job.stack, model::Stack::kVllm);
    EXPECT_EQ(m.job.parallel.tensor, 2);
    EXPECT_EQ(m.job.serve.isl, 1024);
    EXPECT_EQ(m.job.serve.osl, 128);
    EXPECT_EQ(m.job.serve.concurrency, 8);
    EXPECT_DOUBLE_EQ(in_milliseconds(*m.ttft), 61.5);
    EXPECT_DOUBLE_EQ(in_milliseconds(*m.tpot), 12.25);
  }
  const std::string two = std::string(results[1]) + "\n" + results[1] + "\n";
  EXPECT_EQ(read_measurements("b.jsonl", two, built_in_catalog(), {{{"gpu", "l4"}, {"stack", "sglang"}}})->size(), 2u);
  // vLLM's --metadata gpu=l4.
  EXPECT_TRUE(read_measurements("b.json", R"({"gpu": "l4", )" + std::string(two.substr(1, two.find('\n') - 1)),
                                built_in_catalog(), {{{"stack", "sglang"}}}));
  EXPECT_FALSE(read_measurements("b.json", R"({"loss": 2})", built_in_catalog(), {{{"gpu", "l4"}}}));
}

// GenAI-Perf's table has sections with different columns, and numbers with commas.
TEST(Measurements, TablesOfGenAiPerfAreRows) {
  const char* table =
      "Metric,avg,min,max\n"
      "Time To First Token (ms),61.50,41.20,41.20\n"
      "Inter Token Latency (ms),12.25,11.02,22.40\n"
      "Input Sequence Length (tokens),\"1,024.00\",998.00,1002.00\n"
      "Output Sequence Length (tokens),128.00,120.00,400.00\n"
      "\n"
      "Metric,Value\n"
      "Request Throughput (per sec),4.946\n";
  const FileFacts facts{{{"gpu", "h100-sxm"}, {"model", "llama-3.1-8b"}}};
  const auto rows = read_measurements("genai.csv", table, built_in_catalog(), facts);
  ASSERT_TRUE(rows) << describe(rows.error());
  EXPECT_EQ(rows->front().job.serve.isl, 1024);
  EXPECT_EQ(rows->front().job.serve.osl, 128);
  EXPECT_EQ(rows->front().job.serve.concurrency, 8) << "4.946 requests/s, each for 1.617 s";
  EXPECT_DOUBLE_EQ(in_milliseconds(*rows->front().ttft), 61.5);
}

// A table and a load generator's result may lack the same facts.
TEST(Measurements, GivenFactsFillWhatTheFileLacks) {
  FileFacts facts{{{"gpu", "l4"}, {"model", "llama-3.2-1b"}, {"isl", "512"}, {"osl", "64"}, {"rate", "3"}}};
  for (const char* text : {"ttft_ms,tpot_ms\n50,12\n", "ttft_ms,tpot_ms,gpu,rate\n50,12,,\n"}) {
    const auto rows = read_measurements("mine.csv", text, built_in_catalog(), facts);
    ASSERT_TRUE(rows) << describe(rows.error());
    EXPECT_EQ(rows->front().gpu->name, "l4");
    EXPECT_EQ(rows->front().job.serve.isl, 512);
    EXPECT_EQ(rows->front().load.rate, requests_per_s(3));
  }
  const auto own = read_measurements("mine.csv", "gpu,ttft_ms\nl40s,50\n", built_in_catalog(), facts);
  ASSERT_TRUE(own) << describe(own.error());
  EXPECT_EQ(own->front().gpu->name, "l40s") << "the file decides";
}

// Open loop: a rate without a limit on concurrency, or with one that was not reached.
TEST(Measurements, ARateIsAnOpenLoop) {
  const auto read_run = [](const char* load) {
    const std::string text = fmt::format(
        R"({{"model_id": "llama-3.1-8b", {}, "completed": 100, "total_input_tokens": 102400,
             "total_output_tokens": 12800, "mean_ttft_ms": 61.5, "mean_tpot_ms": 12.25, "request_throughput": 11.6}})",
        load);
    return read_measurements("b.json", text, built_in_catalog(), {{{"gpu", "h100-sxm"}}})->front();
  };
  for (const char* open : {R"("request_rate": 12, "max_concurrency": null)", R"("request_rate": 12)",
                           R"("request_rate": 12.0, "max_concurrency": 200)"}) {
    EXPECT_EQ(read_run(open).load.rate, requests_per_s(12)) << open;
  }
  const Measurement limited = read_run(R"("request_rate": 12, "max_concurrency": 18)");  // 18.8 in flight
  EXPECT_EQ(limited.load.rate, RequestsPerSecond{});
  EXPECT_EQ(limited.job.serve.concurrency, 18);
  EXPECT_EQ(read_run(R"("request_rate": 40)").job.serve.concurrency, 19) << "the server fell behind";
}

// Rows with the model's own times, multiplied by `factor`.
std::string rows_scaled(double factor, std::initializer_list<int> batches) {
  std::string text = "model,gpu,batch,seq,step_ms\n";
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu("h100-sxm");
  for (int batch : batches) {
    const auto one = *read(fmt::format("model,gpu,batch,seq,step_ms\nllama-3.2-1b,h100-sxm,{},2048,1\n", batch));
    const TrainEstimate e = *estimate_training(built_in_constants(), one.front().work, one.front().job,
                                               gpu_speed(built_in_constants(), gpu), one.front().cluster);
    text += fmt::format("llama-3.2-1b,h100-sxm,{},2048,{:.6f}\n", batch, in_milliseconds(e.step) * factor);
  }
  return text;
}

TEST(Calibration, FindsAFactorFromOnePoint) {
  const auto fits = fit_calibrations(built_in_constants(), *read(rows_scaled(1.3, {8})));
  ASSERT_TRUE(fits) << describe(fits.error());
  const CalibrationFit& fit = fits->front();
  EXPECT_NEAR(fit.row.factors.device, 1.3, 0.04);
  EXPECT_NEAR(fit.error_before, 0.23, 0.01);
  EXPECT_LT(fit.error_after, 0.03);
  EXPECT_LT(fit.row.factors.width, fit.width_before);
  EXPECT_EQ(fit.row.factors.points, 1);
}

TEST(Calibration, OneOutlierDoesNotDecide) {
  std::string text = rows_scaled(1.2, {4, 8, 16, 32});
  text += "llama-3.2-1b,h100-sxm,12,2048,9000\n";  // the profiler was on
  const auto fits = fit_calibrations(built_in_constants(), *read(text));
  ASSERT_TRUE(fits);
  EXPECT_NEAR(fits->front().row.factors.device, 1.2, 0.06);
}

TEST(Calibration, ServingFitsPrefillAndDecodeApart) {
  const auto fits =
      fit_calibrations(built_in_constants(), *read("model,gpu,job,stack,isl,osl,concurrency,ttft_ms,tpot_ms\n"
                                                   "llama-3.1-8b,a100-80gb-sxm,serve,vllm,2048,256,8,400,16\n"
                                                   "llama-3.1-8b,a100-80gb-sxm,serve,vllm,1024,256,1,190,12.5\n"));
  ASSERT_TRUE(fits) << describe(fits.error());
  const CalibrationFit& fit = fits->front();
  EXPECT_EQ(fit.points.size(), 4u);
  EXPECT_LT(fit.error_after, fit.error_before);
}

// For any result, the estimate of the same point with the fitted factors is no worse than without them.
TEST(Calibration, NeverMakesTheMeasuredPointWorse) {
  Random random(7);
  const char* models[] = {"llama-3.1-8b", "qwen2.5-32b", "gpt-oss-20b"};
  const char* gpus[] = {"h100-sxm", "a100-80gb-sxm", "l40s"};
  const auto between = [&](double low, double high) { return low * std::pow(high / low, random.uniform()); };
  int moved = 0;
  for (int i = 0; i < 40; ++i) {
    const bool open = i % 4 != 0;
    const std::string text =
        fmt::format("model,gpu,tp,isl,osl,{},ttft_ms,tpot_ms\n{},{},2,{:.0f},{:.0f},{:.0f},{},{}\n",
                    open ? "rate" : "concurrency", models[i % 3], gpus[i / 3 % 3], between(64, 4096), between(16, 1024),
                    between(1, 30), between(5, 2000), between(2, 80));
    const auto rows = read(text);
    ASSERT_TRUE(rows) << describe(rows.error());
    const auto fits = fit_calibrations(built_in_constants(), *rows);
    ASSERT_TRUE(fits) << text << describe(fits.error());
    const CalibrationFit& fit = fits->front();
    EXPECT_LE(fit.error_after, fit.error_before) << text;
    Constants own = built_in_constants();
    own.calibrations = {fit.row};
    const auto error_with = [&](const Constants& constants) -> std::optional<double> {
      const Measurement& m = rows->front();
      const auto e = estimate_serving(constants, m.work, m.job, gpu_speed(constants, *m.gpu), m.cluster, m.load);
      if (!e->stable) return std::nullopt;
      return std::fabs(e->ttft / *m.ttft - 1) + std::fabs(e->tpot / *m.tpot - 1);
    };
    // Each value on its own: a better TPOT does not pay for a worse TTFT, except within 10 %.
    for (const CalibrationPoint& point : fit.points)
      EXPECT_LE(std::fabs(point.after / point.measured - 1),
                std::max(0.1, std::fabs(point.before / point.measured - 1)) + 1e-6)
          << point.metric << "\n"
          << text;
    moved += fit.error_after < 0.8 * fit.error_before ? 1 : 0;
    const auto before = error_with(built_in_constants()), after = error_with(own);
    if (!before) continue;  // by the estimate, the GPU cannot serve this rate
    ASSERT_TRUE(after) << text;
    EXPECT_LE(*after, *before * (1 + 1e-9)) << text;
  }
  EXPECT_GT(moved, 20);  // and most measurements are learned from
}

// Rows of predictions, as they would be if prompts and decode steps took other factors of the time.
struct OwnRows {
  std::string gpu, rows;
  perf::Calibration factors;
};
OwnRows own_rows(Random& random, const char* gpu) {
  const auto factor = [&] { return 0.6 * std::pow(2 / 0.6, random.uniform()); };
  OwnRows own{gpu, "model,gpu,job,stack,isl,osl,concurrency,ttft_ms,tpot_ms\n", {}};
  own.factors = {true, factor(), 1, factor(), 0.1, 1};
  own.factors.host = own.factors.device;
  Constants changed = built_in_constants();
  changed.calibrations = {{model::Stack::kVllm, model::JobKind::kServe, own.gpu, own.factors}};
  const double prompt = std::round(500 * std::pow(10, random.uniform()));
  for (const int concurrency : {1, 4, 16, 32}) {
    const auto row = [&](double ttft, double tpot) {
      return fmt::format("llama-3.1-8b,{},serve,vllm,{},300,{},{},{}\n", own.gpu, prompt, concurrency, ttft, tpot);
    };
    const Measurement m = read(own.rows.substr(0, own.rows.find('\n') + 1) + row(1, 1))->front();
    const auto e = *estimate_serving(changed, m.work, m.job, gpu_speed(changed, *m.gpu), m.cluster, m.load);
    own.rows += row(in_milliseconds(e.ttft), in_milliseconds(e.tpot));
  }
  return own;
}

TEST(Calibration, FactorsOfPromptsAndOfDecodeStepsAreFoundApart) {
  Random random(11);
  const char* gpus[] = {"h100-sxm", "a100-80gb-sxm", "l40s", "rtx-6000-ada"};
  for (int i = 0; i < 40; ++i) {
    const OwnRows own = own_rows(random, gpus[i % 4]);
    const auto fits = fit_calibrations(built_in_constants(), *read(own.rows));
    ASSERT_TRUE(fits) << own.rows << describe(fits.error());
    const perf::Calibration& found = fits->front().row.factors;
    EXPECT_NEAR(found.device / own.factors.device, 1, 0.04) << own.rows;
    EXPECT_NEAR(found.prefill / own.factors.prefill, 1, 0.04) << own.rows;
    EXPECT_LT(fits->front().error_after, 0.02) << own.rows;
  }
}

// Prompts as predicted do not keep decode steps from being fitted.
TEST(Calibration, AnExactTtftDoesNotHideASlowTpot) {
  const auto rows = read(
      "model,gpu,job,stack,isl,osl,concurrency,ttft_ms,tpot_ms\n"
      "llama-3.1-8b,rtx-6000-ada,serve,vllm,1200,300,8,1,1\n"
      "llama-3.1-8b,rtx-6000-ada,serve,vllm,1200,300,16,1,1\n"
      "llama-3.1-8b,rtx-6000-ada,serve,vllm,1200,300,32,1,1\n");
  for (const double factor : {0.67, 0.8, 1.2, 1.5}) {
    std::vector<Measurement> measured = *rows;
    for (Measurement& m : measured) {
      const auto e = *estimate_serving(built_in_constants(), m.work, m.job, gpu_speed(built_in_constants(), *m.gpu),
                                       m.cluster, m.load);
      m.ttft = e.ttft, m.tpot = e.tpot * factor;
    }
    const auto fits = fit_calibrations(built_in_constants(), measured);
    ASSERT_TRUE(fits) << describe(fits.error());
    EXPECT_NEAR(std::log(fits->front().row.factors.device) / std::log(factor), 1, 0.5) << factor;
    for (const CalibrationPoint& point : fits->front().points)
      EXPECT_NEAR(point.after / point.measured, 1, 0.1) << factor << " " << point.metric;
  }
}

TEST(Calibration, SavedCalibrationsAreReadBackAndUsed) {
  const std::string folder = testing::TempDir() + "/rightsize_calibration";
  std::filesystem::create_directories(folder);
  const auto fits = fit_calibrations(built_in_constants(), *read(rows_scaled(1.25, {8, 16})));
  ASSERT_TRUE(write_file(folder + "/" + perf::kCalibrationFile, perf::calibration_csv({fits->front().row})));
  const auto overlaid = load_constants(folder);
  ASSERT_TRUE(overlaid) << describe(overlaid.error());
  const Measurement m = read(rows_scaled(1.0, {8}))->front();
  const catalog::Gpu& gpu = **built_in_catalog().find_gpu("h100-sxm");
  const TrainEstimate before =
      *estimate_training(built_in_constants(), m.work, m.job, gpu_speed(built_in_constants(), gpu), m.cluster);
  const TrainEstimate after = *estimate_training(*overlaid, m.work, m.job, gpu_speed(*overlaid, gpu), m.cluster);
  EXPECT_EQ(after.basis, perf::Basis::kCalibrated);
  EXPECT_NEAR(after.step / before.step, 1.25, 0.03);
  EXPECT_LT(after.interval.high, before.interval.high);
  std::filesystem::remove_all(folder);
}

TEST(Constants, MistakesInAnOverlayAreReported) {
  const std::string folder = testing::TempDir() + "/rightsize_broken_constants";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/stacks.csv", "stack,constant,value\nhf,matmul_rat,0.7\nhg,matmul_rate,0.7\n"));
  ASSERT_TRUE(write_file(folder + "/efficiency.csv", "gpu,kernel,rate\nl4,matmul-bf16,fast\nl4,matmul-bf17,1\n"));
  const auto broken = load_constants(folder);
  ASSERT_FALSE(broken);
  const std::string text = describe(broken.error());
  EXPECT_THAT(text, testing::HasSubstr("has no constant 'matmul_rat'"));
  EXPECT_THAT(text, testing::HasSubstr("'hg' is not a known stack"));
  EXPECT_THAT(text, testing::HasSubstr("unknown kernel 'matmul-bf17'"));
  EXPECT_THAT(text, testing::HasSubstr("efficiency.csv:2:"));
  std::filesystem::remove_all(folder);
}

TEST(Constants, AnOverlayReplacesOneConstant) {
  const std::string folder = testing::TempDir() + "/rightsize_own_constants";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/stacks.csv", "stack,constant,value\nhf,matmul_rate,0.5\n"));
  const auto own = load_constants(folder);
  ASSERT_TRUE(own) << describe(own.error());
  EXPECT_DOUBLE_EQ(own->eager.matmul_rate, 0.5);
  EXPECT_EQ(own->eager.host_forward, built_in_constants().eager.host_forward);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rightsize::calibration
