// The single enumeration of a deployment's kernels: table, build file, tests and benchmarks all derive from it.
#pragma once

#include <string>
#include <vector>

#include "generator/config/deployment_config.h"
#include "generator/result.h"
#include "generator/variants/variant.h"

namespace mlaforge {

/// All kernels of a config, sorted; head_groups "auto" is resolved by the plan's heuristic.
/// A config from parse_config names no kernel twice.
std::vector<Variant> enumerate(const DeploymentConfig& config);

/// The JSON pointer of the first entry of `kernels` that asks for this variant; empty where none does.
std::string place_of(const DeploymentConfig& config, const Variant& variant);

/// The requests that name one kernel twice, as pairs of JSON pointers; a pair of places is reported once.
Diagnostics find_duplicates(const DeploymentConfig& config);

}  // namespace mlaforge
