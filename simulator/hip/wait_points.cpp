#include "simulator/hip/wait_points.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "simulator/decode/disassembler.h"
#include "simulator/decode/program.h"
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

nlohmann::json points_of(const CodeObject& object, const LoadedKernel& kernel) {
  nlohmann::json points = nlohmann::json::array();
  const ElfSegment* segment = segment_of(object, kernel.entry_address);
  const ElfSymbol* symbol = nullptr;
  for (const ElfSymbol& candidate : object.symbols) {
    if (candidate.address == kernel.entry_address && candidate.kind == ElfSymbolKind::function) symbol = &candidate;
  }
  if (segment == nullptr || symbol == nullptr) return points;
  const bool preload = (kernel.descriptor.kernarg_preload & 0x7f) != 0;
  Disassembler disassembler;
  const uint64_t end = kernel.entry_address + symbol->bytes;
  for (uint64_t at = kernel.entry_address + (preload ? preload_prologue_bytes : 0); at < end;) {
    const Instruction i = decode_instruction(disassembler, std::span(object.image).subspan(at, end - at), at);
    const bool barrier = i.mnemonic == "s_barrier";
    if (barrier || i.mnemonic == "s_waitcnt") {
      const Modifiers counts = barrier ? Modifiers{} : i.modifiers;
      points.push_back({{"offset", at - kernel.entry_address},
                        {"file_offset", at - segment->address + segment->file_offset},
                        {"text", i.text},
                        {"word", i.words[0]},
                        {"barrier", barrier},
                        {"vmcnt", counts.vmcnt},
                        {"lgkmcnt", counts.lgkmcnt}});
    }
    at += i.size;
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
