#include "files.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>

std::string code_object_path(const std::string& name) { return std::string(MLAFORGE_CODE_OBJECTS) + "/" + name; }

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> read_code_object(const std::string& name) { return read_file(code_object_path(name)); }

std::string write_temporary(const std::string& name, std::span<const std::byte> bytes) {
  // By process, so that tests may run side by side.
  const std::string path = code_object_path(name + "." + std::to_string(getpid()));
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::vector<std::byte> make_bundle(const std::vector<std::pair<std::string, std::vector<std::byte>>>& entries) {
  constexpr uint64_t kAlignment = 4096;
  std::vector<std::byte> header;
  const auto put = [&](const void* data, size_t bytes) {
    const auto* first = static_cast<const std::byte*>(data);
    header.insert(header.end(), first, first + bytes);
  };
  uint64_t offset = kAlignment;
  const uint64_t count = entries.size();
  put("__CLANG_OFFLOAD_BUNDLE__", 24);
  put(&count, 8);
  std::vector<uint64_t> offsets;
  for (const auto& [id, bytes] : entries) {
    const uint64_t sizes[] = {offset, bytes.size(), id.size()};
    put(sizes, sizeof sizes);
    put(id.data(), id.size());
    offsets.push_back(offset);
    offset += (bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  }
  std::vector<std::byte> bundle(offset);
  std::memcpy(bundle.data(), header.data(), header.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].second.empty()) {
      std::memcpy(bundle.data() + offsets[i], entries[i].second.data(), entries[i].second.size());
    }
  }
  return bundle;
}
