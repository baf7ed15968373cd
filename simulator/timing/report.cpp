#include "simulator/timing/report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace mlaforge::simulator::timing {
namespace {

nlohmann::json range(double low, double nominal, double high) {
  return {{"low", low}, {"nominal", nominal}, {"high", high}};
}

nlohmann::json causes_json(const CauseTimes& causes) {
  nlohmann::json json = nlohmann::json::object();
  for (size_t c = 0; c < cause_count; ++c) {
    if (causes[c] > 0) json[std::string(to_string(static_cast<Cause>(c)))] = causes[c];
  }
  return json;
}

nlohmann::json loop_json(const SteadyLoop& loop) {
  const std::map<std::string, double> bounds = {{"hbm", loop.hbm_clk},   {"cu_path", loop.path_clk},
                                                {"lds", loop.lds_clk},   {"mfma", loop.mfma_clk},
                                                {"valu", loop.valu_clk}, {"issue", loop.issue_clk}};
  const auto binding =
      std::max_element(bounds.begin(), bounds.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {{"passes", loop.passes},
          {"clocks", loop.clocks},
          {"bounds_clk", bounds},
          {"binding", binding->first},
          {"over_binding", loop.clocks / binding->second},
          {"lds_conflict_share", loop.lds_clk == 0 ? 0 : loop.lds_conflict_clk / loop.lds_clk},
          {"dma_bytes", loop.dma_bytes},
          {"wave_clocks", causes_json(loop.causes)}};
}

}  // namespace

nlohmann::json to_json(const LaunchTiming& t) {
  const Cohort& c = t.cohort;
  // Timing is not monotonic in every number: the range holds all three evaluations.
  const auto [least, most] = std::minmax_element(t.us.begin(), t.us.end());
  nlohmann::json conflicts = nlohmann::json::array();
  for (const Conflict& conflict : t.conflicts) {
    conflicts.push_back(
        {{"instruction", conflict.instruction}, {"lost_share", conflict.lost}, {"degree", conflict.degree}});
  }
  return {{"kernel", t.kernel},
          {"predicted", true},
          {"us", range(*least, t.us[1], *most)},
          {"clocks", t.nominal_clocks},
          {"bounds_us",
           {{"hbm", t.bounds.hbm},
            {"l2", t.bounds.l2},
            {"cu_path", t.bounds.cu_path},
            {"lds", t.bounds.lds},
            {"mfma", t.bounds.mfma},
            {"valu", t.bounds.valu},
            {"issue", t.bounds.issue}}},
          {"hbm_bytes", t.hbm_bytes},
          {"lds_conflict_share", t.lds_conflict_share},
          {"lds_conflicts", conflicts},
          {"wave_time", causes_json(t.causes)},
          {"steady_loop", t.loop ? loop_json(*t.loop) : nlohmann::json()},
          {"grid",
           {{"workgroups", c.grid},
            {"workgroups_per_cu", c.workgroups_per_cu},
            {"rounds", c.rounds},
            {"replayed_workgroups", c.ids.size()},
            {"replayed_cus", c.cus},
            {"replayed_rounds", c.replayed_rounds},
            {"whole", c.whole()},
            {"instructions", t.instructions}}}};
}

nlohmann::json device_json(const DeviceFile& file) {
  nlohmann::json json = {{"device", file.device}, {"target", file.target}};
  for (const char* name : {"launch_us", "kernel_gap_us", "hbm_tb_s", "clock_ghz"}) {
    for (const ParameterRow& row : file.rows) {
      if (row.name != name) continue;
      json[name] = row.more_is_faster ? range(row.high, row.value, row.low) : range(row.low, row.value, row.high);
    }
  }
  return json;
}

}  // namespace mlaforge::simulator::timing
