// What the options of batch systems have in common: words, arrays of tasks, types of GPUs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifests/request.h"

namespace rightsize::manifests {

// A script's options are comments with a mark at the start of the line: "#SBATCH", "#PBS", "#BSUB", "#$".
bool has_marked_line(std::string_view text, std::string_view mark);

// Words of a line, quotes removed, up to a comment.
std::vector<std::string> option_words(std::string_view line);

// "-name value", "--name=value", "-Nvalue" as name and value. Names of several letters after one dash ("-gpu") are
// whole words if they are in `words`.
struct Option {
  std::string name = {}, value = {};
};
std::vector<Option> options_of(std::string_view line, Words words = {});

// 0-31%4, 1,3,5-9:2: every task of an array is a separate job. Empty if the text is not a list of numbers.
struct ArrayTasks {
  double tasks = 0;
  std::optional<double> at_once = {};
};
std::optional<ArrayTasks> read_array(std::string_view text);
// Multiplies the units; the time limit is that of all tasks.
void set_array(GpuRequest& request, const ArrayTasks& array);

// A type of GPU as schedulers name it, which may be a MIG slice.
void set_type(GpuRequest& request, std::string_view type);

}  // namespace rightsize::manifests
