#include "base/cancel.h"

#include <utility>

#include "base/long_work.h"

namespace rightsize {
namespace {

thread_local Cancellation current;

}  // namespace

CancelScope::CancelScope(Cancellation flag) : outer_(std::exchange(current, std::move(flag))) {}
CancelScope::~CancelScope() { current = std::move(outer_); }

Cancellation cancellation() { return current; }
bool cancelled() { return LongWork::stopped() || (current && current->load(std::memory_order_relaxed)); }

}  // namespace rightsize
