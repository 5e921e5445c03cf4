#include "catalog/built_in_prices.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace rightsize::catalog {
namespace {

enum Column { kInstance, kRegion, kZone, kPurchase, kPrice, kPerGpu, kSource, kDate, kUnverified, kNote, kColumns };
constexpr std::string_view kHeader = "instance,region,zone,purchase,price,per_gpu,source,date,unverified,note";

using Cells = std::array<std::string_view, kColumns>;

// One line into its cells; only the last, the note, may be quoted, and holds no line end.
bool split(std::string_view line, Cells& cells) {
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos || line.front() == '"') return false;
    cells[i] = line.substr(0, comma);
    line.remove_prefix(comma + 1);
  }
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  cells[kNote] = line;
  return line.find('"') == std::string_view::npos;
}

bool read_dollars(std::string_view text, UsdPerMachineSecond& price) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  price = usd_per_machine_hour(value);
  return problem == std::errc() && std::string_view(end, text.data() + text.size()) == "USD/h";
}

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> found;
  for (std::string_view word : split_list(list, '|')) found.emplace_back(word);
  return found;
}

}  // namespace

std::optional<std::vector<Price>> read_built_in_prices(const std::string& provider, std::string_view text) {
  std::vector<Price> prices;
  prices.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  const std::string file = "data/prices/" + provider + ".csv";
  std::string_view source_text, date_text;  // those of the row before: they seldom change
  std::vector<std::string> sources;
  std::optional<Date> date;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (++number == 1) {
      if (line != kHeader) return std::nullopt;
      continue;
    }
    Cells cells;
    if (!split(line, cells)) return std::nullopt;
    if (cells[kSource] != source_text) sources = words(source_text = cells[kSource]);
    if (cells[kDate] != date_text) {
      const Result<Date> read = parse_date(date_text = cells[kDate]);
      date = read ? std::optional(*read) : std::nullopt;
    }
    const std::optional<Purchase> purchase = parse_purchase(cells[kPurchase]);
    Price& price = prices.emplace_back();
    if (!purchase || !date || !read_dollars(cells[kPrice], price.machine_price)) return std::nullopt;
    price.provider = provider;
    price.instance = cells[kInstance];
    price.region = cells[kRegion];
    price.zone = cells[kZone];
    price.purchase = *purchase;
    price.provenance = {sources, date, words(cells[kUnverified]), std::string(cells[kNote]), file, number};
  }
  return prices;
}

}  // namespace rightsize::catalog
