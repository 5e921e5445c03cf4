#include <cmath>

#include <gtest/gtest.h>

#include "rightsize/batch/input.h"
#include "rightsize/call.h"
#include "rightsize/input/facts.h"

namespace rightsize::app {
namespace {

// Lengths that are not given are those of the other commands: of speech, a short text.
TEST(BatchInput, TheModelDecidesLengthsThatAreNotGiven) {
  struct Usual {
    const char *model, *isl, *osl;
  };
  for (const Usual& usual : {Usual{"whisper-small", "4", "100"}, {"llama-3.2-1b", "1024", "256"}}) {
    std::vector<std::string> words = {"--model",   usual.model, "--gpu", "h100-sxm",   "--arrivals",
                                      "poisson:1", "--lengths", "fixed", "--requests", "2000"};
    const Checked<Outcome> left_open = call("batch", words);
    words.insert(words.end(), {"--isl", usual.isl, "--osl", usual.osl});
    const Checked<Outcome> given = call("batch", words);
    ASSERT_TRUE(left_open && given);
    EXPECT_EQ(left_open->report.document.find("latency_ms")->dump(), given->report.document.find("latency_ms")->dump())
        << usual.model;
  }
}

// The recommended setting is a row of the table, also if it mixes two types of replicas.
TEST(BatchReport, TheBestSettingIsARowOfTheTable) {
  for (const char* rate : {"3", "5", "9"}) {
    for (const char* slo : {"ttft-p95=800ms", "ttft-p95=600ms,tpot-p95=100ms"}) {
      const Checked<Outcome> answer =
          call("batch", {"--model", "mistral-7b", "--gpu", "l4", "--arrivals", std::string("poisson:") + rate, "--isl",
                         "800", "--osl", "150", "--slo", slo, "--requests", "5000"});
      ASSERT_TRUE(answer) << describe(answer.error());
      const Json& document = answer->report.document;
      const auto number = [](const Json& json, const char* name) { return std::stod(json.find(name)->dump()); };
      int rows = 0;
      double before = 0;
      for (const Json& row : *document.find("frontier")->items()) {
        bool same = true;
        for (const char* field : {"gpus", "max_batch", "usd_per_month", "value_ms"})
          same = same && number(row, field) == number(*document.find("plan"), field);
        rows += same ? 1 : 0;
        EXPECT_GT(number(row, "usd_per_month"), before) << rate << slo;
        before = number(row, "usd_per_month");
      }
      EXPECT_EQ(rows, 1) << rate << slo;
    }
  }
}

// Providers rent whole machines: the cost is that of the cheapest ones that hold all replicas, and the GPUs that are
// paid for are never fewer than those in use.
TEST(BatchReport, TheCostIsOfWholeMachines) {
  const Checked<Facts> facts = open_facts("");
  ASSERT_TRUE(facts);
  const market::PriceBook book(facts->catalog);
  int shared = 0;
  for (const char* gpu : {"h200-sxm", "b200-sxm", "mi300x", "a100-80gb-sxm", "l4", "l40s", "gh200-96gb"}) {
    for (const int together : {1, 2, 4}) {
      const Result<const catalog::Gpu*> found = facts->catalog.find_gpu(gpu);
      ASSERT_TRUE(found);
      const auto machines = book.machines_for(**found, catalog::Purchase::kOnDemand, together);
      BatchOffer offer;
      offer.replica.gpus = together;
      for (const market::Offer& one : machines)
        offer.machines.push_back(
            {one.machine->gpus / together, one.machine->gpus, in_usd_per_machine_hour(one.rate()), {}, {}});
      double before = 0;
      for (int replicas = 1; replicas <= 40 && !machines.empty(); ++replicas) {
        const double cost = offer.usd_per_hour_of(replicas);
        double least = 1e300;
        for (const market::Offer& one : machines) {
          int count = 1;
          while (one.machine->gpus / together * count < replicas) ++count;
          least = std::min(least, count * in_usd_per_machine_hour(one.rate()));
        }
        EXPECT_DOUBLE_EQ(cost, least) << gpu << " " << replicas;
        EXPECT_GE(cost, before - 1e-9) << gpu << " " << replicas;
        const auto [machine, count] = offer.machines_for(replicas);
        EXPECT_GE(machine->gpus * count, replicas * together);
        shared += machine->gpus * count > replicas * together;
        before = cost;
      }
    }
  }
  EXPECT_GT(shared, 10);
}

}  // namespace
}  // namespace rightsize::app
