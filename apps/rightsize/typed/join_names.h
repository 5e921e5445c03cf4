// Names of GPUs and models as they are said: "RTX 4090", "llama 3.1 70b", "8 H100".
#pragma once

#include <string>
#include <vector>

namespace rightsize::app {

// Joins the words behind the command that name one thing together, drops what stands between them ("on"), and gives
// GPUs to --gpu where the command takes them so.
void join_names(std::vector<std::string>& words);

}  // namespace rightsize::app
