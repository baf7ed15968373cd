#include "cli/tuning_option.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "generator/embedded.h"
#include "generator/emit/files.h"

namespace mlaforge::cli {

namespace {

struct TuningText {
  std::string name;  ///< the file's, for messages
  std::string text;  ///< empty: the cost model chooses
};

Expected<TuningText> find_tuning(const std::string& option, const std::string& config_path,
                                 const DeploymentConfig& config) {
  if (option == "none") return TuningText{};
  if (!option.empty()) {
    std::optional<std::string> text = read_file(option);
    if (!text)
      return Diagnostic{"--tuning", "cannot be read", option, "a file that `mlaforge tune` wrote, or none", {}};
    return TuningText{option, std::move(*text)};
  }
  const std::string shipped = "tuning/" + config.name + ".json";
  if (!config_path.empty()) {
    const std::filesystem::path path = std::filesystem::path(config_path).parent_path() / shipped;
    std::optional<std::string> text = read_file(path);
    return text ? TuningText{path.string(), std::move(*text)} : TuningText{};
  }
  const auto files = embedded_files();
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.path == "configs/" + shipped; });
  return file == files.end() ? TuningText{} : TuningText{std::string(file->path), std::string(file->text)};
}

}  // namespace

CLI::Option* add_tuning_option(CLI::App& command, std::string& tuning) {
  return command.add_option("--tuning", tuning,
                            "Tuning data to choose kernels by, or none; default: tuning/NAME.json beside the config, "
                            "where there is one");
}

Status use_tuning(run::Kernels& kernels, const std::string& option, const std::string& config_path) {
  const Expected<TuningText> tuning = find_tuning(option, config_path, kernels.config());
  if (!tuning) return tuning.errors();
  if (tuning->text.empty()) return std::monostate{};
  return kernels.use_tuning(tuning->name, tuning->text);
}

}  // namespace mlaforge::cli
