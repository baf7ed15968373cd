// The loader on whole, foreign and damaged code objects.
#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "catch.h"
#include "files.h"
#include "simulator/loader/code_object.h"
#include "simulator/loader/kernel_descriptor.h"
#include "simulator/loader/offload_bundle.h"
#include "simulator/loader/target_id.h"

using namespace mlaforge::simulator;
using Catch::Matchers::Contains;

namespace {

CodeObject load_good(const std::string& name) {
  const auto loaded = load_code_object(read_code_object(name));
  INFO((loaded.ok() ? "" : loaded.error().message));
  REQUIRE(loaded.ok());
  return loaded.value();
}

LoadError load_bad(std::span<const std::byte> bytes) {
  const auto loaded = load_code_object(bytes);
  REQUIRE_FALSE(loaded.ok());
  return loaded.error();
}

template <typename T>
void poke(std::vector<std::byte>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace

TEST_CASE("a code object's kernels, arguments and variables are found") {
  const auto [file, version] = GENERATE(table<const char*, int>({{"gfx950.co", 5}, {"gfx950_v6.co", 6}}));
  const CodeObject object = load_good(file);
  CHECK(object.version == version);
  CHECK(object.target == "gfx950");
  const LoadedKernel* kernel = object.find_kernel("scale_add");
  REQUIRE(kernel != nullptr);
  CHECK(object.find_kernel("scale_add.kd") == kernel);
  CHECK(object.find_kernel("scale_ad") == nullptr);
  // (float*, char, double, int, const float*, float) in C's layout.
  const std::vector<std::pair<uint32_t, uint32_t>> layout = {{0, 8}, {8, 1}, {16, 8}, {24, 4}, {32, 8}, {40, 4}};
  REQUIRE(kernel->metadata.arguments.size() >= layout.size());
  for (size_t i = 0; i < layout.size(); ++i) {
    CHECK(kernel->metadata.arguments[i].offset == layout[i].first);
    CHECK(kernel->metadata.arguments[i].bytes == layout[i].second);
    CHECK_FALSE(kernel->metadata.arguments[i].hidden());
  }
  REQUIRE(object.find_variable("adjustable") != nullptr);
  CHECK(object.find_variable("adjustable")->bytes == 4);
  CHECK(object.find_variable("squares")->bytes == 32);
  CHECK(object.find_variable("scale_add.kd") == nullptr);
  int initial = 0;
  std::memcpy(&initial, object.image.data() + object.find_variable("adjustable")->address, sizeof initial);
  CHECK(initial == 41);
}

TEST_CASE("the kernel descriptor agrees with the metadata that the compiler wrote beside it") {
  const CodeObject object = load_good("gfx950.co");
  for (const LoadedKernel& kernel : object.kernels) {
    INFO(kernel.metadata.name);
    CHECK(kernel.descriptor.group_segment_fixed_size == kernel.metadata.group_segment_bytes);
    CHECK(kernel.descriptor.private_segment_fixed_size == kernel.metadata.private_segment_bytes);
    CHECK(kernel.descriptor.kernarg_size == kernel.metadata.kernarg_segment_bytes);
    CHECK(allocated_vgprs(kernel.descriptor) >= kernel.metadata.vgprs);
    CHECK(allocated_vgprs(kernel.descriptor) < std::max(kernel.metadata.vgprs, 1u) + 8);  // in steps of 8, at least 8
    CHECK(kernel.entry_address % 256 == 0);
  }
  CHECK(object.find_kernel("reverse_block")->descriptor.group_segment_fixed_size == 512);
  CHECK(object.find_kernel("reverse_block")->metadata.max_workgroup_size == 128);
}

TEST_CASE("a kernel that asks for more scratch than a wave can have is refused") {
  std::vector<std::byte> descriptor(kKernelDescriptorBytes);
  poke(descriptor, 4, uint32_t{131056});  // LLVM's limit for gfx9
  CHECK(read_kernel_descriptor(descriptor, "k").private_segment_fixed_size == 131056);
  poke(descriptor, 4, uint32_t{131057});
  try {
    read_kernel_descriptor(descriptor, "k");
    FAIL("accepted");
  } catch (const LoadFailure& failure) {
    CHECK_THAT(failure.error.message,
               Contains("of k asks for 131057 bytes of scratch a lane, gfx950 has at most 131056"));
  }
}

TEST_CASE("relocations make addresses absolute") {
  const CodeObject object = load_good("gfx950.co");
  const uint64_t base = 0x2000'1234'0000;
  const auto image = relocate_image(object, base);
  REQUIRE(image.ok());
  REQUIRE(object.relocations.size() == 1);
  uint64_t stored = 0;
  std::memcpy(&stored, image.value().data() + object.relocations[0].address, sizeof stored);
  CHECK(stored == base + object.find_variable("adjustable")->address);
}

TEST_CASE("a code object for another GPU is refused by name") {
  const LoadError error = load_bad(read_code_object("gfx942.co"));
  CHECK(error.kind == LoadErrorKind::wrong_architecture);
  CHECK_THAT(error.message, Contains("gfx942") && Contains("gfx950:sramecc+:xnack-"));
}

TEST_CASE("target features decide whether the device can run a code object") {
  CHECK(why_target_not_runnable(parse_target_id("gfx950")).empty());
  CHECK(why_target_not_runnable(parse_target_id("gfx950:sramecc+:xnack-")).empty());
  CHECK_THAT(why_target_not_runnable(parse_target_id("gfx950:xnack+")), Contains("gfx950:xnack+"));
  CHECK_FALSE(why_target_not_runnable(parse_target_id("gfx950:sramecc-")).empty());
  // e_flags as AMDGPUUsage tabulates them: mach 0x4f, xnack on 0x300, sramecc on 0xc00.
  CHECK(format_target_id(target_id_of_flags(0x04f | 0x300 | 0xc00)) == "gfx950:sramecc+:xnack+");
  CHECK(format_target_id(target_id_of_flags(0x04c | 0x200 | 0x800)) == "gfx942:sramecc-:xnack-");
  CHECK(format_target_id(target_id_of_flags(0x04f | 0x100 | 0x400)) == "gfx950");
}

TEST_CASE("headers that are wrong are named") {
  std::vector<std::byte> bytes = read_code_object("gfx950.co");
  const auto bad = [&](auto change) {
    auto copy = bytes;
    change(copy);
    return load_bad(copy).message;
  };
  CHECK_THAT(bad([](auto& b) { poke(b, 0, uint32_t{0}); }), Contains("not an ELF"));
  CHECK_THAT(bad([](auto& b) { poke(b, EI_CLASS, uint8_t{1}); }), Contains("class is 1"));
  CHECK_THAT(bad([](auto& b) { poke(b, EI_DATA, uint8_t{2}); }), Contains("big endian"));
  CHECK_THAT(bad([](auto& b) { poke(b, EI_ABIVERSION, uint8_t{1}); }), Contains("version is 1"));
  CHECK_THAT(bad([](auto& b) { poke(b, offsetof(Elf64_Ehdr, e_machine), uint16_t{EM_X86_64}); }),
             Contains("machine is 62"));
  CHECK_THAT(bad([](auto& b) { poke(b, offsetof(Elf64_Ehdr, e_type), uint16_t{ET_REL}); }), Contains("type is 1"));
  CHECK_THAT(bad([](auto& b) { poke(b, offsetof(Elf64_Ehdr, e_phoff), ~uint64_t{0}); }), Contains("program headers"));
  CHECK_THAT(bad([](auto& b) { poke(b, offsetof(Elf64_Ehdr, e_phnum), uint16_t{0}); }),
             Contains("no loadable segment"));
  CHECK_THAT(load_bad({}).message, Contains("past the end"));
}

TEST_CASE("every truncation is refused or loads whole") {
  const auto bytes = read_code_object("gfx950.co");
  const CodeObject whole = load_good("gfx950.co");
  size_t refused = 0;
  for (size_t length = 0; length < bytes.size(); length += 64) {
    const auto loaded = load_code_object(std::span(bytes).first(length));
    if (!loaded.ok()) {
      ++refused;
      CHECK_FALSE(loaded.error().message.empty());
    } else {
      CHECK(loaded.value().image == whole.image);
    }
  }
  CHECK(refused == (bytes.size() + 63) / 64);  // the section headers, which end the file, are read too
}

TEST_CASE("flipped bits and random bytes never crash the loader") {
  const auto bytes = read_code_object("gfx950.co");
  std::mt19937 random(7);
  size_t refused = 0;
  // Every bit of the ELF header, program headers, notes and dynamic symbols, one at a time.
  for (size_t bit = 0; bit < 0x1900 * 8; bit += 3) {
    auto copy = bytes;
    copy[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto loaded = load_code_object(copy);
    if (loaded.ok()) relocate_image(loaded.value(), 0x2000'0000'0000);
    refused += loaded.ok() ? 0 : 1;
  }
  CHECK(refused > 1000);
  for (int round = 0; round < 500; ++round) {
    auto copy = bytes;
    for (int i = 0; i < 32; ++i) copy[random() % copy.size()] = static_cast<std::byte>(random());
    const auto loaded = load_code_object(copy);
    if (loaded.ok()) relocate_image(loaded.value(), 0x2000'0000'0000);
  }
}

TEST_CASE("a bundle gives the code object that the device runs") {
  const auto gfx950 = read_code_object("gfx950.co");
  const auto gfx942 = read_code_object("gfx942.co");
  const std::string triple = "hipv4-amdgcn-amd-amdhsa--";
  const auto bundle =
      make_bundle({{"host-x86_64-unknown-linux-gnu-", {}}, {triple + "gfx942", gfx942}, {triple + "gfx950", gfx950}});
  CHECK(std::ranges::equal(choose_code_object(bundle), gfx950));
  CHECK(load_code_object(bundle).ok());
  CHECK(image_extent(bundle) <= bundle.size());
  CHECK(image_extent(bundle) > bundle.size() - 4096);

  // The entry that states its features goes before the one that leaves them open, whatever the order.
  const auto specific = make_bundle({{triple + "gfx950:sramecc+:xnack-", gfx950}, {triple + "gfx950", gfx942}});
  CHECK(std::ranges::equal(choose_code_object(specific), gfx950));

  const LoadError error = load_bad(make_bundle({{triple + "gfx942", gfx942}, {triple + "gfx90a:xnack+", gfx942}}));
  CHECK(error.kind == LoadErrorKind::wrong_architecture);
  CHECK_THAT(error.message, Contains("gfx942, gfx90a:xnack+"));

  for (size_t length = 0; length < 256; ++length) CHECK_FALSE(load_code_object(std::span(bundle).first(length)).ok());
}

namespace {

// A compressed bundle as clang's documentation of ClangOffloadBundler lays it out.
std::vector<std::byte> compress(std::span<const std::byte> bundle, uint16_t version, uint16_t method) {
  std::vector<std::byte> stream(ZSTD_compressBound(bundle.size()) + compressBound(bundle.size()));
  if (method == 0) {
    uLongf bytes = stream.size();
    REQUIRE(::compress(reinterpret_cast<Bytef*>(stream.data()), &bytes, reinterpret_cast<const Bytef*>(bundle.data()),
                       bundle.size()) == Z_OK);
    stream.resize(bytes);
  } else {
    stream.resize(ZSTD_compress(stream.data(), stream.size(), bundle.data(), bundle.size(), 3));
  }
  std::vector<std::byte> file;
  const auto put = [&](auto value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    file.insert(file.end(), bytes.begin(), bytes.end());
  };
  const size_t header_bytes = version == 1 ? 20 : version == 2 ? 24 : 32;
  const auto put_size = [&](size_t value) { version == 3 ? put(uint64_t{value}) : put(static_cast<uint32_t>(value)); };
  put(std::array{'C', 'C', 'O', 'B'});
  put(version);
  put(method);
  if (version > 1) put_size(header_bytes + stream.size());
  put_size(bundle.size());
  put(uint64_t{0x1234});  // the hash, which names the bundle and guards nothing
  REQUIRE(file.size() == header_bytes);
  file.insert(file.end(), stream.begin(), stream.end());
  return file;
}

}  // namespace

TEST_CASE("compressed bundles load as what they hold") {
  const auto bundle = make_bundle(
      {{"host-x86_64-unknown-linux-gnu-", {}}, {"hipv4-amdgcn-amd-amdhsa--gfx950", read_code_object("gfx950.co")}});
  const auto [version, method] = GENERATE(table<uint16_t, uint16_t>({{uint16_t{1}, uint16_t{0}},
                                                                     {uint16_t{1}, uint16_t{1}},
                                                                     {uint16_t{2}, uint16_t{0}},
                                                                     {uint16_t{2}, uint16_t{1}},
                                                                     {uint16_t{3}, uint16_t{0}},
                                                                     {uint16_t{3}, uint16_t{1}}}));
  INFO("version " << version << ", method " << method);
  auto file = compress(bundle, version, method);
  const auto loaded = load_code_object(file);
  INFO((loaded.ok() ? "" : loaded.error().message));
  REQUIRE(loaded.ok());
  CHECK(loaded.value().image == load_good("gfx950.co").image);
  if (version > 1) CHECK(image_extent(file) == file.size());

  for (size_t length = 4; length < file.size(); length += 13) {
    CHECK_FALSE(load_code_object(std::span(file).first(length)).ok());
  }
  std::mt19937 random(version * 2 + method);
  for (int round = 0; round < 300; ++round) {
    auto copy = file;
    copy[4 + random() % (copy.size() - 4)] ^= static_cast<std::byte>(1 << random() % 8);
    (void)load_code_object(copy);
  }
  file.resize(file.size() + 4096);  // what follows an image that is given by its address alone
  CHECK(load_code_object(std::span<const std::byte>(file).first(image_extent(file))).ok());
}

TEST_CASE("compressed bundles that are wrong are refused with what is wrong") {
  const auto bundle = make_bundle({{"hipv4-amdgcn-amd-amdhsa--gfx950", read_code_object("gfx950.co")}});
  const auto good = compress(bundle, 2, 1);
  const auto bad = [&](auto change) {
    auto copy = good;
    change(copy);
    return load_bad(copy);
  };
  CHECK_THAT(bad([](auto& b) { poke(b, 4, uint16_t{4}); }).message, Contains("version 4") && Contains("1 to 3"));
  CHECK_THAT(bad([](auto& b) { poke(b, 6, uint16_t{2}); }).message, Contains("method 2") && Contains("zstd"));
  CHECK_THAT(bad([](auto& b) { poke(b, 8, uint32_t{7}); }).message, Contains("claims 7 bytes"));
  CHECK_THAT(bad([](auto& b) { poke(b, 8, uint32_t{1} << 30); }).message, Contains("past the end"));
  CHECK_THAT(bad([](auto& b) { poke(b, 12, ~uint32_t{0}); }).message, Contains("claims 4294967295 bytes"));
  CHECK_THAT(bad([&](auto& b) { poke(b, 12, static_cast<uint32_t>(bundle.size() + 1)); }).message,
             Contains("its stream has " + std::to_string(bundle.size())));
  CHECK_THAT(bad([](auto& b) { poke(b, 24, uint32_t{0}); }).message, Contains("zstd stream") && Contains("damaged"));
}

TEST_CASE("the extent of an image is read from its headers") {
  auto bytes = read_code_object("gfx950.co");
  const size_t size = bytes.size();
  bytes.resize(size + 1000);
  CHECK(image_extent(bytes) == size);
  CHECK(image_extent(std::span(bytes).first(100)) == 100);
}
