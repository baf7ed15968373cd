#include "cli/mutate/campaign.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

namespace mlaforge::mutate {
namespace {

using PointsFunction = const char* (*)(const void* image, size_t bytes);
using TextFunction = const char* (*)();

/// The simulator's functions that `run` does not need.
struct Simulator {
  PointsFunction wait_points = nullptr;
  TextFunction wait_watch = nullptr;
  TextFunction last_report = nullptr;  ///< as JSON
};

Diagnostic device_error(std::string problem) { return {"device", std::move(problem), {}, {}, {}}; }

Expected<Simulator> find_simulator(const HipApi& hip) {
  Simulator simulator;
  simulator.wait_points = reinterpret_cast<PointsFunction>(dlsym(hip.handle, "mlaforge_simulator_wait_points_json"));
  simulator.wait_watch = reinterpret_cast<TextFunction>(dlsym(hip.handle, "mlaforge_simulator_wait_watch_json"));
  simulator.last_report = reinterpret_cast<TextFunction>(dlsym(hip.handle, "mlaforge_simulator_last_report_json"));
  if (simulator.wait_points == nullptr || simulator.wait_watch == nullptr || simulator.last_report == nullptr) {
    return device_error("mutants run on the simulator only; this device is " + hip.path);
  }
  return simulator;
}

/// A kernel waits for a scale only where its pointer is not null.
struct Launch {
  const char* memory;
  bool scales;
};

constexpr std::array launches{Launch{"lazy", true},  Launch{"clobber", true},  Launch{"eager", true},
                              Launch{"lazy", false}, Launch{"random:1", true}, Launch{"random:2", true}};

/// What watched launches saw, from mlaforge_simulator_wait_watch_json.
struct Watched {
  uint64_t executions = 0;
  bool full_counter = false;
  bool wave_end = false;                 ///< something lasted until the end of its wave
  std::map<std::string, uint64_t> ends;  ///< "OPERATION until INSTRUCTION": how often
};

void add_watched(Watched& watched, const nlohmann::json& json) {
  watched.executions += json.value("executions", uint64_t{0});
  for (const nlohmann::json& released : json.value("released", nlohmann::json::array())) {
    const bool wave_end = released.at("end") == "wave_end";
    watched.wave_end = watched.wave_end || wave_end;
    watched.full_counter = watched.full_counter || released.at("end") == "full_counter";
    const std::string until = wave_end                               ? "the end of the wave"
                              : released.at("end") == "full_counter" ? "its counter was full"
                                                                     : released.at("until").get<std::string>();
    watched.ends[fmt::format("{} until {}", released.at("operation").get<std::string>(), until)] +=
        released.at("count").get<uint64_t>();
  }
}

std::string text_of(const std::map<std::string, uint64_t>& ends) {
  constexpr size_t shown = 4;
  std::string text;
  size_t count = 0;
  for (const auto& [end, times] : ends) {
    if (count++ == shown) return text + fmt::format("; and {} more", ends.size() - shown);
    text += fmt::format("{}{} ({} times)", text.empty() ? "" : "; ", end, times);
  }
  return text;
}

void explain(MutantReport& report, const Watched& watched) {
  report.executions = watched.executions;
  report.verdict = Verdict::explained;
  if (watched.executions == 0) {
    report.verdict = Verdict::unexplained;
    report.evidence = "no launch reached it";
  } else if (report.mutant.point.kind == PointKind::nop) {
    report.rule = Rule::enough_states;
    report.evidence = fmt::format("executed {} times, no row of the wait-state table was broken", watched.executions);
  } else if (report.mutant.point.kind == PointKind::barrier) {
    report.rule = Rule::orders_nothing;
    report.evidence = fmt::format("executed {} times, no race found", watched.executions);
  } else if (watched.ends.empty()) {
    report.rule = Rule::nothing_outstanding;
    report.evidence = fmt::format("executed {} times", watched.executions);
  } else {
    report.rule = watched.wave_end       ? Rule::ends_with_the_wave
                  : watched.full_counter ? Rule::full_counter
                                         : Rule::later_wait;
    report.evidence = text_of(watched.ends);
  }
}

class Campaign {
 public:
  Campaign(const HipApi& hip, const Simulator& simulator, run::Kernels& kernels, run::RunCase wanted)
      : hip_(hip), simulator_(simulator), kernels_(kernels), wanted_(std::move(wanted)) {}

  Status try_unchanged() {
    for (const Launch& launch : launches) {
      set_launch(launch);
      const Expected<run::RunReport> report = run::run_case(hip_, kernels_, wanted_);
      if (!report) return report.errors();
      if (!report->passed) {
        return Diagnostic{
            report->kernel, "fails without a mutation, memory " + wanted_.memory + ": " + report->failure, {}, {}, {}};
      }
      kernel_ = report->kernel;
    }
    return std::monostate{};
  }
  const std::string& kernel() const { return kernel_; }

  Expected<MutantReport> try_mutant(const std::string& kernel, const Mutant& mutant) {
    MutantReport result;
    result.kernel = kernel;
    result.mutant = mutant;
    kernels_.set_patch(run::CodePatch{kernel, mutant.point.file_offset, mutant.words});
    Watched watched;
    for (const Launch& launch : launches) {
      set_launch(launch);
      const std::string watch =
          fmt::format("{}:{}:{}:{}", kernel, mutant.point.offset, mutant.point.vmcnt, mutant.point.lgkmcnt);
      if (hip_.simulator_set_option("wait_watch", watch.c_str()) != 0) {
        return device_error(hip_.simulator_last_report());
      }
      const Expected<run::RunReport> report = run::run_case(hip_, kernels_, wanted_);
      if (!report) return report.errors();
      if (!report->passed) {
        note_catch(result, *report);
        break;
      }
      add_watched(watched, nlohmann::json::parse(simulator_.wait_watch()));
    }
    hip_.simulator_set_option("wait_watch", "none");
    kernels_.set_patch(std::nullopt);
    if (result.verdict != Verdict::caught) explain(result, watched);
    // Code that no launch reaches can still be read.
    if (result.verdict == Verdict::unexplained && !mutant.code_fault.empty()) {
      result.verdict = Verdict::caught;
      result.caught_by = "wait_states of the code";
      result.memory = "not executed";
      result.evidence = mutant.code_fault;
    }
    return result;
  }

 private:
  void set_launch(const Launch& launch) {
    wanted_.memory = launch.memory;
    reference::InputSpec& inputs = wanted_.inputs;
    inputs.k_scale = launch.scales ? std::optional(0.75F) : std::nullopt;
    inputs.v_scale = launch.scales ? std::optional(1.25F) : std::nullopt;
    inputs.q_scale = launch.scales && inputs.query_dtype == MLAFORGE_FP8_E4M3 ? std::optional(1.5F) : std::nullopt;
  }

  void note_catch(MutantReport& result, const run::RunReport& report) const {
    result.verdict = Verdict::caught;
    result.memory = wanted_.memory;
    result.evidence = report.failure;
    // A launch that came to its end was judged by its outputs.
    const bool judged = report.comparison.passed || !report.comparison.failure.empty();
    result.caught_by = "comparison";
    if (!judged) {
      result.caught_by = nlohmann::json::parse(simulator_.last_report()).value("kind", "launch error");
    }
  }

  const HipApi& hip_;
  const Simulator& simulator_;
  run::Kernels& kernels_;
  run::RunCase wanted_;
  std::string kernel_;
};

}  // namespace

std::string rule_name(Rule rule) {
  switch (rule) {
    case Rule::none:
      return "none";
    case Rule::nothing_outstanding:
      return "nothing-outstanding";
    case Rule::later_wait:
      return "later-wait";
    case Rule::full_counter:
      return "full-counter";
    case Rule::ends_with_the_wave:
      return "ends-with-the-wave";
    case Rule::orders_nothing:
      return "orders-nothing";
    case Rule::enough_states:
      return "enough-states";
  }
  return "";
}

std::string rule_text(Rule rule) {
  switch (rule) {
    case Rule::none:
      return "no rule";
    case Rule::nothing_outstanding:
      return "at every execution the weaker wait demands the same operations: none other was outstanding";
    case Rule::later_wait:
      return "every operation let through was waited for later, before its registers or LDS bytes were used";
    case Rule::full_counter:
      return "the counter counts no further: the next operation stalled until the one let through was done, before use";
    case Rule::ends_with_the_wave:
      return "operations let through end with their wave: stores that nothing in the launch reads, results not used";
    case Rule::orders_nothing:
      return "no two waves touch a byte, one of them writing, between the barriers before and behind it";
    case Rule::enough_states:
      return "with fewer states too, every register is used in the wait states that the table of the chip asks for";
  }
  return "";
}

Expected<std::vector<KernelReport>> run_campaign(const HipApi& hip, run::Kernels& kernels, run::RunCase wanted,
                                                 const std::string& only) {
  const Expected<Simulator> simulator = find_simulator(hip);
  if (!simulator) return simulator.errors();
  wanted.checks = "all";
  Campaign campaign(hip, *simulator, kernels, wanted);
  if (const Status unchanged = campaign.try_unchanged(); !unchanged) return unchanged.errors();
  const PlannedKernel* planned = kernels.find(campaign.kernel());
  const Expected<const std::vector<run::CodeImage>*> images = kernels.images(*planned);
  if (!images) return images.errors();
  std::vector<KernelReport> reports;
  for (const run::CodeImage& image : **images) {
    if (!only.empty() && image.name != only) continue;
    const auto json = nlohmann::json::parse(simulator->wait_points(image.bytes.data(), image.bytes.size()));
    const std::vector<WaitPoint> points = parse_points(json.value(image.name, nlohmann::json::array()));
    KernelReport report;
    report.kernel = image.name;
    for (const WaitPoint& point : points) {
      ++(point.kind == PointKind::barrier ? report.barriers
         : point.kind == PointKind::nop   ? report.nops
                                          : report.waits);
    }
    for (const Mutant& mutant : mutants_of(points)) {
      Expected<MutantReport> tried = campaign.try_mutant(image.name, mutant);
      if (!tried) return tried.errors();
      report.mutants.push_back(std::move(*tried));
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace mlaforge::mutate
