// Files of training samples, conversations and offline requests: how many there are, and how long they are.
#pragma once

#include <optional>
#include <string>

namespace rightsize::app {

// Lengths are estimates: four characters are taken as one token.
struct DataFile {
  double samples = 0;
  double tokens = 0;              // in all samples
  double prompt = 0, answer = 0;  // mean tokens of a prompt and of its answer; 0: unknown
  bool requests = false;          // OpenAI's batch format: work to be done, not training data
  bool answer_is_limit = false;   // `answer` is the mean of max_tokens
  std::string model;              // that the requests name
};

// One JSON object per line, or a list of them: chats, ShareGPT, instructions, texts, OpenAI batch requests. Empty for
// any other file, and for traces, which have a time.
std::optional<DataFile> read_data_file(const std::string& path);

}  // namespace rightsize::app
