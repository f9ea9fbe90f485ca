#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "engine/settings/catalog.h"

// A model, data set, task, optimizer, schedule or preset is known to its descriptor alone
// (decisions.md#descriptor, D16): production sources do not compare or list names.

namespace engine {
namespace {

namespace fs = std::filesystem;

/// Names, and parts of names, that mean something else too: formats of numbers and files, a figure,
/// a mode of padding, a place, a file.
const std::set<std::string> ambiguous = {"fp32",     "tf32", "step",  "constant", "shapes",
                                         "csv",      "folder", "file"};

/// Files that may hold these names. "*": any.
const std::multimap<std::string, std::string> allowed = {
    {"engine/include/engine/settings/run_config.h", "*"},        // the defaults
    {"engine/include/engine/record/event.h", "classification"},  // of runs before tasks
    {"engine/include/engine/settings/setting_words.h", "*"},     // recipes, named as presets
    {"engine/include/engine/number/number_block.h", "*"},        // formats, named as presets
    {"ui/src/widgets/widget_state.cpp", "current"},              // a key
    {"engine/src/settings/catalog.cpp", "*"},                    // the presets' descriptors
    {"engine/src/models/resnet.cpp", "*"},                       // descriptors by a function
    {"engine/src/data/image/cifar.cpp", "*"},                    // read by its descriptors
    {"engine/src/data/image/idx.h", "*"},                        // read by its descriptors
    {"engine/src/data/text/text_files.h", "*"},                  // read by its descriptors
    {"engine/src/data/input_guide.h", "criteo"},                 // a notation of ids
    {"engine/src/runs/recognise_path.cpp", "mnist"},             // words of a folder's name
    {"engine/src/runs/recognise_path.cpp", "fashion"},
    {"engine/src/runs/foreign_log.cpp", "bf16"},  // a word of other programs' settings
};

template <typename Kind>
void add(std::set<std::string>& names, std::span<const Kind> all) {
    for (const Kind& each : all) {
        if (!ambiguous.contains(each.kind)) names.insert(each.kind);
    }
}

std::set<std::string> kind_names() {
    std::set<std::string> names;
    add(names, datasets());
    add(names, models());
    add(names, tasks());
    add(names, precisions());
    add(names, scaler_presets());
    add(names, optimizers());
    add(names, schedules());
    return names;
}

/// The words of names that have several: a source that looks for "bf16" in a preset's name knows
/// the preset.
std::set<std::string> parts_of(const std::set<std::string>& names) {
    std::set<std::string> parts;
    for (const std::string& name : names) {
        std::istringstream words(name);
        for (std::string word; std::getline(words, word, '-');)
            if (word != name && !ambiguous.contains(word)) parts.insert(word);
    }
    return parts;
}

bool is_allowed(const std::string& file, const std::string& name) {
    const auto [first, last] = allowed.equal_range(file);
    return std::any_of(first, last,
                       [&](const auto& each) { return each.second == "*" || each.second == name; });
}

TEST(KindNames, StandInTheirDescriptorsAlone) {
    const std::set<std::string> names = kind_names();
    ASSERT_GT(names.size(), 40U);
    const std::set<std::string> parts = parts_of(names);
    const std::regex search(
        R"re((find|contains|starts_with|ends_with|indexOf|startsWith|endsWith)\(u?"-?([^"\\-]*)-?")re");
    std::set<std::pair<std::string, std::string>> described;
    std::map<std::pair<std::string, std::string>, int> mentioned;  // the line
    const fs::path root = HALFTONE_SOURCE_DIR;
    for (const char* part : {"app", "engine", "kernels", "ui"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / part)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".cpp" && extension != ".h") continue;
            const std::string file = entry.path().lexically_relative(root).generic_string();
            std::ifstream in(entry.path());
            std::string line;
            for (int number = 1; std::getline(in, line); ++number) {
                const std::string code = line.substr(0, line.find("//"));
                if (code.find('"') == std::string::npos) continue;  // quicker than an expression
                std::smatch found;
                const bool calls = code.find("(\"") != std::string::npos ||
                                   code.find("(u\"") != std::string::npos;
                EXPECT_FALSE(calls && std::regex_search(code, found, search) &&
                             parts.contains(found[2]) && !is_allowed(file, found[2]))
                    << file << ":" << number << ": looks for a part of a name";
                for (std::size_t open = code.find('"'); open != std::string::npos;) {
                    const std::size_t close = code.find_first_of("\"\\", open + 1);
                    if (close == std::string::npos) break;
                    const std::string name = code.substr(open + 1, close - open - 1);
                    const bool whole = code[close] == '"';
                    if (whole && names.contains(name) && !is_allowed(file, name)) {
                        mentioned.emplace(std::pair(file, name), number);
                        if (code.substr(0, open).ends_with(".kind = ")) described.emplace(file, name);
                    }
                    open = code.find('"', close + 1);
                }
            }
        }
    }
    EXPECT_GT(described.size(), 25U);
    for (const auto& [place, line] : mentioned)
        EXPECT_TRUE(described.contains(place))
            << place.first << ":" << line << ": " << place.second;
}

// A help text that lists kinds is wrong with the next one.
TEST(KindNames, AreNotInTheHelpOfSettingsOfAllKinds) {
    const std::set<std::string> names = kind_names();
    const std::regex word("[a-z0-9-]+");
    for (const FieldInfo& field : fields()) {
        if (!field.kinds.empty()) continue;
        std::string help = field.help;
        std::ranges::transform(help, help.begin(), [](unsigned char c) { return std::tolower(c); });
        for (std::sregex_iterator at(help.begin(), help.end(), word), end; at != end; ++at)
            EXPECT_FALSE(names.contains(at->str())) << field.path << ": " << at->str();
    }
}

}  // namespace
}  // namespace engine
