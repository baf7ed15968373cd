#include "simulator/hip/wait_points.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "simulator/decode/disassembler.h"
#include "simulator/decode/program.h"
#include "simulator/exec/wait_state_scan.h"
#include "simulator/hip/error.h"
#include "simulator/hip/machine.h"
#include "simulator/hip/mlaforge_simulator.h"
#include "simulator/loader/code_object.h"

namespace mlaforge::simulator {
namespace {

/// With kernel arguments preloaded, a kernel begins with this much code for firmware that does not preload.
constexpr uint64_t preload_prologue_bytes = 256;

const ElfSegment* segment_of(const CodeObject& object, uint64_t address) {
  for (const ElfSegment& segment : object.segments) {
    if (address >= segment.address && address - segment.address < segment.file_bytes) return &segment;
  }
  return nullptr;
}

std::vector<Instruction> decode_kernel(const CodeObject& object, uint64_t begin, uint64_t end) {
  Disassembler disassembler;
  std::vector<Instruction> code;
  for (uint64_t at = begin; at < end; at += code.back().size) {
    code.push_back(decode_instruction(disassembler, std::span(object.image).subspan(at, end - at), at));
  }
  return code;
}

std::set<uint64_t> branch_targets(const std::vector<Instruction>& code) {
  std::set<uint64_t> targets;
  for (const Instruction& i : code) {
    const bool by_distance = i.mnemonic.starts_with("s_branch") || i.mnemonic.starts_with("s_cbranch");
    if (by_distance) targets.insert(i.pc + i.size + i.operands[i.operand_count - 1u].value64 * 4);
  }
  return targets;
}

/// Whether an instruction does the same one place earlier, but for wait states.
bool may_swap(const Instruction& i, const std::set<uint64_t>& targets) {
  return i.unit != Unit::branch && !i.mnemonic.starts_with("s_getpc") && !i.mnemonic.starts_with("s_endpgm") &&
         !targets.contains(i.pc);
}

/// The longest that a register must be waited for, and more.
constexpr size_t scanned_instructions = 24;

/// What the wait-state check says of the code around s_nop number n if it gave no or one state less: the s_nop behind
/// its successor (`moved`), or shortened. "" where it says nothing, as of the code as it is.
std::string weaker_nop(const std::vector<Instruction>& code, size_t n, bool moved) {
  const auto ends = [](const Instruction& i) {
    return i.mnemonic == "s_branch" || i.mnemonic.starts_with("s_setpc") || i.mnemonic.starts_with("s_endpgm");
  };
  size_t begin = n, end = n + 1;
  while (begin > 0 && n - begin < scanned_instructions && !ends(code[begin - 1])) --begin;
  while (end < code.size() && end - n < scanned_instructions && !ends(code[end - 1])) ++end;
  std::vector<const Instruction*> scanned;
  for (size_t i = begin; i < end; ++i) scanned.push_back(&code[i]);
  if (!scan_wait_states(scanned).empty()) return {};
  Instruction shorter = code[n];
  if (moved && n + 1 < end) {
    std::swap(scanned[n - begin], scanned[n + 1 - begin]);
  } else if (!moved && shorter.operands[0].value16 > 0) {
    --shorter.operands[0].value16;
    scanned[n - begin] = &shorter;
  }
  return scan_wait_states(scanned);
}

/// What a point is, or null: no point.
const char* kind_of(const Instruction& i) {
  if (i.mnemonic == "s_barrier") return "barrier";
  if (i.mnemonic == "s_waitcnt") return "wait";
  return i.mnemonic == "s_nop" ? "nop" : nullptr;
}

nlohmann::json points_of(const CodeObject& object, const LoadedKernel& kernel) {
  nlohmann::json points = nlohmann::json::array();
  const ElfSegment* segment = segment_of(object, kernel.entry_address);
  const ElfSymbol* symbol = nullptr;
  for (const ElfSymbol& candidate : object.symbols) {
    if (candidate.address == kernel.entry_address && candidate.kind == ElfSymbolKind::function) symbol = &candidate;
  }
  if (segment == nullptr || symbol == nullptr) return points;
  const bool preload = (kernel.descriptor.kernarg_preload & 0x7f) != 0;
  const std::vector<Instruction> code = decode_kernel(
      object, kernel.entry_address + (preload ? preload_prologue_bytes : 0), kernel.entry_address + symbol->bytes);
  const std::set<uint64_t> targets = branch_targets(code);
  for (size_t n = 0; n < code.size(); ++n) {
    const Instruction& i = code[n];
    const char* kind = kind_of(i);
    if (kind == nullptr) continue;
    const bool waits = i.mnemonic == "s_waitcnt";
    const Modifiers counts = waits ? i.modifiers : Modifiers{};
    nlohmann::json point = {{"offset", i.pc - kernel.entry_address},
                            {"file_offset", i.pc - segment->address + segment->file_offset},
                            {"text", i.text},
                            {"word", i.words[0]},
                            {"kind", kind},
                            {"vmcnt", counts.vmcnt},
                            {"lgkmcnt", counts.lgkmcnt}};
    if (n + 1 < code.size() && may_swap(code[n + 1], targets)) {
      const auto& next = code[n + 1];
      point["next_words"] = std::vector<uint32_t>(next.words.begin(), next.words.begin() + next.size / 4);
      point["next_text"] = next.text;
    }
    if (point["kind"] == "nop") {
      point["fault_moved"] = weaker_nop(code, n, true);
      point["fault_shorter"] = weaker_nop(code, n, false);
    }
    points.push_back(std::move(point));
  }
  return points;
}

const char* end_name(WatchedEnd end) {
  switch (end) {
    case WatchedEnd::wait:
      return "wait";
    case WatchedEnd::full_counter:
      return "full_counter";
    case WatchedEnd::wave_end:
      return "wave_end";
  }
  return "";
}

nlohmann::json to_json(const WatchReport& report) {
  nlohmann::json released = nlohmann::json::array();
  for (const auto& [operation, count] : report.released) {
    released.push_back({{"operation", operation.operation},
                        {"store", operation.store},
                        {"end", end_name(operation.end)},
                        {"until", operation.until},
                        {"count", count}});
  }
  return {{"executions", report.executions}, {"released", released}};
}

}  // namespace

std::optional<WatchedWait> parse_watched_wait(std::string_view text) {
  WatchedWait watched;
  std::array<uint64_t, 3> numbers{};
  for (size_t i = numbers.size(); i-- > 0;) {
    const size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view number = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), numbers[i]);
    if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
    text = text.substr(0, colon);
  }
  if (text.empty() || numbers[1] > 63 || numbers[2] > 15) return std::nullopt;
  watched.kernel = std::string(text);
  watched.offset = numbers[0];
  watched.vmcnt = static_cast<unsigned>(numbers[1]);
  watched.lgkmcnt = static_cast<unsigned>(numbers[2]);
  return watched;
}

}  // namespace mlaforge::simulator

using namespace mlaforge::simulator;

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_wait_points_json(const void* image, size_t bytes) {
  thread_local std::string text;
  const hipError_t error = guarded(__func__, [&] {
    require(image, "image");
    const auto object = load_code_object(Bytes(static_cast<const std::byte*>(image), bytes));
    if (!object.ok()) fail(object.error(), "code object");
    nlohmann::json kernels = nlohmann::json::object();
    for (const LoadedKernel& kernel : object.value().kernels) {
      kernels[kernel.metadata.name] = points_of(object.value(), kernel);
    }
    text = kernels.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  });
  return error == hipSuccess ? text.c_str() : "{}";
}

MLAFORGE_HIP_EXPORT const char* mlaforge_simulator_wait_watch_json(void) {
  thread_local std::string text;
  text = "{}";
  const std::scoped_lock running(machine().execution);
  const auto options = machine().options();
  if (options.watch) text = to_json(options.watch->report()).dump();
  return text.c_str();
}
