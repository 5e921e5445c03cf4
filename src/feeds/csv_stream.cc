#include "feeds/csv_stream.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace rightsize::feeds {
namespace {

constexpr std::size_t kBlock = 1U << 20;
constexpr std::size_t kLongestRecord = 1U << 20;

}  // namespace

CsvStream::CsvStream(telemetry::ByteSource& source, std::string file)
    : source_(source), file_(std::move(file)), buffer_(kBlock) {}

// Moves what is unread to the front and reads on behind it.
bool CsvStream::more() {
  if (exhausted_ || error_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  if (end_ > kLongestRecord) {
    error_ =
        bad_input("a record of over 1 MiB: is a quote never closed?").at({file_, static_cast<int>(line_), 0, 1, {}});
    return false;
  }
  Result<std::size_t> got = source_.read(std::span(buffer_).subspan(end_));
  if (!got) {
    error_ = std::move(got).error();
    return false;
  }
  exhausted_ = *got == 0;
  end_ += *got;
  return !exhausted_;
}

bool CsvStream::next(std::string_view& record) {
  while (true) {
    line_ = next_line_;
    std::size_t from = begin_, lines = 0;
    std::ptrdiff_t quotes = 0;
    while (true) {
      const char* found =
          from < end_ ? static_cast<const char*>(std::memchr(buffer_.data() + from, '\n', end_ - from)) : nullptr;
      if (found == nullptr) {
        const std::size_t seen = from - begin_;  // of this record; what was counted stays counted
        if (more()) {
          from = begin_ + seen;
          continue;
        }
        if (error_) return false;
        if (begin_ == end_) return false;
        record = {buffer_.data() + begin_, end_ - begin_};
        begin_ = end_;
        next_line_ += static_cast<long>(lines) + 1;
        if (std::count(record.begin(), record.end(), '"') % 2 != 0) {
          error_ = bad_input("this quote is never closed").at({file_, static_cast<int>(line_), 0, 1, {}});
          return false;
        }
        break;
      }
      const auto end = static_cast<std::size_t>(found - buffer_.data());
      quotes += std::count(static_cast<const char*>(buffer_.data()) + from, found, '"');
      from = end + 1;
      ++lines;
      if (quotes % 2 != 0) continue;  // the line end is inside quotes
      record = {buffer_.data() + begin_, end - begin_};
      begin_ = from;
      next_line_ += static_cast<long>(lines);
      break;
    }
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (line_ == 1 && record.starts_with("\xEF\xBB\xBF")) record.remove_prefix(3);
    if (!record.empty()) return true;
  }
}

void split_csv(std::string_view record, std::vector<std::string_view>& cells, std::size_t most) {
  cells.clear();
  std::size_t pos = 0;
  while (cells.size() < most) {
    if (pos < record.size() && record[pos] == '"') {
      std::size_t end = pos + 1;
      while ((end = record.find('"', end)) != std::string_view::npos && end + 1 < record.size() &&
             record[end + 1] == '"') {
        end += 2;
      }
      if (end == std::string_view::npos) end = record.size();
      cells.push_back(record.substr(pos + 1, end - pos - 1));
      pos = record.find(',', std::min(end + 1, record.size()));
    } else {
      const std::size_t end = record.find(',', pos);
      cells.push_back(trim(record.substr(pos, end == std::string_view::npos ? end : end - pos)));
      pos = end;
    }
    if (pos == std::string_view::npos) return;
    ++pos;
  }
}

CsvColumns::CsvColumns(std::string_view header) {
  std::vector<std::string_view> names;
  split_csv(header, names);
  for (std::size_t i = 0; i < names.size(); ++i) index_.emplace(to_lower(trim(names[i])), i);
}

std::size_t CsvColumns::of(std::string_view name) const {
  const auto found = index_.find(to_lower(name));
  return found == index_.end() ? std::string_view::npos : found->second;
}

std::string_view CsvColumns::cell(const std::vector<std::string_view>& cells, std::string_view name) const {
  const std::size_t column = of(name);
  return column < cells.size() ? cells[column] : std::string_view{};
}

}  // namespace rightsize::feeds
