#include "cli/bench/bench_case.h"

namespace mlaforge::bench {
namespace {

nlohmann::json range_json(const Range& range) {
  return {{"low", range.low}, {"nominal", range.nominal}, {"high", range.high}};
}

}  // namespace

nlohmann::json to_json(const BenchReport& r) {
  nlohmann::json json = {{"kernel", r.kernel},
                         {"combine", r.combine.empty() ? nlohmann::json() : nlohmann::json(r.combine)},
                         {"device", r.device},
                         {"chosen_by", r.chosen_by},
                         {"predicted", r.predicted},
                         {"batch", r.wanted.batch},
                         {"context", r.wanted.context},
                         {"qlen", r.wanted.qlen},
                         {"page_size", r.wanted.page_size},
                         {"splits", r.splits},
                         {"head_groups", r.head_groups},
                         {"block_tokens", r.block_tokens},
                         {"total_us", range_json(r.total_us)},
                         {"kv_bytes", r.kv_bytes},
                         {"kv_tb_s", r.kv_tb_s},
                         {"attainable_share", r.attainable_share}};
  if (!r.predicted) return json;
  json.update({{"attention_us", range_json(r.attention_us)},
               {"combine_us", range_json(r.combine_us)},
               {"launch_us", range_json(r.launch_us)},
               {"gap_us", range_json(r.gap_us)},
               {"replayed_context", r.replayed_context},
               {"bounds_us", r.bounds_us},
               {"binding", r.binding},
               {"waits", r.attention.at("wave_time")},
               {"steady_loop", r.attention.at("steady_loop")},
               {"lds_conflict_share", r.attention.at("lds_conflict_share")},
               {"lds_conflicts", r.attention.at("lds_conflicts")},
               {"grid", r.attention.at("grid")}});
  return json;
}

}  // namespace mlaforge::bench
