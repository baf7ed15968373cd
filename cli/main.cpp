// The `mlaforge` command: composes the subcommands and turns usage errors into exit code 2.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/option_values.h"
#include "generator/config/nearest.h"

namespace {

mlaforge::Diagnostic no_subcommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return {.where = "SUBCOMMAND",
          .problem = "no such subcommand",
          .value = word,
          .allowed = fmt::format("{}", fmt::join(names, ", ")),
          .nearest = mlaforge::nearest_name(word, names).value_or("")};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mlaforge::cli;
  CLI::App app("mlaforge: specialized MLA decode kernels for AMD gfx950 from a deployment config", "mlaforge");
  app.set_version_flag("--version", "mlaforge " MLAFORGE_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 a check, a comparison or a compilation failed, 2 bad input.");

  int exit_code = exit_done;
  add_generate(app, exit_code);
  add_compile(app, exit_code);
  add_list(app, exit_code);
  add_check(app, exit_code);
  add_explain(app, exit_code);
  add_doctor(app, exit_code);
#ifdef MLAFORGE_HAS_RUN
  add_run(app, exit_code);
  add_bench(app, exit_code);
  add_mutate(app, exit_code);
  add_trace(app, exit_code);
  add_tune(app, exit_code);
#endif
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const std::vector<std::string> left = app.remaining();
    if (left.empty() || !app.get_subcommands().empty()) return app.exit(error) == 0 ? exit_done : exit_bad_input;
    fmt::print(stderr, "mlaforge: {}\n", to_string(no_subcommand(app, left.front())));
    return exit_bad_input;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_done : exit_bad_input;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "mlaforge: not enough memory for this problem (nearest: a smaller --batch or --context)\n");
    return exit_bad_input;
  } catch (const std::system_error& error) {  // fmt::print's
    fmt::print(stderr, "mlaforge: {}\n", error.what());
    return exit_bad_input;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mlaforge: internal error: {}\n", error.what());
    return exit_bad_input;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    fmt::print(stderr, "mlaforge: the report cannot be written to the standard output\n");
    return exit_bad_input;
  }
  return exit_code;
}
