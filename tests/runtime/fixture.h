// Rows, sets and tensors that the runtime's tests share: Kimi-K3's 12 heads a rank, with small variations.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "mlaforge/mlaforge.h"
#include "runtime/src/library.h"
#include "tests/runtime/fake_hip.h"

namespace mlaforge::test {

/// The smallest ELF that passes for a gfx950 code object, and behind its header the symbol, which the fake HIP reads.
inline std::string image_of(const std::string& symbol, uint8_t machine = 0x4f) {
  std::string image("\177ELF\2\1", 6);
  image.resize(image_header_bytes, '\0');
  image[18] = static_cast<char>(224);
  image[48] = static_cast<char>(machine);
  return image + symbol;
}

/// A kernel set that owns its strings.
struct TestSet {
  std::list<std::string> strings;
  std::vector<mlaforge_kernel_row> rows;
  std::vector<mlaforge_code_object> objects;
  mlaforge_kernel_set set = MLAFORGE_KERNEL_SET_INIT;

  const char* keep(std::string text) { return strings.emplace_back(std::move(text)).c_str(); }

  void add_object(const std::string& symbol) {
    for (const mlaforge_code_object& object : objects) {
      if (symbol == object.name) {
        return;
      }
    }
    const std::string& image = strings.emplace_back(image_of(symbol));
    objects.push_back({keep(symbol), image.data(), image.size()});
  }

  mlaforge_kernel_row& add(int heads, int qlen, int page_size, int splits, int head_groups = 3, bool wide = false) {
    mlaforge_kernel_row row{};
    row.heads = heads;
    row.qlen = qlen;
    row.page_size = page_size;
    row.q_dtype = MLAFORGE_BF16;
    row.kv_dtype = MLAFORGE_FP8_E4M3;
    row.context_parallel = 1;
    row.wide_kv = wide ? 1 : 0;
    row.splits = splits;
    row.head_groups = head_groups;
    row.block_tokens = 128;
    row.partial_dtype = MLAFORGE_BF16;
    row.probability_parts = 2;
    row.threads = 512;
    row.combine_threads = splits > 1 ? 64 : 0;
    row.combine_parts = splits > 1 ? 1 : 0;
    row.target = "gfx950";
    row.name = keep("h" + std::to_string(heads) + "_g" + std::to_string(head_groups) + "_q" + std::to_string(qlen) +
                    "_s" + std::to_string(splits) + "_p" + std::to_string(page_size) + (wide ? "_wide" : ""));
    row.combine_name = splits > 1 ? keep("combine_s" + std::to_string(splits)) : nullptr;
    add_object(row.name);
    if (splits > 1) {
      add_object(row.combine_name);
    }
    return rows.emplace_back(row);
  }

  const mlaforge_kernel_set* get() {
    set.name = "test";
    set.rows = rows.data();
    set.row_count = rows.size();
    set.code_objects = objects.data();
    set.code_object_count = objects.size();
    return &set;
  }
};

/// Opens the set on the fake, with tuning texts; null on failure, with the status.
inline mlaforge_library* open_fake(FakeHip& hip, TestSet& set, mlaforge_status& status, int device = 0,
                                   const std::vector<std::string>& tuning = {}) {
  const mlaforge_kernel_set* sets[] = {set.get()};
  std::vector<mlaforge_tuning_text> texts;
  for (const std::string& text : tuning) {
    texts.push_back({"tuning.json", text.data(), text.size()});
  }
  mlaforge_open_options options = MLAFORGE_OPEN_OPTIONS_INIT;
  options.device = device;
  options.kernel_sets = sets;
  options.kernel_set_count = 1;
  options.tuning = texts.data();
  options.tuning_count = texts.size();
  mlaforge_library* library = nullptr;
  status = open_device(fake_api(hip), options, &library);
  return library;
}

inline mlaforge_problem problem(int heads, int qlen, int page_size, int splits = 0) {
  mlaforge_problem wanted = MLAFORGE_PROBLEM_INIT;
  wanted.heads = heads;
  wanted.qlen = qlen;
  wanted.page_size = page_size;
  wanted.splits = splits;
  wanted.batch_capacity = 4;
  wanted.longest_context = 65536;
  wanted.pool_bytes = 1 << 20;
  return wanted;
}

/// A pointer value that is never followed.
inline void* address(uintptr_t value) { return reinterpret_cast<void*>(value); }

/// Dense, valid tensors for `requests` of this shape.
inline mlaforge_tensors tensors(int heads, int requests) {
  mlaforge_tensors t = MLAFORGE_TENSORS_INIT;
  t.q = address(0x10000);
  t.kv = address(0x20000);
  t.page_table = static_cast<const int32_t*>(address(0x30000));
  t.page_indptr = static_cast<const int32_t*>(address(0x40000));
  t.seq_len = static_cast<const int32_t*>(address(0x50000));
  t.o = address(0x60000);
  t.lse = static_cast<float*>(address(0x70000));
  t.q_head_stride = MLAFORGE_KEY_DIM;
  t.q_token_stride = int64_t{heads} * MLAFORGE_KEY_DIM;
  t.kv_row_stride = MLAFORGE_KEY_DIM;
  t.o_head_stride = MLAFORGE_LATENT_DIM;
  t.o_token_stride = int64_t{heads} * MLAFORGE_LATENT_DIM;
  t.lse_head_stride = 1;
  t.lse_token_stride = heads;
  t.requests = requests;
  t.softmax_scale = 0.0721687824F;
  return t;
}

}  // namespace mlaforge::test
