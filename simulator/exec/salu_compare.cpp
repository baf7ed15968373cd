// SOPC and the compares of SOPK: they write SCC only.
#include <array>

#include "simulator/exec/salu.h"

namespace mlaforge::simulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;

constexpr auto eq = [](auto a, auto b) { return a == b; };
constexpr auto lg = [](auto a, auto b) { return a != b; };
constexpr auto gt = [](auto a, auto b) { return a > b; };
constexpr auto ge = [](auto a, auto b) { return a >= b; };
constexpr auto lt = [](auto a, auto b) { return a < b; };
constexpr auto le = [](auto a, auto b) { return a <= b; };

/// The 16-bit immediate is zero-extended for unsigned compares.
template <auto F>
void compare_k_unsigned(Wave& wave, const Instruction& i) {
  wave.scc = F(scalar32(wave, i.operands[0]), u32{i.operands[1].value16});
}

template <typename T, bool Set>
void bitcmp(Wave& wave, const Instruction& i) {
  const u32 bit = scalar32(wave, i.operands[1]) & (sizeof(T) * 8 - 1);
  wave.scc = (read_scalar<T>(wave, i.operands[0]) >> bit & 1) == Set;
}

constexpr std::array rows{
    OpEntry{"s_cmp_eq_i32", scalar_compare<i32, eq>},  OpEntry{"s_cmp_lg_i32", scalar_compare<i32, lg>},
    OpEntry{"s_cmp_gt_i32", scalar_compare<i32, gt>},  OpEntry{"s_cmp_ge_i32", scalar_compare<i32, ge>},
    OpEntry{"s_cmp_lt_i32", scalar_compare<i32, lt>},  OpEntry{"s_cmp_le_i32", scalar_compare<i32, le>},
    OpEntry{"s_cmp_eq_u32", scalar_compare<u32, eq>},  OpEntry{"s_cmp_lg_u32", scalar_compare<u32, lg>},
    OpEntry{"s_cmp_gt_u32", scalar_compare<u32, gt>},  OpEntry{"s_cmp_ge_u32", scalar_compare<u32, ge>},
    OpEntry{"s_cmp_lt_u32", scalar_compare<u32, lt>},  OpEntry{"s_cmp_le_u32", scalar_compare<u32, le>},
    OpEntry{"s_cmp_eq_u64", scalar_compare<u64, eq>},  OpEntry{"s_cmp_lg_u64", scalar_compare<u64, lg>},
    OpEntry{"s_bitcmp0_b32", bitcmp<u32, false>},      OpEntry{"s_bitcmp1_b32", bitcmp<u32, true>},
    OpEntry{"s_bitcmp0_b64", bitcmp<u64, false>},      OpEntry{"s_bitcmp1_b64", bitcmp<u64, true>},
    OpEntry{"s_cmpk_eq_i32", scalar_compare<i32, eq>}, OpEntry{"s_cmpk_lg_i32", scalar_compare<i32, lg>},
    OpEntry{"s_cmpk_gt_i32", scalar_compare<i32, gt>}, OpEntry{"s_cmpk_ge_i32", scalar_compare<i32, ge>},
    OpEntry{"s_cmpk_lt_i32", scalar_compare<i32, lt>}, OpEntry{"s_cmpk_le_i32", scalar_compare<i32, le>},
    OpEntry{"s_cmpk_eq_u32", compare_k_unsigned<eq>},  OpEntry{"s_cmpk_lg_u32", compare_k_unsigned<lg>},
    OpEntry{"s_cmpk_gt_u32", compare_k_unsigned<gt>},  OpEntry{"s_cmpk_ge_u32", compare_k_unsigned<ge>},
    OpEntry{"s_cmpk_lt_u32", compare_k_unsigned<lt>},  OpEntry{"s_cmpk_le_u32", compare_k_unsigned<le>},
};

}  // namespace

std::span<const OpEntry> scalar_compare_ops() { return rows; }

}  // namespace mlaforge::simulator
