#include "command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "engine/base/near_name.h"
#include "engine/base/version.h"

namespace app {
namespace {

constexpr char dash_mark[] = "\x01";

std::string unmark(const std::string& value) {
    return value.starts_with(dash_mark) ? value.substr(std::size(dash_mark) - 1) : value;
}

/// Without what validators add to the form of a value, such as ":INT in [1 - 100]".
std::string bare_form(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name(/*positional=*/true);
    if (option.get_items_expected_max() == 0) return "";
    const std::string form = option.get_type_name();
    return form.substr(0, form.find(':'));
}

OptionInfo describe(const CLI::Option& option) {
    OptionInfo info{{}, bare_form(option), option.get_description(), option.get_required()};
    for (const auto& name : option.get_snames()) info.names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) info.names.push_back("--" + name);
    info.repeats = option.get_items_expected_max() > 1;
    return info;
}

}  // namespace

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

Option& Option::takes(const std::string& form) {
    option_->type_name(form);
    return *this;
}

Option Command::text(const char* name, std::string& value, const char* help) {
    return Option(app_->add_option(name, value, help)->transform(unmark));
}

Option Command::text(const char* name, std::optional<std::string>& value, const char* help) {
    return Option(app_->add_option(name, value, help)->transform(unmark));
}

Option Command::texts(const char* name, std::vector<std::string>& values, const char* help) {
    return Option(app_->add_option(name, values, help)->required());
}

Option Command::dashed_texts(const char* name, std::vector<std::string>& values, const char* help) {
    dashed_->insert(app_->get_name());
    return Option(app_->add_option(name, values, help)->transform(unmark));
}

Option Command::number(const char* name, std::int64_t& value, const char* help) {
    return Option(app_->add_option(name, value, help));
}

Option Command::number(const char* name, double& value, const char* help) {
    return Option(app_->add_option(name, value, help));
}

Option Command::flag(const char* name, bool& value, const char* help) {
    return Option(app_->add_flag(name, value, help));
}

Option Command::repeated_text(const char* name, std::vector<std::string>& values,
                              const char* help) {
    return Option(app_->add_option(name, values, help)->allow_extra_args(false)->take_all());
}

std::vector<CommandInfo> Command::all_commands() const {
    const CLI::App* program = app_->get_parent();
    std::vector<CommandInfo> all;
    for (const CLI::App* command : program->get_subcommands({})) {
        CommandInfo info{command->get_name(), command->get_description(), {}};
        for (const CLI::Option* option : command->get_options())
            info.options.push_back(describe(*option));
        all.push_back(std::move(info));
    }
    return all;
}

void Command::run(std::function<int()> function) {
    app_->callback(
        [function = std::move(function), exit_code = exit_code_] { *exit_code = function(); });
}

CommandLine::CommandLine(const char* help) : app_(std::make_unique<CLI::App>(help, "halftone")) {
    app_->set_version_flag("--version", "halftone " + engine::version_and_commit());
    app_->require_subcommand(0, 1);
    app_->add_option("files", files_, "Settings, run or data to open in the window");
}

CommandLine::~CommandLine() = default;

Command CommandLine::add(const char* name, const char* summary) {
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    return {app_->add_subcommand(dashed, summary), &exit_code_, &dashed_};
}

bool CommandLine::has_command(const std::string& name) const {
    return std::ranges::any_of(app_->get_subcommands({}), [&name](const CLI::App* command) { return command->get_name() == name; });
}

/// The arguments. "help COMMAND" is "COMMAND --help". A command comes first: after a file it would
/// be run, and the file would not count. Values that begin with a dash would be parsed as options,
/// so they get a mark, which text() and dashed_texts() remove.
std::vector<std::string> CommandLine::arranged(int argc, char** argv) const {
    std::vector<std::string> out(argv + 1, argv + argc);
    if (out.empty()) return out;
    const bool asks = out.front() == "help";
    if (asks && out.size() == 1) return {"--help"};
    if (asks) out.erase(out.begin());
    if (asks && has_command(out.front())) return {out.front(), "--help"};
    const auto shows_text = [](const std::string& each) { return each == "-h" || each == "--help" || each == "--version"; };
    if (!out.front().starts_with('-') && !has_command(out.front()) && std::ranges::none_of(out, shows_text)) {
        out.insert(out.begin(), "--");  // the rest are files
        return out;
    }
    if (!dashed_.contains(out.front())) return out;
    const auto separator = std::find(out.begin(), out.end(), "--");
    const auto behind = separator == out.end() ? separator : out.erase(separator);
    for (auto it = out.begin(); it != out.end(); ++it) {
        const bool option = it < behind && (it->starts_with("--") || *it == "-h");
        if (it->starts_with('-') && !option) it->insert(0, dash_mark);
    }
    return out;
}

std::optional<int> CommandLine::run(int argc, char** argv) {
    try {
        std::vector<std::string> arguments = arranged(argc, argv);
        std::reverse(arguments.begin(), arguments.end());  // parse() takes them from the back
        app_->parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        return app_->exit(error) == 0 ? 0 : usage_error;
    }
    if (app_->get_subcommands().empty()) return std::nullopt;
    return exit_code_;
}

std::string CommandLine::help() const { return app_->help(); }

std::string CommandLine::nearest_command(std::string_view wrong) const {
    std::vector<std::string> names;
    for (const CLI::App* command : app_->get_subcommands({})) names.push_back(command->get_name());
    return engine::nearest_name(wrong, names);
}

}  // namespace app
