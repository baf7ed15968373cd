#include "generator/emit/emit.h"
#include "generator/variants/enumerate.h"
#include "tests/fuzz/entries.h"

namespace mlaforge::fuzz {
namespace {

constexpr size_t kMostPlanned = 64;

}  // namespace

void config(Input input) {
  const Expected<DeploymentConfig> parsed = parse_config(text_of(input));
  require_reason(parsed);
  if (!parsed) return;
  std::vector<Variant> variants = enumerate(*parsed);
  if (variants.size() > kMostPlanned) variants.resize(kMostPlanned);  // a thousand more say nothing new
  for (const Variant& variant : variants) {
    const Expected<Variant> back = parse(format(variant));
    require(back && *back == variant, "a variant that its name does not give back");
    const PlanResult plan = make_plan(variant);
    if (const auto* refusal = std::get_if<PlanRefusal>(&plan)) {
      require(!refusal->field.empty() && !refusal->reason.empty(), "a refusal without field or reason");
    }
  }
}

}  // namespace mlaforge::fuzz
