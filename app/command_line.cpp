#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace app {

Option& Option::optional() {
    option_->required(false);
    return *this;
}

Option& Option::required() {
    option_->required();
    return *this;
}

Option& Option::not_empty() {
    const auto complaint = [](const std::string& value) {
        return value.empty() ? std::string("must not be empty") : std::string();
    };
    option_->check(CLI::Validator(complaint, ""));
    return *this;
}

Option& Option::within(std::int64_t least, std::int64_t most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option& Option::excludes(const Option& other) {
    option_->excludes(other.option_);
    return *this;
}

Option Command::text(const char* name, std::string& value, const char* help) {
    return Option(app_->add_option(name, value, help));
}

Option Command::text(const char* name, std::optional<std::string>& value, const char* help) {
    return Option(app_->add_option(name, value, help));
}

Option Command::texts(const char* name, std::vector<std::string>& values, const char* help) {
    return Option(app_->add_option(name, values, help)->required());
}

Option Command::optional_texts(const char* name, std::vector<std::string>& values,
                               const char* help) {
    return Option(app_->add_option(name, values, help));
}

Option Command::number(const char* name, std::int64_t& value, const char* help) {
    return Option(app_->add_option(name, value, help));
}

Option Command::flag(const char* name, bool& value, const char* help) {
    return Option(app_->add_flag(name, value, help));
}

Option Command::repeated_text(const char* name, std::vector<std::string>& values,
                              const char* help) {
    return Option(app_->add_option(name, values, help)->allow_extra_args(false)->take_all());
}

void Command::run(std::function<int()> function) {
    app_->callback(
        [function = std::move(function), exit_code = exit_code_] { *exit_code = function(); });
}

CommandLine::CommandLine(const char* help) : app_(std::make_unique<CLI::App>(help, "halftone")) {
    app_->set_version_flag("--version", "halftone " HALFTONE_VERSION);
    app_->require_subcommand(0, 1);
    app_->add_option("files", files_, "Settings, run or data to open in the window");
}

CommandLine::~CommandLine() = default;

Command CommandLine::add(const char* name, const char* summary) {
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    return {app_->add_subcommand(dashed, summary), &exit_code_};
}

std::optional<int> CommandLine::run(int argc, char** argv) {
    try {
        app_->parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app_->exit(error) == 0 ? 0 : usage_error;
    }
    if (app_->get_subcommands().empty()) return std::nullopt;
    return exit_code_;
}

std::string CommandLine::help() const { return app_->help(); }

}  // namespace app
