// Lanes: rows of units and the pieces that occupy them.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "report/colours.h"
#include "report/renderers.h"

namespace rightsize::report {
namespace {

std::string both(const Lanes::Piece& piece) {
  return piece.detail.empty() ? piece.label : piece.label + " " + piece.detail;
}

}  // namespace

std::string text_lanes(const Lanes& lanes, std::size_t width) {
  std::size_t label_width = 0;
  for (const Lanes::Lane& lane : lanes.lanes) label_width = std::max(label_width, display_width(lane.label));
  const std::size_t units = static_cast<std::size_t>(std::max(1, lanes.units));
  const std::size_t unit = std::max<std::size_t>(4, width > label_width + 3 ? (width - label_width - 3) / units : 4);
  std::string out;
  for (const Lanes::Lane& lane : lanes.lanes) {
    out += fitted(lane.label, label_width) + "  ";
    int at = 0;
    auto free_until = [&](int end) {
      for (; at < end; ++at) {
        out += "|";
        for (std::size_t i = 1; i < unit; ++i) out += "·";
      }
    };
    for (const Lanes::Piece& piece : lane.pieces) {
      free_until(piece.start);
      out += "|" + fitted(both(piece), unit * static_cast<std::size_t>(piece.size) - 1);
      at = piece.start + piece.size;
    }
    free_until(lanes.units);
    out += "|\n";
  }
  return out;
}

std::string markdown_lanes(const Lanes& lanes) {
  std::string out;
  for (const Lanes::Lane& lane : lanes.lanes) {
    out += "- " + lane.label + ":";
    for (const Lanes::Piece& piece : lane.pieces)
      out += fmt::format("{} [{}-{}] {}", &piece == &lane.pieces.front() ? "" : ",", piece.start,
                         piece.start + piece.size - 1, both(piece));
    out += "\n";
  }
  return out;
}

std::string svg_lanes(const Lanes& lanes, double width) {
  // In a narrow picture, a lane's label is above it.
  const bool narrow = width < 600;
  const double left = narrow ? 2 : 190, above = narrow ? 16 : 0;
  constexpr double kRow = 44, kBox = 34;
  const double unit = (width - left - 10) / std::max(1, lanes.units);
  std::map<std::string, std::size_t> colour_of;  // the same label has the same colour
  std::string shapes;
  double top = 6;
  for (const Lanes::Lane& lane : lanes.lanes) {
    shapes += fmt::format(
        "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\" font-size=\"13\" fill=\"currentColor\">{}</text>\n",
        narrow ? left : left - 10, narrow ? top + 12 : top + kBox / 2 + 4, narrow ? "start" : "end",
        escape_html(lane.label));
    top += above;
    for (int u = 0; u < lanes.units; ++u) {
      shapes += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" fill=\"none\" stroke=\"#8c959f\" "
          "stroke-dasharray=\"2 3\"/>\n",
          left + unit * u, top, unit, kBox);
    }
    for (const Lanes::Piece& piece : lane.pieces) {
      const std::size_t index = colour_of.try_emplace(piece.label, colour_of.size()).first->second;
      const double x = left + unit * piece.start, w = unit * piece.size;
      const auto letters = static_cast<std::size_t>(std::max(1.0, (w - 8) / 6.5));
      shapes += fmt::format(
          "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{}\" rx=\"4\" fill=\"{}\"/>\n",
          escape_html(both(piece)), x + 1, top, w - 2, kBox, series_colour(index).fill);
      shapes += fmt::format(
          "<text x=\"{0:.1f}\" y=\"{1:.0f}\" font-size=\"11\" fill=\"{5}\">{2}</text>"
          "<text x=\"{0:.1f}\" y=\"{3:.0f}\" font-size=\"11\" fill=\"{5}\">{4}</text></g>\n",
          x + 5, top + 14, escape_html(std::string(trim(fitted(piece.label, letters)))), top + 28,
          escape_html(std::string(trim(fitted(piece.detail, letters)))), series_colour(index).text);
    }
    top += kRow;
  }
  return svg(width, top, shapes);
}

std::string render_svg(const Lanes& lanes) { return svg_lanes(lanes, kWidePicture); }

}  // namespace rightsize::report
