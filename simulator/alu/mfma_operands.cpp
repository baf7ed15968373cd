#include "simulator/alu/mfma_operands.h"

namespace mlaforge::simulator {

int b_source_lane(int blgp, int lane) {
  switch (blgp) {
    case 1:
      return lane & 31;  // the first 32 lanes to both halves
    case 2:
      return 32 + (lane & 31);  // the second 32 lanes to both halves
    case 3:
      return (lane + 16) & 63;  // rotated down by 16 lanes
    case 4:
    case 5:
    case 6:
    case 7:
      return 16 * (blgp - 4) + (lane & 15);  // one group of 16 lanes to all
    default:
      return lane;
  }
}

int a_source_lane(const MatrixShape& shape, int cbsz, int abid, int lane) {
  // Block abid of each group of 2^cbsz blocks is broadcast to the group.
  const int lanes_a_block = 64 / shape.blocks;
  const int block = lane / lanes_a_block;
  const int source = (block & ~((1 << cbsz) - 1)) + abid;
  return source * lanes_a_block + lane % lanes_a_block;
}

}  // namespace mlaforge::simulator
