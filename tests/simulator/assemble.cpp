#include "tests/simulator/assemble.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>

#include "simulator/exec/observer.h"

namespace mlaforge::simulator::test {
namespace {

/// The mnemonics that the program executed, for the file of MLAFORGE_EXECUTED.
class Executed {
 public:
  Executed() {
    if (const char* path = std::getenv("MLAFORGE_EXECUTED")) path_ = path;
  }
  ~Executed() {
    if (!wanted()) return;
    std::ofstream file(path_);
    for (const std::string& name : names_) file << name << '\n';
  }
  bool wanted() const { return !path_.empty(); }
  void add(const std::string& name) {
    if (!wanted()) return;
    const std::scoped_lock lock(mutex_);
    names_.insert(name);
  }

 private:
  std::string path_;
  std::mutex mutex_;
  std::set<std::string> names_;
};
Executed& executed() {
  static Executed one;
  return one;
}

struct Noter final : ExecutionObserver {
  void start(const Workgroup&) override {}
  void instruction(const Wave&, const Instruction& instruction) override { note_executed(instruction); }
  void memory(const Wave&, const PendingOp&) override {}
};

constexpr uint64_t code_address = 0x6000'0000'0000;

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

std::vector<std::byte> text_section(const std::vector<std::byte>& elf) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), elf.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const auto& names = sections.at(header.e_shstrndx);
  for (const Elf64_Shdr& section : sections) {
    const char* name = reinterpret_cast<const char*>(elf.data()) + names.sh_offset + section.sh_name;
    if (std::string_view(name) != ".text") continue;
    const auto begin = elf.begin() + static_cast<std::ptrdiff_t>(section.sh_offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(section.sh_size)};
  }
  throw std::runtime_error("no .text section");
}

}  // namespace

std::vector<std::byte> assemble(std::string_view source) {
  static std::atomic<int> serial{0};
  const auto stem = std::filesystem::temp_directory_path() / fmt::format("mlaforge_asm_{}_{}", getpid(), serial++);
  const std::string input = stem.string() + ".s";
  const std::string output = stem.string() + ".o";
  const std::string log = stem.string() + ".log";
  std::ofstream(input) << ".text\n" << source << "\n";
  const int status = std::system(
      fmt::format("clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx950 -c {} -o {} 2> {}", input, output, log).c_str());
  std::vector<std::byte> text;
  std::string problem;
  if (status == 0) {
    text = text_section(read_file(output));
  } else {
    const auto bytes = read_file(log);
    problem.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  for (const std::string& path : {input, output, log}) std::filesystem::remove(path);
  if (status != 0) throw std::runtime_error("clang-22 does not assemble:\n" + problem);
  return text;
}

uint64_t TestMemory::allocate(size_t bytes) {
  const uint64_t address = next_;
  next_ += (bytes + 0xffff) / 0x10000 * 0x10000 + 0x10000;
  blocks_[address].resize(bytes);
  freed_[address] = false;
  return address;
}

MemoryLookup TestMemory::find(uint64_t address) const {
  auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return {{}, MemoryMiss::outside};
  --it;
  const auto& [begin, bytes] = *it;
  if (address >= begin + bytes.size()) return {{}, MemoryMiss::outside};
  if (freed_.at(begin)) return {{}, MemoryMiss::freed};
  return {{begin, begin + bytes.size(), const_cast<std::byte*>(bytes.data()), true}, MemoryMiss::none};
}

void note_executed(const Instruction& instruction) { executed().add(instruction.mnemonic); }

std::string TestMemory::describe(uint64_t address) const {
  const auto it = blocks_.upper_bound(address);
  if (it == blocks_.begin()) return "below every allocation";
  const auto& [begin, bytes] = *std::prev(it);
  return fmt::format("byte {} of the {}-byte allocation at 0x{:x}", address - begin, bytes.size(), begin);
}

KernelCode make_kernel(const Kernel& kernel) {
  KernelCode code;
  code.name = "test_kernel";
  code.program = make_program(assemble(kernel.source), code_address);
  code.entry = code_address;
  code.descriptor.group_segment_fixed_size = kernel.lds_bytes;
  code.descriptor.private_segment_fixed_size = kernel.scratch_bytes;
  const int arch = (kernel.vgprs + 3) / 4 * 4;
  const int total = (arch + kernel.agprs + 7) / 8 * 8;
  constexpr uint32_t keep_denormals = 15u << 16;
  code.descriptor.compute_pgm_rsrc1 = static_cast<uint32_t>(total / 8 - 1) | keep_denormals;
  code.descriptor.compute_pgm_rsrc3 = static_cast<uint32_t>(arch / 4 - 1);
  code.descriptor.compute_pgm_rsrc2 = 2u << 1 | 7u << 7;  // 2 user SGPRs, workgroup ids x, y, z
  code.descriptor.kernel_code_properties = 1u << 3;       // the kernarg pointer
  return code;
}

LaunchResult launch(const KernelCode& code, LaunchConfig config, GlobalMemory& memory) {
  static Noter noter;
  if (executed().wanted()) config.observer = [](uint64_t) -> ExecutionObserver* { return &noter; };
  return run_kernel(code, config, memory);
}

LaunchResult run(const Kernel& kernel, TestMemory& memory, const std::vector<uint64_t>& arguments, uint32_t threads,
                 MemoryMode mode, uint64_t seed) {
  KernelCode code = make_kernel(kernel);
  code.kernarg_bytes = static_cast<uint32_t>(arguments.size() * 8);
  LaunchConfig config;
  config.block = {threads, 1, 1};
  config.kernarg = std::as_bytes(std::span(arguments));
  config.memory = mode;
  config.seed = seed;
  config.max_wave_instructions = 1'000'000;
  return launch(code, config, memory);
}

std::vector<std::vector<uint32_t>> run_lanes(const std::string& body, int dwords, MemoryMode mode, uint32_t lds_bytes) {
  TestMemory memory;
  const uint64_t out = memory.allocate(static_cast<size_t>(64 * 4 * dwords));
  std::string source = "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n" + body +
                       fmt::format("\ns_mov_b64 exec, -1\nv_mul_u32_u24 v1, {}, v0\n", 4 * dwords);
  for (int d = 0; d < dwords; ++d)
    source += fmt::format("global_store_dword v1, v{}, s[8:9] offset:{}\n", 8 + d, 4 * d);
  source += "s_endpgm\n";
  const LaunchResult result = run({.source = source, .lds_bytes = lds_bytes}, memory, {out}, 64, mode, 1);
  if (!result.ok()) throw std::runtime_error(format_fault(*result.fault));
  const auto words = memory.download<uint32_t>(out, static_cast<size_t>(64 * dwords));
  std::vector<std::vector<uint32_t>> lanes(64);
  for (size_t lane = 0; lane < 64; ++lane) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(lane) * dwords;
    lanes[lane].assign(begin, begin + dwords);
  }
  return lanes;
}

}  // namespace mlaforge::simulator::test
