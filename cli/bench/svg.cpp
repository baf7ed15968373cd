#include "cli/bench/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace mlaforge::bench {
namespace {

constexpr const char* text_style =
    "<style>text{font:12px "
    "system-ui,sans-serif;fill:#333}.t{font-size:15px;font-weight:600}.s{fill:#777;font-size:11px}"
    ".m{text-anchor:middle}.e{text-anchor:end}</style>\n";

struct Look {
  const char* cause;
  const char* colour;
  const char* label;
};
constexpr std::array looks{
    Look{"issue_mfma", "#b3261e", "MFMA"},
    Look{"mfma_busy", "#f2b8b5", "waits for the matrix unit"},
    Look{"mfma_result", "#e58f88", "waits for an MFMA's result"},
    Look{"issue_valu", "#1b6ef3", "vector"},
    Look{"valu_busy", "#c6dafc", "waits for the vector unit"},
    Look{"valu_result", "#a3c3f7", "waits for a vector result"},
    Look{"issue_lds", "#2e7d32", "LDS"},
    Look{"lds_busy", "#c8e6c9", "LDS is full"},
    Look{"wait_lds", "#81c784", "waits for LDS"},
    Look{"issue_vector_memory", "#7b1fa2", "DMA, loads, stores"},
    Look{"vmem_busy", "#e1bee7", "memory path is full"},
    Look{"wait_vmcnt", "#ce93d8", "waits for memory"},
    Look{"wait_scalar_load", "#d7ccc8", "waits for a scalar load"},
    Look{"barrier", "#ffcc80", "barrier"},
    Look{"nop", "#cfd8dc", "s_nop"},
    Look{"issue_salu", "#546e7a", "scalar"},
    Look{"issue_other", "#90a4ae", "waits that hold nothing, branches"},
};

const char* colour_of(const std::string& cause) {
  const auto found = std::find_if(looks.begin(), looks.end(), [&](const Look& look) { return cause == look.cause; });
  return found == looks.end() ? "#9e9e9e" : found->colour;
}

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

struct Window {
  double begin = 0, end = 0;
};

Window middle_pass(const nlohmann::json& trace, const std::vector<nlohmann::json>& slices) {
  const auto passes = trace.at("otherData").at("launches").at(0).at("main_loop_us").get<std::vector<double>>();
  if (passes.size() >= 3) return {passes[passes.size() / 2 - 1], passes[passes.size() / 2]};
  Window all{1e30, 0};
  for (const auto& slice : slices) {
    const double begin = slice.at("ts");
    all.begin = std::min(all.begin, begin);
    all.end = std::max(all.end, begin + slice.at("dur").get<double>());
  }
  return all;
}

/// 1, 2 or 5 times a power of ten, so that about `count` steps fill `range`.
double nice_step(double range, int count) {
  const double rough = range / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough) return factor * power;
  }
  return 10 * power;
}

std::string legend(const std::set<std::string>& seen, double x, double y) {
  std::string out;
  double at = x;
  for (const Look& look : looks) {
    if (!seen.contains(look.cause)) continue;
    if (at > 1000) {
      at = x;
      y += 18;
    }
    out += fmt::format(
        "<rect x='{:.0f}' y='{:.0f}' width='11' height='11' fill='{}'/><text x='{:.0f}' y='{:.0f}'>{}</text>\n", at, y,
        look.colour, at + 16, y + 10, look.label);
    at += 34 + 6.2 * static_cast<double>(std::string_view(look.label).size());
  }
  return out;
}

}  // namespace

std::string timeline_svg(const BenchReport& report) {
  const nlohmann::json trace = nlohmann::json::parse(report.trace);
  std::vector<nlohmann::json> slices;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X" && event.at("pid") == 1 && event.at("tid").get<int>() < 64) slices.push_back(event);
  }
  const Window window = middle_pass(trace, slices);
  constexpr double left = 80, width = 1100, top = 64, row = 30;
  const double scale = width / (window.end - window.begin);
  std::set<std::string> seen;
  std::string body;
  int waves = 0;
  for (const auto& slice : slices) {
    const double begin = std::max(slice.at("ts").get<double>(), window.begin);
    const double end = std::min(slice.at("ts").get<double>() + slice.at("dur").get<double>(), window.end);
    if (end <= begin) continue;
    const int wave = slice.at("tid").get<int>() - 1;
    waves = std::max(waves, wave + 1);
    const std::string cause = slice.at("cat");
    seen.insert(cause);
    body += fmt::format(
        "<rect x='{:.2f}' y='{:.0f}' width='{:.2f}' height='{:.0f}' fill='{}'><title>{}: {}</title></rect>\n",
        left + (begin - window.begin) * scale, top + wave * row, std::max(0.3, (end - begin) * scale), row - 6,
        colour_of(cause), cause, escape(slice.at("args").at("instruction")));
  }
  const double bottom = top + waves * row;
  std::string axis;
  const double step = nice_step(window.end - window.begin, 8);
  for (double t = 0; t <= window.end - window.begin; t += step) {
    axis += fmt::format(
        "<line x1='{0:.1f}' y1='{1:.0f}' x2='{0:.1f}' y2='{2:.0f}' stroke='#ddd'/><text class='s m' "
        "x='{0:.1f}' y='{3:.0f}'>{4:.3g} us</text>\n",
        left + t * scale, top - 4, bottom, bottom + 14, t);
  }
  for (int wave = 0; wave < waves; ++wave) {
    axis +=
        fmt::format("<text class='e' x='{:.0f}' y='{:.0f}'>wave {}</text>\n", left - 10, top + wave * row + 17, wave);
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='{:.0f}' viewBox='0 0 1200 {:.0f}'>\n"
      "<rect width='100%' height='100%' fill='white'/>\n{}"
      "<text class='t' x='20' y='26'>{}</text><text class='s' x='20' y='44'>one pass of the main loop, "
      "{:.0f} ns, predicted by the cycle model for an MI355X</text>\n{}{}{}</svg>\n",
      bottom + 80, bottom + 80, text_style, report.kernel, (window.end - window.begin) * 1e3, axis, body,
      legend(seen, 20, bottom + 28));
}

}  // namespace mlaforge::bench
