// The files of data/, embedded in the program byte for byte.
#pragma once

#include <string_view>
#include <vector>

namespace rightsize {

struct EmbeddedFile {
  std::string_view name;  // relative to data/, "prices/aws.csv"
  std::string_view content;
};

// Every file, in name order.
const std::vector<EmbeddedFile>& embedded_files();

// The content of the file with this name; empty if there is none.
std::string_view embedded_file(std::string_view name);

}  // namespace rightsize
