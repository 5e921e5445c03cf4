// Reads the bare words of a command line: jobs, amounts, lengths, limits, money, places and names.
#pragma once

#include <utility>

#include "rightsize/typed/said.h"

namespace rightsize::app {

class WordReader {
 protected:
  WordReader(Typed typed, const std::deque<FlagInfo>& declared);

  void keep(const std::string& word);
  std::string* kept(std::string_view beginning);  // a word that was kept, by its beginning; nullptr if there is none
  void ignore(const std::string& word);           // drops the current word with a note; adjacent ones become one phrase
  const FlagInfo* flag_named(const std::string& name) const;  // also by another tool's name; nullptr if there is none
  const FlagInfo* find(std::string_view name) const { return find_flag(declared_, name); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  void set_job(const std::string& job);
  bool take_bare();  // "embed", "50M docs/day", "20 req/s", "by friday", a server's address
  std::string lower_at(std::size_t at) const;
  bool take_offer(const std::string& word);      // "spot", "on aws", "in eu": terms, a provider or a region
  bool take_lengths(const std::string& word);    // "1000 input and 300 output tokens", "1k tokens in"
  void keep_longest(const std::string& tokens);  // the longest request of an engine, the sequence of a trainer
  bool take_stated_limit();                      // "p95 TTFT under 1 s", "latency below 200ms"
  bool take_limit_before_name();                 // "100 ms between tokens"
  std::pair<std::optional<LatencyLimitName>, std::size_t> limit_name_at(std::size_t at) const;  // and its end
  std::pair<std::string, std::size_t> time_at(std::size_t at) const;  // "100 ms" and its end; empty: no time
  bool take_percentile(const std::string& word);   // "at p99", "99 % of requests": of all limits without one
  bool take_short_limit(const std::string& word);  // "under 1 second": too short for a deadline, so a latency
  bool take_window(const std::string& word);       // "6h window", "30ms each": how often work runs, the time per item
  bool take_window_gpu(const std::string& word);   // "on an L4", "8 L4": the GPU of a window
  void take_length_of_each();                      // "20k examples of 1k tokens": the length of each
  bool take_money(const std::string& typed);       // "$2000/month", "$50": a budget
  bool take_deadline(const std::string& word);     // "by friday", "over the weekend", "in 3 days", "overnight"
  bool take_hours_of_day(const std::string& range, const std::string& length);  // "off from 8pm to 7am"
  bool refuse_number_word(const std::string& number, std::size_t at);           // "50 Millionen Tokens"
  std::string words_at(std::size_t from, std::size_t count) const;
  std::size_t end_of_hour(std::size_t at) const;
  bool states_price(std::size_t at) const;
  bool is_hourly_price(std::size_t at) const;
  void read_preference(std::size_t at);         // "preference pairs" are for DPO
  bool is_adjective(std::size_t at) const;      // "customer support" in "10k customer support tickets"
  bool take_machines(const std::string& word);  // "8 nodes of 8 A100"
  void keep_method(const std::string& method);
  bool take_seconds(const std::string& word);  // "a 5 second video": its frames
  bool take_network(const std::string& word);  // "100 Gbit ethernet", "400Gbps"
  bool take_habit(const std::string& word);    // "each asks every 2 minutes", "8 hours a day", "4 draft tokens"
  bool take_hours(const std::string& word);    // "during office hours"
  bool take_peak(const std::string& word);     // "16 H100s and up to 40 during the day": the peak of a demand
  bool take_share();  // "12 hours a day on weekdays": a demand that lasts for a share of the week
  void put_share();
  bool take_hardware(const std::string& word);  // "at least 80 GB and fp4": what GPUs must have
  bool take_growth(const std::string& word);    // "growing 10% per year"
  bool take_counted(const std::string& word);   // "2 epochs", "300 steps": a number before the name of a flag
  bool take_asked_rate();                       // "tokens per second" without a number asks for a speed
  bool take_pair(const std::string& word);      // a flag without its dashes: `estimate llama-3.1-8b l4 batch 4`
  bool take_range(const std::string& word);     // "from 2 to 30 rps": traffic that changes over the day
  bool put_range(const Amount& low, const Amount& high, const std::string& typed);
  bool take_audio(const std::string& word);     // "5000 hours of audio"
  bool take_data_set(const std::string& word);  // "on imagenet": a number of samples
  bool skip_word(const std::string& word);      // without a meaning next to a model: `estimate throughput llama-3.1-8b`
  bool skip_number(const std::string& word);    // an unused number in a sentence is never a model: "a 3 day job", "35%"
  bool take_name(const std::string& word);      // a GPU or a format in any position: `memory deepseek-v3 fp8 8xH200`

  std::vector<std::string> in_;
  const std::deque<FlagInfo>& declared_;
  bool plans_ = false, first_bare_ = true;
  std::size_t at_ = 0, ignored_end_ = 0;  // the end: behind the last word that was ignored
  std::string busy_words_;                // as said
  double busy_ = 0;                       // the share of the time in which the demand lasts
  Said out_;
};

bool is_unit_word(const std::string& word);  // a unit may be a separate word: --docs 50 M per day
bool is_link(std::string_view word);         // words between names that have no meaning alone

}  // namespace rightsize::app
