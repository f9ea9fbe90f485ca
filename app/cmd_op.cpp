#include <filesystem>
#include <fstream>
#include <iostream>

#include "commands.h"
#include "engine/error.h"
#include "engine/op_script.h"

namespace app {

namespace {

/// A device such as /dev/zero never ends a line.
bool is_file_or_pipe(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status);
}

}  // namespace

void add_op(CLI::App& cli, int* exit_code) {
    auto script = std::make_shared<std::string>();
    auto* command = cli.add_subcommand("op", "Runs single operations on given tensors");
    command->add_option("--script", *script, "Cases, one JSON object a line")->required();
    command->callback([script, exit_code] {
        std::ifstream cases;
        if (is_file_or_pipe(*script)) cases.open(*script);
        if (!cases.is_open()) {
            std::cerr
                << "halftone: " << *script
                << ": the script cannot be read: give the path of a file with one case a line\n";
            *exit_code = engine::exit_code(engine::ErrorCode::data);
            return;
        }
        *exit_code = engine::run_op_script(cases, std::cout);
    });
}

}  // namespace app
