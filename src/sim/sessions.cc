#include "sim/sessions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/parse_units.h"
#include "base/random.h"
#include "base/suggest.h"
#include "base/text.h"

namespace rightsize::sim {
namespace {

constexpr const char* kExample = "--sessions users=2000,turns=6,think=30s,system=1200,turn-in=150,turn-out=300";

struct Number {
  const char* name;
  double Sessions::*to;
  double least, most;
};
constexpr std::array kNumbers = {
    Number{"users", &Sessions::users, 1, 1e6},      Number{"turns", &Sessions::turns, 1, 10'000},
    Number{"system", &Sessions::system, 0, 1e7},    Number{"systems", &Sessions::system_prompts, 1, 1e6},
    Number{"turn-in", &Sessions::turn_in, 1, 1e7},  Number{"turn-out", &Sessions::turn_out, 1, 1e7},
    Number{"fan-out", &Sessions::fan_out, 1, 1000},
};

Result<> read_part(std::string_view name, std::string_view value, Sessions& sessions) {
  for (const Number& number : kNumbers) {
    if (name != number.name) continue;
    RIGHTSIZE_TRY(sessions.*number.to, parse_count(value));
    if (sessions.*number.to >= number.least && sessions.*number.to <= number.most) return {};
    return fail(bad_input(
        fmt::format("{}={} of --sessions must be between {:g} and {:g}", name, value, number.least, number.most)));
  }
  if (name == "think") {
    RIGHTSIZE_TRY(sessions.think, parse_duration(value));
    if (sessions.think >= seconds(0) && sessions.think <= days(30)) return {};
    return fail(bad_input(fmt::format("think={} of --sessions must be between 0 and 30 days", value)));
  }
  if (name == "repeat") {
    sessions.repeat = value == "yes" || value == "true";
    if (sessions.repeat || value == "no" || value == "false") return {};
    return fail(bad_input(fmt::format("repeat={} of --sessions must be yes or no", value)));
  }
  std::vector<std::string> names{"think", "repeat"};
  for (const Number& number : kNumbers) names.emplace_back(number.name);
  return fail(bad_input(fmt::format("unknown part '{}' of --sessions", name))
                  .with_hint(did_you_mean(std::string(name), names))
                  .with_hint(kExample));
}

// Log-normal lengths of at least one token.
class TurnLength {
 public:
  TurnLength(double mean, double variation) : sigma_(std::sqrt(std::log1p(variation * variation))) {
    mu_ = std::log(std::max(mean, 1.0)) - sigma_ * sigma_ / 2;
  }
  std::int32_t draw(Random& random) const {
    const double tokens = sigma_ > 0 ? std::exp(mu_ + sigma_ * random.normal()) : std::exp(mu_);
    return static_cast<std::int32_t>(std::clamp(std::round(tokens), 1.0, 1e9));
  }

 private:
  double sigma_, mu_;
};

// A request with its user and the time since that user's last answer.
struct ThoughtTurn {
  std::uint32_t user = 0;
  Arrival request;
};

struct User {
  std::uint32_t chain = 0;   // of the conversation
  std::int64_t context = 0;  // tokens of the conversation so far, without the system prompt
  std::int32_t turns_left = 0;
};

struct NextTurn {
  double at = 0;       // nanoseconds
  double thought = 0;  // the part since the last answer; for the first turn, all of it
  std::uint32_t user = 0;
  bool operator>(const NextTurn& o) const { return at != o.at ? at > o.at : user > o.user; }
};

class Generator {
 public:
  Generator(const Sessions& sessions, const SessionTrace& wanted)
      : sessions_(sessions),
        wanted_(wanted),
        random_(wanted.seed),
        in_(sessions.turn_in, wanted.in_variation),
        out_(sessions.turn_out, wanted.out_variation),
        users_(static_cast<std::size_t>(std::llround(sessions.users))) {}

  Trace trace() {
    // An upper bound on the requests until each user has come back.
    constexpr double kMostWarmUp = 200'000;
    constexpr std::uint64_t kEnough = 64'000;
    const double each = std::round(sessions_.fan_out);
    trace_.warm_up = static_cast<std::uint64_t>(std::min(2 * each * sessions_.users, kMostWarmUp));
    const std::uint64_t all = trace_.warm_up + (wanted_.requests > 0 ? wanted_.requests : kEnough);
    chains_ = static_cast<std::uint32_t>(std::llround(sessions_.system_prompts));
    prompts_.keeps_answers = !sessions_.repeat;
    begin_users();
    while (trace_.arrivals.size() < all) turn();
    const SimTime start = trace_.arrivals.front().at;
    if (wanted_.closed) close_loop(all, start);
    trace_.arrivals.truncate(all);
    trace_.has_tokens = true;
    prompts_.chains = chains_;
    trace_.prompts = std::make_shared<const Prompts>(std::move(prompts_));
    trace_.arrivals.change([start](Arrival& arrival) { arrival.at -= start; });
    return std::move(trace_);
  }

  // Users with faster answers send more requests, so each user gets more than the mean number of turns.
  void close_loop(std::uint64_t all, SimTime start) {
    const double each = static_cast<double>(all) / static_cast<double>(users_.size());
    const auto enough = static_cast<std::size_t>(each + 3 * std::sqrt(each) + 1);
    ClosedLoop loop;
    loop.side_by_side = static_cast<int>(std::round(sessions_.fan_out));
    std::vector<std::uint32_t> counts(users_.size(), 0);
    for (const ThoughtTurn& turn : turns_) ++counts[turn.user];
    while (!due_.empty()) {
      const NextTurn next = due_.top();
      if (counts[next.user] >= enough) {
        due_.pop();
        continue;
      }
      turn();
      counts[next.user] += static_cast<std::uint32_t>(loop.side_by_side);
    }
    loop.first.assign(1, 0);
    for (const std::uint32_t count : counts) loop.first.push_back(loop.first.back() + count);
    loop.turns.resize(turns_.size());
    std::vector<std::uint32_t> at(loop.first.begin(), loop.first.end() - 1);
    for (const ThoughtTurn& turn : turns_) {
      const bool first = at[turn.user] < loop.first[turn.user] + static_cast<std::uint32_t>(loop.side_by_side);
      Arrival& request = loop.turns[at[turn.user]++] = turn.request;
      if (first) request.at -= start;
    }
    trace_.closed = std::make_shared<const ClosedLoop>(std::move(loop));
  }

 private:
  double mean_gap() const {
    return 1e9 * sessions_.users * std::round(sessions_.fan_out) / in_requests_per_s(wanted_.rate);
  }

  // A user may start partway through a conversation; the earlier turns are then already done.
  void begin_users() {
    const auto turns = static_cast<std::int32_t>(std::llround(sessions_.turns));
    for (std::uint32_t i = 0; i < users_.size(); ++i) {
      User& user = users_[i];
      begin(user);
      const auto past = static_cast<std::int32_t>(random_.uniform() * turns);
      user.turns_left -= past;
      for (std::int32_t turn = 0; turn < past && !sessions_.repeat && fits(user); ++turn)
        user.context += std::int64_t{in_.draw(random_)} + out_.draw(random_);
      if (!fits(user)) begin(user);
      const double at = mean_gap() * random_.uniform();
      due_.push({at, at, i});
    }
  }

  // Whether another turn of usual length fits the limit on prompt and answer.
  bool fits(const User& user) const {
    constexpr double kLongest = 1e9;
    const double turn = std::round(sessions_.fan_out) * (sessions_.turn_in + sessions_.turn_out);
    return sessions_.system + static_cast<double>(user.context) + turn <=
           (wanted_.longest > 0 ? static_cast<double>(wanted_.longest) : kLongest);
  }

  void begin(User& user) {
    user = {chains_++, sessions_.repeat ? in_.draw(random_) : 0,
            static_cast<std::int32_t>(std::llround(sessions_.turns))};
  }

  void turn() {
    const NextTurn next = due_.top();
    due_.pop();
    User& user = users_[next.user];
    const auto at = static_cast<SimTime>(next.at);
    const auto system = static_cast<std::int32_t>(sessions_.system);
    const std::int64_t shared = user.context;
    if (!sessions_.repeat) user.context += in_.draw(random_);
    std::int64_t answers = 0;
    for (int side = 0; side < static_cast<int>(std::round(sessions_.fan_out)); ++side) {
      const std::int32_t output = out_.draw(random_);
      answers += output;
      std::array<Segment, 3> segments;
      std::size_t count = 0;
      const auto number = next.user % static_cast<std::uint32_t>(std::llround(sessions_.system_prompts));
      if (system > 0) segments[count++] = {number, system};
      if (side == 0) {
        segments[count++] = {user.chain, static_cast<std::int32_t>(user.context)};
      } else {  // its own question after the common context
        if (shared > 0) segments[count++] = {user.chain, static_cast<std::int32_t>(shared)};
        segments[count++] = {chains_++, in_.draw(random_)};
      }
      prompts_.add(std::span(segments).first(count));
      std::int32_t size = 0;
      for (std::size_t i = 0; i < count; ++i) size += segments[i].tokens;
      const Arrival request{
          .at = at, .size = size, .output = output, .prompt = static_cast<std::uint32_t>(prompts_.size())};
      trace_.arrivals.push_back(request);
      if (wanted_.closed) {
        turns_.push_back({next.user, request});
        turns_.back().request.at = static_cast<SimTime>(next.thought);
      }
    }
    if (!sessions_.repeat) {
      user.context += answers;
      if (--user.turns_left <= 0 || !fits(user)) begin(user);
    }
    const double least = std::min(1e9 * in_seconds(wanted_.answer), mean_gap() / 2), waits = random_.exponential();
    due_.push({next.at + least + (mean_gap() - least) * waits, 1e9 * in_seconds(sessions_.think) * waits, next.user});
  }

  const Sessions& sessions_;
  const SessionTrace& wanted_;
  Random random_;
  TurnLength in_, out_;
  std::vector<User> users_;
  std::priority_queue<NextTurn, std::vector<NextTurn>, std::greater<>> due_;
  std::uint32_t chains_ = 0;
  Prompts prompts_;
  Trace trace_;
  std::vector<ThoughtTurn> turns_;  // of a closed loop, in order of time
};

}  // namespace

RequestsPerSecond Sessions::rate(Seconds answer) const {
  return requests(users * std::round(fan_out)) / std::max(think + answer, milliseconds(1));
}

Result<Sessions> parse_sessions(std::string_view text) {
  Sessions sessions;
  bool users = false, in = false, out = false;
  for (const std::string_view part : split_list(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
      return fail(bad_input(fmt::format("'{}' of --sessions has no value", part)).with_hint(kExample));
    const std::string name = to_lower(trim(part.substr(0, equals)));
    if (Result<> read = read_part(name, trim(part.substr(equals + 1)), sessions); !read) return fail(read.error());
    users |= name == "users", in |= name == "turn-in", out |= name == "turn-out";
  }
  if (users && in && out) return sessions;
  return fail(bad_input("--sessions needs users, turn-in and turn-out").with_hint(kExample));
}

Trace trace_of(const Sessions& sessions, const SessionTrace& wanted) { return Generator(sessions, wanted).trace(); }

double repeated_tokens(const Trace& trace) {
  if (!trace.prompts || trace.arrivals.empty()) return 0;
  std::vector<std::int32_t> seen(trace.prompts->chains, 0);
  double sum = 0;
  for (std::size_t i = 0; i < trace.arrivals.size(); ++i) {
    const Arrival& arrival = trace.arrivals[i];
    if (arrival.prompt == 0) continue;
    std::int64_t found = 0;
    const std::span<const Segment> segments = trace.prompts->of(arrival.prompt);
    for (const Segment& s : segments) {
      found += std::min(seen[s.chain], s.tokens);
      if (seen[s.chain] < s.tokens) break;
    }
    for (const Segment& s : segments) seen[s.chain] = std::max(seen[s.chain], s.tokens);
    if (trace.prompts->keeps_answers && !segments.empty()) seen[segments.back().chain] += arrival.output;
    if (i >= trace.warm_up) sum += static_cast<double>(std::min<std::int64_t>(found, arrival.size - 1));
  }
  return sum / static_cast<double>(std::max<std::size_t>(1, trace.arrivals.size() - trace.warm_up));
}

}  // namespace rightsize::sim
