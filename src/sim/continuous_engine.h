// One replica with continuous batching, as the simulator runs it. Internal to the simulator.
//
// Successive decode-only steps differ by one token per sequence, so the time of k of them has a closed form. Only steps
// that admit a request, process prompts or finish a sequence are simulated one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "sim/continuous_batching.h"
#include "sim/prefix_cache.h"

namespace rightsize::sim {

// std::round() of a time, which is never negative: a call of the library takes longer than the rest of a step.
inline SimTime rounded(double time) {
  const auto whole = static_cast<SimTime>(time);
  return whole + (time - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

// Sequences are scanned often, so one fits a cache line of 64 bytes.
struct Sequence {
  SimTime arrived = 0;
  SimTime first_token = kNever;
  std::int32_t prompt = 0;     // tokens to process before the next output token; grows with a preemption
  std::int32_t processed = 0;  // of the prompt
  std::int32_t output = 0;     // tokens to generate in all
  std::int32_t generated = 0;  // as of joined_step
  std::int64_t joined_step = 0;
  std::uint32_t admitted = 0;  // order of admission, 0: not running; the newest is preempted first
  std::int32_t kind = 0;       // Arrival::kind
  std::uint32_t version = 0;   // distinguishes it from an earlier sequence in the same slot
  bool decoding = false;
  double work = 0;  // as counted by the router
};

// The end of a sequence, in the replica's count of decode steps.
struct Finish {
  std::int64_t step = 0;
  std::uint32_t slot = 0, version = 0;
  bool operator<(const Finish& o) const { return step > o.step; }  // the heap keeps the earliest on top
};

// The n-th admission of a replica.
struct Admission {
  std::uint32_t number = 0, slot = 0;
};

// Which part of a request a replica serves.
enum class Role { kWhole, kPrefill, kDecode };

// Observes every request that leaves, for callers that need single requests.
class RequestWatcher {
 public:
  virtual void left(SimTime arrived, SimTime ttft, SimTime latency, const Sequence& request) = 0;

 protected:
  ~RequestWatcher() = default;
};

struct ContinuousTotals {
  // Runs are short because a request takes many steps, so batch means start shorter than those of dynamic batching.
  static constexpr std::uint64_t kFirstRun = 400;
  LatencyStatistics latency{kFirstRun}, ttft{kFirstRun}, tpot{kFirstRun};
  struct Kind {
    LatencyStatistics ttft, tpot;
  };
  std::vector<Kind> kinds;
  std::uint64_t steps = 0, preemptions = 0, output_tokens = 0;
  std::int64_t present = 0, presence = 0;
  std::int64_t most_running = 0;  // sequences of a replica, warm-up included
  SimTime last_change = 0, measured_since = 0;
  double sequence_steps = 0;
  SimTime busy = 0;
  std::uint64_t prompt_tokens = 0, hit_tokens = 0, loaded_tokens = 0;
  RequestWatcher* watcher = nullptr;  // instead of the statistics, which take a third of the time
  // If users wait for answers: the complete answers, by Arrival::prompt.
  struct Answer {
    std::uint32_t prompt = 0;
    SimTime at = 0;
  };
  std::vector<Answer>* answers = nullptr;

  Kind& of_kind(std::int32_t kind) {
    if (kinds.size() < static_cast<std::size_t>(kind)) kinds.resize(static_cast<std::size_t>(kind));
    return kinds[static_cast<std::size_t>(kind) - 1];
  }

  void integrate(SimTime now) {
    presence += present * (now - last_change);
    last_change = now;
  }
};

class ContinuousEngine {
 public:
  // `same`: an engine with the same cost and limits, to copy its table from, or nullptr. `prompts`: the contents of
  // prompts, for the prefix cache. `shared`: its lower tier, if several replicas share it.
  ContinuousEngine(const StepCost& cost, const ContinuousConfig& config, Role role, ContinuousTotals& totals,
                   const ContinuousEngine* same, const Prompts* prompts = nullptr,
                   std::shared_ptr<LowerTier> shared = nullptr)
      : cost_(cost), config_(config), role_(role), totals_(&totals), request_(static_cast<SimTime>(cost.request)) {
    if (cost.kv_tokens > 0) config_.kv_tokens = cost.kv_tokens;
    config_.prompts_first |= cost.prompts_first;
    kv_free_ = config_.kv_tokens;
    if (prompts != nullptr && config_.cache_block > 0 && role != Role::kDecode) {
      if (!shared && cost.lower_tokens > 0)
        shared = std::make_shared<LowerTier>(prompts->chains, cost.lower_tokens, config_.cache_block);
      cache_.emplace(*prompts, config_.cache_block, std::move(shared));
    }
    config_.max_sequences = std::min(config_.max_sequences, config_.token_budget);  // each takes one token per step
    if (same != nullptr) {
      without_context_ = same->without_context_;
    } else if (cost.experts > 0) {
      for (std::int64_t n = 0; n <= config_.max_sequences; ++n)
        without_context_.push_back(cost.decode(static_cast<double>(n), 0));
    }
  }

  SimTime next() const { return step_ends_; }
  double work() const { return work_; }
  // Requests on this replica, and how many of them have not started.
  std::int64_t present() const {
    return decoding_ + prefilling_count() + static_cast<std::int64_t>(waiting_.size() + received_.size());
  }
  std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size() + received_.size()); }
  // The share of the cache in use.
  double cache_use() const {
    return 1 - static_cast<double>(kv_free_) / static_cast<double>(std::max<std::int64_t>(config_.kv_tokens, 1));
  }
  // The longest request that can ever run. Without chunked prefill the token budget must hold prompt and output: a
  // preempted sequence returns with its output so far as part of the prompt (vLLM requires the same).
  std::int64_t most_tokens() const {
    return config_.chunked_prefill ? config_.kv_tokens : std::min(config_.kv_tokens, config_.token_budget);
  }

  // The time until this replica would finish a request after its current work, for a router that knows the cache.
  double work_with(const Arrival& arrival) const {
    std::int32_t found = 0;
    if (cache_ && arrival.prompt > 0) found = cache_->find(arrival.prompt, arrival.size).cached;
    return work_ + static_cast<double>(arrival.size - found) * cost_.prefill;
  }

  // At a decode worker a request arrives with its cache.
  void arrive(const Arrival& arrival, SimTime now) {
    const std::uint32_t slot = take_slot();
    Sequence& s = sequences_[slot];
    s.arrived = arrival.at;
    s.prompt = arrival.size;
    s.output = arrival.output;
    s.kind = arrival.kind;
    std::int32_t found = 0;
    if (cache_ || totals_->answers != nullptr) {
      if (shares_.size() < sequences_.size()) shares_.resize(sequences_.size());
      shares_[slot] = {arrival.prompt, 0};
      if (cache_ && arrival.prompt > 0) found = cache_->find(arrival.prompt, arrival.size).cached;
    }
    const bool noticed = waiting_.empty() && received_.empty() && decoding_ < config_.max_sequences;
    (role_ == Role::kDecode ? received_ : waiting_).push_back(slot);
    s.work = work_of(s) - static_cast<double>(found) * cost_.prefill;
    work_ += s.work;
    if (step_ends_ == kNever) {
      begin(now);
    } else if (noticed && run_steps_ > 1) {
      cut_run(now);
    }
  }

  // Ends the current step, or run of equal steps.
  void end_step() {
    const SimTime now = step_ends_;
    count_run(now);
    decode_step_ += run_steps_;
    kv_free_ -= run_steps_ * decoding_;
    context_ += run_steps_ * decoding_;
    if (cache_) cache_->limit(kv_free_);
    for (std::uint32_t slot : begun_) give_first_token(sequences_[slot], now);
    begun_.clear();
    while (!finishes_.empty() && finishes_.front().step <= decode_step_) finish_top(now);
    if (!prefilling_.empty()) finish_prompts(now);
    totals_->latency.checkpoint();
    begin(now);
  }

  // The replica dies: returns its requests as they arrived, and empties the engine.
  std::vector<Arrival> abandon() {
    std::vector<Arrival> lost;
    for (std::uint32_t slot = 0; slot < sequences_.size(); ++slot) {
      if (std::find(free_.begin(), free_.end(), slot) != free_.end()) continue;
      const Sequence& s = sequences_[slot];
      // Preemption moves output into the prompt; the token after it belongs to neither.
      const std::int32_t moved = s.decoding ? std::max(0, s.generated - 1) : s.generated;
      const std::uint32_t prompt = slot < shares_.size() ? shares_[slot].prompt : 0;
      lost.push_back({.at = s.arrived, .size = s.prompt - moved, .output = s.output, .kind = s.kind, .prompt = prompt});
    }
    std::sort(lost.begin(), lost.end(), [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
    sequences_.clear(), free_.clear(), prefilling_.clear(), waiting_.clear(), received_.clear();
    begun_.clear(), finishes_.clear(), order_.clear();
    kv_free_ = config_.kv_tokens, decoding_ = context_ = run_steps_ = 0, work_ = 0, step_ends_ = kNever;
    if (cache_) cache_->clear();
    return lost;
  }

  // Prompts processed since the last call, to be sent to a decode worker that gives their first token.
  std::vector<Arrival> take_done() { return std::exchange(done_, {}); }

 private:
  double work_of(const Sequence& s) const {
    // Only the router uses this, to compare replicas, so a typical batch is accurate enough.
    constexpr double kTypicalBatch = 16;
    const double prompt = static_cast<double>(s.prompt) * cost_.prefill;
    const double answer = static_cast<double>(s.output) * (cost_.sequence + cost_.base / kTypicalBatch);
    return (role_ == Role::kDecode ? 0 : prompt) + (role_ == Role::kPrefill ? 0 : answer);
  }

  std::uint32_t take_slot() {
    if (free_.empty()) {
      sequences_.emplace_back();
      return static_cast<std::uint32_t>(sequences_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    const std::uint32_t version = sequences_[slot].version + 1;
    sequences_[slot] = {};
    sequences_[slot].version = version;
    return slot;
  }

  void begin(SimTime now) {
    const bool only_decodes =
        waiting_.empty() && prefilling_.empty() && received_.empty() && decoding_ <= kv_free_;  // nothing to schedule
    const std::int64_t prompt_tokens = only_decodes ? 0 : schedule();
    kv_free_ -= prompt_tokens;
    totals_->most_running = std::max(totals_->most_running, decoding_ + prefilling_count());
    if (cache_) cache_->limit(kv_free_);
    if (decoding_ == 0 && prompt_tokens == 0) {
      step_ends_ = kNever;
      return;
    }
    // Without decoding, a pass counts no step.
    const bool prompts_only = prompt_tokens > 0 && config_.prompts_first && begun_.empty();
    run_steps_ = prompts_only ? 0 : prompt_tokens > 0 || !begun_.empty() ? 1 : equal_steps();
    const double prompts = cost_.prompts(static_cast<double>(prompt_tokens)) + std::exchange(loading_, 0);
    const SimTime taken = run_time(run_steps_) + rounded(prompts);
    run_began_ = now;
    step_ends_ = now + std::max<SimTime>(taken, 1);
  }

  // Preempts and admits; returns the prompt tokens of the step.
  std::int64_t schedule() {
    for (;;) {
      gather_view();
      plan_step({decoding_, kv_free_, prefilling_left_, waiting_prompts_, waiting_rooms_}, config_, plan_);
      if (plan_.preempt > 0)
        preempt_newest();
      else if (!take_received())
        break;
    }
    const std::size_t begun = prefilling_.size();
    admit();
    std::int64_t prompt_tokens = 0;
    for (std::size_t i = 0; i < prefilling_.size(); ++i) {
      if (cache_) plan_.chunks[i] = shared_chunk(prefilling_[i], i >= begun, plan_.chunks[i]);
      sequences_[prefilling_[i]].processed += static_cast<std::int32_t>(plan_.chunks[i]);
      prompt_tokens += plan_.chunks[i];
    }
    return prompt_tokens;
  }

  // ---- The prefix cache. All tokens of a sequence count as its own; `shared` is the part that is not.
  struct Share {
    std::uint32_t prompt = 0;  // Arrival::prompt
    std::int32_t shared = 0;
  };

  // A sequence begins after the cached tokens, which may include those of earlier requests in the same step. Returns
  // the prompt tokens to compute in this step. They count as cached from now on: requests that read them run after this
  // step.
  std::int64_t shared_chunk(std::uint32_t slot, bool begins, std::int64_t chunk) {
    Share& share = shares_[slot];
    Sequence& s = sequences_[slot];
    if (share.prompt == 0) return chunk;
    if (begins) {
      const PrefixCache::Found found = cache_->find(share.prompt, s.prompt);
      const std::int32_t loaded = cost_.loads(found.lower) ? found.lower : 0;
      kv_free_ -= cache_->hold(share.prompt) + loaded - found.redone;
      loading_ += cost_.load(loaded);
      share.shared = found.cached + found.redone;
      s.processed = found.cached + loaded;
      totals_->prompt_tokens += static_cast<std::uint64_t>(s.prompt);
      totals_->hit_tokens += static_cast<std::uint64_t>(found.cached);
      totals_->loaded_tokens += static_cast<std::uint64_t>(loaded);
    }
    chunk = std::min<std::int64_t>(chunk, s.prompt - s.processed);
    share.shared += static_cast<std::int32_t>(cache_->publish(share.prompt, s.processed + chunk));
    return chunk;
  }

  // All tokens of an ended sequence have been returned as its own; corrects this for the shared part.
  void return_share(std::uint32_t slot, std::int64_t answer) {
    Share& share = shares_[slot];
    if (share.prompt == 0) return;
    if (answer > 0 && cache_->answers())
      share.shared += static_cast<std::int32_t>(cache_->extend_last(share.prompt, answer));
    kv_free_ += cache_->release(share.prompt) - std::exchange(share.shared, 0);
  }

  // A run is counted when it ends: an arrival may cut it short. Of a run that began during warm-up, only the part after
  // it is busy time.
  void count_run(SimTime now) {
    totals_->busy += now - std::max(run_began_, totals_->measured_since);
    if (role_ == Role::kPrefill) return;  // only decode steps and batches are counted
    totals_->steps += static_cast<std::uint64_t>(run_steps_);
    totals_->sequence_steps += static_cast<double>(run_steps_) * static_cast<double>(decoding_ + prefilling_count());
  }
  std::int64_t prefilling_count() const { return static_cast<std::int64_t>(prefilling_.size()); }

  // A request arrived that could be admitted: the run ends at the next step boundary. The time of a run is quadratic in
  // its steps, so the root gives their number to within one.
  void cut_run(SimTime now) {
    const double square = cost_.context * static_cast<double>(decoding_) / 2, line = first_step() - square;
    const double passed = static_cast<double>(now - run_began_);
    const double root = 2 * passed / (line + std::sqrt(line * line + 4 * square * passed));
    const double most = static_cast<double>(run_steps_);
    std::int64_t steps = root < most ? std::max<std::int64_t>(1, static_cast<std::int64_t>(root)) : run_steps_;
    while (steps < run_steps_ && run_began_ + run_time(steps) <= now) ++steps;
    while (steps > 1 && run_began_ + run_time(steps - 1) > now) --steps;
    if (steps == run_steps_) return;
    run_steps_ = steps;
    step_ends_ = run_began_ + std::max<SimTime>(run_time(steps), 1);
  }

  // Time of the next decode-only step.
  double first_step() const {
    const auto at = static_cast<std::size_t>(decoding_);
    return at < without_context_.size() ? without_context_[at] + cost_.context * static_cast<double>(context_)
                                        : cost_.decode(static_cast<double>(decoding_), static_cast<double>(context_));
  }

  // k decode-only steps: the context grows by the number of sequences each time.
  SimTime run_time(std::int64_t k) const {
    const double n = static_cast<double>(decoding_), steps = static_cast<double>(k);
    return rounded(steps * first_step() + cost_.context * n * steps * (steps - 1) / 2);
  }

  // Steps until a sequence finishes or the cache is full. An arrival may cut the run short.
  std::int64_t equal_steps() {
    drop_stale_finishes();
    const std::int64_t k = finishes_.empty() ? 1 : finishes_.front().step - decode_step_;
    return std::max<std::int64_t>(1, std::min(k, kv_free_ / decoding_));
  }

  void gather_view() {
    prefilling_left_.clear();
    for (std::uint32_t slot : prefilling_)
      prefilling_left_.push_back(sequences_[slot].prompt - sequences_[slot].processed);
    waiting_prompts_.clear();
    waiting_rooms_.clear();
    std::int64_t sum = 0;
    for (std::uint32_t slot : waiting_) {  // at most what could be admitted
      if (sum >= config_.token_budget) break;
      if (decoding_ + static_cast<std::int64_t>(prefilling_.size() + waiting_prompts_.size()) >= config_.max_sequences)
        break;
      std::int64_t prompt = sequences_[slot].prompt;
      if (cache_) {
        PrefixCache::Found found;
        if (const std::uint32_t known = shares_[slot].prompt; known > 0)
          found = cache_->find(known, sequences_[slot].prompt);
        waiting_rooms_.push_back(prompt - found.cached - found.redone + found.claimed);
        prompt -= found.cached + (cost_.loads(found.lower) ? found.lower : 0);
      }
      waiting_prompts_.push_back(prompt);
      sum += prompt;
      if ((cache_ ? waiting_rooms_.back() : prompt) > kv_free_ - decoding_) break;  // nor do those behind it fit
    }
  }

  // Keeps the order of admission, for preemption; departed sequences are removed once they are most of the list.
  void note_admission(std::uint32_t slot) {
    constexpr std::size_t kFew = 64;
    if (order_.size() > 2 * sequences_.size() + kFew)
      std::erase_if(order_, [this](const Admission& a) { return sequences_[a.slot].admitted != a.number; });
    sequences_[slot].admitted = ++admissions_;
    order_.push_back({admissions_, slot});
  }

  void admit() {
    for (std::size_t i = 0; i < plan_.admitted; ++i) {
      note_admission(waiting_.front());
      prefilling_.push_back(waiting_.front());
      waiting_.pop_front();
    }
  }

  // Sequences that arrived with their cache begin to decode if it fits; preempted ones go first. Returns whether any
  // began.
  bool take_received() {
    bool any = false;
    while (!received_.empty() && waiting_.empty()) {
      const std::uint32_t slot = received_.front();
      Sequence& s = sequences_[slot];
      const auto running = decoding_ + static_cast<std::int64_t>(prefilling_.size());
      if (running >= config_.max_sequences || kv_free_ - s.prompt < decoding_ + 1) break;
      received_.pop_front();
      s.processed = s.prompt;
      note_admission(slot);
      kv_free_ -= s.prompt;
      begun_.push_back(slot);
      decode(slot);
      any = true;
    }
    return any;
  }

  // The steps until the engine noticed the request delay only this request, so they are counted here instead of holding
  // the request back.
  void give_first_token(Sequence& s, SimTime now) {
    s.first_token = now;
    const auto unnoticed =
        static_cast<SimTime>(cost_.wait_steps(static_cast<double>(decoding_)) * (decoding_ > 0 ? first_step() : 0));
    s.arrived -= unnoticed;
    totals_->presence += unnoticed;
    if (totals_->watcher != nullptr) return;
    totals_->ttft.add(now - s.arrived + request_);
    if (s.kind > 0) totals_->of_kind(s.kind).ttft.add(now - s.arrived + request_);
    totals_->ttft.checkpoint();
  }

  // Sequences with a complete prompt give their first token at the end of this step, or leave for a decode worker.
  void finish_prompts(SimTime now) {
    std::size_t kept = 0;
    for (std::uint32_t slot : prefilling_) {
      Sequence& s = sequences_[slot];
      if (s.processed < s.prompt) {
        prefilling_[kept++] = slot;
        continue;
      }
      if (role_ == Role::kPrefill) {
        hand_over(slot);
        continue;
      }
      if (s.first_token == kNever) give_first_token(s, now);
      s.generated += 1;
      start_decoding(slot, now);
    }
    prefilling_.resize(kept);
  }

  void hand_over(std::uint32_t slot) {
    Sequence& s = sequences_[slot];
    s.admitted = 0;
    kv_free_ += s.processed;
    if (cache_) return_share(slot, 0);
    work_ -= s.work;
    const std::uint32_t prompt = slot < shares_.size() ? shares_[slot].prompt : 0;
    done_.push_back({.at = s.arrived, .size = s.prompt, .output = s.output, .kind = s.kind, .prompt = prompt});
    free_.push_back(slot);
  }

  void start_decoding(std::uint32_t slot, SimTime now) {
    decode(slot);
    if (sequences_[slot].generated >= sequences_[slot].output) leave(slot, now);
  }

  void decode(std::uint32_t slot) {
    Sequence& s = sequences_[slot];
    s.decoding = true;
    s.joined_step = decode_step_;
    ++decoding_;
    context_ += s.prompt;
    if (s.generated >= s.output) return;
    finishes_.push_back({decode_step_ + s.output - s.generated, slot, s.version});
    std::push_heap(finishes_.begin(), finishes_.end());
  }

  // A preempted sequence leaves its finish in the heap. Recognizing it by its version later is cheaper than searching.
  void drop_stale_finishes() {
    while (!finishes_.empty() && stale(finishes_.front())) pop_finish();
  }
  bool stale(const Finish& f) const { return sequences_[f.slot].version != f.version || !sequences_[f.slot].decoding; }
  void pop_finish() {
    std::pop_heap(finishes_.begin(), finishes_.end());
    finishes_.pop_back();
  }
  void finish_top(SimTime now) {
    const Finish f = finishes_.front();
    pop_finish();
    if (!stale(f)) leave(f.slot, now);
  }

  // Tokens of a sequence in the cache: its prompt, and the output since.
  std::int64_t cached(const Sequence& s) const {
    return s.decoding ? s.prompt + decode_step_ - s.joined_step : s.processed;
  }

  void leave(std::uint32_t slot, SimTime now) {
    Sequence& s = sequences_[slot];
    kv_free_ += cached(s);
    context_ -= cached(s);
    if (cache_) return_share(slot, cached(s) - s.prompt);
    --decoding_;
    s.decoding = false;
    s.admitted = 0;
    work_ -= s.work;
    if (totals_->answers != nullptr) totals_->answers->push_back({shares_[slot].prompt, now + request_});
    if (totals_->watcher != nullptr) {
      totals_->watcher->left(s.arrived, s.first_token - s.arrived + request_, now - s.arrived + request_, s);
      free_.push_back(slot);
      return;
    }
    totals_->latency.add(now - s.arrived + request_);
    totals_->presence += request_;
    if (s.output > 1) {
      totals_->tpot.add((now - s.first_token) / (s.output - 1));
      if (s.kind > 0) totals_->of_kind(s.kind).tpot.add((now - s.first_token) / (s.output - 1));
      totals_->tpot.checkpoint();
    }
    totals_->output_tokens += static_cast<std::uint64_t>(s.output);
    totals_->integrate(now);
    --totals_->present;
    free_.push_back(slot);
  }

  // Recomputation: the sequence returns to the front of the queue with its output so far as part of its prompt.
  void preempt_newest() {
    while (sequences_[order_.back().slot].admitted != order_.back().number) order_.pop_back();
    const std::uint32_t newest = order_.back().slot;
    order_.pop_back();
    Sequence& s = sequences_[newest];
    s.admitted = 0;
    kv_free_ += cached(s);
    if (cache_) return_share(newest, 0);
    if (s.decoding) {
      const auto generated = static_cast<std::int32_t>(decode_step_ - s.joined_step);
      context_ -= cached(s);
      s.prompt += generated + 1;  // and the token that was about to enter the cache
      s.generated += generated;
      --decoding_;
      s.decoding = false;
      ++s.version;
    } else {
      prefilling_.erase(std::find(prefilling_.begin(), prefilling_.end(), newest));
    }
    s.processed = 0;
    waiting_.push_front(newest);
    ++totals_->preemptions;
  }

  StepCost cost_;
  ContinuousConfig config_;
  Role role_;
  ContinuousTotals* totals_;
  SimTime request_;  // time outside the steps
  std::vector<double>
      without_context_;  // time of a decode step by number of sequences; the share of experts is expensive
  std::int64_t kv_free_ = 0;
  std::int64_t decoding_ = 0, context_ = 0, decode_step_ = 0, run_steps_ = 0;
  SimTime run_began_ = 0, step_ends_ = kNever;
  double work_ = 0;
  std::uint32_t admissions_ = 0;
  std::vector<Sequence> sequences_;
  std::vector<std::uint32_t> free_, prefilling_;
  std::deque<std::uint32_t> waiting_, received_;
  std::vector<std::uint32_t> begun_;  // received; their first token comes with this step
  std::vector<Arrival> done_;
  std::vector<Finish> finishes_;
  std::vector<Admission> order_;  // newest last
  std::vector<std::int64_t> prefilling_left_, waiting_prompts_, waiting_rooms_;
  StepPlan plan_;
  std::optional<PrefixCache> cache_;
  std::vector<Share> shares_;  // by slot, where prompts are known
  double loading_ = 0;         // time to load from the lower tier in the step that begins
};

}  // namespace rightsize::sim
