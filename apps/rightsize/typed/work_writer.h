// Writes the meaning of a command line (said.h) as settings of its command.
#pragma once

#include "rightsize/typed/said.h"

namespace rightsize::app {

class WorkWriter {
 public:
  WorkWriter(Said said, const std::deque<FlagInfo>& declared)
      : declared_(declared), said_(std::move(said)), out_(said_.rest), plans_(plans_work(declared)) {}

  Typed run();

 private:
  bool has(std::string_view name) const { return find_flag(declared_, name) != nullptr; }
  std::string given(std::string_view name) const;
  bool any_given(settings::Jobs jobs) const;
  bool generates() const;
  bool draws() const;  // images or videos
  double length(std::string_view flag, double otherwise) const;
  double prompt_tokens() const;
  double answer_tokens() const;
  bool is_offline_job() const;
  bool trains() const;
  bool is_training() const;  // also where nothing is said and the command's default is to train
  void infer_serving();      // a number format that the default framework cannot train in implies serving
  void infer_stack();        // parallel training and training in fp8 need a framework that supports them
  void infer_job();          // if no job is named, infers it from the work
  void put_job();
  void put_one_pass();     // embeddings and scores of models that could generate text
  void put_model();        // sets a model that is known only by its size, and what its name tells about its shape
  void assume_model();     // the usual model of a job that has one
  void put_few_samples();  // 20 images of an adapter are read for about 1,000 steps, one at a time
  void put_epochs();       // --samples 1.28M --epochs 90: the data set, 90 times
  void put_gpu_range();    // --gpus 1-4: at most four
  void put_gpu_list();     // one A100 or one H100: --gpu a100,h100 --gpus 1
  void put_nodes();
  void put_owned();    // "we bought 8 H200": a machine that is there
  void put_copies();   // --dp 4 --tp 2: eight GPUs
  void note_chips();   // plans need software that we model
  void put_lengths();  // sizes for the longest requests that the engine accepts
  void put(const std::string& flag, const std::string& value);
  void said_as(const SaidAmount& said, const std::string& meant);
  double response_seconds() const;  // of requests given as a number in flight: from the limits, or typical
  static bool says_rate(const SaidAmount& s);
  // Little's law: users with think times between requests, or a constant number of requests in flight.
  std::optional<double> rate_of_people();
  void put_request();
  void put_work(const SaidAmount& said, const std::string& flag, double count);
  void put_training(const SaidAmount& said);
  void put_serving(const SaidAmount& said);
  void put_other();  // commands without --items: batch, window, estimate, memory
  void put_limits();
  void split_latency();  // splits a latency limit on a whole answer into limits on TTFT and TPOT
  std::optional<int> common_percentile();
  void keep_strictest();                // of several limits on the same time
  bool is_length(double tokens) const;  // rather than a volume: the model may read as many at once
  void split_long_texts();              // an encoder reads long texts in chunks
  void note_ignored();                  // amounts and limits; other words need no note
  void put_slo_flags();
  void put_slo();
  void note_paid_machines();
  void put_budget();  // a service's budget is per month: --budget 2000/month, --budget 3/h
  void note_limits();
  void put_compared();  // turns several GPUs or formats into a sweep in commands that estimate one
  void assume(const std::string& flag, const std::string& value, const std::string& why);
  void assume_work();

  const std::deque<FlagInfo>& declared_;
  Said said_;
  Typed& out_;
  std::optional<Seconds> period_ = {};  // of work that repeats
  bool plans_ = false, job_inferred_ = false;
};

// `--global-batch 4M` of a language model is tokens: training with 100,000 sequences per step is not realistic. If a
// command takes accumulation passes instead, the global batch is the batch per GPU x data-parallel copies x passes.
void put_global_batch(Typed& typed, const std::deque<FlagInfo>& declared, bool language_model);
// Hugging Face's Trainer in a plan: the samples of a pass and the passes of a step are its --global-batch, and the
// steps an amount of data, unless one was given.
void put_trainer(Typed& typed, bool work_given);
// The steps of a trainer as tokens, in commands that take an amount of data and no steps.
// GPUs, by their flag or with the name of a GPU: "8xh100".
double gpus_of(const Typed& typed);
void put_steps(Typed& typed, const std::deque<FlagInfo>& declared);

std::string whole(double number);  // a whole number, rounded up; a rate as a setting takes it
std::string rate_text(double per_second);

inline constexpr double kAnswerTokens = 256;  // of an answer of unknown length

}  // namespace rightsize::app
