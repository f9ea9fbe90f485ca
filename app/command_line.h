#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The command line behind an interface of our own: only command_line.cpp includes CLI11's headers,
/// which take longer to compile than all the commands.
namespace app {

/// An option of a command, to say more about it. Valid as long as the CommandLine.
class Option {
public:
    explicit Option(CLI::Option* option) : option_(option) {}

    Option& required();
    /// May be left out, where it must be given otherwise.
    Option& optional();
    /// Refuses an empty value: it is most often a variable that was never set.
    Option& not_empty();
    /// A whole number from `least` to `most`.
    Option& within(std::int64_t least, std::int64_t most);
    /// Refuses both together.
    Option& excludes(const Option& other);
    /// The form of the value in --help, for the manual and completions: words to choose from and,
    /// in capitals, kinds of values: "last|best|STEP".
    Option& takes(const std::string& form);

private:
    CLI::Option* option_;
};

/// An option or an argument of a command.
struct OptionInfo {
    std::vector<std::string> names;  ///< "-o", "--output"; of an argument empty
    std::string form;                ///< as takes(), or the argument's name; of a flag empty
    std::string help;
    bool required = false;
    bool repeats = false;
};

struct CommandInfo {
    std::string name;  ///< as on the command line
    std::string summary;
    std::vector<OptionInfo> options;
};

/// A command, described by its file. The variables that options fill must live as long as the
/// function given to run(), which the command line keeps.
class Command {
public:
    Command(CLI::App* app, int* exit_code, std::set<std::string>* dashed)
        : app_(app), exit_code_(exit_code), dashed_(dashed) {}

    /// `name` with dashes is an option, else a positional argument.
    Option text(const char* name, std::string& value, const char* help);
    Option text(const char* name, std::optional<std::string>& value, const char* help);
    /// A positional argument that may be given several times, at least once.
    Option texts(const char* name, std::vector<std::string>& values, const char* help);
    /// A positional argument that may be given several times, or not at all. A value may begin with
    /// a dash ("-starred") unless it is "-h".
    Option dashed_texts(const char* name, std::vector<std::string>& values, const char* help);
    Option number(const char* name, std::int64_t& value, const char* help);
    Option number(const char* name, double& value, const char* help);
    Option flag(const char* name, bool& value, const char* help);
    /// An option that may be repeated, each time with one value.
    Option repeated_text(const char* name, std::vector<std::string>& values, const char* help);

    /// All commands of the command line that this one belongs to, in the order of --help.
    std::vector<CommandInfo> all_commands() const;

    /// Called when the command line names this command and is right; returns the exit code.
    void run(std::function<int()> function);

private:
    CLI::App* app_;
    int* exit_code_;
    std::set<std::string>* dashed_;  ///< commands with dashed_texts()
};

/// The program's command line: at most one command, or files to open.
class CommandLine {
public:
    static constexpr int usage_error = 2;

    explicit CommandLine(const char* help);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// An underscore of the name is a dash on the command line.
    Command add(const char* name, const char* summary);

    /// Runs the command that the arguments name and returns its exit code; nothing if they name
    /// none. Prints help and usage errors itself, with exit codes 0 and usage_error. Exceptions of
    /// the command reach the caller.
    std::optional<int> run(int argc, char** argv);
    /// Given without a command.
    const std::vector<std::string>& files() const { return files_; }
    std::string help() const;
    /// The command that a misspelt one stands for; empty if none comes near.
    std::string nearest_command(std::string_view wrong) const;

private:
    bool has_command(const std::string& name) const;
    std::vector<std::string> arranged(int argc, char** argv) const;

    std::unique_ptr<CLI::App> app_;
    std::vector<std::string> files_;
    std::set<std::string> dashed_;
    int exit_code_ = 0;
};

}  // namespace app
