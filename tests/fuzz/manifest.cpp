#include "generator/emit/manifest.h"

#include <algorithm>

#include "generator/compile/kernel_set.h"
#include "tests/fuzz/entries.h"

namespace mlaforge::fuzz {
namespace {

/// The one source of the seeds' kernel sets.
constexpr const char* kSourceName = "k.hip";

}  // namespace

void manifest(Input input) {
  const std::string text(text_of(input));
  const Expected<std::vector<std::string>> files = manifest_files(text);
  require_reason(files);
  Expected<KernelSet> set =
      make_kernel_set({{.path = kSourceName, .text = "source\n"}, {.path = std::string(kManifestName), .text = text}});
  require_reason(set);
  if (!set) return;
  require(files.has_value(), "a kernel set from a manifest that is none");
  for (const KernelSource& source : set->sources) {
    require(source.name.find('/') == std::string::npos, "a kernel whose files lie elsewhere");
  }
  compiled_manifest(*set, {});
  keep_only(*set, {"k"});
}

}  // namespace mlaforge::fuzz
