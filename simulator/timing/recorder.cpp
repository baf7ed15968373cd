#include "simulator/timing/recorder.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "simulator/exec/lanes_memory.h"
#include "simulator/exec/observer.h"
#include "simulator/timing/instruction_info.h"
#include "simulator/timing/lds_banks.h"

namespace mlaforge::simulator::timing {
namespace {

/// One workgroup's run. Instructions are kept by address until the streams are joined.
class WorkgroupRecorder final : public ExecutionObserver {
 public:
  explicit WorkgroupRecorder(uint64_t id) { stream_.id = id; }

  void start(const Workgroup& group) override {
    stream_.waves.resize(static_cast<size_t>(group.wave_count));
    lds_ = group.lds.data();
    global_ = &group.launch->memory;
  }

  void instruction(const Wave& wave, const Instruction& instruction) override {
    const auto [known, added] = numbers_.try_emplace(&instruction, static_cast<uint32_t>(instructions_.size()));
    if (added) instructions_.push_back(&instruction);
    stream_.waves[static_cast<size_t>(wave.index)].steps.push_back(known->second);
  }

  void memory(const Wave& wave, const PendingOp& op) override {
    WaveStream& to = stream_.waves[static_cast<size_t>(wave.index)];
    to.steps.back() |= has_memory;
    regions_ = wave.group->regions.data();
    to.memory.push_back(facts(op));
  }

  WorkgroupStream& stream() { return stream_; }
  const std::vector<const Instruction*>& instructions() const { return instructions_; }
  std::vector<uint64_t> take_sectors() { return std::move(sectors_); }
  const std::vector<AddressRange>& written() const { return written_; }

 private:
  MemoryFacts facts(const PendingOp& op) {
    const Instruction& i = *op.instruction;
    const std::string_view name = i.mnemonic;
    MemoryFacts facts;
    if (op.kind == QueueKind::scalar) {
      facts.kind = MemoryKind::scalar_load;
      facts.bytes = 4u * op.registers;
      for (size_t d = 0; d < op.registers && d < op.address.size(); ++d) touch(op.address[d], 4);
    } else if (op.kind == QueueKind::lds) {
      lds_facts(facts, op, name);
    } else {
      global_facts(facts, op, name);
    }
    facts.first_sector = static_cast<uint32_t>(sectors_.size());
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    sectors_.insert(sectors_.end(), touched_.begin(), touched_.end());
    facts.sector_count = static_cast<uint16_t>(touched_.size());
    touched_.clear();
    return facts;
  }

  void global_facts(MemoryFacts& facts, const PendingOp& op, std::string_view name) {
    const bool dma = op.instruction->modifiers.lds || name.find("_load_lds_") != std::string_view::npos;
    const bool store = name.find("_store_") != std::string_view::npos;
    facts.kind = dma ? MemoryKind::dma : store ? MemoryKind::store : MemoryKind::load;
    const bool typed = name.find("_format_") != std::string_view::npos;
    const uint32_t bytes = dma || typed ? op.bytes : std::max<uint32_t>(1, unpack(op.detail).bytes);
    uint32_t lanes = 0;
    for_lanes(op.exec, [&](int lane) {
      const std::byte* address = op.address[static_cast<size_t>(lane)];
      if (address == nullptr) return;
      ++lanes;
      touch(address, bytes);
    });
    facts.bytes = lanes * bytes;
    if (store && !touched_.empty()) note_written(touched_.front() * sector_bytes);
    // A DMA's lanes lie side by side in LDS: no conflicts, 128 bytes a clock.
    if (dma) facts.lds_phases = facts.lds_ideal = static_cast<uint16_t>((lanes * bytes + 127) / 128);
  }

  void lds_facts(MemoryFacts& facts, const PendingOp& op, std::string_view name) {
    const bool write = name.starts_with("ds_write");
    facts.kind = write ? MemoryKind::lds_write : MemoryKind::lds_read;
    if (name.find("permute") != std::string_view::npos || name == "ds_swizzle_b32") {
      facts.bytes = 256;  // registers through the crossbar: two halves of 32 lanes
      facts.lds_phases = facts.lds_ideal = 2;
      return;
    }
    const bool pair = name.find("read2") != std::string_view::npos || name.find("write2") != std::string_view::npos;
    const bool transpose = name.find("_tr_") != std::string_view::npos;
    const uint32_t bytes = pair        ? op.bytes
                           : transpose ? 4u * op.registers
                                       : std::max<uint32_t>(1, unpack(op.detail).bytes);
    const LdsAccess access = lds_access(write, bytes);
    facts.wide = access == LdsAccess::read_b64 || access == LdsAccess::read_b128;
    facts.read2 = pair && !write && bytes == 8;
    add_lds(facts, access, op, op.address, bytes);
    if (pair) add_lds(facts, access, op, op.address2, bytes);
  }

  void add_lds(MemoryFacts& facts, LdsAccess access, const PendingOp& op,
               const std::array<std::byte*, wave_lanes>& addresses, uint32_t bytes) {
    std::array<uint32_t, 64> offsets;
    offsets.fill(inactive_lane);
    for_lanes(op.exec, [&](int lane) {
      const std::byte* address = addresses[static_cast<size_t>(lane)];
      if (address == nullptr) return;
      offsets[static_cast<size_t>(lane)] = static_cast<uint32_t>(address - lds_);
      facts.bytes += bytes;
    });
    const LdsClocks clocks = lds_clocks(access, offsets);
    facts.lds_phases = static_cast<uint16_t>(facts.lds_phases + clocks.clocks);
    facts.lds_ideal = static_cast<uint16_t>(facts.lds_ideal + clocks.ideal);
  }

  void note_written(uint64_t address) {
    const auto holds = [&](const AddressRange& range) { return address >= range.begin && address < range.end; };
    if (std::any_of(written_.begin(), written_.end(), holds)) return;
    const MemoryLookup found = global_->find(address);
    if (found.miss != MemoryMiss::none) return;
    written_.push_back({found.region.begin, found.region.end});
  }

  /// Back from host bytes: the region was hit a moment ago.
  uint64_t device_address(const std::byte* host) const {
    for (size_t i = 0; i < std::tuple_size_v<decltype(Workgroup::regions)>; ++i) {
      const MemoryRegion& region = regions_[i];
      if (host >= region.host && host < region.host + (region.end - region.begin)) {
        return region.begin + static_cast<uint64_t>(host - region.host);
      }
    }
    return reinterpret_cast<uint64_t>(host);
  }

  void touch(const std::byte* address, uint32_t bytes) {
    if (address == nullptr) return;
    const uint64_t first = device_address(address);
    for (uint64_t sector = first / sector_bytes; sector <= (first + bytes - 1) / sector_bytes; ++sector) {
      if (touched_.empty() || touched_.back() != sector) touched_.push_back(sector);
    }
  }

  WorkgroupStream stream_;
  const std::byte* lds_ = nullptr;
  const GlobalMemory* global_ = nullptr;
  const MemoryRegion* regions_ = nullptr;  ///< that the workgroup has hit
  std::vector<AddressRange> written_;
  std::unordered_map<const Instruction*, uint32_t> numbers_;
  std::vector<const Instruction*> instructions_;
  std::vector<uint64_t> sectors_;
  std::vector<uint64_t> touched_;
};

/// Numbers instructions once for all workgroups.
class Joiner {
 public:
  explicit Joiner(KernelStream& stream) : stream_(stream) {}

  void add(WorkgroupRecorder& recorder) {
    std::vector<uint32_t> numbers;
    for (const Instruction* instruction : recorder.instructions()) {
      const auto [known, added] =
          instructions_.try_emplace(instruction->pc, static_cast<uint32_t>(stream_.instructions.size()));
      if (added) stream_.instructions.push_back(describe(*instruction));
      numbers.push_back(known->second);
    }
    WorkgroupStream& group = recorder.stream();
    for (WaveStream& wave : group.waves) {
      for (uint32_t& step : wave.steps) step = numbers[step & ~has_memory] | (step & has_memory);
      stream_.instruction_count += wave.steps.size();
    }
    for (const AddressRange& range : recorder.written()) {
      const auto same = [&](const AddressRange& known) { return known.begin == range.begin; };
      if (std::none_of(stream_.written.begin(), stream_.written.end(), same)) stream_.written.push_back(range);
    }
    stream_.workgroups.push_back(std::move(group));
  }

 private:
  KernelStream& stream_;
  std::unordered_map<uint64_t, uint32_t> instructions_;
};

/// Numbers the sectors of all workgroups by ascending address; `touched` has those of each workgroup of the stream. A
/// sort: there are millions, too many for a hash table.
void number_sectors(KernelStream& stream, const std::vector<std::vector<uint64_t>>& touched) {
  struct Place {
    uint64_t sector;
    uint32_t* number;
  };
  std::vector<Place> places;
  for (size_t g = 0; g < touched.size(); ++g) {
    std::vector<uint32_t>& numbers = stream.workgroups[g].sectors;
    numbers.resize(touched[g].size());
    for (size_t i = 0; i < numbers.size(); ++i) places.push_back({touched[g][i], &numbers[i]});
  }
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.sector < b.sector; });
  for (const Place& place : places) {
    if (stream.sectors.empty() || stream.sectors.back() != place.sector) stream.sectors.push_back(place.sector);
    *place.number = static_cast<uint32_t>(stream.sectors.size() - 1);
  }
}

}  // namespace

Recording record(const KernelCode& kernel, const LaunchConfig& config, GlobalMemory& memory,
                 std::vector<uint64_t> ids) {
  std::unordered_map<uint64_t, std::unique_ptr<WorkgroupRecorder>> recorders;
  for (const uint64_t id : ids) recorders.emplace(id, std::make_unique<WorkgroupRecorder>(id));
  LaunchConfig recorded = config;
  recorded.workgroups = ids;
  recorded.observer = [&](uint64_t id) { return recorders.at(id).get(); };
  Recording recording;
  LaunchResult result = run_kernel(kernel, recorded, memory);
  if (result.fault) {
    recording.fault = std::move(result.fault);
    return recording;
  }
  KernelStream& stream = recording.stream;
  stream.kernel = kernel.name;
  Joiner joiner(stream);
  std::vector<std::vector<uint64_t>> touched;
  for (const uint64_t id : ids) {
    WorkgroupRecorder& recorder = *recorders.at(id);
    joiner.add(recorder);
    touched.push_back(recorder.take_sectors());
  }
  number_sectors(stream, touched);
  const auto& block = config.block;
  stream.grid_workgroups = uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  stream.waves_per_workgroup = (block[0] * block[1] * block[2] + wave_lanes - 1) / wave_lanes;
  stream.lds_bytes = kernel.descriptor.group_segment_fixed_size + config.dynamic_lds_bytes;
  stream.vgprs = ((kernel.descriptor.compute_pgm_rsrc1 & 0x3f) + 1) * 8;
  return recording;
}

}  // namespace mlaforge::simulator::timing
