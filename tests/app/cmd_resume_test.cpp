#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "kept_runs.h"

namespace app {
namespace {

using testing::HasSubstr;

class Resume : public KeptRuns {
protected:
    /// A table of two numbers and a price.
    std::string table(int rows, int shift = 0) const {
        std::string text = "a,b,y\n";
        for (int i = shift; i < rows + shift; ++i)
            text += std::to_string(i % 7) + ".5," + std::to_string(i % 5) + ".25," +
                    std::to_string(i % 9) + ".125\n";
        return home_.write("t.csv", text);
    }
    void train_table(const std::string& command = "train",
                     const std::vector<std::string>& more = {}) {
        std::vector<std::string> args = {command, "--json"};
        for (const std::string& setting :
             {std::string("dataset.kind=csv"), "dataset.path=" + home_.str() + "/t.csv",
              std::string("model.kind=mlp"), std::string("epochs=2"), std::string("threads=1")})
            args.insert(args.end(), {"--set", setting});
        args.insert(args.end(), more.begin(), more.end());
        lines(args, exit_code_);
    }
    int exit_code_ = 0;
};

TEST_F(Resume, OfAFinishedRunIsWrongUse) {
    train({"--set", "max_steps=6"});
    expect_refused({"resume", "1"}, 2, "has completed all of its 6 steps");
    EXPECT_THAT(errors_, HasSubstr("--schedule cycle"));
    expect_refused({"resume", "1", "--set", "max_steps=5"}, 2, "use at least 7");
    expect_refused({"resume", "1", "--set", "epochs=1", "--schedule", "up"}, 2,
                   "use constant, cycle or stretch");
}

TEST_F(Resume, OfALongerRunAsksHowTheScheduleGoesOn) {
    train({"--set", "max_steps=6"});
    expect_refused({"resume", "1", "--set", "max_steps=12"}, 2, "the learning rate jumps from ");
    EXPECT_THAT(errors_, HasSubstr("--schedule"));
    EXPECT_EQ(lines({"runs", "--json"}).size(), 1U);
    lines({"resume", "1", "--json", "--set", "max_steps=12", "--schedule", "cycle"});
    EXPECT_EQ(lines({"runs", "--json"}).size(), 2U);
}

TEST_F(Resume, FromTheStartIsANewRun) {
    train({"--set", "max_steps=6"});
    lines({"resume", "1", "--json", "--from", "start"});
    const auto run = nlohmann::json::parse(lines({"show", "2", "--json"}).at(0));
    EXPECT_EQ(run.at("steps"), 6);
    EXPECT_EQ(lines({"runs", "--json"}).size(), 2U);
}

TEST_F(Resume, OfChangedDataIsRefusedWithoutAnAnswer) {
    table(60);
    train_table();
    const std::vector<std::string> longer = {"resume",   "1",          "--set",
                                             "epochs=4", "--schedule", "stretch"};
    table(60, 1);
    lines({"eval", "1"});
    EXPECT_THAT(errors_, HasSubstr("The data have changed since run 1 read them: 1 file changed"));
    EXPECT_EQ(object({"eval", "1", "--json"}).at("notes").size(), 1U);
    expect_refused(longer, 3, "1 file changed (t.csv)");
    expect_refused({"xray", "1", "2", "--json"}, 3, "1 file changed (t.csv)");
    expect_refused({"microscope", "1", "2", "--shadow"}, 3, "1 file changed (t.csv)");
    expect_refused({"microscope", "1", "2", "--dump", home_.str() + "/dump"}, 3,
                   "1 file changed (t.csv)");
    expect_refused({"skips", "1", "2"}, 3, "1 file changed (t.csv)");
    expect_refused({"search-precision", "1", "2"}, 3, "1 file changed (t.csv)");
    auto accepting = longer;
    accepting.emplace_back("--accept-data");
    lines(accepting);

    table(50);
    expect_refused({"eval", "1"}, 3, "40 training, 0 validation and 10 test samples");
    EXPECT_EQ(object({"eval", "1", "--json", "--accept-data"}).at("samples"), 10);
    expect_refused(longer, 3, "run 1 had 48, 0 and 12");
    // Commands that need records alone go on working.
    lines({"show", "1"});
    lines({"skips", "1"});
    lines({"export", "1", "--to", "csv", "-o", home_.str() + "/r.csv"});
}

TEST_F(Resume, ASweepThatGoesOnComparesItsData) {
    table(60);
    const std::string points =
        home_.write("points", R"({"optimizer.lr": 0.1})"
                              "\n"
                              R"({"optimizer.lr": 0.01, "epochs": 1000000})");
    const std::vector<std::string> sweep = {"sweep",
                                            "--list",
                                            points,
                                            "--set",
                                            "dataset.kind=csv",
                                            "--set",
                                            "dataset.path=" + home_.str() + "/t.csv",
                                            "--set",
                                            "model.kind=mlp",
                                            "--set",
                                            "epochs=2",
                                            "--set",
                                            "threads=1"};
    auto watched = sweep;
    watched.emplace_back("--json");
    Program begun(watched, {home_.str(), {}});
    std::string line;
    while (begun.read_line(line) && line.find(R"("event":"step","run":"2")") == std::string::npos) {
    }
    begun.signal(SIGTERM);
    begun.finish();
    table(60, 1);
    Program refused(sweep, {home_.str(), {}});
    refused.finish();
    EXPECT_EQ(refused.exit_code(), 3);
    EXPECT_THAT(refused.errors(), HasSubstr("since run 2 read them: 1 file changed (t.csv)"));
    EXPECT_THAT(refused.errors(), HasSubstr("halftone sweep --accept-data"));
}

TEST_F(Resume, ATrainingWhoseLastCheckpointIsNotOnTheDiskFails) {
    const auto small_files = [] {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{600'000, 600'000};
        setrlimit(RLIMIT_FSIZE, &limit);
    };
    const std::vector<std::string> wide = {"--set", "max_steps=3", "--set",
                                           "model.options.hidden=[400,400]"};
    Program program(spirals("train", wide), {home_.str(), small_files});
    program.finish();
    EXPECT_EQ(program.exit_code(), 5);
    EXPECT_THAT(program.errors(), HasSubstr("The checkpoint of step 3 is not on the disk"));
    ASSERT_EQ(events_of(program, "done").size(), 1U);
    EXPECT_EQ(events_of(program, "done")[0].at("unsaved"), 3);
    auto none = wide;
    none.insert(none.end(), {"--set", "checkpoint.at_end=false", "--set", "checkpoint.best=false"});
    Program unasked(spirals("train", none), {home_.str(), small_files});
    unasked.finish();
    EXPECT_EQ(unasked.exit_code(), 0) << unasked.errors() << "no checkpoint was asked for";
}

}  // namespace
}  // namespace app
