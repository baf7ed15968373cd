// Compressed offload bundles ("CCOB", hipcc --offload-compress): a header, then one zlib or zstd stream that holds an
// offload bundle. Source: clang's ClangOffloadBundler, "Compressed Bundle Header", versions 1 to 3.
#pragma once

#include <vector>

#include "simulator/loader/byte_reader.h"

namespace mlaforge::simulator {

bool is_compressed_offload_bundle(Bytes file);

// The bundle inside. Throws LoadFailure: damaged, of an unknown version or method, or of other than the size it claims.
std::vector<std::byte> decompress_bundle(Bytes file);

// Bytes of the whole file by its header; version 1 does not say, then all of `readable`. Throws LoadFailure.
uint64_t compressed_bundle_extent(Bytes readable);

}  // namespace mlaforge::simulator
