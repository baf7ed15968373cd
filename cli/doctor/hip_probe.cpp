#include "cli/doctor/hip_probe.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/src/hip_api.h"

namespace mlaforge::doctor {
namespace {

using Json = nlohmann::json;

/// What the child says.
Json ask(mlaforge_backend backend) {
  HipApi hip;
  if (load_hip(backend, hip) != MLAFORGE_SUCCESS) return {{"problem", mlaforge_last_error()}};
  Json devices = Json::array();
  int count = 0;
  hip.get_device_count(&count);
  for (int i = 0; i < count; ++i) {
    int units = 0;
    DeviceProperties properties;
    hip.device_get_attribute(&units, hip_attribute_multiprocessor_count, i);
    device_properties(hip, i, properties);
    devices.push_back({{"name", properties.name}, {"target", properties.target}, {"compute_units", units}});
  }
  return {{"path", hip.path}, {"is_simulator", hip.is_simulator()}, {"devices", devices}};
}

std::string read_to_end(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(descriptor, buffer, sizeof(buffer))) != 0;) {
    if (got > 0) {
      text.append(buffer, static_cast<size_t>(got));
    } else if (errno != EINTR) {
      break;
    }
  }
  return text;
}

/// Runs `ask` in a child: its answer, or what became of it.
std::string ask_child(mlaforge_backend backend, std::string& problem) {
  int ends[2] = {};
  if (::pipe(ends) != 0) {
    problem = "no pipe to a process that would open it";
    return {};
  }
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string answer = ask(backend).dump(-1, ' ', false, Json::error_handler_t::replace);
    const bool written = ::write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    ::_exit(written ? 0 : 1);  // no destructor of a HIP library runs
  }
  ::close(ends[1]);
  const std::string text = child > 0 ? read_to_end(ends[0]) : std::string();
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (child < 0) problem = "no process to open it in";
  if (child > 0 && WIFSIGNALED(status)) problem = fmt::format("opening it ends with signal {}", WTERMSIG(status));
  return text;
}

}  // namespace

HipFinding probe_hip(mlaforge_backend backend) {
  HipFinding finding;
  const std::string text = ask_child(backend, finding.problem);
  const Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_object()) {
    if (finding.problem.empty()) finding.problem = "opening it ends the process";
    return finding;
  }
  finding.problem = answer.value("problem", "");
  finding.path = answer.value("path", "");
  finding.is_simulator = answer.value("is_simulator", false);
  for (const Json& device : answer.value("devices", Json::array())) {
    finding.devices.push_back({device.at("name"), device.at("target"), device.at("compute_units")});
  }
  return finding;
}

}  // namespace mlaforge::doctor
