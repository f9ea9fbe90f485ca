#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// The smallest run: points and an MLP.
std::vector<std::string> small(const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> args = {command,
                                     "--set",
                                     "dataset.kind=spirals",
                                     "--set",
                                     "model.kind=mlp",
                                     "--set",
                                     "batch_size=32",
                                     "--set",
                                     "dataset.train_limit=640",
                                     "--set",
                                     "dataset.test_limit=128"};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

std::vector<json> objects_of(const std::vector<std::string>& lines) {
    std::vector<json> out;
    for (const auto& line : lines) {
        out.push_back(json::parse(line, nullptr, false));
        EXPECT_TRUE(out.back().is_object()) << line;
        // The result of a comparison belongs to several.
        const bool result = out.back().value("event", "") == "comparison";
        EXPECT_TRUE(result || out.back().contains("run")) << line;
    }
    return out;
}

std::vector<json> events_of(const std::vector<std::string>& lines, const std::string& kind) {
    std::vector<json> out;
    for (auto& object : objects_of(lines)) {
        if (object.at("event") == kind) out.push_back(object);
    }
    return out;
}

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
        auto program = std::make_unique<Program>(args, Program::Options{home.str(), [&] {
            std::filesystem::current_path(home.path());
        }});
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

/// The value of the environment variable that cuBLAS will read, as the program prints it.
std::string cublas_workspaces(const std::function<void()>& before_start) {
    Program program({"doctor", "--json"}, {.data_home = "", .before_start = before_start});
    program.finish();
    const json report = json::parse(program.output_text(), nullptr, false);
    return report.at("cuda").at("cublas_workspace_config");
}

TEST(CommandLine, CublasHasOneWorkspaceForEachStreamUnlessTheUserSaysOtherwise) {
    const char* name = "CUBLAS_WORKSPACE_CONFIG";
    EXPECT_EQ(cublas_workspaces([&] { unsetenv(name); }), ":4096:2");
    EXPECT_EQ(cublas_workspaces([&] { setenv(name, ":16:8", 1); }), ":16:8");
}

TEST(CommandLine, TrainWritesOneEventALineAndNothingElse) {
    Program program(small("train", {"--json", "--set", "max_steps=5"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto all = objects_of(program.output());
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().at("event"), "start");
    EXPECT_EQ(all.back().at("event"), "done");
    const auto steps = events_of(program.output(), "step");
    ASSERT_EQ(steps.size(), 5u);
    for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].at("step"), i + 1);
    EXPECT_EQ(steps[0].at("samples"), 32);
    EXPECT_TRUE(steps[0].at("found_inf").is_boolean());
    const json& done = all.back();
    EXPECT_EQ(done.at("reason"), "max_steps");
    EXPECT_EQ(done.at("updates").get<int>() + done.at("skipped").get<int>(), 5);
    EXPECT_EQ(all.front().at("config").at("batch_size"), 32);
    EXPECT_TRUE(fs::exists(program.runs() / "1" / "steps.rec"));
}

TEST(CommandLine, OutKeepsTheRunInThatFolder) {
    const test_support::TempFolder folder;
    const fs::path out = folder / "run";
    Program program(small("train", {"--set", "max_steps=3", "--out", out.string()}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_TRUE(fs::exists(out / "config.json"));
    EXPECT_TRUE(fs::exists(out / "events.jsonl"));
    EXPECT_TRUE(fs::exists(out / "steps.rec"));
    Program again(small("train", {"--set", "max_steps=3", "--out", out.string()}));
    again.finish();
    EXPECT_EQ(again.exit_code(), 2);
    EXPECT_THAT(again.errors(), HasSubstr("is not empty"));
}

TEST(CommandLine, CtrlCStopsAfterTheStepSavesAndExitsWith0) {
    Program program(small("train", {"--json", "--set", "epochs=1000000"}));
    std::string line;
    while (program.read_line(line) && line.find("\"step\":20,") == std::string::npos) {
    }
    program.signal(SIGINT);
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto done = events_of(program.output(), "done");
    ASSERT_EQ(done.size(), 1u);
    EXPECT_EQ(done[0].at("reason"), "stopped");
    EXPECT_EQ(done[0].at("steps"), events_of(program.output(), "step").size());
    EXPECT_TRUE(fs::exists(program.runs() / "1" / "steps.rec"));
}

TEST(CommandLine, AClosedOutputStopsTheRunAndSavesIt) {
    Program program(small("train", {"--json", "--set", "epochs=1000000"}));
    std::string line;
    program.read_line(line);
    program.close_output();
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    std::ifstream events(program.runs() / "1" / "events.jsonl");
    const std::string text((std::istreambuf_iterator<char>(events)), {});
    EXPECT_THAT(text, HasSubstr("\"reason\":\"stopped\""));
}

TEST(CommandLine, CompareRunsEachPrecisionOnTheSameDataAndEndsWithATable) {
    Program program(small("compare", {"--precision", "fp32,amp-bf16", "--set", "max_steps=20"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const auto& lines = program.output();
    EXPECT_THAT(lines, Contains(StartsWith("precision ")));
    EXPECT_THAT(lines, Contains(StartsWith("fp32 ")));
    EXPECT_THAT(lines, Contains(StartsWith("amp-bf16 ")));
    EXPECT_THAT(lines, Contains(StartsWith("amp-bf16 against fp32: ")));
}

TEST(CommandLine, CompareTakesThePrecisionsOfTheFileUnlessOthersAreGiven) {
    const test_support::TempFolder folder;
    std::ofstream(folder / "c.json") << R"({"compare": {"precisions": ["amp-bf16", "fp32"]}})";
    const std::string file = (folder / "c.json").string();
    Program own(small("compare", {file, "--set", "max_steps=2"}));
    own.finish();
    EXPECT_EQ(own.exit_code(), 0) << own.errors();
    EXPECT_THAT(own.output(), Contains(StartsWith("fp32 against amp-bf16: ")));
    Program given(small("compare", {file, "--precision", "fp32", "--set", "max_steps=2"}));
    given.finish();
    EXPECT_THAT(given.output(), Not(Contains(StartsWith("amp-bf16 "))));
    Program train(small("train", {file, "--set", "max_steps=2"}));
    train.finish();
    EXPECT_EQ(train.exit_code(), 0) << train.errors();
}

TEST(CommandLine, APrecisionNamedTwiceHasAFolderForEachRun) {
    const test_support::TempFolder folder;
    Program program(small(
        "compare", {"--precision", "fp32,fp32", "--set", "max_steps=3", "--out", folder.str()}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    for (const std::string name : {"fp32", "fp32-2"})
        EXPECT_TRUE(fs::exists(folder / name / "steps.rec")) << name;
}

TEST(CommandLine, CompareMixesItsRunsInOneStream) {
    Program program(small("compare", {"--precision", "fp32,amp-fp16", "--seeds", "2", "--json",
                                      "--set", "max_steps=6"}));
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_EQ(events_of(program.output(), "done").size(), 4u);
    std::map<std::string, double> first_losses;
    for (const auto& step : events_of(program.output(), "step")) {
        first_losses.try_emplace(step.at("run").get<std::string>(), step.at("loss").get<double>());
    }
    ASSERT_EQ(first_losses.size(), 4u);
    // Same weights and batch: runs of one seed begin with the same loss up to rounding.
    EXPECT_NEAR(first_losses.at("1"), first_losses.at("2"), 0.01);
    EXPECT_NEAR(first_losses.at("3"), first_losses.at("4"), 0.01);
}

TEST(CommandLine, AHomeThatCannotBeWrittenIsReplacedWithOneWarning) {
    Program program(small("train", {"--json", "--set", "max_steps=2"}), {"/proc/halftone", {}});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_THAT(program.errors(), HasSubstr("/proc/halftone"));
    EXPECT_EQ(events_of(program.output(), "done").size(), 1u);
    const auto start = events_of(program.output(), "start");
    ASSERT_EQ(start.size(), 1u);
    fs::remove_all(fs::path(start[0].at("folder").get<std::string>()).parent_path());
}

TEST(CommandLine, AFullDiskEndsTheRunWithASentence) {
    const auto limit_files = [] {
        // Less than the end of the record's second chunk (235 kB), and more than the journal in which
        // the index is made (about 222 kB).
        const rlimit limit{229'000, 229'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    };
    Program program(small("train", {"--set", "epochs=1000"}), {"", limit_files});
    program.finish();
    EXPECT_EQ(program.exit_code(), 5);
    EXPECT_THAT(program.errors(), HasSubstr("the disk is full"));
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
