#include "cli/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "generator/config/nearest.h"
#include "mlaforge/kernel_contract.h"

namespace mlaforge::explain {
namespace {

constexpr int tile_rows = 16;
constexpr int lanes = 64;
/// LDS at its best, a clock of a CU (docs/gfx950.md): 64 and 128-bit reads, and writes.
constexpr int lds_read_bytes_a_clock = 256;
constexpr int lds_write_bytes_a_clock = 128;

struct IntegerField {
  const char* name;
  int Variant::* member;
};
constexpr IntegerField integer_fields[] = {{"heads", &Variant::heads},
                                           {"qlen", &Variant::qlen},
                                           {"page_size", &Variant::page_size},
                                           {"context_parallel", &Variant::context_parallel},
                                           {"splits", &Variant::splits},
                                           {"head_groups", &Variant::head_groups},
                                           {"block_tokens", &Variant::block_tokens},
                                           {"probability_parts", &Variant::probability_parts}};

std::string count(int number, std::string_view noun) { return counted(static_cast<size_t>(number), noun); }

std::string rows_text(const KernelPlan& plan) {
  std::string text = fmt::format("rows: {} x {} = {} in {} of {} (row = head in group x {} + position)\n",
                                 count(plan.heads_per_group, "head"), count(plan.qlen, "position"), plan.rows,
                                 count(plan.row_tiles, "tile"), tile_rows, plan.qlen);
  for (const HeadGroup& group : head_groups(plan)) {
    if (group.last_head < group.first_head) {
      text += fmt::format("  group {:<3} no heads, all {} masked\n", group.group, count(group.masked_rows, "row"));
    } else {
      text += fmt::format("  group {:<3} heads {} .. {}, {} masked\n", group.group, group.first_head, group.last_head,
                          count(group.masked_rows, "row"));
    }
  }
  return text;
}

std::string lds_text(const KernelPlan& plan) {
  std::string text = fmt::format("LDS: {} of {} bytes\n", plan.lds_bytes, plan.lds_limit);
  int at = 0;
  for (const LdsRegion& region : plan.lds) {
    text += fmt::format("  {:>6} {:<12} {:>6} B  {}\n", at, region.name, region.bytes, region.purpose);
    at += region.bytes;
  }
  return text;
}

std::string waves_text(const KernelPlan& plan) {
  std::string text = fmt::format("waves: {} of {} lanes, {} a SIMD, {} pipeline: about {} clocks a block, predicted\n",
                                 plan.waves, lanes, plan.waves_per_simd, plan.pipeline, plan.predicted_block_clocks);
  for (const WaveRole& role : wave_roles(plan)) {
    text += fmt::format("  {} .. {}  {}\n", role.first, role.last, role.role);
  }
  return text;
}

std::string dma_text(const KernelPlan& plan) {
  std::string text = fmt::format("DMA: {} steps of {} B a tile of 16 tokens\n", plan.dma.size(), lanes * 16);
  for (size_t i = 0; i < plan.dma.size(); ++i) {
    text += fmt::format("  {}  {:<24} bytes {:>3} of a row to tile + {}\n", i, plan.dma[i].what, plan.dma[i].column,
                        plan.dma[i].lds_offset);
  }
  for (const QkLine& line : plan.qk_lines) {
    if (plan.pipeline != "uniform") {
      text += fmt::format("  QK of {} has {}\n",
                          line.is_tail ? std::string("the tails") : fmt::format("line {}", line.line),
                          counted(line.steps.size(), "MFMA"));
      continue;
    }
    text += fmt::format("  QK of {} waits until {} steps of its tile are in flight, then has {} MFMAs\n",
                        line.is_tail ? std::string("the tails") : fmt::format("line {}", line.line), line.younger,
                        line.steps.size());
  }
  return text;
}

int read_clocks(const LdsTraffic& t) {
  return (t.key_reads + t.value_reads + t.probability_reads) / lds_read_bytes_a_clock;
}
int write_clocks(const LdsTraffic& t) { return (t.dma_writes + t.probability_writes) / lds_write_bytes_a_clock; }

std::string budget_text(const KernelPlan& plan) {
  const LdsTraffic t = lds_traffic(plan);
  std::string text = fmt::format("a block of {} tokens, in clocks of a CU at the best rates\n", plan.block_tokens);
  text +=
      fmt::format("  MFMA  {:>6}  {} of QK, {} of PV (16x16x128)\n", plan.mfma_clocks, plan.qk_mfmas, plan.pv_mfmas);
  text += fmt::format("  LDS   {:>6}  reads: K {} B, V^T {} B, P {} B; writes: DMA {} B, P {} B\n",
                      read_clocks(t) + write_clocks(t), t.key_reads, t.value_reads, t.probability_reads, t.dma_writes,
                      t.probability_writes);
  text += fmt::format("  HBM   {:>6}  {} B when every CU streams its own chunk; shared by {}: {}\n", plan.hbm_clocks,
                      t.dma_writes, count(plan.head_groups, "head group"), plan.hbm_clocks / plan.head_groups);
  return text;
}

std::string registers_text(const KernelPlan& plan, const std::optional<KernelResources>& resources) {
  std::string text = fmt::format("registers: about {} VGPRs planned, {} allowed", plan.vgpr_estimate, plan.vgpr_limit);
  if (resources.has_value()) {
    text += fmt::format("; compiled: {} VGPRs, {} SGPRs, {} spills, {} B of LDS, {} B of code", resources->vgprs,
                        resources->sgprs, resources->vgpr_spills + resources->sgpr_spills, resources->lds_bytes,
                        resources->code_bytes);
  }
  return text + "\n";
}

}  // namespace

std::vector<HeadGroup> head_groups(const KernelPlan& plan) {
  std::vector<HeadGroup> groups;
  for (int group = 0; group < plan.head_groups; ++group) {
    const int first = group * plan.heads_per_group;
    const int last = std::min(plan.heads, first + plan.heads_per_group) - 1;
    const int live = std::max(0, last - first + 1) * plan.qlen;
    groups.push_back({group, first, last, tile_rows * plan.row_tiles - live});
  }
  return groups;
}

std::vector<WaveRole> wave_roles(const KernelPlan& plan) {
  const std::string qk = fmt::format("QK and softmax of {} tokens each", plan.block_tokens / plan.qk_waves);
  const std::string pv = fmt::format("PV of {} latents each", MLAFORGE_LATENT_DIM / plan.pv_waves);
  if (plan.pipeline == "uniform") {
    return {{0, plan.waves - 1, "DMA of 16 tokens each, " + qk + ", " + pv}};
  }
  return {{0, plan.qk_waves - 1, qk + ", a block ahead"},
          {plan.qk_waves, plan.waves - 1, pv + ", DMA of two tiles each of the block after the next"}};
}

LdsTraffic lds_traffic(const KernelPlan& plan) {
  LdsTraffic traffic;
  traffic.dma_writes = plan.block_tokens * MLAFORGE_KEY_DIM;
  traffic.key_reads = plan.block_tokens * MLAFORGE_KEY_DIM;
  traffic.value_reads = plan.block_tokens * MLAFORGE_LATENT_DIM;
  traffic.probability_writes = plan.row_tiles * tile_rows * plan.block_tokens * plan.probability_parts;
  traffic.probability_reads = traffic.probability_writes * plan.pv_waves;
  return traffic;
}

std::string explain(const PlannedKernel& kernel, const std::optional<KernelResources>& resources) {
  const KernelPlan& plan = kernel.plan;
  std::string text = plan.name + "\n";
  text +=
      fmt::format("{} query, E4M3 cache, {} of P, page size {}, {}{}{}{}\n", plan.query_dtype,
                  count(plan.probability_parts, "part"), plan.page_size, count(plan.splits, "split"),
                  plan.splits == 1 ? ", stored directly" : fmt::format(" merged from {} partials", plan.partial_dtype),
                  plan.wide_kv ? ", 64-bit pool offsets" : "",
                  plan.context_parallel == 1 ? "" : fmt::format(", 1 of {} ranks' tokens", plan.context_parallel));
  text += rows_text(plan) + lds_text(plan) + waves_text(plan) + dma_text(plan) + budget_text(plan) +
          registers_text(plan, resources);
  if (kernel.combine.has_value()) {
    const CombinePlan& combine = *kernel.combine;
    text += fmt::format("combine: {}, {} a row of {}, {} a lane, {} B of LDS\n", combine.name,
                        count(combine.parts, "workgroup"), count(combine.waves, "wave"),
                        count(combine.steps, "partial"), combine.lds_bytes);
  }
  return text;
}

nlohmann::json explain_json(const PlannedKernel& kernel, const std::optional<KernelResources>& resources) {
  const KernelPlan& plan = kernel.plan;
  nlohmann::json groups = nlohmann::json::array(), roles = nlohmann::json::array();
  for (const HeadGroup& group : head_groups(plan)) {
    groups.push_back({{"group", group.group},
                      {"first_head", group.first_head},
                      {"last_head", group.last_head},
                      {"masked_rows", group.masked_rows}});
  }
  for (const WaveRole& role : wave_roles(plan)) {
    roles.push_back({{"first", role.first}, {"last", role.last}, {"role", role.role}});
  }
  const LdsTraffic t = lds_traffic(plan);
  return {{"name", plan.name},
          {"key", to_json(kernel.variant)},
          {"plan", to_json(plan)},
          {"combine", kernel.combine ? to_json(*kernel.combine) : nlohmann::json()},
          {"head_groups", groups},
          {"wave_roles", roles},
          {"lds_traffic",
           {{"dma_writes", t.dma_writes},
            {"key_reads", t.key_reads},
            {"value_reads", t.value_reads},
            {"probability_writes", t.probability_writes},
            {"probability_reads", t.probability_reads}}},
          {"clocks",
           {{"mfma", plan.mfma_clocks},
            {"lds", read_clocks(t) + write_clocks(t)},
            {"hbm", plan.hbm_clocks},
            {"hbm_shared", plan.hbm_clocks / plan.head_groups}}},
          {"compiled", resources ? to_json(*resources) : nlohmann::json()}};
}

std::optional<Variant> nearest_that_fits(const Variant& variant, const PlanRefusal& refusal) {
  Variant near = variant;
  for (const auto& [name, member] : integer_fields) {
    if (refusal.field != name) {
      continue;
    }
    int value = 0;
    const char* const end = refusal.nearest.data() + refusal.nearest.size();
    const auto parsed = std::from_chars(refusal.nearest.data(), end, value);
    if (parsed.ec == std::errc() && parsed.ptr == end) {
      near.*member = value;
    }
  }
  if (near == variant || !std::holds_alternative<KernelPlan>(make_plan(near))) {
    return std::nullopt;
  }
  return near;
}

}  // namespace mlaforge::explain
