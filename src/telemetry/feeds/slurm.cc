#include "telemetry/feeds/slurm.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <mutex>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/raw_bytes.h"
#include "base/text.h"
#include "telemetry/feeds/slurm_rows.h"

namespace rightsize::telemetry {
namespace {

constexpr std::size_t kMostHosts = 10'000;
constexpr std::size_t kLongestLine = 64U << 20;

// "07-09" of "node[01-03,07-09]".
void expand_range(std::string_view before, std::string_view part, std::string_view after,
                  std::vector<std::string>& hosts) {
  const std::string_view from = part.substr(0, part.find('-'));
  const std::string_view to = part.find('-') == std::string_view::npos ? from : part.substr(part.find('-') + 1);
  long low = 0, high = -1;
  std::from_chars(from.data(), from.data() + from.size(), low);
  std::from_chars(to.data(), to.data() + to.size(), high);
  for (long n = low; n <= high && hosts.size() < kMostHosts; ++n) {
    hosts.push_back(fmt::format("{}{:0{}}{}", before, n, std::min<std::size_t>(from.size(), 12), after));
  }
}

// Distributes GPUs that are known only by their number as evenly as possible over the hosts.
std::vector<JobGpu> spread_over(const std::vector<std::string>& hosts, const SlurmJob& job) {
  JobGpu gpu;
  if (job.utilization >= 0) gpu.utilization = Ratio::fraction(static_cast<double>(job.utilization));
  if (job.used_bytes >= 0) gpu.used = bytes(static_cast<double>(job.used_bytes));
  std::vector<JobGpu> gpus;
  const std::size_t count = job.gpu_count, nodes = std::max<std::size_t>(1, hosts.size());
  for (std::size_t n = 0; n < nodes; ++n) {
    gpu.host = hosts.empty() ? "" : hosts[n];
    gpus.insert(gpus.end(), count / nodes + (n < count % nodes ? 1 : 0), gpu);
  }
  return gpus;
}

}  // namespace

namespace {

// All words. Texts stay where they are, so threads can read them while others add some.
class Words {
 public:
  std::uint32_t number_of(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    const std::uint32_t number = next_++;
    std::unique_ptr<std::string[]>& block = blocks_[number / kBlock];
    if (!block) block = std::make_unique<std::string[]>(kBlock);
    block[number % kBlock] = text;
    return numbers_.emplace(block[number % kBlock], number).first->second;
  }
  const std::string& text(std::uint32_t number) const { return blocks_[number / kBlock][number % kBlock]; }

 private:
  static constexpr std::uint32_t kBlock = 1U << 16;
  std::mutex mutex_;
  std::uint32_t next_ = 1;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::array<std::unique_ptr<std::string[]>, kBlock> blocks_;  // for every number
};

Words& all_words() {
  static Words& words = *new Words();  // must outlive all jobs
  return words;
}

}  // namespace

Word::Word(std::string_view text) : number_(text.empty() ? 0 : all_words().number_of(text)) {}

const std::string& Word::str() const {
  static const std::string none;
  return number_ == 0 ? none : all_words().text(number_);
}

std::string_view TextArena::keep(std::string_view text) {
  constexpr std::size_t kBlock = 64U << 10;
  if (text.empty()) return {};
  if (text.size() > size_ - used_) {
    size_ = std::max(kBlock, text.size());
    used_ = 0;
    blocks_.push_back(std::make_unique<char[]>(size_));
  }
  char* at = blocks_.back().get() + used_;
  std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return {at, text.size()};
}

bool SlurmJob::measured() const {
  if (!known_gpus) return utilization >= 0;
  return known_gpus->size() >= gpu_count &&
         std::ranges::all_of(*known_gpus, [](const JobGpu& g) { return g.utilization.has_value(); });
}

std::vector<JobGpu> SlurmJob::gpus() const {
  if (!known_gpus) return spread_over(expand_hosts(nodes.str()), *this);
  std::vector<JobGpu> gpus = *known_gpus;
  // All allocated GPUs are paid for; those that jobstats does not list have no measurement.
  gpus.resize(gpu_count, JobGpu{.host = gpus.empty() ? "" : gpus.back().host});
  return gpus;
}

void JobTable::append(JobTable&& other) {
  std::set<std::pair<std::string_view, TimePoint>> known;
  if (!other.jobs.empty()) {
    for (const SlurmJob& job : jobs) known.insert({job.id, job.start});
  }
  if (jobs.empty()) jobs.swap(other.jobs);
  for (SlurmJob& job : other.jobs) {
    if (known.contains({job.id, job.start})) {
      ++repeated;
    } else {
      jobs.push_back(std::move(job));
    }
  }
  without_gpu += other.without_gpu;
  never_started += other.never_started;
  repeated += other.repeated;
  refused += other.refused;
  if (first_refused.empty()) first_refused = std::move(other.first_refused);
  notes.insert(notes.end(), other.notes.begin(), other.notes.end());
  texts.insert(texts.end(), other.texts.begin(), other.texts.end());
}

std::vector<std::string> expand_hosts(std::string_view list) {
  std::vector<std::string> hosts;
  if (list == "None assigned" || list == "None") return hosts;
  while (!list.empty() && hosts.size() < kMostHosts) {
    // One entry ends at a comma outside brackets.
    std::size_t end = 0;
    for (bool inside = false; end < list.size() && (inside || list[end] != ','); ++end) {
      inside = list[end] == '[' || (inside && list[end] != ']');
    }
    const std::string_view entry = trim(list.substr(0, end));
    list.remove_prefix(std::min(list.size(), end + 1));
    const std::size_t open = entry.find('['), close = entry.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
      if (!entry.empty()) hosts.emplace_back(entry);
      continue;
    }
    for (std::string_view part : split_list(entry.substr(open + 1, close - open - 1), ',')) {
      expand_range(entry.substr(0, open), part, entry.substr(close + 1), hosts);
    }
  }
  return hosts;
}

bool looks_like_jobs(std::string_view beginning) {
  const std::string_view text = trim(beginning);
  if (text.starts_with('{')) {
    return text.find("\"jobs\"") != text.npos &&
           (text.find("\"tres\"") != text.npos || text.find("\"job_id\"") != text.npos);
  }
  return JobColumns::find(beginning).has_value();
}

namespace {

Error not_a_job_table(const std::string& file, std::string_view beginning) {
  Error error = bad_input(fmt::format(
      "{}: not a table from sacct with JobID or JobIDRaw, Start, and AllocTRES, ReqTRES or AllocGRES", file));
  if (beginning.find("-------") != beginning.npos)
    error.hints.emplace_back("this table has fixed widths, which cut values off: use sacct -P");
  return std::move(error).with_hint(
      "sacct -P -a -o JobID,User,Account,JobName,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES,"
      "NodeList,TRESUsageInAve,AdminComment");
}

Result<JobTable> read_table(ByteSource& source, const std::string& file, std::string beginning) {
  std::optional<JobColumns> columns = JobColumns::find(beginning);
  JobRows rows;
  if (!columns || !rows.fits(*columns)) return fail(not_a_job_table(file, beginning));
  std::string pending = std::move(beginning);
  RawBytes piece(256U << 10);
  std::size_t line = 0;
  const auto take = [&](std::string_view text) {
    ++line;
    while (text.ends_with('\r')) text.remove_suffix(1);
    if (line == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    if (trim(text).empty() || columns->is_header(text)) return;
    if (columns->split(text)) {
      rows.take(*columns, line);
    } else {
      rows.refuse(line, "the number of columns differs from the header");
    }
  };
  for (bool more = true; more;) {
    std::size_t from = 0;
    for (std::size_t end; (end = pending.find('\n', from)) != std::string::npos; from = end + 1)
      take(std::string_view(pending).substr(from, end - from));
    pending.erase(0, from);
    if (pending.size() > kLongestLine) break;
    RIGHTSIZE_TRY(const std::size_t got, source.read(piece.from(0, piece.size())));
    pending.append(piece.data(), got);
    more = got > 0;
  }
  if (!pending.empty()) take(pending);
  JobTable table = rows.finish();
  if (!columns->has_header()) {
    table.notes.emplace_back(
        "the job log has no header (sacct -n): its columns were recognized by their values, and users, accounts and "
        "partitions are not known; run sacct without -n");
  }
  return table;
}

}  // namespace

Result<JobTable> read_jobs(ByteSource& source, const std::string& file) {
  constexpr std::size_t kLook = 64U << 10;
  RIGHTSIZE_TRY(std::string beginning, read_beginning(source, kLook));
  if (trim(beginning).starts_with('{')) {
    std::unique_ptr<ByteSource> whole = put_back(std::move(beginning), source);
    return read_jobs_json(*whole, file);
  }
  return read_table(source, file, std::move(beginning));
}

}  // namespace rightsize::telemetry
