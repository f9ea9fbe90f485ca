#pragma once

#include <CLI/CLI.hpp>

namespace app {

/// Each adds its subcommand; the command's exit code goes to *exit_code when it was called.
void add_train(CLI::App& cli, int* exit_code);
void add_compare(CLI::App& cli, int* exit_code);
void add_bench(CLI::App& cli, int* exit_code);
void add_op(CLI::App& cli, int* exit_code);
void add_doctor(CLI::App& cli, int* exit_code);
void add_catalogs(CLI::App& cli, int* exit_code);
void add_runs(CLI::App& cli, int* exit_code);
void add_show(CLI::App& cli, int* exit_code);

/// Refuses an empty value: it is most often a variable that was never set.
CLI::Validator not_empty();

}  // namespace app
