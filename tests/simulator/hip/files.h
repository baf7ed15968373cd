// The code objects compiled for these tests, and bundles made of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

std::string code_object_path(const std::string& name);
std::vector<std::byte> read_file(const std::string& path);
std::vector<std::byte> read_code_object(const std::string& name);
// Into the test's build folder; the path.
std::string write_temporary(const std::string& name, std::span<const std::byte> bytes);

// A clang offload bundle of (entry id, bytes), laid out as clang's documentation of ClangOffloadBundler says.
std::vector<std::byte> make_bundle(const std::vector<std::pair<std::string, std::vector<std::byte>>>& entries);
