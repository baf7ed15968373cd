// Code is made of dwords: half of the mutations change whole ones, so that what follows stays what it was.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

namespace {

constexpr size_t kHeaderBytes = 16;

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  const size_t words = size < kHeaderBytes ? 0 : (size - kHeaderBytes) / 4;
  if (words == 0 || random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const auto word = [&] { return data + kHeaderBytes + random() % words * 4; };
  uint8_t* const end = data + size;
  uint8_t* const at = word();
  switch (random() % 5) {
    case 0:  // one bit
      at[random() % 4] ^= static_cast<uint8_t>(1u << random() % 8);
      return size;
    case 1:  // a field of 8 bits, which most operands are
      at[random() % 4] = static_cast<uint8_t>(random());
      return size;
    case 2:  // a copy of another
      std::memmove(at, word(), 4);
      return size;
    case 3:  // one less
      std::memmove(at, at + 4, static_cast<size_t>(end - at) - 4);
      return size - 4;
    default: {  // an instruction again, 8 bytes at most
      uint8_t copy[8];
      const uint8_t* from = word();
      const size_t bytes = std::min<size_t>(8, static_cast<size_t>(end - from) / 4 * 4);
      if (size + bytes > most) return LLVMFuzzerMutate(data, size, most);
      std::memcpy(copy, from, bytes);
      std::memmove(at + bytes, at, static_cast<size_t>(end - at));
      std::memcpy(at, copy, bytes);
      return size + bytes;
    }
  }
}
