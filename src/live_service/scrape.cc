#include "live_service/scrape.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace rightsize::live_service {
namespace {

class LineParser {
 public:
  explicit LineParser(std::string_view line) : line_(line) {}

  // `head`: the name and labels of the last sample, as text. Metrics servers export one series after the other.
  std::optional<ScrapedSample> sample(const std::vector<ScrapedSample>& before, std::string_view& head) {
    ScrapedSample s;
    if (!head.empty() && line_.starts_with(head)) {
      s.name = before.back().name, s.labels = before.back().labels, at_ = head.size();
    } else {
      while (at_ < line_.size() && is_name(line_[at_])) s.name.push_back(line_[at_++]);
      if (s.name.empty() || !labels(s.labels)) return std::nullopt;
      head = s.labels.empty() ? std::string_view{} : line_.substr(0, at_);
    }
    const std::optional<double> value = number();
    if (!value) return std::nullopt;
    s.value = *value;
    skip();
    if (at_ < line_.size() && line_[at_] != '#') {  // an exemplar follows a '#'
      const std::optional<double> time = number();
      if (!time) return std::nullopt;
      // The exposition format has milliseconds, OpenMetrics seconds.
      s.time = unix_seconds(*time > 1e11 ? *time / 1000 : *time);
    }
    return s;
  }

  std::size_t at() const { return at_; }

 private:
  static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }
  void skip() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= line_.size() || line_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool labels(telemetry::Labels& into) {
    if (!take('{')) return true;
    while (!take('}')) {
      skip();
      std::string name, value;
      while (at_ < line_.size() && is_name(line_[at_])) name.push_back(line_[at_++]);
      if (name.empty() || !take('=') || !take('"') || !quoted(value)) return false;
      into[name] = value;
      if (!take(',') && (at_ >= line_.size() || line_[at_] != '}')) return false;
    }
    return true;
  }

  bool quoted(std::string& into) {
    for (; at_ < line_.size(); ++at_) {
      char c = line_[at_];
      if (c == '"') return ++at_, true;
      if (c == '\\' && at_ + 1 < line_.size()) {
        c = line_[++at_];
        if (c == 'n') c = '\n';
      }
      into.push_back(c);
    }
    return false;
  }

  std::optional<double> number() {
    skip();
    std::string text;
    std::size_t end = at_;
    while (end < line_.size() && line_[end] != ' ' && line_[end] != '\t') text.push_back(line_[end++]);
    if (text.empty()) return std::nullopt;
    char* stop = nullptr;
    const double value = std::strtod(text.c_str(), &stop);  // accepts NaN and +Inf
    if (*stop != '\0') return std::nullopt;
    at_ = end;
    return value;
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<ScrapedSample>> parse_scrape(const std::string& file, std::string_view text) {
  std::vector<ScrapedSample> samples;
  std::string_view head;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim(text.substr(begin, end - begin));
    if (!line.empty() && line.front() != '#') {
      LineParser parser(line);
      std::optional<ScrapedSample> sample = parser.sample(samples, head);
      if (!sample) {
        return fail(bad_input("this line is not a metric sample")
                        .at(place_in(file, text, begin + parser.at()))
                        .with_hint("expected the output of an engine's /metrics: name{label=\"value\"} 12.5"));
      }
      if (std::isfinite(sample->value))
        samples.push_back(*std::move(sample));
      else
        head = {};
    }
    begin = end + 1;
  }
  return samples;
}

}  // namespace rightsize::live_service
