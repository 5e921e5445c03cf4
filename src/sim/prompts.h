// The contents of prompts, which tell a prefix cache the tokens it has seen.
//
// A prompt is a list of segments of chains. A chain is text that only ever grows at its end: a system prompt, a
// conversation, or one block of a trace. Two prompts share the tokens of the chains with which both begin.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rightsize::sim {

struct Segment {
  std::uint32_t chain = 0;
  std::int32_t tokens = 0;  // from the chain's beginning

  bool operator==(const Segment&) const = default;
};

struct Prompts {
  std::vector<Segment> segments;
  std::vector<std::uint32_t> first{0};  // first segment of each prompt, and the end
  std::uint32_t chains = 0;
  bool keeps_answers = false;  // an answer extends the prompt's last chain, as in a conversation

  std::size_t size() const { return first.size() - 1; }
  // The segments of a prompt, numbered from 1 as in Arrival::prompt.
  std::span<const Segment> of(std::uint32_t prompt) const {
    return std::span(segments).subspan(first[prompt - 1], first[prompt] - first[prompt - 1]);
  }
  void add(std::span<const Segment> prompt) {
    segments.insert(segments.end(), prompt.begin(), prompt.end());
    first.push_back(static_cast<std::uint32_t>(segments.size()));
  }
};

}  // namespace rightsize::sim
