// The picture of a sweep: below the roofs of HBM and matrix units, and how close to the stream each step comes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "cli/bench/svg.h"

namespace mlaforge::bench {
namespace {

constexpr double peak_tflops = 5033;  // dense fp8 of the datasheet
constexpr double attainable_tb_s = 5.8, peak_tb_s = 8;
constexpr std::array colours{"#1b6ef3", "#b3261e", "#2e7d32", "#7b1fa2", "#ef6c00", "#00838f", "#6d4c41", "#455a64"};

/// A panel's frame and the scales of its axes; x is logarithmic, y as said.
struct Panel {
  double left, top, width, height;
  double x_low, x_high, y_low, y_high;
  bool log_y;

  double x(double v) const { return left + width * std::log(v / x_low) / std::log(x_high / x_low); }
  double y(double v) const {
    const double share = log_y ? std::log(v / y_low) / std::log(y_high / y_low) : (v - y_low) / (y_high - y_low);
    return top + height * (1 - share);
  }
};

std::string x_tick(const Panel& p, double v, const std::string& text) {
  return fmt::format(
      "<line x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}' stroke='#eee'/><text class='s m' x='{0:.1f}' "
      "y='{3:.1f}'>{4}</text>\n",
      p.x(v), p.top, p.top + p.height, p.top + p.height + 17, text);
}

std::string y_tick(const Panel& p, double v) {
  return fmt::format(
      "<line x1='{0:.1f}' y1='{1:.1f}' x2='{2:.1f}' y2='{1:.1f}' stroke='#eee'/><text class='s e' x='{3:.1f}' "
      "y='{4:.1f}'>{5:g}</text>\n",
      p.left, p.y(v), p.left + p.width, p.left - 8, p.y(v) + 4, v);
}

std::string axes(const Panel& p, const std::string& x_title, const std::string& y_title) {
  return fmt::format(
      "<rect x='{0:.1f}' y='{1:.1f}' width='{2:.1f}' height='{3:.1f}' fill='none' stroke='#bbb'/>"
      "<text class='m' x='{4:.1f}' y='{5:.1f}'>{6}</text>"
      "<text class='m' transform='translate({7:.1f},{8:.1f}) rotate(-90)'>{9}</text>\n",
      p.left, p.top, p.width, p.height, p.left + p.width / 2, p.top + p.height + 40, x_title, p.left - 48,
      p.top + p.height / 2, y_title);
}

/// Both roofs, the memory's with its rate written along it.
std::string roof(const Panel& p, double tb_s, const char* dash, const std::string& label) {
  const double knee = peak_tflops / tb_s;
  const double slope = std::atan2(p.y(tb_s * p.x_low) - p.y(tb_s * knee), p.x(knee) - p.x(p.x_low)) * 180 / M_PI;
  const double at = p.x_low * 2;
  return fmt::format(
      "<polyline points='{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}' fill='none' stroke='#444' stroke-width='1.5' "
      "stroke-dasharray='{}'/><text class='s' transform='translate({:.1f},{:.1f}) rotate({:.1f})'>{}</text>\n",
      p.x(p.x_low), p.y(tb_s * p.x_low), p.x(knee), p.y(peak_tflops), p.x(p.x_high), p.y(peak_tflops), dash, p.x(at),
      p.y(tb_s * at) - 5, -slope, label);
}

std::string level(const Panel& p, double tb_s, const char* dash, const std::string& label) {
  return fmt::format(
      "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' stroke='#444' stroke-width='1.5' "
      "stroke-dasharray='{}'/><text class='s' x='{:.1f}' y='{:.1f}'>{}</text>\n",
      p.left, p.y(tb_s), p.left + p.width, p.y(tb_s), dash, p.left + 8, p.y(tb_s) - 5, label);
}

double flop_of(const BenchReport& r) {
  return 2.0 * r.wanted.batch * r.wanted.qlen * r.heads * r.wanted.context * (MLAFORGE_KEY_DIM + MLAFORGE_LATENT_DIM);
}

std::string dot(double x, double y, const char* colour, const BenchReport& r) {
  return fmt::format(
      "<circle cx='{:.1f}' cy='{:.1f}' r='4.5' fill='{}' fill-opacity='0.8'><title>batch {}, context {}, qlen {}: "
      "{:.1f} us {}, {}</title></circle>\n",
      x, y, colour, r.wanted.batch, r.wanted.context, r.wanted.qlen, r.total_us.nominal,
      r.predicted ? "predicted" : "measured", r.kernel);
}

std::string bytes_text(double bytes) {
  return bytes >= 1e9   ? fmt::format("{:g} GB", bytes / 1e9)
         : bytes >= 1e6 ? fmt::format("{:g} MB", bytes / 1e6)
                        : fmt::format("{:g} kB", bytes / 1e3);
}

using Series = std::map<std::pair<int, int>, std::vector<const BenchReport*>>;  ///< by qlen and batch

std::string roofline_panel(const Series& series) {
  const Panel p{80, 80, 440, 380, 4, 4000, 1, 10000, true};
  std::string out;
  for (double v = 10; v <= 1000; v *= 10) out += x_tick(p, v, fmt::format("{:g}", v));
  for (double v = 1; v <= 10000; v *= 10) out += y_tick(p, v);
  out += axes(p, "useful FLOP a byte of cache", "useful TFLOP/s");
  out += roof(p, peak_tb_s, "5 4", "8 TB/s peak") + roof(p, attainable_tb_s, "none", "");
  out += fmt::format("<text class='s e' x='{:.1f}' y='{:.1f}'>5.03 PFLOP/s, fp8</text>\n", p.left + p.width - 6,
                     p.y(peak_tflops) - 6);
  size_t colour = 0;
  for (const auto& [key, reports] : series) {
    for (const BenchReport* r : reports) {
      const double y = flop_of(*r) / r->total_us.nominal * 1e-6;
      out += dot(p.x(flop_of(*r) / r->kv_bytes), p.y(std::max(y, p.y_low)), colours[colour % colours.size()], *r);
    }
    ++colour;
  }
  return out;
}

std::string bandwidth_panel(const Series& series) {
  double least = 1e30, most = 0;
  for (const auto& [key, reports] : series) {
    for (const BenchReport* r : reports) {
      least = std::min(least, r->kv_bytes);
      most = std::max(most, r->kv_bytes);
    }
  }
  const Panel p{
      640, 80, 560,  380, std::pow(10, std::floor(std::log10(least))), std::pow(10, std::floor(std::log10(most)) + 1),
      0,   9,  false};
  std::string out;
  for (double v = p.x_low; v <= p.x_high * 1.01; v *= 10) out += x_tick(p, v, bytes_text(v));
  for (double v = 0; v <= 9; v += 1) out += y_tick(p, v);
  out += axes(p, "cache read in a step", "TB/s of cache, the whole step");
  out += level(p, attainable_tb_s, "none", "5.8 TB/s attainable") + level(p, peak_tb_s, "5 4", "8 TB/s peak");
  size_t index = 0;
  for (const auto& [key, reports] : series) {
    const char* colour = colours[index++ % colours.size()];
    std::string line, dots;
    for (const BenchReport* r : reports) {
      const double x = p.x(r->kv_bytes);
      line += fmt::format("{:.1f},{:.1f} ", x, p.y(r->kv_tb_s));
      dots += fmt::format(
          "<line x1='{0:.1f}' y1='{1:.1f}' x2='{0:.1f}' y2='{2:.1f}' stroke='{3}' stroke-opacity='0.45'/>\n", x,
          p.y(r->kv_bytes / r->total_us.high * 1e-6), p.y(std::min(9.0, r->kv_bytes / r->total_us.low * 1e-6)), colour);
      dots += dot(x, p.y(r->kv_tb_s), colour, *r);
    }
    out += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='1.5'/>\n{}", line, colour, dots);
  }
  return out;
}

std::string legend(const Series& series) {
  std::string out;
  double x = 80, y = 540;
  size_t index = 0;
  for (const auto& [key, reports] : series) {
    if (x > 1100) {
      x = 80;
      y += 22;
    }
    out +=
        fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='5' fill='{}'/><text x='{:.0f}' y='{:.0f}'>batch {}{}</text>\n",
                    x + 5, y, colours[index++ % colours.size()], x + 15, y + 4, key.second,
                    key.first == 1 ? "" : fmt::format(", qlen {}", key.first));
    x += key.first == 1 ? 92 : 140;
  }
  return out;
}

}  // namespace

std::string roofline_svg(std::span<const BenchReport> reports) {
  Series series;
  for (const BenchReport& r : reports) series[{r.wanted.qlen, r.wanted.batch}].push_back(&r);
  for (auto& [key, line] : series) {
    std::sort(line.begin(), line.end(),
                     [](const BenchReport* a, const BenchReport* b) { return a->kv_bytes < b->kv_bytes; });
  }
  const bool predicted = reports.front().predicted;
  const int heads = reports.front().heads;
  const double height = 560 + 22 * std::floor(double(series.size()) / 8);
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='1240' height='{0:.0f}' viewBox='0 0 1240 {0:.0f}'>\n"
      "<style>text{{font:12px system-ui,sans-serif;fill:#333}}.t{{font-size:15px;font-weight:600}}"
      ".s{{fill:#777;font-size:11px}}.m{{text-anchor:middle}}.e{{text-anchor:end}}</style>\n"
      "<rect width='100%' height='100%' fill='white'/>\n"
      "<text class='t' x='20' y='28'>Decode steps on an MI355X, {1}: {2} heads</text>"
      "<text class='s' x='20' y='47'>{3}</text>\n{4}{5}{6}</svg>\n",
      height, predicted ? "predicted" : "measured", heads,
      predicted ? "predictions of a cycle model, nominal; bars: the range over what is not known of the chip; launch "
                  "and combine included"
                : "medians; bars: 10th to 90th percentile; launch and combine included",
      roofline_panel(series), bandwidth_panel(series), legend(series));
}

}  // namespace mlaforge::bench
