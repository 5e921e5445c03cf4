// How one copy of a served model may lie on GPUs: attention and experts in groups, prompts and answers on workers of
// their own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/request.h"

namespace rightsize::plan {

// GPUs of one replica: of a copy, or of all separate workers that belong together.
int replica_gpus(const model::Job& job);

// ", expert parallel 8, attention data parallel 8", ", disaggregated: ..."; empty for plain copies.
std::string layout_words(const model::Job& job);

// Groups of experts and of attention of a copy on `tensor` GPUs. Plain ones first.
struct Groups {
  int expert = 1, attention = 1;

  bool plain() const { return attention == 1; }
};
// As asked for; else none, a group of experts a GPU, and that with attention apart on every GPU.
std::vector<Groups> groups_of(const Request& request, int tensor);

// Whether separate workers may pay: where steps have a limit that prompts among them would break.
bool may_separate(const Request& request);

// Requests a second that one worker on so many GPUs takes; 0: the model does not fit it.
using WorkerRate = std::function<double(int tensor)>;

// Of all ways to split `gpus` into workers for prompts and for answers the one that carries most, if any carries at
// all.
std::optional<model::Disaggregated> best_separation(const std::vector<int>& tensors, int gpus,
                                                    const WorkerRate& prefill, const WorkerRate& decode);

}  // namespace rightsize::plan
