// The requests of a trace in order, stored by column: a recording of a week has tens of millions. A request takes 8
// bytes for its time and 4 for each property that some request has set. Copies share the columns until one changes, and
// faster() changes none: the same recording at other rates takes no memory.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "sim/sim_time.h"

namespace rightsize::sim {

// `size` is the number of batch items of a request (Triton), or its prompt in tokens (continuous batching), where
// `output` is the number of generated tokens.
struct Arrival {
  SimTime at = 0;
  std::int32_t size = 1;
  std::int32_t output = 1;
  std::int32_t timeout_us = 0;  // the request's own limit on its queueing time; 0: none
  std::int32_t kind = 0;  // continuous batching: requests of one kind, from 1, are also measured separately; 0: no kind
  std::uint32_t prompt = 0;  // continuous batching: its prompt in Trace::prompts, from 1; 0: unique

  bool operator==(const Arrival&) const = default;
};

// Elements are values: change() modifies them.
class ArrivalList {
 public:
  class Iterator {
   public:
    using value_type = Arrival;
    using difference_type = std::ptrdiff_t;
    using reference = Arrival;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::random_access_iterator_tag;

    Iterator() = default;
    Iterator(const ArrivalList& list, std::size_t i) : list_(&list), i_(static_cast<difference_type>(i)) {}
    Arrival operator*() const { return (*list_)[static_cast<std::size_t>(i_)]; }
    Arrival operator[](difference_type n) const { return *(*this + n); }
    Iterator& operator+=(difference_type n) { return i_ += n, *this; }
    Iterator& operator-=(difference_type n) { return i_ -= n, *this; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) { return ++*this - 1; }
    Iterator operator--(int) { return --*this + 1; }
    friend Iterator operator+(Iterator it, difference_type n) { return it += n; }
    friend Iterator operator+(difference_type n, Iterator it) { return it += n; }
    friend Iterator operator-(Iterator it, difference_type n) { return it -= n; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.i_ - b.i_; }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }
    auto operator<=>(const Iterator& other) const { return i_ <=> other.i_; }

   private:
    const ArrivalList* list_ = nullptr;
    difference_type i_ = 0;
  };

  ArrivalList() = default;
  ArrivalList(std::initializer_list<Arrival> all) : ArrivalList(std::vector(all)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): generators sort and shuffle a vector first
  ArrivalList(const std::vector<Arrival>& all);

  std::size_t size() const { return columns_->at.size(); }
  bool empty() const { return columns_->at.empty(); }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }
  Arrival front() const { return (*this)[0]; }
  Arrival back() const { return (*this)[size() - 1]; }
  SimTime time(std::size_t i) const {
    const SimTime at = columns_->at[i];
    return pace_ == 1 ? at : static_cast<SimTime>(static_cast<double>(at) / pace_);
  }
  Arrival operator[](std::size_t i) const {
    const Columns& c = *columns_;
    return {time(i), c.size.get(i), c.output.get(i), c.timeout_us.get(i), c.kind.get(i), c.prompt.get(i)};
  }
  bool operator==(const ArrivalList& other) const;

  // The same requests at `factor` times the rate.
  ArrivalList faster(double factor) const;
  ArrivalList part(std::size_t from, std::size_t until) const;

  void reserve(std::size_t count) { own().at.reserve(count); }
  void push_back(const Arrival& arrival);
  void set(std::size_t i, const Arrival& arrival);
  void truncate(std::size_t count);

  template <class Change>
  void change(const Change& change) {
    for (std::size_t i = 0; i < size(); ++i) {
      Arrival arrival = (*this)[i];
      change(arrival);
      set(i, arrival);
    }
  }
  template <class Drop>
  void erase_if(const Drop& drop) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size(); ++i)
      if (const Arrival arrival = (*this)[i]; !drop(arrival)) set(kept++, arrival);
    truncate(kept);
  }

 private:
  // One value per request; no memory while all have the usual value.
  template <class T, T kUsual>
  class Column {
   public:
    T get(std::size_t i) const { return values_.empty() ? kUsual : values_[i]; }
    // The list has `size` requests and reserved memory for `reserved`.
    void set(std::size_t i, T value, std::size_t size, std::size_t reserved) {
      if (values_.empty() && value == kUsual) return;
      if (values_.empty()) values_.reserve(reserved);
      if (values_.size() < size) values_.resize(size, kUsual);
      values_[i] = value;
    }
    void truncate(std::size_t count) {
      if (!values_.empty()) values_.resize(count, kUsual);
    }

   private:
    std::vector<T> values_;
  };

  struct Columns {
    std::vector<SimTime> at;
    Column<std::int32_t, 1> size, output;
    Column<std::int32_t, 0> timeout_us, kind;
    Column<std::uint32_t, 0> prompt;
  };

  // Columns that no other list shares, with the times of this one.
  Columns& own();

  std::shared_ptr<Columns> columns_ = std::make_shared<Columns>();
  double pace_ = 1;  // divides the times
};

}  // namespace rightsize::sim
