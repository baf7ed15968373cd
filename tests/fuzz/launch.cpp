#include <cmath>

#include "tests/fuzz/runtime_tables.h"

namespace mlaforge::fuzz {
namespace {

using Wide = __int128;

/// Whether two of [tokens, heads] rows of `width` elements share an element, by comparing sorted neighbours' starts:
/// for strides that are not negative the closest two starts decide.
bool rows_overlap(int64_t token_stride, int64_t tokens, int64_t head_stride, int64_t heads, int64_t width) {
  for (int64_t token = 0; token < tokens; ++token) {
    for (int64_t head = 0; head < heads; ++head) {
      if (token == 0 && head == 0) continue;
      // The starts of any two rows differ by this, in one sign pattern or the other.
      const Wide same = Wide{token_stride} * token + Wide{head_stride} * head;
      const Wide opposite = Wide{token_stride} * token - Wide{head_stride} * head;
      if ((same < width && same > -width) || (opposite < width && opposite > -width)) return true;
    }
  }
  return false;
}

bool is_aligned(const void* pointer, uintptr_t bytes) { return reinterpret_cast<uintptr_t>(pointer) % bytes == 0; }

/// What was let through, against what the header promises.
void check_accepted(const mlaforge_kernel_row& row, const mlaforge_choice& choice, const mlaforge_tensors& tensors,
                    const test::FakeHip& hip) {
  require(hip.launches.size() == (tensors.requests == 0 ? 0 : row.splits > 1 ? 2 : 1), "a wrong count of launches");
  require(tensors.requests >= 0 && tensors.requests <= choice.batch_capacity, "requests beyond the capacity");
  if (tensors.requests == 0) return;
  for (const test::RecordedLaunch& launch : hip.launches) {
    require(launch.grid > 0 && uint64_t{launch.grid} * launch.threads <= UINT32_MAX, "a grid that HIP cannot count");
  }
  require(tensors.q != nullptr && tensors.kv != nullptr && tensors.o != nullptr && tensors.page_table != nullptr &&
              tensors.seq_len != nullptr,
          "a null pointer was let through");
  require(is_aligned(tensors.q, 16) && is_aligned(tensors.kv, 16) && is_aligned(tensors.o, 16) &&
              is_aligned(tensors.lse, 4) && is_aligned(tensors.seq_len, 4),
          "a misaligned pointer was let through");
  require(tensors.kv_row_stride >= MLAFORGE_KEY_DIM && tensors.kv_row_stride % 16 == 0, "a wrong kv_row_stride");
  require(std::isfinite(tensors.softmax_scale) && tensors.softmax_scale > 0, "a wrong softmax_scale");
  const int64_t tokens = int64_t{tensors.requests} * row.qlen;
  if (tokens > 256) return;  // more rows than are compared here
  require(!rows_overlap(tensors.o_token_stride, tokens, tensors.o_head_stride, row.heads, MLAFORGE_LATENT_DIM),
          "rows of o overlap");
  require(
      tensors.lse == nullptr || !rows_overlap(tensors.lse_token_stride, tokens, tensors.lse_head_stride, row.heads, 1),
      "elements of lse overlap");
}

}  // namespace

void launch(Input input) {
  Reader reader(input);
  test::FakeHip hip;
  test::TestSet set;
  add_rows(reader, set);
  mlaforge_status status{};
  mlaforge_library* library = open_fake(hip, set, status);
  if (library == nullptr) return;
  while (!reader.empty()) {
    mlaforge_choice choice = MLAFORGE_CHOICE_INIT;
    choice.row_index = static_cast<uint32_t>(reader.below(library->table.rows.size()));
    choice.row = &library->table.rows[choice.row_index];
    const mlaforge_kernel_row& row = *choice.row;
    choice.batch_capacity = reader.below(4) == 0 ? static_cast<int32_t>(hostile_number(reader)) : 8;
    if (reader.below(16) == 0) overwrite_members(reader, choice, 0, 1);
    mlaforge_tensors tensors = test::tensors(row.heads, static_cast<int>(reader.below(9)));
    overwrite_members(reader, tensors, reader.below(16) == 0 ? 0 : sizeof tensors.struct_size, reader.below(4));
    if (reader.below(4) == 0) tensors.page_indptr = nullptr;
    const auto workspace_bytes = reader.below(2) == 0 ? ~uint64_t{0} : static_cast<uint64_t>(hostile_number(reader));
    hip.launches.clear();
    status = mlaforge_launch(library, &choice, &tensors, test::address(0x80000), workspace_bytes, nullptr);
    require_message(status);
    if (status == MLAFORGE_SUCCESS) {
      check_accepted(row, choice, tensors, hip);
    } else {
      require(hip.launches.empty(), "a refused launch that launched");
    }
  }
  mlaforge_close(library);
}

}  // namespace mlaforge::fuzz
