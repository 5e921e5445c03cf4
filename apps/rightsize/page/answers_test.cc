#include "rightsize/page/answers.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/cancel.h"
#include "rightsize/call.h"

namespace rightsize::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

http_server::Response text(std::string body) { return http_server::text_response(200, std::move(body)); }

std::string ask(const char* endpoint, const Query& query, const std::string& body = "") {
  Scratch scratch;
  const auto asked = read_asked(*find_endpoint(endpoint), query, body);
  EXPECT_TRUE(asked) << describe(asked.error());
  return *answer(*asked, {}, scratch).body;
}

// What the command itself would print, by its own way from words to text.
std::string command_prints(const std::string& command, const std::vector<std::string>& words) {
  const auto outcome = call(command, words);
  EXPECT_TRUE(outcome) << describe(outcome.error());
  return report::render(outcome->report, report::Format::kJson);
}

TEST(Answer, IsTheCommandsOwnDocument) {
  EXPECT_EQ(ask("gpus", {{"gpu", "h100"}}), command_prints("gpus", {"--gpu", "h100"}));
  EXPECT_EQ(ask("memory", {}, R"({"model": "llama-3.1-8b", "batch": 4, "seq": 2048})"),
            command_prints("memory", {"llama-3.1-8b", "--batch", "4", "--seq", "2048"}));
}

RC_GTEST_PROP(Answer, IsTheCommandsOwnDocumentWhateverIsAsked, ()) {
  const auto memory = std::to_string(*rc::gen::inRange(1, 200)) + "GiB";
  const auto sort = *rc::gen::element<std::string>("catalogue", "memory", "bandwidth", "bf16", "tdp", "year");
  const auto vendor = *rc::gen::element<std::string>("NVIDIA", "AMD", "Intel");
  RC_ASSERT(ask("gpus", {{"sort", sort}, {"min-memory", memory}, {"vendor", vendor}}) ==
            command_prints("gpus", {"--min-memory", memory, "--vendor", vendor, "--sort", sort}));
}

TEST(Answer, MistakesSayWhatAndWhatToTry) {
  const std::string said = ask("memory", {{"model", "llama-3.1-8bb"}});
  EXPECT_THAT(said, HasSubstr("unknown model"));
  EXPECT_THAT(said, HasSubstr("llama-3.1-8b"));
}

TEST(Answer, APastedConfigurationIsReadAndItsMistakesNameItNotOurFolder) {
  EXPECT_THAT(ask("models", {{"model_config", R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
      "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 32000})"}}),
              HasSubstr("6738415616"));
  const std::string said = ask("models", {{"model_config", R"({"model_type": "llama", "hidden_size": "x"})"}});
  EXPECT_THAT(said, HasSubstr("config.json"));
  EXPECT_THAT(said, Not(HasSubstr("rightsize-")));
}

TEST(AnswerStore, KeepsTheNewestUpToItsSize) {
  AnswerStore store(100, std::chrono::seconds(60));
  for (int i = 0; i < 20; ++i) store.find_or_make("key" + std::to_string(i), [] { return text("0123456789"); });
  EXPECT_LE(store.bytes(), 100U);
  EXPECT_FALSE(store.find("key0"));
  EXPECT_TRUE(store.find("key19"));
  store.find_or_make("large", [] { return text(std::string(99, 'x')); });
  EXPECT_FALSE(store.find("large"));
}

TEST(AnswerStore, ForgetsWhatIsTooOldAndWhatFailed) {
  AnswerStore old(100, std::chrono::seconds(-1));
  old.find_or_make("a", [] { return text("x"); });
  EXPECT_FALSE(old.find("a"));
  for (const char* key : {"b", "c", "d"}) old.find_or_make(key, [] { return text("y"); });
  EXPECT_EQ(old.size(), 1U) << "what is too old goes when something new comes, asked for or not";
  AnswerStore store(100, std::chrono::seconds(60));
  store.find_or_make("a", [] { return http_server::error_response(502, "down"); });
  EXPECT_FALSE(store.find("a"));
}

TEST(AnswerStore, TwoWhoAskTheSameWaitForOneAnswer) {
  AnswerStore store(1000, std::chrono::seconds(60));
  std::atomic<int> made{0};
  const auto make = [&] {
    ++made;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return text("x");
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_EQ(*store.find_or_make("a", make).body, "x"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(AnswerStore, WhatWasCancelledIsNotKeptAndOthersMakeTheirOwn) {
  AnswerStore store(1000, std::chrono::seconds(60));
  const auto work = std::make_shared<Work>();
  work->cancel();
  const CancelScope scope(work);
  EXPECT_EQ(store.find_or_make("a", [] { return text("half"); }).status, 499);
  EXPECT_FALSE(store.find("a"));
}

}  // namespace
}  // namespace rightsize::app
