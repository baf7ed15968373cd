#include "simulator/loader/compressed_bundle.h"

#include <zlib.h>
#include <zstd.h>

#include <optional>

namespace mlaforge::simulator {
namespace {

constexpr std::string_view kMagic = "CCOB";
// Far beyond any program's device code; a damaged header must not make the host run out of memory.
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

enum class Method : uint16_t { zlib = 0, zstd = 1 };

struct Header {
  Method method{};
  uint64_t file_bytes = 0;  // header included
  uint64_t bundle_bytes = 0;
  uint64_t header_bytes = 0;
};

// After magic, version and method: sizes of 32 bits (64 from version 3), then a hash of 64.
Header read_header(Bytes file) {
  const ByteReader reader(file);
  const auto version = reader.read<uint16_t>(4, "compressed bundle version");
  const auto method = reader.read<uint16_t>(6, "compression method");
  if (version < 1 || version > 3) {
    fail_load("the compressed offload bundle (CCOB) is of version " + std::to_string(version) + "; known: 1 to 3",
              LoadErrorKind::unsupported);
  }
  if (method > static_cast<uint16_t>(Method::zstd)) {
    fail_load("the compressed offload bundle (CCOB) has the compression method " + std::to_string(method) +
                  "; known: zlib (0), zstd (1)",
              LoadErrorKind::unsupported);
  }
  Header header{.method = static_cast<Method>(method)};
  const auto size = [&](uint64_t offset) {
    return version == 3 ? reader.read<uint64_t>(offset, "compressed bundle size")
                        : reader.read<uint32_t>(offset, "compressed bundle size");
  };
  switch (version) {
    case 1:
      header.file_bytes = file.size();
      header.bundle_bytes = size(8);
      header.header_bytes = 20;
      break;
    case 2:
      header.file_bytes = size(8);
      header.bundle_bytes = size(12);
      header.header_bytes = 24;
      break;
    default:
      header.file_bytes = size(8);
      header.bundle_bytes = size(16);
      header.header_bytes = 32;
  }
  if (header.bundle_bytes > kMaxBytes) {
    fail_load("the compressed offload bundle claims " + std::to_string(header.bundle_bytes) + " bytes, at most " +
              std::to_string(kMaxBytes) + " are allowed");
  }
  if (header.file_bytes < header.header_bytes) {
    fail_load("the compressed offload bundle claims " + std::to_string(header.file_bytes) +
              " bytes, less than its header's " + std::to_string(header.header_bytes));
  }
  return header;
}

// Bytes written, or nothing if the stream is damaged. What follows the stream is left alone.
std::optional<uint64_t> inflate_zlib(Bytes stream, std::vector<std::byte>& out) {
  uLongf written = out.size();
  uLong read = stream.size();
  const int result =
      uncompress2(reinterpret_cast<Bytef*>(out.data()), &written, reinterpret_cast<const Bytef*>(stream.data()), &read);
  return result == Z_OK ? std::optional<uint64_t>(written) : std::nullopt;
}

std::optional<uint64_t> inflate_zstd(Bytes stream, std::vector<std::byte>& out) {
  const size_t frame = ZSTD_findFrameCompressedSize(stream.data(), stream.size());
  if (ZSTD_isError(frame) != 0) return std::nullopt;
  const size_t written = ZSTD_decompress(out.data(), out.size(), stream.data(), frame);
  return ZSTD_isError(written) == 0 ? std::optional<uint64_t>(written) : std::nullopt;
}

}  // namespace

bool is_compressed_offload_bundle(Bytes file) {
  return file.size() >= kMagic.size() && std::memcmp(file.data(), kMagic.data(), kMagic.size()) == 0;
}

std::vector<std::byte> decompress_bundle(Bytes file) {
  const Header header = read_header(file);
  const Bytes stream = ByteReader(file).range(header.header_bytes, header.file_bytes - header.header_bytes,
                                              "stream of the compressed offload bundle");
  std::vector<std::byte> bundle(header.bundle_bytes);
  const auto written = header.method == Method::zlib ? inflate_zlib(stream, bundle) : inflate_zstd(stream, bundle);
  const char* name = header.method == Method::zlib ? "zlib" : "zstd";
  if (!written) fail_load("the " + std::string(name) + " stream of the compressed offload bundle is damaged");
  if (*written != header.bundle_bytes) {
    fail_load("the compressed offload bundle claims " + std::to_string(header.bundle_bytes) +
              " bytes, its stream has " + std::to_string(*written));
  }
  return bundle;
}

uint64_t compressed_bundle_extent(Bytes readable) { return read_header(readable).file_bytes; }

}  // namespace mlaforge::simulator
