// What the MI355X (gfx950) allows and how fast its parts are; sources are named in docs/gfx950.md.
#pragma once

namespace mlaforge::gfx950 {

inline constexpr int kComputeUnits = 256;
inline constexpr int kSimds = 4;                  // of a compute unit
inline constexpr int kLanes = 64;                 // of a wave
inline constexpr int kLdsBytes = 163840;          // of a workgroup
inline constexpr int kVgprs = 512;                // of a lane on one SIMD, shared by the SIMD's waves
inline constexpr int kMfmaK128Clocks = 32;        // 16x16x128, E4M3
inline constexpr double kHbmBytesPerClock = 9.1;  // of a compute unit, when all stream: 5.6 TB/s / 256 / 2.4 GHz

}  // namespace mlaforge::gfx950
