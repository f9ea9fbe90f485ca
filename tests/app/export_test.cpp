#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "spirals.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Export : public testing::Test {
protected:
    void train(const std::vector<std::string>& more = {}) {
        std::vector<std::string> settings = {"--set", "max_steps=20"};
        settings.insert(settings.end(), more.begin(), more.end());
        Program program(spirals("train", settings), {home_.str(), {}});
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
    }
    /// The lines of standard output. Standard error is in errors_.
    std::vector<std::string> run(const std::vector<std::string>& args, int exit_code = 0) {
        Program program(args, {home_.str(), [this] { fs::current_path(home_.path()); }});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        errors_ = program.errors();
        return program.output();
    }
    std::string text(const std::string& file) const {
        std::ifstream in(home_ / file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    fs::path runs() const { return home_ / "halftone" / "runs"; }

    test_support::TempFolder home_;
    std::string errors_;
};

TEST_F(Export, WritesEachFormUnderTheNumberOfTheRun) {
    train();
    for (const auto& [format, file] :
         std::vector<std::pair<std::string, std::string>>{{"safetensors", "run-1.safetensors"},
                                                          {"onnx", "run-1.onnx"},
                                                          {"pytorch", "run-1.py"},
                                                          {"network", "run-1.network"},
                                                          {"csv", "run-1.csv"},
                                                          {"json", "run-1.json"},
                                                          {"run", "run-1.halftone"}}) {
        EXPECT_THAT(run({"export", "1", "--to", format}), ElementsAre(file));
        EXPECT_TRUE(fs::is_regular_file(home_ / file)) << file;
    }
    run({"export", "1", "--to", "tensorboard", "-o", "board"});
    ASSERT_TRUE(fs::is_directory(home_ / "board"));
    EXPECT_THAT(fs::directory_iterator(home_ / "board")->path().filename().string(),
                HasSubstr("tfevents"));
    EXPECT_THAT(text("run-1.csv"), StartsWith("step,epoch"));
    run({"export", "1", "--to", "csv", "--raw", "-o", "raw.csv"});
    EXPECT_EQ(text("raw.csv"), text("run-1.csv")) << "it holds no text that a program computes";
    run({"export", "1", "--to", "json", "--raw"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--raw: json is no CSV"));
    const auto json = nlohmann::json::parse(text("run-1.json"));
    EXPECT_EQ(json.at("record").at("step").size(), 20U);
    EXPECT_THAT(text("run-1.safetensors"), HasSubstr(R"("__metadata__":{"format":"pt"})"));
}

TEST_F(Export, OfAModelTellsItsDataInTheFileAndHasTwoTypes) {
    train({"--set", "checkpoint.every_steps=10", "--set", "checkpoint.keep=5"});
    run({"export", "1", "--to", "onnx"});
    const std::string wide = text("run-1.onnx");
    EXPECT_THAT(wide, HasSubstr("run 1, step 20"));
    EXPECT_THAT(wide, HasSubstr("spirals"));
    EXPECT_THAT(wide, HasSubstr("input_normalization"));
    EXPECT_THAT(wide, HasSubstr("fc1.weight"));
    run({"export", "1", "--to", "onnx", "--dtype", "fp16", "--checkpoint", "10", "-o", "h.onnx"});
    const std::string half = text("h.onnx");
    EXPECT_THAT(half, HasSubstr("run 1, step 10"));
    EXPECT_LT(half.size(), wide.size());
}

TEST_F(Export, RefusesWhatDoesNotGoTogether) {
    train({"--set", "checkpoint.at_end=false", "--set", "checkpoint.best=false"});
    run({"export", "1", "--to", "tar"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--to: tar: not a form of export"));
    EXPECT_THAT(errors_, HasSubstr("safetensors, onnx, pytorch, network, tensorboard, csv, json, run"));
    run({"export", "1", "--to", "svg"}, 2);
    EXPECT_THAT(errors_, HasSubstr("halftone network FILE --to svg writes it from a network's text, which halftone export RUN --to network writes."));
    run({"export", "1", "--to", "csv", "--dtype", "fp16"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--dtype: csv is written as it is"));
    run({"export", "1", "--to", "onnx", "--dtype", "bf16"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--dtype: bf16: not a type of an exported model"));
    run({"export", "1", "--to", "json", "--checkpoint", "best"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--checkpoint: json holds no weights"));
    run({"export", "7", "--to", "csv"}, 2);
    EXPECT_THAT(errors_, HasSubstr("7: neither a run"));
    run({"export", "1", "--to", "onnx"}, 3);
    EXPECT_THAT(errors_, HasSubstr("the run has no checkpoint"));
    EXPECT_FALSE(fs::exists(home_ / "run-1.onnx"));
}

TEST_F(Export, OfAWholeRunIsImportedAgainAndGoesOn) {
    train();
    run({"export", "1", "--to", "run", "--checkpoints", "all", "-o", "mine.halftone"});
    const auto said = run({"import", "mine.halftone"});
    ASSERT_EQ(said.size(), 1U);
    EXPECT_THAT(said[0], HasSubstr("Imported as run 2"));
    const auto first = nlohmann::json::parse(run({"show", "1", "--json"})[0]);
    const auto second = nlohmann::json::parse(run({"show", "2", "--json"})[0]);
    EXPECT_EQ(second.at("config"), first.at("config"));
    EXPECT_EQ(second.at("test_loss"), first.at("test_loss"));
    EXPECT_EQ(text("halftone/runs/2/steps.rec"), text("halftone/runs/1/steps.rec"));
    // Its checkpoint is complete, so training can be continued.
    run({"resume", "2", "--set", "max_steps=25", "--schedule", "stretch", "--json"});
    EXPECT_EQ(nlohmann::json::parse(run({"show", "3", "--json"})[0]).at("steps"), 25);
}

TEST_F(Export, PacksNoCheckpointUnlessToldAndSaysSo) {
    train({"--set", "checkpoint.every_steps=5", "--set", "checkpoint.keep=5"});
    const auto bytes = [&](const std::vector<std::string>& choice) {
        std::vector<std::string> args{"export", "1", "--to", "run", "-o", "packed.halftone"};
        args.insert(args.end(), choice.begin(), choice.end());
        run(args);
        return text("packed.halftone").size();
    };
    const auto none = bytes({});
    EXPECT_THAT(errors_, HasSubstr("without checkpoints"));
    EXPECT_EQ(bytes({"--checkpoints", "none"}), none);
    EXPECT_THAT(errors_, testing::Not(HasSubstr("without checkpoints")));
    const auto best = bytes({"--checkpoints", "best"});
    EXPECT_GT(best, none);
    EXPECT_GT(bytes({"--checkpoints", "all"}), best);
    run({"export", "1", "--to", "run", "--checkpoints", "some"}, 2);
    EXPECT_THAT(errors_, HasSubstr("Use none, best or all."));
    run({"export", "1", "--to", "csv", "--checkpoints", "best"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--checkpoints: csv holds no checkpoints"));
}

TEST_F(Export, WritesIntoWhatIsNoRegularFileAndKeepsLinksAndModes) {
    train();
    for (const std::string format : {"csv", "json", "safetensors", "onnx", "run", "report.html"}) {
        SCOPED_TRACE(format);
        std::ofstream(home_ / "real") << "old";
        std::ofstream(home_ / "private") << "old";
        std::ofstream(home_ / "readonly") << "old";
        fs::create_symlink("real", home_ / "link");
        fs::permissions(home_ / "private", fs::perms::owner_read | fs::perms::owner_write);
        fs::permissions(home_ / "readonly", fs::perms::owner_read);
        run({"export", "1", "--to", format, "-o", "link"});
        run({"export", "1", "--to", format, "-o", "private"});
        EXPECT_TRUE(fs::is_symlink(home_ / "link"));
        EXPECT_GT(fs::file_size(home_ / "real"), 100U);
        EXPECT_EQ(fs::status(home_ / "private").permissions(),
                  fs::perms::owner_read | fs::perms::owner_write);
        Program refused({"export", "1", "--to", format, "-o", (home_ / "readonly").string()},
                        {home_.str(), {}});
        refused.finish();
        EXPECT_GT(refused.exit_code(), 0);
        EXPECT_THAT(refused.errors(), HasSubstr("the file is read-only"));
        EXPECT_EQ(fs::file_size(home_ / "readonly"), 3U);
        for (const char* name : {"real", "private", "readonly", "link"}) fs::remove(home_ / name);
    }
}

TEST_F(Export, ToStandardOutputWritesNothingElseThere) {
    train();
    const auto piped = run({"export", "1", "--to", "csv", "-o", "/dev/stdout"});
    ASSERT_FALSE(piped.empty());
    EXPECT_THAT(piped.front(), StartsWith("step,epoch"));
    EXPECT_THAT(piped.back(), testing::Not(HasSubstr("stdout")));
    EXPECT_THAT(errors_, HasSubstr("/dev/stdout"));
    run({"export", "1", "--to", "csv", "-o", "run.csv"});
    std::string all;
    for (const auto& line : piped) all += line + '\n';
    EXPECT_EQ(all, text("run.csv"));
}

TEST_F(Export, ImportsNothingButRuns) {
    std::ofstream(home_ / "text") << "no run";
    run({"import", "text"}, 3);
    EXPECT_THAT(errors_, HasSubstr("not a valid zip archive"));
    run({"import", "absent"}, 3);
    EXPECT_THAT(run({"runs"})[0], StartsWith("No runs"));
}

}  // namespace
}  // namespace app
