// The subcommands of `mlaforge`: each file of cli/ registers one, main.cpp composes them.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "generator/result.h"

namespace mlaforge::cli {

/// What the process exits with: a subcommand's callback sets it.
enum ExitCode : int {
  exit_done = 0,       ///< all that was asked for is done
  exit_failed = 1,     ///< a check, a comparison or a compilation failed
  exit_bad_input = 2,  ///< a config, an option or a file cannot be used
};

/// Each adds one subcommand to `app`; its callback runs when it was named and sets `exit_code`.
/// `mlaforge X --json` prints one JSON document on stdout; texts for people and errors go to stdout and stderr.
void add_generate(CLI::App& app, int& exit_code);
void add_list(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_compile(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_mutate(CLI::App& app, int& exit_code);
void add_trace(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);

/// Prints errors on stderr, one a line, and with `json` as {"errors": [...]} on stdout too. Returns `code`.
int report_errors(const Diagnostics& errors, bool json, ExitCode code);

/// Of compilation's errors: a cache or a compiler that cannot be used is bad input, the rest a failure.
ExitCode compile_exit_code(const Diagnostics& errors);

/// Writes what an option names: a file appears whole or not at all; what is no file (a pipe, /dev/stdout) is written
/// through. The error names the option.
Status write_output(const char* option, const std::string& path, const std::string& text);

/// Prints a document on stdout, indented by two spaces.
void print_json(const nlohmann::json& document);

}  // namespace mlaforge::cli
