// How structs of the C ABI grow: fields are added at the end, and struct_size says how far the caller's header knew
// them.
#pragma once

#include <cstddef>
#include <cstring>

#include "error.h"
#include "mlaforge/mlaforge.h"

namespace mlaforge {

/// Bytes of a struct's first version, the least that is taken.
template <typename Struct>
inline constexpr size_t first_version_bytes = sizeof(Struct);
template <>
inline constexpr size_t first_version_bytes<mlaforge_open_options> = offsetof(mlaforge_open_options, tuning);
template <>
inline constexpr size_t first_version_bytes<mlaforge_device_info> = offsetof(mlaforge_device_info, device);
template <>
inline constexpr size_t first_version_bytes<mlaforge_problem> = offsetof(mlaforge_problem, policy);
template <>
inline constexpr size_t first_version_bytes<mlaforge_choice> = offsetof(mlaforge_choice, basis);

/// That a struct is there and of a version that this library knows. Every version ends on a multiple of 8 bytes.
template <typename Struct>
mlaforge_status check_struct(const char* name, const Struct* value) {
  if (value == nullptr) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "%s is null", name);
  }
  const uint64_t bytes = value->struct_size;
  if (bytes < first_version_bytes<Struct> || bytes > sizeof(Struct) || bytes % 8 != 0) {
    return failf(MLAFORGE_INVALID_ARGUMENT, "%s.struct_size is %llu; this library knows %zu%s", name,
                 static_cast<unsigned long long>(bytes), sizeof(Struct),
                 first_version_bytes<Struct> < sizeof(Struct) ? " and older headers' sizes" : "");
  }
  return MLAFORGE_SUCCESS;
}

/// A checked struct of any version over `latest`, which holds the defaults of what it lacks.
template <typename Struct>
Struct read_struct(const Struct& given, Struct latest) {
  if (given.struct_size == sizeof(Struct)) {
    return given;  // the usual case, without a call for the copy
  }
  std::memcpy(&latest, &given, given.struct_size);
  latest.struct_size = sizeof(Struct);
  return latest;
}

/// The part of `latest` that the caller's checked struct has room for.
template <typename Struct>
void write_struct(const Struct& latest, Struct& to) {
  const uint64_t bytes = to.struct_size;
  if (bytes == sizeof(Struct)) {
    to = latest;
    return;
  }
  std::memcpy(&to, &latest, bytes);
  to.struct_size = bytes;
}

}  // namespace mlaforge
