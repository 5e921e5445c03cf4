#include "rightsize/page/run_command.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/cancel.h"
#include "rightsize/call.h"
#include "rightsize/page/jobs.h"
#include "rightsize/page/response_cache.h"

namespace rightsize::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

http_server::Response text(std::string body) { return http_server::text_response(200, std::move(body)); }

std::string ask(const char* endpoint, const Query& query, const std::string& body = "") {
  ScratchFolder scratch;
  const auto asked = parse_api_request(*find_endpoint(endpoint), query, body);
  EXPECT_TRUE(asked) << describe(asked.error());
  return *run_command(*asked, {scratch}).body;
}

// The output of the command itself, without the code under test.
std::string command_prints(const std::string& command, const std::vector<std::string>& words) {
  const auto outcome = call(command, words);
  EXPECT_TRUE(outcome) << describe(outcome.error());
  return report::render(outcome->report, report::Format::kJson);
}

TEST(RunCommand, RespondsWithTheCommandsDocument) {
  EXPECT_EQ(ask("gpus", {{"gpu", "h100"}}), command_prints("gpus", {"--gpu", "h100"}));
  EXPECT_EQ(ask("memory", {}, R"({"model": "llama-3.1-8b", "batch": 4, "seq": 2048})"),
            command_prints("memory", {"llama-3.1-8b", "--batch", "4", "--seq", "2048"}));
}

RC_GTEST_PROP(RunCommand, ReturnsTheDocumentOfTheCommand, ()) {
  const auto memory = std::to_string(*rc::gen::inRange(1, 200)) + "GiB";
  const auto sort = *rc::gen::element<std::string>("catalogue", "memory", "bandwidth", "bf16", "tdp", "year");
  const auto vendor = *rc::gen::element<std::string>("NVIDIA", "AMD", "Intel");
  RC_ASSERT(ask("gpus", {{"sort", sort}, {"min-memory", memory}, {"vendor", vendor}}) ==
            command_prints("gpus", {"--min-memory", memory, "--vendor", vendor, "--sort", sort}));
}

TEST(RunCommand, ErrorsNameTheMistakeAndARemedy) {
  const std::string said = ask("memory", {{"model", "llama-3.1-8bb"}});
  EXPECT_THAT(said, HasSubstr("unknown model"));
  EXPECT_THAT(said, HasSubstr("llama-3.1-8b"));
}

TEST(RunCommand, ErrorsInAPastedConfigurationDoNotShowOurFolder) {
  EXPECT_THAT(ask("models", {{"model_config", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000})"}}),
              HasSubstr("6738415616"));
  const std::string said = ask("models", {{"model_config", R"({"model_type": "llama", "hidden_size": "x"})"}});
  EXPECT_THAT(said, HasSubstr("config.json"));
  EXPECT_THAT(said, Not(HasSubstr("rightsize-")));
}

TEST(ResponseCache, KeepsTheNewestUpToItsSize) {
  ResponseCache store(100, std::chrono::seconds(60));
  for (int i = 0; i < 20; ++i) store.find_or_compute("key" + std::to_string(i), [] { return text("0123456789"); });
  EXPECT_LE(store.bytes(), 100U);
  EXPECT_FALSE(store.find("key0"));
  EXPECT_TRUE(store.find("key19"));
  store.find_or_compute("large", [] { return text(std::string(99, 'x')); });
  EXPECT_FALSE(store.find("large"));
}

TEST(ResponseCache, ForgetsOldAndFailedResponses) {
  ResponseCache old(100, std::chrono::seconds(-1));
  old.find_or_compute("a", [] { return text("x"); });
  EXPECT_FALSE(old.find("a"));
  for (const char* key : {"b", "c", "d"}) old.find_or_compute(key, [] { return text("y"); });
  EXPECT_EQ(old.size(), 1U) << "what is too old goes when something new comes, asked for or not";
  ResponseCache store(100, std::chrono::seconds(60));
  for (const int status : {400, 404, 500, 502, 503}) {
    store.find_or_compute("a", [&] { return http_server::error_response(status, "down"); });
    EXPECT_FALSE(store.find("a")) << status;
  }
}

TEST(ResponseCache, IdenticalRequestsShareOneComputation) {
  ResponseCache store(1000, std::chrono::seconds(60));
  std::atomic<int> made{0};
  const auto make = [&] {
    ++made;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return text("x");
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(*store.find_or_compute("a", make).body, "x"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(ResponseCache, AFailureReachesEveryCallerAndIsRetried) {
  ResponseCache cache(1000, std::chrono::seconds(60));
  std::atomic<int> failures{0};
  const auto fails = []() -> http_server::Response {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    throw std::bad_alloc();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        cache.find_or_compute("a", fails);
      } catch (const std::bad_alloc&) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 4);
  EXPECT_EQ(*cache.find_or_compute("a", [] { return text("x"); }).body, "x");
}

TEST(JobQueue, AJobThatThrowsFailsAndTheNextOneRuns) {
  JobQueue jobs;
  const auto id_of = [](const http_server::Response& started) {
    const std::string& body = *started.body;
    const std::size_t at = body.find("\"id\"");
    const std::size_t open = body.find('"', body.find(':', at));
    return body.substr(open + 1, body.find('"', open + 1) - open - 1);
  };
  const auto wait_for = [&](const std::string& id, int status) {
    for (int i = 0; i < 500; ++i) {
      const http_server::Response shown = jobs.show(id);
      if (shown.body->find("\"state\"") == std::string::npos) return shown.status == status;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  };
  EXPECT_TRUE(wait_for(id_of(jobs.start("mig", []() -> http_server::Response { throw std::bad_alloc(); })), 500));
  EXPECT_TRUE(wait_for(id_of(jobs.start("mig", [] { return text("x"); })), 200));
}

TEST(ResponseCache, CancelledResponsesAreNotKept) {
  ResponseCache store(1000, std::chrono::seconds(60));
  const auto work = std::make_shared<Work>();
  work->cancel();
  const CancelScope scope(work);
  EXPECT_EQ(store.find_or_compute("a", [] { return text("half"); }).status, 499);
  EXPECT_FALSE(store.find("a"));
}

}  // namespace
}  // namespace rightsize::app
