// A list with one value per element of a range.
//
//   list_of(pools, &Pool::name)            // std::vector<std::string>
//   list_of<std::string>(kKeys, &Key::id)  // converted
#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace rightsize {

template <class Value = void, class Range, class Of>
auto list_of(Range&& range, Of of) {
  using Found = std::remove_cvref_t<decltype(std::invoke(of, *std::begin(range)))>;
  std::vector<std::conditional_t<std::is_void_v<Value>, Found, Value>> list;
  for (auto&& element : range) list.emplace_back(std::invoke(of, element));
  return list;
}

}  // namespace rightsize
