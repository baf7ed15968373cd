#include "simulator/hip/options.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "simulator/hip/wait_points.h"
#include "simulator/memory/device_memory.h"

namespace mlaforge::simulator {
namespace {

constexpr std::array<std::string_view, 13> kKeys = {
    "memory", "checks",       "threads",       "devices",       "instruction_limit", "poison", "hip_abi",
    "timing", "timing_trace", "timing_ranges", "timing_budget", "wait_watch",        "reports"};
constexpr unsigned kMaxThreads = 1024;

std::optional<uint64_t> parse_number(std::string_view text, uint64_t low, uint64_t high) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) return std::nullopt;
  return value;
}

std::string bad_value(std::string_view key, std::string_view value, std::string_view allowed) {
  return fmt::format("option {} is \"{}\"; allowed: {}", key, value, allowed);
}

std::string set_memory(SimulatorOptions& options, std::string_view value) {
  constexpr std::string_view kRandom = "random:";
  constexpr std::array<std::pair<std::string_view, MemoryMode>, 3> kModes = {
      {{"lazy", MemoryMode::lazy}, {"clobber", MemoryMode::clobber}, {"eager", MemoryMode::eager}}};
  for (const auto& [name, mode] : kModes) {
    if (value != name) continue;
    options.memory = mode;
    return {};
  }
  if (value.starts_with(kRandom)) {
    if (const auto seed = parse_number(value.substr(kRandom.size()), 0, UINT64_MAX)) {
      options.memory = MemoryMode::random;
      options.seed = *seed;
      return {};
    }
  }
  return bad_value("memory", value, "lazy, clobber, eager, random:SEED with a number of 64 bits");
}

struct CheckName {
  std::string_view name;
  bool Checks::* flag;
};

constexpr std::array kCheckNames = {
    CheckName{"lds_races", &Checks::lds_races},         CheckName{"global_races", &Checks::global_races},
    CheckName{"uninitialized", &Checks::uninitialized}, CheckName{"wait_states", &Checks::wait_states},
    CheckName{"alignment", &Checks::alignment},         CheckName{"dma_full_exec", &Checks::dma_full_exec},
    CheckName{"barrier_exit", &Checks::barrier_exit},
};

std::string set_checks(SimulatorOptions& options, std::string_view value) {
  Checks checks{};
  std::string_view rest = value;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    bool known = name == "none" || name == "all";
    for (const CheckName& check : kCheckNames) {
      if (name != check.name && name != "all") continue;
      checks.*check.flag = true;
      known = true;
    }
    if (!known) {
      std::string names;
      for (const CheckName& check : kCheckNames) names += (names.empty() ? "" : ", ") + std::string(check.name);
      return bad_value("checks", value, "none, all, or a list of " + names);
    }
  }
  options.checks = checks;
  return {};
}

}  // namespace

std::string set_option(SimulatorOptions& options, std::string_view key, std::string_view value) {
  if (key == "memory") return set_memory(options, value);
  if (key == "checks") return set_checks(options, value);
  if (key == "threads") {
    const auto threads = parse_number(value, 0, kMaxThreads);
    if (!threads) return bad_value(key, value, fmt::format("0 (all) to {}", kMaxThreads));
    options.threads = static_cast<unsigned>(*threads);
    return {};
  }
  if (key == "devices") {
    const auto devices = parse_number(value, 1, DeviceMemory::kMaxDevices);
    if (!devices) return bad_value(key, value, fmt::format("1 to {}", DeviceMemory::kMaxDevices));
    options.devices = static_cast<int>(*devices);
    return {};
  }
  if (key == "instruction_limit") {
    const auto limit = parse_number(value, 1, UINT64_MAX);
    if (!limit) return bad_value(key, value, "a number from 1");
    options.instruction_limit = *limit;
    return {};
  }
  if (key == "poison") {
    const auto poison = parse_number(value, 0, 1);
    if (!poison) return bad_value(key, value, "0, 1");
    options.poison = *poison == 1;
    return {};
  }
  if (key == "reports") {
    if (value != "none" && value != "stderr") return bad_value(key, value, "none, stderr");
    options.reports = value == "stderr";
    return {};
  }
  if (key == "hip_abi") {
    const auto abi = parse_number(value, 5, 6);
    if (!abi) return bad_value(key, value, "5, 6 (6 stands for 7 too)");
    options.hip_abi = static_cast<int>(*abi);
    return {};
  }
  if (key == "timing" || key == "timing_trace" || key == "timing_ranges") {
    const auto on = parse_number(value, 0, 1);
    if (!on) return bad_value(key, value, "0, 1");
    bool& flag = key == "timing"         ? options.timing
                 : key == "timing_trace" ? options.timing_trace
                                         : options.timing_ranges;
    flag = *on == 1;
    return {};
  }
  if (key == "timing_budget") {
    const auto budget = parse_number(value, 1, UINT64_MAX);
    if (!budget) return bad_value(key, value, "a number from 1");
    options.timing_budget = *budget;
    return {};
  }
  if (key == "wait_watch") {
    const auto watched = parse_watched_wait(value);
    if (!watched && value != "none") return bad_value(key, value, "none, KERNEL:OFFSET:VMCNT:LGKMCNT");
    options.watch = watched ? std::make_shared<WaitWatch>(*watched) : nullptr;
    return {};
  }
  return fmt::format("unknown option \"{}\"; known: {}", key, fmt::join(kKeys, ", "));
}

std::string apply_environment(SimulatorOptions& options) {
  for (const std::string_view key : kKeys) {
    std::string name = "MLAFORGE_SIM_";
    for (const char c : key) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) continue;
    const std::string problem = set_option(options, key, value);
    if (!problem.empty()) return fmt::format("environment variable {}: {}", name, problem);
  }
  return {};
}

}  // namespace mlaforge::simulator
