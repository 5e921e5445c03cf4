// A question about a bill: "how much did the research team spend in October?" as filters. Names are those of the bill.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/date.h"
#include "base/result.h"
#include "catalog/catalog.h"

namespace rightsize::app {

struct BillFilters {
  std::string by, team;
  std::optional<Date> first, last;
};

// Splits the arguments of a command line: those that are no files, next to one that is, are words of a question.
std::vector<std::string> take_words(std::vector<std::string>& files);

// Adds what the words name to the filters that are not set: a team or another group, a machine, a month or another
// period, "by region". Reads the bill once for each way to group it, until a name is found. Notes tell how the words
// were read and which had no meaning.
Result<BillFilters> read_question(const std::vector<std::string>& words, BillFilters given,
                                  const std::vector<std::string>& files, const catalog::Catalog& catalog);

}  // namespace rightsize::app
