#include "rightsize/bill/words.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/amount.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bill/bill.h"
#include "rightsize/input/named_gpu.h"
#include "rightsize/typed/lists.h"

namespace rightsize::app {
namespace {

// Words of questions that name nothing in a bill.
constexpr std::string_view kPlain =
    "how much many what which who did do does is are was were we i our my the a an of in on for from to and by per it "
    "team teams spend spent spending cost costs costing pay paid paying bill bills money dollars usd show tell me give "
    "list find all total gpu gpus machine machines instance instances most each every use used uses using with at "
    "have has had been this that there their its during month months account project region service group user";

class Question {
 public:
  Question(const std::vector<std::string>& words, BillFilters given) : filters_(std::move(given)) {
    for (const std::string& phrase : words) {
      for (const std::string_view word : split_list(phrase, ' ')) {
        std::string plain = to_lower(word);
        while (!plain.empty() && std::string_view(",;:?!.\"'").find(plain.back()) != std::string_view::npos)
          plain.pop_back();
        if (!plain.empty()) words_.push_back(std::move(plain));
      }
    }
    used_.resize(words_.size());
  }

  Result<BillFilters> answer(const std::vector<std::string>& files, const catalog::Catalog& catalog) {
    take_group();
    std::vector<std::string> groups = {""};
    for (const std::string& group : bill::BillReader::groups()) groups.push_back(group);
    if (!filters_.by.empty()) groups = {filters_.by};
    for (const std::string& group : groups) {
      bill::BillReader reader(catalog, group);
      for (const std::string& file : files) {
        if (Result<> read = reader.read(file); !read) return fail(std::move(read).error());
      }
      const bill::Bill bill = reader.finish();
      if (&group == &groups.front()) take_period(Date{bill.last_day});
      if (rest().empty() || take_name(bill, group)) break;
    }
    say();
    return filters_;
  }

 private:
  std::string phrase(std::size_t from, std::size_t count) const {
    const auto begin = words_.begin() + static_cast<std::ptrdiff_t>(from);
    return fmt::format("{}", fmt::join(begin, begin + static_cast<std::ptrdiff_t>(count), " "));
  }
  void use(std::size_t from, std::size_t count) {
    std::fill_n(used_.begin() + static_cast<std::ptrdiff_t>(from), count, true);
  }

  // "by region": only if nothing else says how to group.
  void take_group() {
    for (std::size_t i = 0; i + 1 < words_.size() && filters_.by.empty(); ++i) {
      if (!lists_word("by per each", words_[i]) || lists_word("day week month hour team", words_[i + 1])) continue;
      filters_.by = words_[i + 1];
      use(i, 2);
    }
  }

  // The longest phrase that is a period. A month without a year is the latest one in the bill.
  void take_period(Date last_day) {
    if (filters_.first || filters_.last) return;
    for (const std::size_t count : {3U, 2U, 1U}) {
      for (std::size_t i = 0; i + count <= words_.size(); ++i) {
        const std::string text = phrase(i, count);
        const bool named = text.find_first_of("0123456789") != std::string::npos || count > 1;
        // "may" and "march" are also verbs.
        const bool placed = i > 0 && lists_word("in of during for since until through", words_[i - 1]);
        std::optional<Period> period = parse_period(text, text.find(' ') < text.size() ? today() : last_day);
        if (!named && !placed && !lists_word("ytd mtd qtd yesterday today", text)) continue;
        if (!period) continue;
        const std::string before = i > 0 ? words_[i - 1] : "";
        if (before != "until" && before != "through") filters_.first = period->first;
        if (before != "since") filters_.last = period->last;
        return use(i, count);
      }
    }
  }

  std::vector<std::string> rest() const {
    std::vector<std::string> left;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (!used_[i] && !lists_word(kPlain, words_[i])) left.push_back(words_[i]);
    }
    return left;
  }

  // One name of a group is a filter; several are rows of its table.
  bool take_name(const bill::Bill& bill, const std::string& group) {
    if (!filters_.team.empty()) return true;
    std::set<std::string> found;
    const bool begins = group == "gpu" || group == "instance";  // "h100", "p5"
    for (const std::size_t count : {2U, 1U}) {
      for (std::size_t i = 0; i + count <= words_.size(); ++i) {
        if (used_[i] || (count == 1 && lists_word(kPlain, words_[i]))) continue;
        const std::string word = fold_name(phrase(i, count));
        for (const bill::TeamCost& team : bill.teams) {
          const std::string name = fold_name(team.name);
          if (name.empty() || !(name == word || (begins && word.size() > 1 && name.starts_with(word)))) continue;
          found.insert(team.name);
          use(i, count);
        }
      }
    }
    if (found.empty()) return false;
    if (found.size() == 1) filters_.team = *found.begin();
    if (filters_.by.empty()) filters_.by = group;
    return true;
  }

  void say() const {
    std::string read;
    if (!filters_.by.empty()) read += " --by " + filters_.by;
    if (!filters_.team.empty()) read += " --team " + filters_.team;
    if (filters_.first) read += " --since " + format_date(*filters_.first);
    if (filters_.last) read += " --until " + format_date(*filters_.last);
    if (!read.empty()) note("the question is read as" + read);
    if (const std::vector<std::string> left = rest(); !left.empty())
      note(fmt::format("ignored: {} (nothing in the bill has this name)", fmt::join(left, ", ")));
  }

  BillFilters filters_;
  std::vector<std::string> words_;
  std::vector<bool> used_;
};

}  // namespace

std::vector<std::string> take_words(std::vector<std::string>& files) {
  const auto exists = [](const std::string& file) {
    std::error_code ignored;
    return file == "-" || std::filesystem::exists(file, ignored);
  };
  std::vector<std::string> words;
  if (std::ranges::none_of(files, exists)) return words;
  std::erase_if(files, [&](const std::string& file) {
    const bool path = file.find(' ') == std::string::npos && file.find_first_of("./") != std::string::npos;
    if (path || exists(file)) return false;
    words.push_back(file);
    return true;
  });
  return words;
}

Result<BillFilters> read_question(const std::vector<std::string>& words, BillFilters given,
                                  const std::vector<std::string>& files, const catalog::Catalog& catalog) {
  return Question(words, std::move(given)).answer(files, catalog);
}

}  // namespace rightsize::app
