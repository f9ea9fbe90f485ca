#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"
#include "spirals.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

TEST(CommandLine, BadSettingsAreAllNamedAndNothingIsWritten) {
    Program program({"train", "--json", "--set", "batch_size=0", "--set", "optimizer.lr=nan",
                     "--set", "optimiser.lr=1", "--set", "scaler.growth_factor=1"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.output(), IsEmpty());
    const std::string errors = program.errors();
    EXPECT_THAT(errors, HasSubstr("batch_size: 0: use a whole number"));
    EXPECT_THAT(errors, HasSubstr("optimizer.lr: nan: use a number above 0\n"));
    EXPECT_THAT(errors, HasSubstr("did you mean optimizer.lr?\n"));
    EXPECT_THAT(errors, HasSubstr("scaler.growth_factor: 1.0: use a number above 1\n"));
    EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 4);
    EXPECT_FALSE(fs::exists(program.runs()));
}

TEST(CommandLine, BadUsageExitsWith2) {
    for (const auto& args :
         std::vector<std::vector<std::string>>{{"train", "--colour"},
                                               {"train", "no-such-settings.json"},
                                               {"train", "/"},
                                               {"trian"},
                                               {"compare", "--precision", ""},
                                               {"compare", "--precision", "fp32,fp12"},
                                               {"compare", "--seeds", "0"},
                                               {"op"}}) {
        Program program(args);
        program.finish();
        EXPECT_EQ(program.exit_code(), 2) << args.back();
        EXPECT_FALSE(program.errors().empty()) << args.back();
    }
}

TEST(CommandLine, NamesTheCommandThatAMisspeltOneStandsFor) {
    for (const auto& [wrong, right] : std::vector<std::pair<std::string, std::string>>{
             {"traun", "did you mean halftone train?\n"},
             {"find_lr", "did you mean halftone find-lr?\n"},
             {"nothing-like-it", "halftone --help lists the commands\n"}}) {
        Program program({wrong});
        program.finish();
        EXPECT_THAT(program.errors(), testing::EndsWith(right));
    }
}

TEST(CommandLine, HelpBeforeACommandPrintsItsHelpAndRunsNothing) {
    for (const std::string command : {"train", "network", "find-lr"}) {
        Program asked({"help", command});
        asked.finish();
        EXPECT_EQ(asked.exit_code(), 0) << asked.errors();
        Program given({command, "--help"});
        given.finish();
        EXPECT_EQ(asked.output_text(), given.output_text());
        EXPECT_FALSE(fs::exists(asked.runs()));
    }
    Program alone({"help"});
    alone.finish();
    EXPECT_THAT(alone.output_text(), HasSubstr("find-lr"));
    Program wrong({"help", "traun"});
    wrong.finish();
    EXPECT_EQ(wrong.exit_code(), 2);
    EXPECT_THAT(wrong.errors(), testing::EndsWith("did you mean halftone train?\n"));
}

TEST(CommandLine, ACommandBehindAFileIsNotRun) {
    for (const auto& args : std::vector<std::vector<std::string>>{{"settings.json", "train", "--set", "max_steps=1"}, {"no-command", "train"}}) {
        Program program(args);
        program.finish();
        EXPECT_EQ(program.exit_code(), 2);
        EXPECT_THAT(program.errors(), HasSubstr(args.front() + ": neither a command nor a file"));
        EXPECT_FALSE(fs::exists(program.runs()));
    }
}

TEST(CommandLine, TheVersionNamesTheCommitThatWasBuilt) {
    Program program({"--version"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0);
    ASSERT_EQ(program.output().size(), 1u);
    const std::string& line = program.output().front();
    EXPECT_THAT(line, MatchesRegex("halftone [0-9]+[.][0-9]+[.][0-9]+( [(][0-9a-f]{12}[)])?"));
    // Sources outside git have no commit; a linked worktree has a file in place of the folder.
    EXPECT_EQ(line.ends_with(')'), fs::exists(HALFTONE_SOURCE_DIR "/.git"));
}

TEST(CommandLine, MalformedSettingsAreOneErrorWithTheirPlace) {
    const test_support::TempFolder folder;
    Program program({"train", folder.write("malformed.json", "{\n  \"epochs\": ,\n}")});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), StartsWith("(file): line 2, column 13: not JSON: "));
}

TEST(CommandLine, MissingDataExitsWith3AndSaysSo) {
    Program program({"train", "--json", "--set", "dataset.kind=mnist", "--set",
                     "dataset.path=/no/such/folder"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 3);
    const auto errors = events_of(program.output(), "error");
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].at("code"), "data");
    EXPECT_THAT(errors[0].at("message").get<std::string>(), HasSubstr("/no/such/folder"));
    EXPECT_THAT(program.errors(), HasSubstr("/no/such/folder"));
}

TEST(CommandLine, CatalogsAreJson) {
    for (const std::string catalog : {"ops", "models", "datasets", "tasks", "presets"}) {
        Program program({catalog, "--json"});
        program.finish();
        EXPECT_EQ(program.exit_code(), 0) << catalog;
        const json list = json::parse(program.output_text(), nullptr, false);
        ASSERT_TRUE(list.is_array() && !list.empty()) << catalog;
        for (const auto& entry : list) EXPECT_FALSE(entry.at("name").get<std::string>().empty());
        Program for_people({catalog});
        for_people.finish();
        EXPECT_EQ(for_people.exit_code(), 0);
        EXPECT_THAT(for_people.output_text(), HasSubstr(list[0].at("name").get<std::string>()));
    }
}

TEST(CommandLine, AWordThatChoosesOneSettingIsSaidWithItsField) {
    const test_support::TempFolder folder;
    const std::string network = folder.write("a.network", "network(features):\n  Linear(outputs)\n");
    for (const auto& [word, field] : std::vector<std::pair<std::string, std::string>>{{"fp32", "precision.preset"}, {"classroom", "scaler.preset"}, {"lenet", "model.kind"},
                                                                                        {"glyphs", "dataset.kind"}, {"adam", "optimizer.kind"}, {network, "model.path"}}) {
        Program program({"train", word});
        program.finish();
        EXPECT_EQ(program.exit_code(), 2);
        EXPECT_EQ(program.errors(), "(file): " + word + ": is one setting: use --set " + field + "=" + word + "\n");
    }
    for (const auto& [section, fields] : std::vector<std::pair<std::string, std::string>>{{"precision=fp32", "precision.preset=fp32"}, {"model=lenet", "model.kind=lenet"}}) {
        Program program({"train", "--set", section});
        program.finish();
        EXPECT_EQ(program.exit_code(), 2);
        EXPECT_THAT(program.errors(), HasSubstr("use an object with fields, for instance " + fields + "\n"));
    }
}

TEST(CommandLine, TrainsAPresetByItsNameUnlessThereIsAFile) {
    const test_support::TempFolder home;
    const auto write = [](const std::filesystem::path& file, const std::string& text) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    };
    write(home / "halftone/presets/small run.json",
          R"({"dataset": {"kind": "spirals"}, "model": {"kind": "mlp"}, "max_steps": 1})");
    write(home / "halftone/presets/broken.json", R"({"batch_size": "many"})");
    const auto run = [&](const std::vector<std::string>& args) {
        auto program = std::make_unique<Program>(
            args,
            Program::Options{home.str(), [&] { std::filesystem::current_path(home.path()); }});
        program->finish();
        return program;
    };
    const std::string listed = run({"presets"})->output_text();
    EXPECT_THAT(listed, testing::AllOf(HasSubstr("Named settings"), HasSubstr("small run"),
                                       HasSubstr("broken"), HasSubstr("batch_size")));
    EXPECT_THAT(run({"presets", "--json"})->output_text(), HasSubstr("\"kind\": \"settings\""));
    const auto named = run({"lint", "small run"});
    EXPECT_EQ(named->exit_code(), 0) << named->errors();
    EXPECT_EQ(run({"lint", "broken"})->exit_code(), 2);
    const auto absent = run({"lint", "../presets/small run"});
    EXPECT_EQ(absent->exit_code(), 2);
    EXPECT_THAT(absent->errors(), HasSubstr("halftone presets"));
    // A file of that name wins.
    write(home / "small run", R"({"batch_size": "few"})");
    EXPECT_EQ(run({"lint", "small run"})->exit_code(), 2);
    // A folder of data is no settings.
    std::filesystem::create_directories(home / "shapes");
    const auto example = run({"lint", "shapes"});
    EXPECT_EQ(example->exit_code(), 0) << example->errors();
    const auto sweep = run({"sweep", "shapes", "--grid", "batch_size=few"});
    EXPECT_EQ(sweep->exit_code(), 2);
    EXPECT_THAT(sweep->errors(), testing::AllOf(HasSubstr("batch_size"), testing::Not(HasSubstr("(file)"))));
}

/// Settings of a run on a table of 100 rows whose last column is 3 a - b.
std::vector<std::string> on_a_table(const std::string& command,
                                    const test_support::TempFolder& folder,
                                    std::vector<std::string> more) {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 100; ++i) {
        const double a = i % 11 / 4.0, b = i % 7 / 8.0;
        text +=
            std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(3 * a - b) + "\n";
    }
    std::vector<std::string> args = {command};
    for (const std::string& setting :
         {std::string("dataset.kind=csv"), "dataset.path=" + folder.write("table.csv", text),
          std::string("model.kind=mlp"), std::string("batch_size=16"), std::string("epochs=1")})
        args.insert(args.end(), {"--set", setting});
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

TEST(CommandLine, ATableIsARegressionWhoseMetricsHaveTheirKeys) {
    const test_support::TempFolder folder;
    Program program(
        on_a_table("train", folder, {"--json", "--set", "dataset.validation_share=0.25"}));
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    const auto started = events_of(program.output(), "start").at(0);
    EXPECT_EQ(started.at("task"), "regression");
    EXPECT_EQ(started.at("unit"), "rows");
    EXPECT_EQ(started.at("metrics").at(0).at("key"), "rmse");
    for (const auto& step : events_of(program.output(), "step")) {
        EXPECT_TRUE(step.at("rmse").is_number());
        EXPECT_TRUE(step.at("r2").is_number());
        EXPECT_FALSE(step.contains("accuracy"));
    }
    const auto epoch = events_of(program.output(), "epoch").at(0);
    for (const char* field : {"train_rmse", "validation_loss", "validation_rmse", "test_r2"})
        EXPECT_TRUE(epoch.at(field).is_number()) << field;
    EXPECT_TRUE(events_of(program.output(), "done").at(0).at("test_rmse").is_number());
    EXPECT_THAT(program.errors(), IsEmpty());
}

TEST(CommandLine, ProgressNamesTheMetricsOfTheTask) {
    const test_support::TempFolder folder;
    Program program(on_a_table("train", folder, {}));
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    const std::string said = program.output_text() + program.errors();
    EXPECT_THAT(said, HasSubstr("test rows"));
    EXPECT_THAT(said, HasSubstr("test rmse "));
    EXPECT_THAT(said, HasSubstr("test r2 "));
    EXPECT_THAT(said, Not(HasSubstr("accuracy")));
}

TEST(CommandLine, PrecisionsAreComparedByTheMetricOfTheTask) {
    const test_support::TempFolder folder;
    Program program(on_a_table("compare", folder, {"--precision", "fp32,amp-bf16"}));
    program.finish();
    ASSERT_EQ(program.exit_code(), 0) << program.errors();
    const std::string said = program.output_text() + program.errors();
    EXPECT_THAT(said, HasSubstr("best rmse"));
    EXPECT_THAT(said, Not(HasSubstr("accuracy")));
}

TEST(CommandLine, DoctorIsJson) {
    Program program({"doctor", "--json"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0);
    const json report = json::parse(program.output_text(), nullptr, false);
    EXPECT_GT(report.at("cores").get<int>(), 0);
    EXPECT_FALSE(report.at("precisions").empty());
}

TEST(CommandLine, DoctorIsJsonWherePathsAreAnyBytes) {
    const test_support::TempFolder folder;
    const std::string home = folder.str() + "/j\xe9r";
    const auto at_home = [&home] {
        setenv("HOME", home.c_str(), 1);
        setenv("XDG_CACHE_HOME", home.c_str(), 1);
    };
    Program program({"doctor", "--json"}, {.data_home = "", .before_start = at_home});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const json report = json::parse(program.output_text(), nullptr, false);
    ASSERT_TRUE(report.is_object());
    EXPECT_THAT(report.at("cuda").at("plan_file").get<std::string>(), HasSubstr("/j\uFFFDr/"));
}

TEST(CommandLine, DoctorCallsTheFirstPrecisionTheBaseline) {
    Program program({"doctor"});
    program.finish();
    EXPECT_THAT(program.output_text(), HasSubstr("\nbaseline  fp32: "));
    EXPECT_THAT(program.output_text(), Not(HasSubstr("pays      fp32: ")));
}

/// The value of an environment variable that CUDA's libraries will read, as the program prints it.
std::string cuda_variable(const char* name, const std::function<void()>& before_start) {
    Program program({"doctor", "--json"}, {.data_home = "", .before_start = before_start});
    program.finish();
    const json report = json::parse(program.output_text(), nullptr, false);
    return report.at("cuda").at(name);
}

TEST(CommandLine, CublasHasOneWorkspaceForEachStreamUnlessTheUserSaysOtherwise) {
    const char* name = "CUBLAS_WORKSPACE_CONFIG";
    const auto value = [](const auto& before) {
        return cuda_variable("cublas_workspace_config", before);
    };
    EXPECT_EQ(value([&] { unsetenv(name); }), ":4096:2");
    EXPECT_EQ(value([&] { setenv(name, ":16:8", 1); }), ":16:8");
}

TEST(CommandLine, SeveralRanksLoadAllKernelsAtTheStartUnlessTheUserSaysOtherwise) {
    const char* name = "CUDA_MODULE_LOADING";
    const auto value = [](const auto& before) { return cuda_variable("module_loading", before); };
    const auto as_one_of_two = [] {
        setenv("OMPI_COMM_WORLD_RANK", "1", 1);
        setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    };
    EXPECT_EQ(value([&] { unsetenv(name); }), "");
    EXPECT_EQ(value([&] { unsetenv(name), as_one_of_two(); }), "EAGER");
    EXPECT_EQ(value([&] { setenv(name, "LAZY", 1), as_one_of_two(); }), "LAZY");
}

TEST(CommandLine, BenchIsJson) {
    Program program(small("bench", {"--steps", "2", "--blocks", "2", "--warm-up", "1", "--json"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const json result = json::parse(program.output_text(), nullptr, false);
    EXPECT_EQ(result.at("block_step_ms").size(), 2u);
}

TEST(CommandLine, APacedBenchRunsABlockForEachLineOfItsInput) {
    const auto two_lines = [] {
        int ends[2];
        if (::pipe(ends) != 0 || ::write(ends[1], "\n\n", 2) != 2) ::_exit(99);
        ::close(ends[1]);
        ::dup2(ends[0], STDIN_FILENO);
    };
    Program program(small("bench", {"--steps", "2", "--blocks", "9", "--paced", "--json"}),
                    {"", two_lines});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    ASSERT_EQ(program.output().size(), 4u) << program.output_text();
    EXPECT_EQ(program.output()[0], "ready");
    const json result = json::parse(program.output()[3], nullptr, false);
    EXPECT_EQ(result.at("block_step_ms").size(), 2u);
    EXPECT_NEAR(result.at("block_step_ms")[1], std::stod(program.output()[2]),
                1e-4 * std::stod(program.output()[2]));
    EXPECT_EQ(result.at("launches_a_step"), 0);
}

TEST(CommandLine, AMissingScriptOfOperationsExitsWith3) {
    Program program({"op", "--script", "/no/such/cases.jsonl"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 3);
    EXPECT_THAT(program.errors(), HasSubstr("/no/such/cases.jsonl"));
}

TEST(CommandLine, HelpListsTheCommands) {
    Program program({"--help"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0);
    const auto expect = [&](std::string name) {
        std::replace(name.begin(), name.end(), '_', '-');
        EXPECT_THAT(program.output_text(), HasSubstr("\n  " + name + "  "));
    };
#define HALFTONE_COMMAND(name, summary) expect(#name);
#include "commands.inc"
#undef HALFTONE_COMMAND
}

TEST(CommandLine, TheOperationsPageIsWhatTheCatalogSays) {
    Program program({"ops", "--markdown"});
    program.finish();
    ASSERT_EQ(program.exit_code(), 0);
    std::ifstream file(HALFTONE_SOURCE_DIR "/engine/OPERATIONS.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(program.output_text(), page)
        << "write it anew: halftone ops --markdown > engine/OPERATIONS.md";
}

}  // namespace
}  // namespace app
