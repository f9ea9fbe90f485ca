#include <filesystem>
#include <fstream>
#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/models/recipe_script.h"

namespace app {

namespace {

/// A device such as /dev/zero never ends a line.
bool is_file_or_pipe(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::is_regular_file(status) || std::filesystem::is_fifo(status);
}

int run_script(const std::string& script) {
    std::ifstream cases;
    if (is_file_or_pipe(script)) cases.open(script);
    if (!cases.is_open()) {
        std::cerr << "halftone: " << engine::one_line(script)
                  << ": the script cannot be read: give the path of a file with one case a line\n";
        return engine::exit_code(engine::ErrorCode::data);
    }
    return engine::run_op_script_with_recipes(cases, std::cout);
}

}  // namespace

void describe_op(Command command) {
    auto script = std::make_shared<std::string>();
    command.text("--script", *script, "Cases, one JSON object per line").required().takes("FILE");
    command.run([script] { return run_script(*script); });
}

}  // namespace app
