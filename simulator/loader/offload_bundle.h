// Clang offload bundles: a container with one code object per target, as hipcc and clang emit without
// --no-gpu-bundle-output. Source: clang's ClangOffloadBundler, "Bundled Binary File Layout".
#pragma once

#include <string>
#include <vector>

#include "simulator/loader/byte_reader.h"

namespace mlaforge::simulator {

struct BundleEntry {
  std::string id;  // "hipv4-amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-"
  Bytes bytes;
};

bool is_offload_bundle(Bytes file);

// Throws LoadFailure.
std::vector<BundleEntry> read_offload_bundle(Bytes file);

// The entry that the device can run, the most specific one first (features stated over features left open). A file that
// is no bundle is returned as it is. Throws LoadFailure that lists the targets there are.
Bytes choose_code_object(Bytes file);

// How many of the bytes at the start of `readable` the bundle (compressed or not) or code object there spans, by its
// own headers: for images given by a pointer without a size (hipModuleLoadData, fat binaries). `readable` may go far
// beyond the image; a damaged image spans at most all of it.
uint64_t image_extent(Bytes readable);

}  // namespace mlaforge::simulator
