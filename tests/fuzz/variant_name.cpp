#include "generator/variants/variant.h"
#include "tests/fuzz/entries.h"

namespace mlaforge::fuzz {

void variant_name(Input input) {
  const std::string_view name = text_of(input);
  const Expected<Variant> variant = parse(name);
  require_reason(variant);
  require(!variant || format(*variant) == name, "two names for one variant");
}

}  // namespace mlaforge::fuzz
