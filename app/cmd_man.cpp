#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "commands.h"
#include "engine/base/version.h"
#include "engine/settings/catalog.h"

namespace app {
namespace {

/// The text for groff: a dash is the minus of a terminal, and no line begins with a request.
std::string roff(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\') {
            out += "\\e";
        } else if (c == '-') {
            out += "\\-";
        } else {
            out += c == '\n' ? ' ' : c;
        }
    }
    const bool request = out.starts_with('.') || out.starts_with('\'');
    return request ? "\\&" + out : out;
}

/// In bold or italics; the text of a macro's argument, since quotes would end it there.
std::string styled(char style, const std::string& text) {
    return std::string("\\f") + style + roff(text) + "\\fR";
}

std::string words_in_bold(const std::string& form) {
    std::string out, part;
    const auto end_part = [&] {
        const bool kind = std::ranges::any_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
        out += styled(kind ? 'I' : 'B', part);
        part.clear();
    };
    for (const char c : form) {
        if (c == '|') {
            end_part();
            out += "|\\:";  // a line may break here
        } else {
            part += c;
        }
    }
    end_part();
    return out;
}

bool is_help(const OptionInfo& option) {
    return std::ranges::find(option.names, "--help") != option.names.end();
}

void print_option(const OptionInfo& option) {
    std::cout << ".TP\n";
    std::string head;
    for (const auto& name : option.names) head += (head.empty() ? "" : ", ") + styled('B', name);
    if (!option.form.empty()) head += (head.empty() ? "" : " ") + words_in_bold(option.form);
    if (option.repeats) head += " \\&...";
    std::cout << head << '\n' << roff(option.help) << ".\n";
}

std::string synopsis(const CommandInfo& command) {
    std::string out = styled('B', "halftone " + command.name);
    bool has_options = false;
    for (const auto& option : command.options) {
        has_options = has_options || (!option.names.empty() && !is_help(option));
        if (!option.names.empty()) continue;
        const std::string argument =
            words_in_bold(option.form) + (option.repeats ? "\\ \\&..." : "");
        out += option.required ? " " + argument : " [" + argument + "]";
    }
    return out + (has_options ? " [options]" : "");
}

void print_command(const CommandInfo& command) {
    std::cout << ".SS " << roff(command.name) << '\n'
              << synopsis(command) << "\n.PP\n"
              << roff(command.summary) << ".\n";
    for (const auto& option : command.options) {
        if (!is_help(option)) print_option(option);
    }
}

void print_settings() {
    std::cout << ".SH SETTINGS\n"
                 "A settings file is JSON; \\fB\\-\\-set\\fR changes a field of it. Groups of "
                 "fields are objects: dataset.kind is the field kind of the object dataset.\n";
    for (const auto& field : engine::fields()) {
        std::cout << ".TP\n" << styled('B', field.path);
        std::string choices;
        for (const auto& choice : field.choices)
            if (!choice.value.empty()) choices += (choices.empty() ? "" : "|") + choice.value;
        if (!choices.empty()) std::cout << " = " << words_in_bold(choices);
        std::cout << '\n' << roff(field.label) << ". " << roff(field.help) << '\n';
    }
}

constexpr char opening[] =
    R"(.SH NAME
halftone \- train in mixed precision, and watch the loss scale
.SH SYNOPSIS
.B halftone
.RI [ FILE \&...]
.br
.B halftone
.I COMMAND
.RI [ OPTION \&...]
.SH DESCRIPTION
Halftone trains neural networks in FP32 and in 16 bits, and shows the loss scale, the skipped steps, and why each was
skipped. Without a command it opens its window, with a run, settings, a data set or a lesson if a file or folder is named.
)";

constexpr char closing[] =
    R"(.SH FILES
.TP
.I ~/.local/share/halftone/runs
The run history: a folder for each run. XDG_DATA_HOME takes the place of ~/.local/share.
.TP
.I ~/.config/halftone
What the window remembers, and named settings in
.IR presets .
XDG_CONFIG_HOME takes the place of ~/.config.
.TP
.I ~/.cache/halftone
What can be computed again. XDG_CACHE_HOME takes the place of ~/.cache.
.SH EXIT STATUS
0 on success, 2 for a wrong command line or wrong settings, and other numbers for other errors: the handbook's page on
interfaces lists them.
)";

int print_manual(const Command& command) {
    std::cout << ".\\\" -*- coding: UTF-8 -*-\n.TH HALFTONE 1 \"\" \"halftone " << roff(engine::program_version())
              << "\" \"User Commands\"\n.ad l\n.nh\n"
              << opening << ".SH COMMANDS\n";
    for (const auto& each : command.all_commands()) print_command(each);
    print_settings();
    std::cout << closing;
    return 0;
}

}  // namespace

void describe_man(Command command) {
    command.run([command] { return print_manual(command); });
}

}  // namespace app
