// `mlaforge explain --problem`: a shape as key=value words, and what the runtime makes of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "generator/emit/emit.h"
#include "generator/result.h"
#include "mlaforge/mlaforge.h"

namespace mlaforge::explain {

/// The problem of words such as "qlen=4"; what is not given is `defaults`', and the pool is then what batch x context
/// tokens take. Errors: an unknown key with the nearest, a value that is none.
Expected<mlaforge_problem> parse_problem(const std::vector<std::string>& words, const mlaforge_problem& defaults);

/// One kernel of the set and its part in the choice.
struct Candidate {
  std::string kernel;
  bool chosen = false;
  bool serves = false;
  int64_t predicted_clocks = 0;  ///< of the runtime's cost model; 0 where it does not serve
  std::string reason;
};

/// A text of tuning data and its file's name.
struct TuningFile {
  std::string name, text;
};

struct Answer {
  mlaforge_problem problem{};
  uint64_t tuning_rows = 0, tuning_used = 0;  ///< in the tuning data, and of them points that select looks at
  std::string tuning_notes;                   ///< which were skipped and why
  std::string miss;                           ///< the runtime's message where no kernel serves
  uint64_t workspace_bytes = 0;               ///< of the chosen kernel
  std::vector<Candidate> candidates;  ///< the chosen one, those that lost by predicted clocks, those that do not serve
};

/// What the runtime's select does for an MI355X (256 CUs) with this tuning data. Errors: a field that no problem can
/// have, tuning data that the runtime refuses.
Expected<Answer> explain_problem(const std::vector<PlannedKernel>& kernels, const mlaforge_problem& problem,
                                 const std::vector<TuningFile>& tuning);

std::string to_text(const Answer& answer);
nlohmann::json to_json(const Answer& answer);

}  // namespace mlaforge::explain
