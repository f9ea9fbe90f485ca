#include "engine/runs/settings_presets.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "engine/base/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// A configuration folder of its own.
struct SettingsPresetsTest : testing::Test {
    SettingsPresetsTest() {
        if (const char* value = std::getenv("XDG_CONFIG_HOME")) before = value;
        ::setenv("XDG_CONFIG_HOME", home.str().c_str(), 1);
    }
    ~SettingsPresetsTest() override {
        if (before.empty())
            ::unsetenv("XDG_CONFIG_HOME");
        else
            ::setenv("XDG_CONFIG_HOME", before.c_str(), 1);
    }
    void write(const std::string& name, const std::string& text) {
        fs::create_directories(settings_presets_folder());
        std::ofstream(settings_presets_folder() / name) << text;
    }
    test_support::TempFolder home;
    std::string before;
};

TEST_F(SettingsPresetsTest, SavesListsFindsAndDeletes) {
    EXPECT_TRUE(list_settings_presets().empty());
    EXPECT_EQ(settings_presets_folder(), home / "halftone/presets");
    const auto file = save_settings_preset("small net", R"({"batch_size": 7})");
    EXPECT_EQ(find_settings_preset("small net"), file);
    save_settings_preset("a", R"({"epochs": 2})");
    save_settings_preset("a", R"({"epochs": 3})");
    const auto listed = list_settings_presets();
    ASSERT_EQ(listed.size(), 2u);
    EXPECT_EQ(listed[0].name, "a");
    EXPECT_EQ(listed[0].parsed.config.epochs, 3);
    EXPECT_EQ(listed[1].parsed.config.batch_size, 7);
    delete_settings_preset("a");
    EXPECT_EQ(list_settings_presets().size(), 1u);
    EXPECT_THROW(delete_settings_preset("a"), Error);
}

TEST_F(SettingsPresetsTest, ExamplesComeWithTheProgramAndParse) {
    const auto examples = list_example_settings();
    ASSERT_FALSE(examples.empty());
    for (const SettingsPreset& each : examples) {
        EXPECT_TRUE(each.file.empty()) << each.name;
        EXPECT_TRUE(each.parsed.errors.empty())
            << each.name << ": " << each.parsed.errors.front().str();
        const auto text = find_example_settings(each.name);
        ASSERT_TRUE(text) << each.name;
        EXPECT_EQ(parse_run_config(*text).config, each.parsed.config);
    }
    EXPECT_FALSE(find_example_settings("nothing"));
}

TEST_F(SettingsPresetsTest, NamesStayInTheFolder) {
    for (const char* name : {"", ".", "..", ".hidden", "../x", "a/b", "a\\b", "a\nb", "/etc/passwd"}) {
        EXPECT_FALSE(find_settings_preset(name)) << name;
        EXPECT_THROW(save_settings_preset(name, "{}"), Error) << name;
    }
    EXPECT_THROW(save_settings_preset(std::string(300, 'x'), "{}"), Error);
    EXPECT_NO_THROW(save_settings_preset("学生 1", "{}"));
    EXPECT_TRUE(find_settings_preset("学生 1"));
}

TEST_F(SettingsPresetsTest, SaysWhyAFileCannotBeUsed) {
    write("deep.json", "{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}");
    write("long.json", std::string((std::size_t{4} << 20) + 1, ' '));
    write("number.json", "12");
    write("twice.json", R"({"epochs": 1, "epochs": 2})");
    write("wrong.json", R"({"batch_size": "many"})");
    write("good.json", R"({"dataset": {"kind": "mnist"}})");  // where it lies is open
    write("notes.txt", "not a preset");
    ASSERT_EQ(::mkfifo((settings_presets_folder() / "pipe.json").c_str(), 0600), 0);
    const auto listed = list_settings_presets();
    ASSERT_EQ(listed.size(), 6u);
    for (const auto& preset : listed)
        EXPECT_EQ(preset.parsed.errors.empty(), preset.name == "good") << preset.name;
    EXPECT_FALSE(find_settings_preset("pipe"));
}

}  // namespace
}  // namespace engine
