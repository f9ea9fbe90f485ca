#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.h"
#include "completion_scripts.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/runs/run_store.h"
#include "engine/runs/settings_presets.h"
#include "engine/settings/catalog.h"

namespace app {
namespace {

using engine::ErrorCode;

/// A line for the shell. The value ":files" stands for the files and folders that the shell finds.
struct Candidate {
    std::string value;
    std::string help = {};
};
using Candidates = std::vector<Candidate>;

const Candidate files{":files"};

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == at) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

/// Title, or data and model, of each run; newest first. Never makes a history that is not there.
Candidates run_numbers() {
    Candidates out;
    try {
        const auto root = engine::RunStore::default_root();
        if (!std::filesystem::exists(root)) return out;
        for (const auto& run : engine::RunStore(root).list())
            out.push_back({run.run, run.title.empty() ? dataset_name(run) + ", " + model_name(run)
                                                      : engine::one_line(run.title)});
    } catch (const std::exception&) {
        // Without a history that can be read there is nothing to offer.
    }
    return out;
}

Candidates preset_names() {
    Candidates out;
    for (const auto& preset : engine::list_settings_presets())
        out.push_back({preset.name, "settings that you have named"});
    for (const auto& example : engine::list_example_settings())
        out.push_back({example.name, "an example"});
    return out;
}

template <typename Kind>
Candidates titles(std::span<const Kind> all) {
    Candidates out;
    for (const Kind& each : all) out.push_back({each.kind, each.title});
    return out;
}

/// Completes the value behind the last comma of a list.
Candidates behind_comma(const std::string& current, const Candidates& values) {
    const auto comma = current.rfind(',');
    if (comma == std::string::npos) return values;
    Candidates out;
    for (const auto& each : values)
        out.push_back({current.substr(0, comma + 1) + each.value, each.help});
    return out;
}

/// "PATH=" of every setting, and behind the sign its values.
Candidates settings(const std::string& current, bool lists) {
    Candidates out;
    const auto sign = current.find('=');
    if (sign == std::string::npos) {
        for (const auto& field : engine::fields()) out.push_back({field.path + "=", field.label});
        return out;
    }
    const std::string path = current.substr(0, sign), value = current.substr(sign + 1);
    const engine::FieldInfo* field = engine::find_field(path);
    if (field == nullptr) return {};
    if (field->choices.empty()) return field->text ? Candidates{files} : Candidates{};
    for (const auto& choice : field->choices)
        if (!choice.value.empty()) out.push_back({choice.value, choice.title});
    if (lists) out = behind_comma(value, out);
    for (auto& each : out) each.value.insert(0, path + "=");
    return out;
}

/// Candidates for a value of this form (Option::takes). Words in small letters stand for
/// themselves.
Candidates values(const std::string& form, const std::string& current) {
    Candidates out;
    const auto add = [&out](const Candidates& more) {
        out.insert(out.end(), more.begin(), more.end());
    };
    for (const std::string& part : split(form, '|')) {
        const bool word = std::ranges::none_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
        if (word) add({{part}});
        if (part == "RUN") add(run_numbers());
        if (part == "CONFIG") add(preset_names());
        if (part == "PATH=VALUE") add(settings(current, false));
        if (part == "PATH=VALUE,VALUE") add(settings(current, true));
        if (part == "PRECISION,PRECISION") add(behind_comma(current, titles(engine::precisions())));
        if (part == "MODEL") add(titles(engine::models()));
        if (part == "CONFIG" || part == "FILE" || part == "FOLDER" || part == "CAPSULE" ||
            part == "RUN")
            add({files});
    }
    return out;
}

const OptionInfo* find_option(const CommandInfo& command, const std::string& name) {
    const auto named = [&](const OptionInfo& each) {
        return std::ranges::find(each.names, name) != each.names.end();
    };
    const auto found = std::ranges::find_if(command.options, named);
    return found == command.options.end() ? nullptr : &*found;
}

/// The place that the last word takes in a command, by the words before it.
struct Place {
    const OptionInfo* value_of = nullptr;  ///< an option whose value it is
    const OptionInfo* argument = nullptr;  ///< else the argument that it may be
    bool options_ended = false;            ///< behind "--"
    std::vector<const OptionInfo*> used{};
};

Place find_place(const CommandInfo& command, const std::vector<std::string>& words) {
    Place place;
    std::size_t arguments = 0;
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (place.value_of != nullptr) {
            place.value_of = nullptr;
        } else if (!place.options_ended && word == "--") {
            place.options_ended = true;
        } else if (!place.options_ended && word.size() > 1 && word.front() == '-') {
            const OptionInfo* option = find_option(command, word.substr(0, word.find('=')));
            if (option == nullptr) continue;
            place.used.push_back(option);
            if (!option->form.empty() && word.find('=') == std::string::npos)
                place.value_of = option;
        } else {
            ++arguments;
        }
    }
    for (const auto& option : command.options) {
        if (!option.names.empty()) continue;
        place.argument = &option;
        if (option.repeats || arguments-- == 0) return place;
    }
    place.argument = nullptr;
    return place;
}

Candidates option_names(const CommandInfo& command, const Place& place) {
    Candidates out;
    for (const auto& option : command.options) {
        const bool used = std::ranges::find(place.used, &option) != place.used.end();
        if (!option.names.empty() && (option.repeats || !used))
            out.push_back({option.names.back(), option.help});
    }
    return out;
}

Candidates in_command(const CommandInfo& command, const std::vector<std::string>& words) {
    const std::string& current = words.back();
    const Place place = find_place(command, words);
    if (place.value_of != nullptr) return values(place.value_of->form, current);
    const bool option = !place.options_ended && current.starts_with('-');
    const auto sign = current.find('=');
    if (option && sign != std::string::npos) {
        const OptionInfo* named = find_option(command, current.substr(0, sign));
        if (named == nullptr || named->form.empty()) return {};
        Candidates out = values(named->form, current.substr(sign + 1));
        for (auto& each : out)
            if (each.value != files.value) each.value.insert(0, current.substr(0, sign + 1));
        return out;
    }
    if (option || place.argument == nullptr) return option_names(command, place);
    return values(place.argument->form, current);
}

/// Candidates for the last of these words, the first of which is the program.
Candidates candidates(const std::vector<CommandInfo>& commands,
                      const std::vector<std::string>& words) {
    if (words.size() < 2) return {};
    if (words.size() > 2) {
        const auto command = std::ranges::find(commands, words[1], &CommandInfo::name);
        return command == commands.end() ? Candidates{files} : in_command(*command, words);
    }
    Candidates out;
    for (const auto& command : commands) out.push_back({command.name, command.summary});
    out.push_back({"--help", "Print the commands"});
    out.push_back({"--version", "Print the version"});
    out.push_back(files);
    return out;
}

int complete(const Command& command, const std::string& shell,
             const std::vector<std::string>& words) {
    if (!words.empty()) {
        for (const auto& each : candidates(command.all_commands(), words)) {
            if (each.value != files.value && !each.value.starts_with(words.back())) continue;
            std::cout << each.value << (each.help.empty() ? "" : "\t") << each.help << '\n';
        }
        return 0;
    }
    for (const auto& [name, script] : completion_scripts) {
        if (shell != name) continue;
        std::cout << script;
        return 0;
    }
    throw engine::Error(ErrorCode::settings,
                        engine::msg("{}: no shell with completions", engine::one_line(shell)),
                        engine::msg("Use bash, zsh or fish."));
}

}  // namespace

void describe_completions(Command command) {
    auto shell = std::make_shared<std::string>();
    auto words = std::make_shared<std::vector<std::string>>();
    command.text("bash|zsh|fish", *shell, "Prints the completions for this shell, to be sourced")
        .required()
        .not_empty();
    command.dashed_texts("WORD", *words,
                         "Behind --: prints the candidates for the last of these words, the first "
                         "of which is the program");
    command.run([command, shell, words] { return complete(command, *shell, *words); });
}

}  // namespace app
