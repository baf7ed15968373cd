// The metadata note, from MessagePack that nlohmann::json writes.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "simulator/loader/code_object.h"
#include "simulator/loader/kernel_metadata.h"

using namespace mlaforge::simulator;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json minimal_kernel() {
  return {{".name", "k"},
          {".symbol", "k.kd"},
          {".kernarg_segment_size", 24},
          {".group_segment_fixed_size", 0},
          {".private_segment_fixed_size", 0},
          {".args", json::array({{{".offset", 0}, {".size", 8}, {".value_kind", "global_buffer"}},
                                 {{".offset", 8}, {".size", 4}, {".value_kind", "hidden_block_count_x"}},
                                 {{".offset", 16}, {".size", 8}, {".value_kind", "hidden_hostcall_buffer"}}})}};
}

CodeObjectMetadata read(const json& root) {
  const auto packed = json::to_msgpack(root);
  return read_metadata(std::as_bytes(std::span(packed)));
}

std::string problem_of_bytes(Bytes bytes) {
  try {
    read_metadata(bytes);
  } catch (const LoadFailure& failure) {
    return failure.error.message;
  }
  return "accepted";
}

std::string problem(const json& kernel) {
  const auto packed = json::to_msgpack(json{{"amdhsa.kernels", {kernel}}});
  return problem_of_bytes(std::as_bytes(std::span(packed)));
}

}  // namespace

TEST_CASE("kernel metadata is read, hidden arguments apart") {
  const CodeObjectMetadata metadata = read({{"amdhsa.kernels", {minimal_kernel()}}, {"amdhsa.target", "t"}});
  REQUIRE(metadata.kernels.size() == 1);
  const KernelMetadata& kernel = metadata.kernels[0];
  CHECK(kernel.name == "k");
  CHECK(kernel.kernarg_segment_bytes == 24);
  CHECK(kernel.max_workgroup_size == 1024);
  const auto hidden = hidden_fields(kernel);
  REQUIRE(hidden.size() == 2);
  CHECK(hidden[0].kind == HiddenArgument::block_count_x);
  CHECK(hidden[0].offset == 8);
  CHECK(hidden[1].kind == HiddenArgument::hostcall_buffer);
  CHECK(hidden[1].bytes == 8);
}

TEST_CASE("metadata that is wrong is named by its path") {
  json kernel = minimal_kernel();
  kernel.erase(".symbol");
  CHECK_THAT(problem(kernel), Contains("amdhsa.kernels/0 has no .symbol"));
  kernel = minimal_kernel();
  kernel[".kernarg_segment_size"] = -1;
  CHECK_THAT(problem(kernel), Contains(".kernarg_segment_size is -1"));
  kernel = minimal_kernel();
  kernel[".kernarg_segment_size"] = "24";
  CHECK_THAT(problem(kernel), Contains("not a number"));
  kernel = minimal_kernel();
  kernel[".args"][0][".size"] = 4000;
  CHECK_THAT(problem(kernel), Contains(".args/0 ends at byte 4000 of a segment of 24"));
  kernel = minimal_kernel();
  kernel[".args"] = "none";
  CHECK_THAT(problem(kernel), Contains(".args is no array"));
  CHECK_THAT(problem_of_bytes(Bytes{}), Contains("no AMDGPU metadata"));
}

TEST_CASE("metadata nested without end is refused before it is descended into") {
  const std::vector<std::byte> arrays(1 << 20, std::byte{0x91});  // an array of one array of one array ...
  CHECK_THAT(problem_of_bytes(arrays), Contains("nested deeper"));
  const std::vector<std::byte> huge_map = {std::byte{0xdf}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff},
                                           std::byte{0xff}};
  CHECK_THAT(problem_of_bytes(huge_map), Contains("past the end"));
  const std::vector<std::byte> unused = {std::byte{0xc1}};
  CHECK_THAT(problem_of_bytes(unused), Contains("MessagePack"));
}
