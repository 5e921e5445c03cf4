// Series colours that people with red-green colour blindness can tell apart (Okabe and Ito, jfly.uni-koeln.de/color),
// on white and on black, and the letters that text charts use instead.
#pragma once

#include <cstddef>
#include <iterator>

namespace rightsize::report {

struct Colour {
  const char* fill;
  const char* text;
};
inline constexpr Colour kSeriesColours[] = {{"#0072b2", "#fff"}, {"#d55e00", "#fff"}, {"#009e73", "#fff"},
                                            {"#cc79a7", "#000"}, {"#e69f00", "#000"}, {"#56b4e9", "#000"},
                                            {"#8c6d4f", "#fff"}, {"#7a7f87", "#fff"}};
inline const Colour& series_colour(std::size_t index) { return kSeriesColours[index % std::size(kSeriesColours)]; }

}  // namespace rightsize::report
