#include "simulator/timing/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "simulator/timing/mi355x_text.h"

namespace mlaforge::simulator::timing {
namespace {

struct Field {
  std::string_view name;
  double Parameters::* member;
};

#define MLAFORGE_FIELD(name) \
  Field { #name, &Parameters::name }
constexpr std::array fields{
    MLAFORGE_FIELD(clock_ghz),
    MLAFORGE_FIELD(xcds),
    MLAFORGE_FIELD(cus_per_xcd),
    MLAFORGE_FIELD(simds_per_cu),
    MLAFORGE_FIELD(waves_per_simd),
    MLAFORGE_FIELD(lds_bytes_per_cu),
    MLAFORGE_FIELD(vgprs_per_simd_lane),
    MLAFORGE_FIELD(issue_clk),
    MLAFORGE_FIELD(valu_clk),
    MLAFORGE_FIELD(valu_latency_clk),
    MLAFORGE_FIELD(valu_wide_clk),
    MLAFORGE_FIELD(transcendental_clk),
    MLAFORGE_FIELD(convert_fp8_clk),
    MLAFORGE_FIELD(permlane_swap_clk),
    MLAFORGE_FIELD(salu_latency_clk),
    MLAFORGE_FIELD(vector_to_scalar_clk),
    MLAFORGE_FIELD(branch_taken_clk),
    MLAFORGE_FIELD(barrier_clk),
    MLAFORGE_FIELD(mfma_pass_clk),
    MLAFORGE_FIELD(mfma_result_extra_clk),
    MLAFORGE_FIELD(mfma_valu_blocked_clk),
    MLAFORGE_FIELD(lds_read_wide_bytes_per_clk),
    MLAFORGE_FIELD(lds_read_narrow_bytes_per_clk),
    MLAFORGE_FIELD(lds_write_bytes_per_clk),
    MLAFORGE_FIELD(lds_wide_efficiency),
    MLAFORGE_FIELD(lds_latency_clk),
    MLAFORGE_FIELD(lds_read2_factor),
    MLAFORGE_FIELD(lds_queue_clk),
    MLAFORGE_FIELD(vmem_issue_clk),
    MLAFORGE_FIELD(cu_memory_bytes_per_clk),
    MLAFORGE_FIELD(cu_outstanding_bytes),
    MLAFORGE_FIELD(vmem_queue_instructions),
    MLAFORGE_FIELD(l2_bytes_per_clk),
    MLAFORGE_FIELD(l2_bytes),
    MLAFORGE_FIELD(l2_latency_clk),
    MLAFORGE_FIELD(scalar_l2_clk),
    MLAFORGE_FIELD(mall_latency_clk),
    MLAFORGE_FIELD(hbm_latency_clk),
    MLAFORGE_FIELD(hbm_tb_s),
    MLAFORGE_FIELD(xcd_fabric_tb_s),
    MLAFORGE_FIELD(memory_fetch_bytes),
    MLAFORGE_FIELD(launch_us),
    MLAFORGE_FIELD(kernel_gap_us),
    MLAFORGE_FIELD(wave_launch_clk),
    MLAFORGE_FIELD(workgroup_turn_clk),
};
#undef MLAFORGE_FIELD

ParameterRow parse_row(const std::string& name, const nlohmann::json& json) {
  ParameterRow row;
  row.name = name;
  try {
    row.value = json.at("value").get<double>();
    row.low = json.at("low").get<double>();
    row.high = json.at("high").get<double>();
    row.unit = json.at("unit").get<std::string>();
    row.confidence = json.at("confidence").get<std::string>();
    row.source = json.at("source").get<std::string>();
    const auto faster = json.at("faster").get<std::string>();
    if (faster != "low" && faster != "high") {
      throw std::runtime_error(fmt::format("faster is \"{}\"; allowed: low, high", faster));
    }
    row.more_is_faster = faster == "high";
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("device file, /parameters/{}: {}", name, error.what()));
  }
  if (!(row.low > 0 && row.low <= row.value && row.value <= row.high)) {
    throw std::runtime_error(
        fmt::format("device file, /parameters/{}: low {}, value {}, high {}; allowed: 0 < low <= "
                    "value <= high",
                    name, row.low, row.value, row.high));
  }
  if (row.confidence != "A" && row.confidence != "B" && row.confidence != "C") {
    throw std::runtime_error(
        fmt::format("device file, /parameters/{}: confidence \"{}\"; allowed: A, B, C", name, row.confidence));
  }
  if (row.source.empty()) throw std::runtime_error(fmt::format("device file, /parameters/{}: no source", name));
  return row;
}

}  // namespace

DeviceFile parse_device_file(std::string_view text) {
  DeviceFile file;
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
    file.device = json.at("device").get<std::string>();
    file.target = json.at("target").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("device file: {}", error.what()));
  }
  const nlohmann::json& parameters = json["parameters"];
  for (const auto& [name, value] : parameters.items()) {
    const bool known = std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
    if (!known) throw std::runtime_error(fmt::format("device file, /parameters/{}: no such parameter", name));
    file.rows.push_back(parse_row(name, value));
  }
  for (const Field& field : fields) {
    if (!parameters.contains(field.name)) {
      throw std::runtime_error(fmt::format("device file: /parameters/{} is missing", field.name));
    }
  }
  return file;
}

const DeviceFile& mi355x() {
  static const DeviceFile file = parse_device_file(mi355x_text());
  return file;
}

Parameters parameters_at(const DeviceFile& file, Point point) {
  Parameters parameters;
  for (const ParameterRow& row : file.rows) {
    const Field& field =
        *std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == row.name; });
    const bool high = (point == Point::fast) == row.more_is_faster;
    parameters.*field.member = point == Point::nominal ? row.value : high ? row.high : row.low;
  }
  return parameters;
}

}  // namespace mlaforge::simulator::timing
