#include "engine/settings/command_line.h"

#include <gmock/gmock.h>

#include <unistd.h>
#include <array>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "random_config.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

RunConfig with(const std::vector<std::string>& overrides) {
    const ParsedConfig parsed = parse_run_config("{}", overrides);
    for (const auto& error : parsed.errors) ADD_FAILURE() << error.str();
    return parsed.config;
}

/// The arguments of --set that a program gets if a shell starts it with this line.
std::vector<std::string> overrides_in_shell(const std::string& line) {
    const std::string script =
        "halftone() { shift; while [ $# -gt 0 ]; do printf '%s\\0' \"$2\"; shift 2; done; }\n" +
        line;
    std::array<char, 4096> buffer{};
    std::string file = (std::filesystem::temp_directory_path() / "halftone-XXXXXX").string();
    const int descriptor = ::mkstemp(file.data());
    if (descriptor < 0) throw std::runtime_error("no temporary file");
    ::close(descriptor);
    std::ofstream(file) << script;
    std::FILE* shell = ::popen(("sh " + file).c_str(), "r");
    std::string output;
    for (std::size_t size = 0; (size = std::fread(buffer.data(), 1, buffer.size(), shell)) > 0;)
        output.append(buffer.data(), size);
    EXPECT_EQ(::pclose(shell), 0);
    std::filesystem::remove(file);
    std::vector<std::string> out;
    std::istringstream words(output);
    for (std::string word; std::getline(words, word, '\0');) out.push_back(word);
    return out;
}

TEST(CommandLine, NamesOnlyWhatDiffersFromTheDefaults) {
    EXPECT_EQ(to_command_line(RunConfig{}), "halftone train");
    EXPECT_EQ(to_command_line(with({"optimizer.lr=0.01", "epochs=2", "seed=7"})),
              "halftone train --set optimizer.lr=0.01 --set seed=7");
}

TEST(CommandLine, AnOptionIsComparedWithTheDefaultOfItsKind) {
    EXPECT_THAT(to_overrides(with({"optimizer.kind=adam"})), ElementsAre("optimizer.kind=adam"));
    EXPECT_THAT(to_overrides(with({"scaler.preset=classroom"})),
                ElementsAre("scaler.preset=classroom"));
    EXPECT_THAT(to_overrides(with({"scaler.preset=classroom", "scaler.growth_interval=2000"})),
                ElementsAre("scaler.preset=classroom", "scaler.growth_interval=2000"));
}

TEST(CommandLine, QuotesForTheShellWhatNeedsIt) {
    const auto config = with({"dataset.path=/my data/it's $HOME"});
    EXPECT_EQ(to_command_line(config),
              "halftone train --set 'dataset.path=/my data/it'\\''s $HOME'");
    EXPECT_THAT(overrides_in_shell(to_command_line(config)),
                ElementsAre("dataset.path=/my data/it's $HOME"));
}

TEST(CommandLine, ATextThatLooksLikeJsonStaysAText) {
    for (const std::string path :
         {"12", "true", "null", "[1]", "\"x\"", " a", "a ", "x~/y", "a\nb", "-"}) {
        RunConfig config;
        config.dataset.path = {path};
        EXPECT_EQ(with(to_overrides(config)).dataset.path, config.dataset.path) << path;
    }
}

TEST(CommandLine, GivesTheSameSettingsBack) {
    std::mt19937 random(23);
    for (int i = 0; i < 500; ++i) {
        const RunConfig config = random_config(random);
        ASSERT_EQ(with(to_overrides(config)), config) << to_command_line(config);
    }
}

TEST(CommandLine, GivesTheSameSettingsBackThroughAShell) {
    std::mt19937 random(29);
    for (int i = 0; i < 20; ++i) {
        const RunConfig config = random_config(random);
        const std::string line = to_command_line(config);
        ASSERT_EQ(with(overrides_in_shell(line)), config) << line;
    }
}

}  // namespace
}  // namespace engine
