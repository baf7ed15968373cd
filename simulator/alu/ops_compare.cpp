// Vector compares: v_cmp writes a lane mask to a scalar pair, v_cmpx writes it to EXEC as well. Lanes that do not
// execute give 0.
#include "simulator/alu/float_math.h"
#include "simulator/alu/lanes.h"
#include "simulator/alu/tables.h"

namespace mlaforge::simulator {
namespace {

constexpr uint32_t kWritesExec = 1;

// Mask = test(a, b). Operands: mask, a, b.
template <auto test, class A, class B>
struct Compare {
  static constexpr Kind kinds[2] = {detail::kind_of<A>(), detail::kind_of<B>()};
  static constexpr bool has_f32 = kinds[0] == Kind::f32;
  static constexpr bool has_f64_f16 = kinds[0] == Kind::f64 || kinds[0] == Kind::f16;

  template <bool plain>
  static void handle(Wave& wave, const Instruction& given) {
    if (relative_indexing(wave)) [[unlikely]]
      return run<false>(wave, with_relative_indices(wave, given));
    if constexpr (plain && (has_f32 || has_f64_f16))
      if (unusual_float_mode(wave.mode, has_f32, has_f64_f16)) [[unlikely]]
        return run<false>(wave, given);
    run<plain>(wave, given);
  }

  template <bool plain>
  static void run(Wave& wave, const Instruction& instruction) {
    Row lo[2], hi[is_wide(kinds[0]) ? 2 : 1], out;
    Source sources[2];
    for (int i = 0; i < 2; ++i) {
      const Operand& op = instruction.operands[static_cast<size_t>(i + 1)];
      Row& high = hi[is_wide(kinds[0]) ? i : 0];
      sources[i] =
          plain ? fetch_plain(wave, op, kinds[i], lo[i], high) : fetch(wave, instruction, op, i, kinds[i], lo[i], high);
    }
    detail::loop<test, true, uint32_t, A, B>(out.lane, nullptr, sources, float_mode(wave));
    const uint64_t mask = pack_mask(out.lane) & wave.exec();
    set_scalar64(wave, instruction.operands[0], mask);
    if ((instruction.detail & kWritesExec) != 0) wave.set_exec(mask);
  }

  static Handler select(const Instruction& instruction) { return is_plain(instruction) ? handle<true> : handle<false>; }
};

template <auto test, class A, class B = A>
constexpr OpEntry cmp(std::string_view mnemonic) {
  return {mnemonic, nullptr, &Compare<test, A, B>::select, 0};
}
template <auto test, class A, class B = A>
constexpr OpEntry cmpx(std::string_view mnemonic) {
  return {mnemonic, nullptr, &Compare<test, A, B>::select, kWritesExec};
}

constexpr auto never = [](auto, auto) { return 0u; };
constexpr auto always = [](auto, auto) { return 1u; };
constexpr auto lt = [](auto a, auto b) { return a < b ? 1u : 0u; };
constexpr auto eq = [](auto a, auto b) { return a == b ? 1u : 0u; };
constexpr auto le = [](auto a, auto b) { return a <= b ? 1u : 0u; };
constexpr auto gt = [](auto a, auto b) { return a > b ? 1u : 0u; };
constexpr auto ge = [](auto a, auto b) { return a >= b ? 1u : 0u; };
constexpr auto ne = [](auto a, auto b) { return a != b ? 1u : 0u; };
// Ordered and different; the n.. forms are true on NaN.
constexpr auto lg = [](auto a, auto b) { return a < b || a > b ? 1u : 0u; };
constexpr auto ordered = [](auto a, auto b) { return a == a && b == b ? 1u : 0u; };
constexpr auto unordered = [](auto a, auto b) { return a != a || b != b ? 1u : 0u; };
constexpr auto nge = [](auto a, auto b) { return !(a >= b) ? 1u : 0u; };
constexpr auto nlg = [](auto a, auto b) { return !(a < b || a > b) ? 1u : 0u; };
constexpr auto ngt = [](auto a, auto b) { return !(a > b) ? 1u : 0u; };
constexpr auto nle = [](auto a, auto b) { return !(a <= b) ? 1u : 0u; };
constexpr auto neq = [](auto a, auto b) { return !(a == b) ? 1u : 0u; };
constexpr auto nlt = [](auto a, auto b) { return !(a < b) ? 1u : 0u; };
constexpr auto class_f16 = [](uint16_t a, uint32_t b) { return (class_bit<5, 10, uint32_t>(a) & b) != 0 ? 1u : 0u; };
constexpr auto class_f32 = [](uint32_t a, uint32_t b) { return (class_bit<8, 23>(a) & b) != 0 ? 1u : 0u; };
constexpr auto class_f64 = [](uint64_t a, uint32_t b) { return (class_bit<11, 52>(a) & b) != 0 ? 1u : 0u; };

// Each compare under both names.
#define MLAFORGE_COMPARE(test, name, type) cmp<test, type>("v_cmp_" name), cmpx<test, type>("v_cmpx_" name)
#define MLAFORGE_INTEGER_COMPARES(suffix, type)                                           \
  MLAFORGE_COMPARE(never, "f_" suffix, type), MLAFORGE_COMPARE(lt, "lt_" suffix, type),   \
      MLAFORGE_COMPARE(eq, "eq_" suffix, type), MLAFORGE_COMPARE(le, "le_" suffix, type), \
      MLAFORGE_COMPARE(gt, "gt_" suffix, type), MLAFORGE_COMPARE(ne, "ne_" suffix, type), \
      MLAFORGE_COMPARE(ge, "ge_" suffix, type), MLAFORGE_COMPARE(always, "t_" suffix, type)
#define MLAFORGE_FLOAT_COMPARES(suffix, type)                                                     \
  MLAFORGE_COMPARE(never, "f_" suffix, type), MLAFORGE_COMPARE(lt, "lt_" suffix, type),           \
      MLAFORGE_COMPARE(eq, "eq_" suffix, type), MLAFORGE_COMPARE(le, "le_" suffix, type),         \
      MLAFORGE_COMPARE(gt, "gt_" suffix, type), MLAFORGE_COMPARE(lg, "lg_" suffix, type),         \
      MLAFORGE_COMPARE(ge, "ge_" suffix, type), MLAFORGE_COMPARE(ordered, "o_" suffix, type),     \
      MLAFORGE_COMPARE(unordered, "u_" suffix, type), MLAFORGE_COMPARE(nge, "nge_" suffix, type), \
      MLAFORGE_COMPARE(nlg, "nlg_" suffix, type), MLAFORGE_COMPARE(ngt, "ngt_" suffix, type),     \
      MLAFORGE_COMPARE(nle, "nle_" suffix, type), MLAFORGE_COMPARE(neq, "neq_" suffix, type),     \
      MLAFORGE_COMPARE(nlt, "nlt_" suffix, type), MLAFORGE_COMPARE(always, "tru_" suffix, type)

constexpr OpEntry kOps[] = {
    MLAFORGE_INTEGER_COMPARES("i16", int16_t),
    MLAFORGE_INTEGER_COMPARES("u16", uint16_t),
    MLAFORGE_INTEGER_COMPARES("i32", int32_t),
    MLAFORGE_INTEGER_COMPARES("u32", uint32_t),
    MLAFORGE_INTEGER_COMPARES("i64", int64_t),
    MLAFORGE_INTEGER_COMPARES("u64", uint64_t),
    MLAFORGE_FLOAT_COMPARES("f16", Half),
    MLAFORGE_FLOAT_COMPARES("f32", float),
    MLAFORGE_FLOAT_COMPARES("f64", double),
    cmp<class_f16, RawF16, uint32_t>("v_cmp_class_f16"),
    cmp<class_f32, RawF32, uint32_t>("v_cmp_class_f32"),
    cmp<class_f64, RawF64, uint32_t>("v_cmp_class_f64"),
    cmpx<class_f16, RawF16, uint32_t>("v_cmpx_class_f16"),
    cmpx<class_f32, RawF32, uint32_t>("v_cmpx_class_f32"),
    cmpx<class_f64, RawF64, uint32_t>("v_cmpx_class_f64"),
};

}  // namespace

std::span<const OpEntry> compare_ops() { return kOps; }

}  // namespace mlaforge::simulator
