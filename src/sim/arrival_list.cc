#include "sim/arrival_list.h"

#include <algorithm>

namespace rightsize::sim {

ArrivalList::ArrivalList(const std::vector<Arrival>& all) {
  reserve(all.size());
  for (const Arrival& arrival : all) push_back(arrival);
}

bool ArrivalList::operator==(const ArrivalList& other) const {
  return (columns_ == other.columns_ && pace_ == other.pace_) || std::ranges::equal(*this, other);
}

ArrivalList ArrivalList::faster(double factor) const {
  ArrivalList list = *this;
  list.pace_ *= factor;
  return list;
}

ArrivalList ArrivalList::part(std::size_t from, std::size_t until) const {
  ArrivalList part;
  part.reserve(until - from);
  for (std::size_t i = from; i < until; ++i) part.push_back((*this)[i]);
  return part;
}

ArrivalList::Columns& ArrivalList::own() {
  if (columns_.use_count() == 1 && pace_ == 1) return *columns_;
  auto own = std::make_shared<Columns>(*columns_);
  for (std::size_t i = 0; i < own->at.size(); ++i) own->at[i] = time(i);
  columns_ = std::move(own), pace_ = 1;
  return *columns_;
}

void ArrivalList::push_back(const Arrival& arrival) {
  own().at.push_back(arrival.at);
  set(size() - 1, arrival);
}

void ArrivalList::set(std::size_t i, const Arrival& arrival) {
  Columns& c = own();
  c.at[i] = arrival.at;
  const std::size_t all = c.at.size(), reserved = c.at.capacity();
  c.size.set(i, arrival.size, all, reserved);
  c.output.set(i, arrival.output, all, reserved);
  c.timeout_us.set(i, arrival.timeout_us, all, reserved);
  c.kind.set(i, arrival.kind, all, reserved);
  c.prompt.set(i, arrival.prompt, all, reserved);
}

void ArrivalList::truncate(std::size_t count) {
  Columns& c = own();
  c.at.resize(count);
  c.size.truncate(count);
  c.output.truncate(count);
  c.timeout_us.truncate(count);
  c.kind.truncate(count);
  c.prompt.truncate(count);
}

}  // namespace rightsize::sim
