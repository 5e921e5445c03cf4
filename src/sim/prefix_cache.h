// The prefix cache of one replica. Internal to the simulator.
//
// Tokens that running requests use are held. The other cached tokens are idle: they fill the free part of the KV cache
// and are evicted when running requests need the space, least recently used first (vLLM's free queue; the leaves of
// SGLang's radix tree). A request touches its chains when it leaves, the end of its prompt first, so the beginning
// outlives it.
//
// A lower tier (host memory) receives every token that is computed and has a separate order of use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/prompts.h"

namespace rightsize::sim {

// Chains in the order of their last use; those that are used least recently come first.
class UseOrder {
 public:
  std::uint32_t oldest() const { return links_[kEnd].next - 1; }
  void append(std::uint32_t chain) {
    const std::uint32_t at = chain + 1, last = links_[kEnd].before;
    if (links_.size() <= at) links_.resize(grown(at));
    links_[at] = {last, kEnd};
    links_[last].next = links_[kEnd].before = at;
  }
  void remove(std::uint32_t chain) {
    const Links at = links_[chain + 1];
    links_[at.before].next = at.next;
    links_[at.next].before = at.before;
  }
  // The size for an element at this position. Chains are numbered by their first use, and short runs use few of them.
  static std::size_t grown(std::uint32_t position) { return std::max<std::size_t>(64, position + position / 2 + 1); }

 private:
  struct Links {
    std::uint32_t before = 0, next = 0;
  };
  static constexpr std::uint32_t kEnd = 0;  // chains follow it
  std::vector<Links> links_{{}};
};

// Memory below GPU memory, of one replica or shared by several.
class LowerTier {
 public:
  LowerTier(std::uint32_t chains, std::int64_t room, std::int64_t block)
      : room_(room), block_(std::max<std::int64_t>(block, 1)), tokens_(chains, 0) {}

  // Tokens from the beginning of a chain.
  std::int32_t tokens(std::uint32_t chain) const { return tokens_[chain]; }

  // A request used a chain; `cached` of its tokens are now in GPU memory, and thus also here.
  void touch(std::uint32_t chain, std::int32_t cached) {
    if (tokens_[chain] > 0) order_.remove(chain);
    used_ += std::max(0, cached - tokens_[chain]);
    tokens_[chain] = std::max(tokens_[chain], cached);
    if (tokens_[chain] > 0) order_.append(chain);
    while (used_ > room_) {
      const std::uint32_t oldest = order_.oldest();
      const std::int64_t cut = std::min<std::int64_t>(tokens_[oldest], (used_ - room_ + block_ - 1) / block_ * block_);
      tokens_[oldest] -= static_cast<std::int32_t>(cut);
      used_ -= cut;
      if (tokens_[oldest] == 0) order_.remove(oldest);
    }
  }

 private:
  std::int64_t room_, block_, used_ = 0;
  std::vector<std::int32_t> tokens_;
  UseOrder order_;
};

class PrefixCache {
 public:
  // `block`: tokens of the engine's blocks, the unit of hits and of evictions. `lower`: null if there is none.
  PrefixCache(const Prompts& prompts, std::int64_t block, std::shared_ptr<LowerTier> lower)
      : prompts_(&prompts), block_(std::max<std::int64_t>(block, 1)), lower_(std::move(lower)) {}

  bool answers() const { return prompts_->keeps_answers; }
  std::int64_t idle() const { return idle_; }

  struct Found {
    std::int32_t cached = 0;   // tokens of the prompt's beginning in GPU memory, whole blocks
    std::int32_t lower = 0;    // tokens after them in the lower tier, whole blocks
    std::int32_t claimed = 0;  // idle tokens that the request would hold
    std::int32_t redone = 0;   // cached tokens after `cached` that must be computed again, in place
  };
  // At least the last of `size` tokens is computed, because the first output token comes from it.
  Found find(std::uint32_t prompt, std::int32_t size) const {
    Found found;
    std::int64_t here = 0, below = 0;
    bool in_cache = true;
    for (const Segment& s : prompts_->of(prompt)) {
      const Chain chain = s.chain < chains_.size() ? chains_[s.chain] : Chain{};
      if (in_cache) {
        const std::int32_t has = std::min(chain.cached, s.tokens);
        here += has;
        if (chain.holders == 0) found.claimed += has;
        in_cache = has == s.tokens;
        if (in_cache) continue;
      }
      if (!lower_) break;
      const std::int32_t begins = std::min(chain.cached, s.tokens);
      const std::int32_t has = std::max(0, std::min(lower_->tokens(s.chain), s.tokens) - begins);
      below += has;
      if (begins + has < s.tokens) break;
    }
    const std::int64_t most = size - 1;
    found.cached = static_cast<std::int32_t>(whole(std::min(here, most)));
    found.redone = static_cast<std::int32_t>(std::min<std::int64_t>(here, size)) - found.cached;
    if (below > 0) found.lower = static_cast<std::int32_t>(whole(std::min(here + below, most)) - found.cached);
    return found;
  }

  // Holds the chains of a prompt. Returns the number of tokens that were idle and are now held.
  std::int64_t hold(std::uint32_t prompt) {
    std::int64_t held = 0;
    bool complete = true;
    for (const Segment& s : prompts_->of(prompt)) {
      if (chains_.size() <= s.chain) chains_.resize(UseOrder::grown(s.chain));
      Chain& chain = chains_[s.chain];
      if (chain.holders++ == 0 && chain.cached > 0) {
        order_.remove(s.chain);
        idle_ -= chain.cached;
        // Tokens that the prompt cannot use are dropped: they would be held without use.
        chain.cached = complete ? std::min(chain.cached, s.tokens) : 0;
        held += chain.cached;
      }
      complete = complete && chain.cached >= s.tokens;
    }
    return held;
  }

  // The first `done` tokens of the prompt are now cached. Returns how many were not before.
  std::int64_t publish(std::uint32_t prompt, std::int64_t done) {
    std::int64_t added = 0;
    for (const Segment& s : prompts_->of(prompt)) {
      if (done <= 0) break;
      added += extend(s.chain, static_cast<std::int32_t>(std::min<std::int64_t>(s.tokens, done)));
      done -= s.tokens;
    }
    return added;
  }

  // The answer extends the last chain by at most `most` tokens. Returns the number of added tokens.
  std::int64_t extend_last(std::uint32_t prompt, std::int64_t most) {
    const std::span<const Segment> all = prompts_->of(prompt);
    if (all.empty() || chains_[all.back().chain].cached != all.back().tokens) return 0;
    return extend(all.back().chain, static_cast<std::int32_t>(all.back().tokens + most));
  }

  // Ends the hold. Returns the number of tokens that are now idle.
  std::int64_t release(std::uint32_t prompt) {
    const std::int64_t before = idle_;
    const std::span<const Segment> all = prompts_->of(prompt);
    for (auto s = all.rbegin(); s != all.rend(); ++s) {
      Chain& chain = chains_[s->chain];
      if (lower_) lower_->touch(s->chain, chain.cached);
      if (--chain.holders > 0 || chain.cached == 0) continue;
      idle_ += chain.cached;
      order_.append(s->chain);
    }
    return idle_ - before;
  }

  // Evicts until the idle tokens fit the free part of the KV cache.
  void limit(std::int64_t room) {
    while (idle_ > room && idle_ > 0) {
      const std::uint32_t oldest = order_.oldest();
      Chain& chain = chains_[oldest];
      const std::int64_t cut = std::min<std::int64_t>(chain.cached, (idle_ - room + block_ - 1) / block_ * block_);
      chain.cached -= static_cast<std::int32_t>(cut);
      idle_ -= cut;
      if (chain.cached == 0) order_.remove(oldest);
    }
  }

  void clear() { *this = PrefixCache(*prompts_, block_, lower_); }

 private:
  struct Chain {
    std::int32_t cached = 0;   // tokens from its beginning in GPU memory
    std::int32_t holders = 0;  // running requests that use it; idle if none
  };

  std::int64_t whole(std::int64_t tokens) const { return block_ == 1 ? tokens : tokens - tokens % block_; }

  std::int64_t extend(std::uint32_t number, std::int32_t tokens) {
    Chain& chain = chains_[number];
    const std::int32_t added = std::max(0, tokens - chain.cached);
    chain.cached += added;
    return added;
  }

  const Prompts* prompts_;
  std::int64_t block_;
  std::shared_ptr<LowerTier> lower_;
  std::int64_t idle_ = 0;  // tokens
  std::vector<Chain> chains_;
  UseOrder order_;  // of idle chains
};

}  // namespace rightsize::sim
