// The attention kernel's plan on gfx950.
#pragma once

#include "generator/plan/kernel_plan.h"
#include "generator/variants/variant.h"

namespace mlaforge::gfx950 {

PlanResult make_attention_plan(const Variant& variant);

}  // namespace mlaforge::gfx950
