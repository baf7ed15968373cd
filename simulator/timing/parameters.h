// What the timing model assumes about the chip: named numbers out of a device file, each with a range and a source.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace mlaforge::simulator::timing {

/// One evaluation's numbers. Clocks are those of the compute units; a wave instruction's issue takes 4 of them.
struct Parameters {
  // the chip
  double clock_ghz = 0;
  double xcds = 0;
  double cus_per_xcd = 0;
  double simds_per_cu = 0;
  double waves_per_simd = 0;
  double lds_bytes_per_cu = 0;
  double vgprs_per_simd_lane = 0;
  // issue and arithmetic
  double issue_clk = 0;           ///< between two instructions of a wave
  double valu_clk = 0;            ///< a vector instruction's use of its SIMD
  double valu_latency_clk = 0;    ///< to an instruction that needs the result
  double valu_wide_clk = 0;       ///< 32-bit multiplies and 64-bit integer adds of quarter rate
  double transcendental_clk = 0;  ///< v_exp, v_log, v_rcp, v_rsq, v_sqrt, v_sin, v_cos
  double convert_fp8_clk = 0;     ///< v_cvt to and from 8-bit floats
  double permlane_swap_clk = 0;
  double salu_latency_clk = 0;
  double vector_to_scalar_clk = 0;  ///< v_readlane, v_cmp to a use of the scalar result
  double branch_taken_clk = 0;
  double barrier_clk = 0;            ///< from the last arrival to the first instruction behind it
  double mfma_pass_clk = 0;          ///< clocks a pass
  double mfma_result_extra_clk = 0;  ///< beyond the passes, until another instruction may use the result
  double mfma_valu_blocked_clk = 0;  ///< after an MFMA's issue, while its SIMD takes no vector instruction
  // LDS
  double lds_read_wide_bytes_per_clk = 0;    ///< ds_read_b64, b128 and transpose reads
  double lds_read_narrow_bytes_per_clk = 0;  ///< ds_read_b32, b96
  double lds_write_bytes_per_clk = 0;        ///< stores and LDS DMA
  double lds_wide_efficiency = 0;            ///< of the wide reads' peak
  double lds_latency_clk = 0;
  double lds_read2_factor = 0;  ///< ds_read2_b64 against its bytes at the wide rate
  double lds_queue_clk = 0;     ///< work that LDS takes in before it stops issue
  // vector memory
  double vmem_issue_clk = 0;           ///< a vector memory instruction's use of the CU's address path
  double cu_memory_bytes_per_clk = 0;  ///< of a CU, to and from L2
  double cu_outstanding_bytes = 0;     ///< that a CU may have requested and not received
  double vmem_queue_instructions = 0;  ///< vector memory instructions of a CU that wait to be sent
  double l2_bytes_per_clk = 0;         ///< of an XCD
  double l2_bytes = 0;                 ///< of an XCD
  double l2_latency_clk = 0;           ///< load to use of a hit
  double scalar_l2_clk = 0;            ///< s_load that hits L2
  double mall_latency_clk = 0;         ///< load to use of data that another kernel has just written
  double hbm_latency_clk = 0;          ///< load to use, memory idle
  double hbm_tb_s = 0;                 ///< attainable streaming bandwidth, all CUs
  double xcd_fabric_tb_s = 0;          ///< most that one XCD gets of it
  double memory_fetch_bytes = 0;       ///< least that is fetched from HBM at once
  // launches
  double launch_us = 0;           ///< from a launch's turn in the stream to its first wave
  double kernel_gap_us = 0;       ///< from a kernel's last wave to the first wave of the next in the stream
  double wave_launch_clk = 0;     ///< between two waves' starts on an XCD
  double workgroup_turn_clk = 0;  ///< from a workgroup's end to its successor's start on the CU
};

/// Which end of every parameter's range: the one that makes kernels fast, the value, the one that makes them slow.
enum class Point { fast, nominal, slow };
inline constexpr std::array points{Point::fast, Point::nominal, Point::slow};

struct ParameterRow {
  std::string name;
  double value = 0;
  double low = 0;
  double high = 0;
  bool more_is_faster = false;
  std::string unit;
  std::string confidence;  ///< A, B or C
  std::string source;
};

struct DeviceFile {
  std::string device;
  std::string target;
  std::vector<ParameterRow> rows;
};

/// Reads a device file. Throws std::runtime_error that names the parameter, its value and what is allowed: every
/// parameter once, low <= value <= high, a source, a confidence of A, B or C.
DeviceFile parse_device_file(std::string_view json);

/// simulator/devices/mi355x.json as it was when this program was built.
const DeviceFile& mi355x();

Parameters parameters_at(const DeviceFile& file, Point point);

}  // namespace mlaforge::simulator::timing
