// Global, flat and buffer atomics, and DS atomics: one read-modify-write a lane, in lane order.
#include <array>
#include <string>

#include "simulator/exec/atomic_exchange.h"
#include "simulator/exec/built_table.h"
#include "simulator/exec/memory_ops.h"
#include "simulator/exec/vector_address.h"

namespace mlaforge::simulator {
namespace {

/// op.data rows: data (1 or 2 dwords), then the compare value.
void apply_atomic(Wave& wave, PendingOp& op) {
  const AtomicForm form = form_of(op.detail);
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    const auto pair = [&](size_t row) { return op.data[row][lane] | uint64_t{op.data[row + 1][lane]} << 32; };
    const bool wide = form.bytes == 8;
    const uint64_t old =
        exchange(op.address[lane], form, wide ? pair(0) : op.data[0][lane], wide ? pair(2) : op.data[1][lane]);
    if (op.registers == 0) return;
    wave.vgpr[op.first_register].lane[lane] = static_cast<uint32_t>(old);
    if (form.bytes == 8) wave.vgpr[op.first_register + 1u].lane[lane] = static_cast<uint32_t>(old >> 32);
  });
}

void copy_rows(const Wave& wave, PendingOp& op, size_t to, unsigned from_register, unsigned count) {
  for (unsigned d = 0; d < count; ++d) {
    std::memcpy(op.data[to + d].data(), wave.vgpr[from_register + d].lane, sizeof(Row));
  }
}

PendingOp& prepare_atomic(Wave& wave, const Instruction& i, QueueKind kind) {
  PendingOp& op = wave.queue->prepare(kind, i, wave.exec());
  op.apply = apply_atomic;
  op.detail = i.detail;
  if (kind != QueueKind::vector) {
    op.lds = LdsAccess::atomic;
    op.lds_bytes = form_of(i.detail).bytes;
  }
  return op;
}

void set_result(PendingOp& op, const Operand& destination, AtomicForm form) {
  op.first_register = destination.index;
  op.registers = form.bytes / 4;
}

/// cmpswap has the new value first, then the compare value.
void set_data(const Wave& wave, PendingOp& op, const Operand& data, AtomicForm form) {
  const unsigned words = form.bytes / 4u;
  copy_rows(wave, op, 0, data.index, words);
  if (form.function == AtomicFunction::cmpswap) copy_rows(wave, op, words, data.index + words, words);
}

/// Operands: [destination when sc0], vector address, data, scalar address (absent for flat).
void global_atomic(Wave& wave, const Instruction& i) {
  const AtomicForm form = form_of(i.detail);
  const Space space = space_of(i);
  PendingOp& op = prepare_atomic(wave, i, space == Space::flat ? QueueKind::flat : QueueKind::vector);
  const size_t first = i.modifiers.sc0 ? 1 : 0;
  if (i.modifiers.sc0) set_result(op, i.operands[0], form);
  const Operand* scalar = space == Space::flat ? nullptr : &i.operands[first + 2];
  resolve_lanes(wave, op, {space, &i.operands[first], scalar}, form.bytes, true, form.bytes);
  set_data(wave, op, i.operands[first + 1], form);
  wave.queue->issue(wave, op);
}

/// Operands: data (the destination too with sc0), address, resource, soffset.
void buffer_atomic(Wave& wave, const Instruction& i) {
  const AtomicForm form = form_of(i.detail);
  PendingOp& op = prepare_atomic(wave, i, QueueKind::vector);
  if (i.modifiers.sc0) set_result(op, i.operands[0], form);
  if (resolve_buffer(wave, op, 1, form.bytes, true, form.bytes)) {
    // Atomics are checked whole: a lane that is cut is out of range.
    for_lanes(op.exec, [&](int lane_index) {
      const auto lane = static_cast<size_t>(lane_index);
      op.address[lane] = op.pieces[1][lane] == nullptr ? nullptr : op.pieces[0][lane];
    });
  }
  set_data(wave, op, i.operands[0], form);
  wave.queue->issue(wave, op);
}

/// Operands: [destination when it returns], address, data0, [data1]. For cmpst data0 is the compare value.
void ds_atomic(Wave& wave, const Instruction& i) {
  const AtomicForm form = form_of(i.detail);
  PendingOp& op = prepare_atomic(wave, i, QueueKind::lds);
  const size_t first = form.returns ? 1 : 0;
  if (form.returns) set_result(op, i.operands[0], form);
  const uint32_t* base = wave.vgpr[i.operands[first].index].lane;
  const auto offset = static_cast<uint32_t>(i.modifiers.offset);
  for_lanes(op.exec, [&](int lane) {
    const uint32_t address = base[lane] + offset;
    require_aligned(wave, address, form.bytes, lane);
    op.address[static_cast<size_t>(lane)] = find_lds(wave, address, form.bytes, lane);
  });
  const unsigned words = form.bytes / 4u;
  const bool compares = form.function == AtomicFunction::cmpswap || form.function == AtomicFunction::cmpswap_f32 ||
                        form.function == AtomicFunction::cmpswap_f64;
  const bool two = compares || form.function == AtomicFunction::mskor || form.function == AtomicFunction::wrap;
  copy_rows(wave, op, compares ? words : 0, i.operands[first + 1].index, words);
  if (two) copy_rows(wave, op, compares ? 0 : words, i.operands[first + 2].index, words);
  wave.queue->issue(wave, op);
}

struct Name {
  std::string_view name;
  AtomicFunction function;
  uint8_t bytes;
};
using F = AtomicFunction;

constexpr std::array float_names{
    Name{"add_f32", F::add_f32, 4}, Name{"pk_add_f16", F::pk_add_f16, 4}, Name{"pk_add_bf16", F::pk_add_bf16, 4},
    Name{"add_f64", F::add_f64, 8}, Name{"min_f64", F::min_f64, 8},       Name{"max_f64", F::max_f64, 8},
};

/// DS names without their type's width: u32 and u64 (b32 and b64) forms of each.
struct DsName {
  std::string_view name;
  char type;
  AtomicFunction function;
};
constexpr std::array ds_names{
    DsName{"add", 'u', F::add},     DsName{"sub", 'u', F::sub},       DsName{"rsub", 'u', F::rsub},
    DsName{"inc", 'u', F::inc},     DsName{"dec", 'u', F::dec},       DsName{"min", 'i', F::smin},
    DsName{"max", 'i', F::smax},    DsName{"min", 'u', F::umin},      DsName{"max", 'u', F::umax},
    DsName{"and", 'b', F::bit_and}, DsName{"or", 'b', F::bit_or},     DsName{"xor", 'b', F::bit_xor},
    DsName{"mskor", 'b', F::mskor}, DsName{"cmpst", 'b', F::cmpswap},
};

BuiltTable build_global() {
  BuiltTable table;
  const auto add = [&](const std::string& name, F function, uint8_t bytes) {
    for (const std::string prefix : {"global_atomic_", "flat_atomic_"}) {
      table.add(prefix + name, global_atomic, pack_form({function, bytes, false}));
    }
    table.add("buffer_atomic_" + name, buffer_atomic, pack_form({function, bytes, false}));
  };
  for (const AtomicName& n : integer_atomic_names) {
    add(std::string(n.name), n.function, 4);
    add(std::string(n.name) + "_x2", n.function, 8);
  }
  for (const Name& n : float_names) add(std::string(n.name), n.function, n.bytes);
  return table;
}

BuiltTable build_ds() {
  BuiltTable table;
  const auto both = [&](std::string_view name, const std::string& type, F function, uint8_t bytes) {
    table.add("ds_" + std::string(name) + "_" + type, ds_atomic, pack_form({function, bytes, false}));
    table.add("ds_" + std::string(name) + "_rtn_" + type, ds_atomic, pack_form({function, bytes, true}));
  };
  for (const DsName& n : ds_names) {
    both(n.name, std::string(1, n.type) + "32", n.function, 4);
    both(n.name, std::string(1, n.type) + "64", n.function, 8);
  }
  table.add("ds_wrxchg_rtn_b32", ds_atomic, pack_form({F::swap, 4, true}));
  table.add("ds_wrxchg_rtn_b64", ds_atomic, pack_form({F::swap, 8, true}));
  both("add", "f32", F::add_f32, 4);
  both("min", "f32", F::min_f32, 4);
  both("max", "f32", F::max_f32, 4);
  both("add", "f64", F::add_f64, 8);
  both("min", "f64", F::min_f64, 8);
  both("max", "f64", F::max_f64, 8);
  both("cmpst", "f32", F::cmpswap_f32, 4);
  both("cmpst", "f64", F::cmpswap_f64, 8);
  table.add("ds_wrap_rtn_b32", ds_atomic, pack_form({F::wrap, 4, true}));
  both("pk_add", "f16", F::pk_add_f16, 4);
  both("pk_add", "bf16", F::pk_add_bf16, 4);
  return table;
}

}  // namespace

std::span<const OpEntry> global_atomic_ops() {
  static const BuiltTable table = build_global();
  return table.entries;
}

std::span<const OpEntry> ds_atomic_ops() {
  static const BuiltTable table = build_ds();
  return table.entries;
}

}  // namespace mlaforge::simulator
