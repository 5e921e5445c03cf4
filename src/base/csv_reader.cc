#include "base/csv_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "base/text.h"

namespace rightsize {
namespace {

constexpr std::size_t kBlock = 1U << 20;
constexpr std::size_t kLongestRecord = 1U << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Like trim(), but an empty cell keeps its place.
std::string_view trimmed(std::string_view cell) {
  const std::string_view inside = trim(cell);
  return inside.empty() ? cell.substr(0, 0) : inside;
}

}  // namespace

bool CsvRecordEnd::find(std::string_view text) {
  while (seen < text.size()) {
    const std::size_t end = text.find('\n', seen);
    if (end == std::string_view::npos) return false;
    const std::string_view line = text.substr(seen, end - seen);
    quotes += std::count(line.begin(), line.end(), '"');
    seen = end + 1;
    ++lines;
    if (quotes % 2 == 0) return true;
  }
  return false;
}

bool is_quote_open(std::string_view record) { return std::count(record.begin(), record.end(), '"') % 2 != 0; }

CsvReader::CsvReader(ByteSource& source, std::string file) : source_(source), file_(std::move(file)), buffer_(kBlock) {}

// Moves the unread bytes to the front and reads more after them.
bool CsvReader::more() {
  if (exhausted_ || error_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  if (end_ > kLongestRecord) {
    error_ = bad_input("the record is longer than 1 MiB; a quote is probably not closed")
                 .at({file_, static_cast<int>(line_), 0, 1, {}});
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

bool CsvReader::next(std::string_view& record) {
  while (true) {
    line_ = next_line_;
    CsvRecordEnd end;
    bool whole = false;
    while (!(whole = end.find({buffer_.data() + begin_, end_ - begin_})) && more()) continue;
    if (error_ || begin_ == end_) return false;
    record = {buffer_.data() + begin_, whole ? end.seen - 1 : end_ - begin_};
    begin_ += whole ? end.seen : record.size();
    next_line_ += static_cast<long>(end.lines) + (whole ? 0 : 1);
    if (!whole && is_quote_open(record)) {
      error_ = bad_input("this quote is never closed").at({file_, static_cast<int>(line_), 0, 1, {}});
      return false;
    }
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (line_ == 1 && record.starts_with(kByteOrderMark)) record.remove_prefix(kByteOrderMark.size());
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
      cells.push_back(trimmed(record.substr(pos, end == std::string_view::npos ? end : end - pos)));
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

}  // namespace rightsize
