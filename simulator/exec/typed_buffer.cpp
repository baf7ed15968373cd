// buffer_load_format, buffer_store_format (format of the resource) and tbuffer_* (format of the instruction).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "simulator/exec/buffer_format.h"
#include "simulator/exec/buffer_resource.h"
#include "simulator/exec/built_table.h"
#include "simulator/exec/dma.h"
#include "simulator/exec/memory_ops.h"
#include "simulator/exec/vector_address.h"

namespace mlaforge::simulator {
namespace {

/// What a mnemonic says, in OpEntry::detail.
struct Form {
  uint8_t components;
  bool d16;
  bool high;  ///< the component is the register's high half
};
constexpr uint32_t pack_form(Form f) { return f.components | f.d16 << 4 | f.high << 5; }
constexpr Form unpack_form(uint32_t detail) {
  return {static_cast<uint8_t>(detail & 15), (detail >> 4 & 1) != 0, (detail >> 5 & 1) != 0};
}

// Values of DST_SEL; from select_red on they name a channel.
constexpr uint8_t select_one = 1;
constexpr uint8_t select_red = 4;

/// An access: the form, the format, and the channel (or constant) of each component; packed into PendingOp::detail.
struct Typed {
  Form form;
  BufferFormat format;
  std::array<uint8_t, 4> select;
};
uint32_t pack_typed(const Typed& t) {
  uint32_t word = pack_form(t.form) | uint32_t{t.format.data} << 8 | static_cast<uint32_t>(t.format.number) << 12;
  for (unsigned c = 0; c < 4; ++c) word |= uint32_t{t.select[c]} << (16 + 3 * c);
  return word;
}
Typed unpack_typed(uint32_t word) {
  Typed t{unpack_form(word & 0xff), {static_cast<uint8_t>(word >> 8 & 15), NumberFormat(word >> 12 & 7)}, {}};
  for (unsigned c = 0; c < 4; ++c) t.select[c] = static_cast<uint8_t>(word >> (16 + 3 * c) & 7);
  return t;
}

Typed typed_of(const Wave& wave, const Instruction& i, size_t resource_operand) {
  Typed t{unpack_form(i.detail), {}, {4, 5, 6, 7}};
  if (i.mnemonic.starts_with("tbuffer_")) {
    t.format = {static_cast<uint8_t>(i.words[0] >> 19 & 15), NumberFormat(i.words[0] >> 23 & 7)};
  } else {
    const uint32_t word = wave.sgpr[i.operands[resource_operand].index + 3u];
    t.format = {static_cast<uint8_t>(word >> 15 & 15), NumberFormat(word >> 12 & 7)};
    for (unsigned c = 0; c < 4; ++c) t.select[c] = static_cast<uint8_t>(word >> (3 * c) & 7);
  }
  const bool store = i.mnemonic.find("_store_") != std::string::npos;
  if (const std::string problem = format_problem(t.format, store); !problem.empty()) {
    raise_fault(wave, FaultKind::unsupported, problem);
  }
  return t;
}

/// Fills op.pieces dword by dword (the only piece may be shorter), and op.address with the first. An element is in
/// range whole or not at all.
void resolve_elements(Wave& wave, PendingOp& op, size_t address_operand, bool write) {
  const Instruction& i = *op.instruction;
  const Modifiers& m = i.modifiers;
  const Operand& vector = i.operands[address_operand];
  BufferResource resource = read_resource(wave, i.operands[address_operand + 1]);
  resource.stride &= 0x3fff;  // a format stands where other instructions have high bits of the stride
  const uint64_t soffset = scalar32(wave, i.operands[address_operand + 2]);
  const uint32_t piece = std::min(op.bytes, 4u);
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    const auto value = [&](int row) { return wave.vgpr[vector.index + row].lane[lane]; };
    BufferIndex at{.index = 0, .offset = static_cast<uint64_t>(m.offset), .soffset = soffset, .indexed = m.idxen};
    if (m.idxen) at.index += value(0);
    if (m.offen) at.offset += value(m.idxen ? 1 : 0);
    if (resource.add_tid) at.index += lane;
    const bool inside = op.bytes != 0 && buffer_address(resource, at, 0) && buffer_address(resource, at, op.bytes - 1);
    for (uint32_t d = 0; d * 4 < op.bytes; ++d) {
      const auto address = inside ? buffer_address(resource, at, 4 * d) : std::nullopt;
      if (address) check_alignment(wave, *address, piece, lane_index);
      op.pieces[d][lane] = address ? find_global(wave, *address, piece, write, lane_index) : nullptr;
    }
    op.address[lane] = op.bytes != 0 ? op.pieces[0][lane] : nullptr;
  });
}

/// The component as the register gets it: of the element, or 0 and 1 where there is none.
uint32_t component_of(const Typed& t, const ElementWords* element, unsigned component) {
  const uint8_t select = t.select[component];
  if (select == select_one) return is_float(t.format.number) ? 0x3f800000 : 1;
  if (element == nullptr || select < select_red || select - select_red >= channel_count(t.format.data)) return 0;
  return load_channel(t.format, *element, static_cast<unsigned>(select - select_red));
}

[[noreturn]] void raise_narrow(const Wave& wave, const PendingOp& op, uint32_t value, int lane) {
  raise_fault(wave, FaultKind::unsupported,
              fmt::format("'{}' loads the integer {}, which 16 bits do not hold; what the chip makes of it is not "
                          "documented",
                          op.instruction->text, value),
              lane);
}

template <typename Put>
void for_loaded_components(const PendingOp& op, Put&& put) {
  const Typed t = unpack_typed(op.detail);
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    ElementWords element{};
    const bool inside = op.address[lane] != nullptr;
    for (uint32_t d = 0; inside && d * 4 < op.bytes; ++d) {
      std::memcpy(&element[d], op.pieces[d][lane], std::min(op.bytes - 4 * d, 4u));
    }
    for (unsigned c = 0; c < t.form.components; ++c)
      put(t, lane_index, c, component_of(t, inside ? &element : nullptr, c));
  });
}

void apply_load_format(Wave& wave, PendingOp& op) {
  for_loaded_components(op, [&](const Typed& t, int lane, unsigned c, uint32_t value) {
    if (!t.form.d16) {
      wave.vgpr[op.first_register + c].lane[lane] = value;
      return;
    }
    const auto half = narrow_component(t.format.number, value);
    if (!half) raise_narrow(wave, op, value, lane);
    uint32_t& to = wave.vgpr[op.first_register + c / 2].lane[lane];
    const bool high = t.form.high || c % 2 != 0;
    if (c % 2 == 0) to = 0;  // as other loads of 16 bits
    to |= high ? uint32_t{*half} << 16 : uint32_t{*half};
  });
}

void apply_lds_format(Wave&, PendingOp& op) {
  for_loaded_components(op, [&](const Typed&, int lane, unsigned, uint32_t value) {
    std::memcpy(op.address2[static_cast<size_t>(lane)], &value, 4);
  });
}

/// Operands: destination, address, resource, soffset; the first is not there when the data goes to the LDS.
void load_format(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::vector, i, wave.exec());
  const Typed t = typed_of(wave, i, 2);
  op.apply = apply_load_format;
  op.detail = pack_typed(t);
  op.bytes = format_bytes(t.format.data);
  op.first_register = i.operands[0].index;
  op.registers = i.operands[0].dwords;
  resolve_elements(wave, op, 1, false);
  wave.queue->issue(wave, op);
}

void load_format_lds(Wave& wave, const Instruction& i) {
  const Typed t = typed_of(wave, i, 1);
  PendingOp& op = prepare_dma(wave, i, {Element::dwords, 4});
  op.apply = apply_lds_format;
  op.detail = pack_typed(t);
  op.bytes = format_bytes(t.format.data);
  resolve_elements(wave, op, 0, false);
  wave.queue->issue(wave, op);
}

/// op.data holds the channels' codes, a row a channel.
void apply_store_format(Wave&, PendingOp& op) {
  const Typed t = unpack_typed(op.detail);
  const unsigned channels = std::min<unsigned>(t.form.components, channel_count(t.format.data));
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    if (op.address[lane] == nullptr) return;
    ElementWords element{};
    uint32_t bits = 0;
    for (unsigned c = 0; c < channels; ++c) {
      set_channel(t.format, element, c, op.data[c][lane]);
      bits += channel_bits(t.format.data)[c];
    }
    // Channels that the instruction does not have keep their bytes.
    for (uint32_t d = 0; d * 32 < bits; ++d) {
      std::memcpy(op.pieces[d][lane], &element[d], std::min(bits / 8 - 4 * d, 4u));
    }
  });
}

void check_store(const Wave& wave, const Typed& t) {
  const unsigned channels = channel_count(t.format.data);
  const auto bits = channel_bits(t.format.data);
  for (unsigned c = 0; c < std::min<unsigned>(t.form.components, channels); ++c) {
    if (t.select[c] != select_red + c) {
      raise_fault(wave, FaultKind::unsupported,
                  fmt::format("a store through a resource whose DST_SEL of component {} is {}; {} (its own channel) is "
                              "executed",
                              c, t.select[c], select_red + c));
    }
  }
  const bool bytewise = std::all_of(bits.begin(), bits.end(), [](uint8_t b) { return b % 8 == 0; });
  if (!bytewise && t.form.components < channels) {
    raise_fault(wave, FaultKind::unsupported,
                fmt::format("{} of {} channels of a format whose channels are no whole bytes: what becomes of the "
                            "others is not documented; store all",
                            t.form.components, channels));
  }
}

/// Operands: data, address, resource, soffset.
void store_format(Wave& wave, const Instruction& i) {
  PendingOp& op = wave.queue->prepare(QueueKind::vector, i, wave.exec());
  const Typed t = typed_of(wave, i, 2);
  check_store(wave, t);
  op.apply = apply_store_format;
  op.detail = pack_typed(t);
  op.bytes = format_bytes(t.format.data);
  resolve_elements(wave, op, 1, true);
  const unsigned channels = std::min<unsigned>(t.form.components, channel_count(t.format.data));
  for_lanes(op.exec, [&](int lane_index) {
    const auto lane = static_cast<size_t>(lane_index);
    for (unsigned c = 0; c < channels; ++c) {
      uint32_t value = wave.vgpr[i.operands[0].index + (t.form.d16 ? c / 2 : c)].lane[lane];
      if (t.form.d16) {
        const bool high = t.form.high || c % 2 != 0;
        value = widen_component(t.format.number, static_cast<uint16_t>(high ? value >> 16 : value));
      }
      const auto code = channel_code(t.format, c, value);
      if (!code) {
        raise_fault(wave, FaultKind::unsupported,
                    fmt::format("the integer {} does not fit channel {} of {} bits; what the chip stores then is not "
                                "documented",
                                value, c, channel_bits(t.format.data)[c]),
                    lane_index);
      }
      op.data[c][lane] = *code;
    }
  });
  wave.queue->issue(wave, op);
}

Handler select_load(const Instruction& i) {
  if (!i.modifiers.lds) return load_format;
  return i.mnemonic == "buffer_load_format_x" ? load_format_lds : nullptr;
}

BuiltTable build() {
  BuiltTable table;
  const auto add = [&](std::string name, bool load, Form form) {
    table.add(std::move(name), load ? nullptr : store_format, pack_form(form), load ? select_load : nullptr);
  };
  for (const std::string prefix : {"buffer_", "tbuffer_"}) {
    for (const bool load : {true, false}) {
      const std::string start = prefix + (load ? "load_format_" : "store_format_");
      for (uint8_t n = 1; n <= 4; ++n) {
        const std::string components = std::string("xyzw").substr(0, n);
        add(start + components, load, {n, false, false});
        add(start + "d16_" + components, load, {n, true, false});
      }
      if (prefix == "buffer_") add(start + "d16_hi_x", load, {1, true, true});
    }
  }
  return table;
}

}  // namespace

std::span<const OpEntry> typed_buffer_ops() {
  static const BuiltTable table = build();
  return table.entries;
}

}  // namespace mlaforge::simulator
