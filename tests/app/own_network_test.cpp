#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "kept_runs.h"

// A run of a network of the user's own: everything after its start reads the text in its settings.
namespace app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class OwnNetwork : public KeptRuns {
protected:
    void write(const std::string& text) const { home_.write("a.network", text); }
    std::vector<std::string> with_network(const std::string& command, const std::vector<std::string>& more = {}) const {
        std::vector<std::string> args = {command, "--set", "model.path=" + path};
        for (const char* setting : {"dataset.kind=spirals", "batch_size=32", "dataset.train_limit=640",
                                    "dataset.test_limit=128", "threads=1", "device=cpu"})
            args.insert(args.end(), {"--set", setting});
        args.insert(args.end(), more.begin(), more.end());
        return args;
    }
    std::string bytes(const fs::path& file) const {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    fs::path run(int number) {
        return nlohmann::json::parse(lines({"show", std::to_string(number), "--json"}).at(0)).at("folder").get<std::string>();
    }
    /// As expect_refused(), but it may have written something before.
    void expect_failed(const std::vector<std::string>& args, int exit_code, const std::string& sentence) {
        lines(args, exit_code);
        EXPECT_THAT(errors_, HasSubstr(sentence));
    }
    static fs::path newest_weights(const fs::path& run) {
        fs::path out;
        int newest = -1;
        for (const auto& each : fs::directory_iterator(run)) {
            const std::string name = each.path().filename().string();
            if (!name.starts_with("checkpoint-") || name.ends_with(".part")) continue;
            const int step = std::stoi(name.substr(name.find('-') + 1));
            if (step > newest) out = each.path() / "weights.safetensors";
            newest = std::max(newest, step);
        }
        return out;
    }

    const std::string path = (home_ / "a.network").string();
    const std::string text =
        "option width = 16 in 1..512 \"Width of the hidden layers\"\n"
        "network(features):\n"
        "  fc1: Linear(width)\n"
        "  ReLU\n"
        "  Dropout(0.2)\n"
        "  fc2: Linear(outputs)\n";
    void SetUp() override { write(text); }
};

TEST_F(OwnNetwork, GoesOnWithTheSameBitsAfterItsFileIsGone) {
    lines(with_network("train", {"--set", "epochs=4"}));
    lines(with_network("train", {"--set", "epochs=4", "--set", "checkpoint.every_steps=30", "--set", "checkpoint.keep=9"}));
    const fs::path whole = run(1), second = run(2);
    fs::remove(path);
    lines({"resume", "2", "--from", "30"});
    EXPECT_EQ(bytes(newest_weights(run(3))), bytes(newest_weights(whole)));
    EXPECT_EQ(bytes(newest_weights(second)), bytes(newest_weights(whole)));
    EXPECT_THAT(lines({"runs"}).at(1), HasSubstr(" a "));
}

TEST_F(OwnNetwork, IsEvaluatedUsedExportedAndReplayedWithoutItsFile) {
    lines(with_network("train", {"--set", "max_steps=20", "--set", "precision.preset=amp-fp16", "--set",
                                 "scaler.init_scale=16777216"}));
    fs::remove(path);
    lines({"eval", "1", "--json"});
    lines({"predict", "1", home_.write("rows.csv", "x1,x2\n0.5,0.25\n"), "--json"});
    lines({"export", "1", "--to", "safetensors", "-o", (home_ / "w.safetensors").string()});
    EXPECT_THAT(bytes(home_ / "w.safetensors"), HasSubstr("fc1.weight"));
    lines({"export", "1", "--to", "onnx", "-o", (home_ / "w.onnx").string()});
    lines({"export", "1", "--to", "pytorch", "-o", (home_ / "m.py").string()});
    EXPECT_EQ(bytes(home_ / "m.safetensors"), bytes(home_ / "w.safetensors"));
    lines({"export", "1", "--to", "network", "-o", (home_ / "w.network").string()});
    EXPECT_EQ(bytes(home_ / "w.network"), text);
    const std::string capsule = (home_ / "step.capsule").string();
    lines({"skips", "1", "1", "--capsule", capsule});
    EXPECT_EQ(object({"replay", capsule, "--json"}).at("identical"), true);
    lines({"xray", "1", "--json"});
}

TEST_F(OwnNetwork, AnArchiveOfItsRunHasTheText) {
    lines(with_network("train", {"--set", "max_steps=8"}));
    fs::remove(path);
    const std::string archive = (home_ / "one.halftone").string();
    lines({"export", "1", "--to", "run", "--checkpoints", "best", "-o", archive});
    lines({"import", archive});
    lines({"eval", "2", "--json"});
}

TEST_F(OwnNetwork, ASweepOverItsOptionsHasTheFilesTextFromItsStart) {
    const auto output = lines(with_network("sweep", {"--grid", "model.options.width=4,8", "--set", "max_steps=6"}));
    EXPECT_THAT(testing::PrintToString(output), testing::AllOf(HasSubstr("model.options.width=4"), HasSubstr("model.options.width=8")));
    const auto runs = lines({"runs", "--json", "model.options.width=8"});
    ASSERT_EQ(runs.size(), 1U);
    const auto config = nlohmann::json::parse(runs.front()).at("config");
    EXPECT_EQ(config.at("model").at("options").at("width"), 8);
    EXPECT_EQ(config.at("model").at("network").size(), 6U);
}

TEST_F(OwnNetwork, TheQueueHoldsTheTextThatItHadWhenItWasAdded) {
    lines({"queue", "add", "--set", "model.path=" + path, "--set", "dataset.kind=spirals", "--set", "max_steps=4",
           "--set", "device=cpu"});
    fs::remove(path);
    lines({"queue", "start"});
    const auto runs = lines({"runs", "--json"});
    ASSERT_EQ(runs.size(), 1U);
    const auto run = nlohmann::json::parse(runs.front());
    EXPECT_EQ(run.at("steps"), 4);
    EXPECT_EQ(run.at("config").at("model").at("network").at(2), "  fc1: Linear(width)");
}

TEST_F(OwnNetwork, AChangedTextInItsFolderIsRefused) {
    lines(with_network("train", {"--set", "epochs=4", "--set", "max_steps=20"}));
    const fs::path config = run(1) / "config.json";
    std::string settings = bytes(config);
    const auto at = settings.find("Dropout(0.2)");
    ASSERT_NE(at, settings.npos);
    settings[at + 10] = '3';
    fs::permissions(config, fs::perms::owner_all);
    std::ofstream(config, std::ios::binary) << settings;
    expect_refused({"resume", "1", "--set", "max_steps=30", "--schedule", "cycle"}, 3, "model.sha256: it was changed");
}

TEST_F(OwnNetwork, AnotherNetworkIsANewRunFromTheWeightsOfItsParent) {
    lines(with_network("train", {"--set", "max_steps=20"}));
    const std::string parents = newest_weights(run(1)).string();
    write(std::string(text).replace(text.find("Dropout(0.2)"), 12, "Dropout(0.1)"));
    lines({"resume", "1", "--set", "model.path=" + path});
    const auto child = nlohmann::json::parse(lines({"show", "2", "--json"}).at(0));
    EXPECT_THAT(child.dump(), HasSubstr("\"parent\":\"1\""));
    EXPECT_EQ(child.at("config").at("model").at("init_from"), parents);
    EXPECT_EQ(child.at("steps"), 20);
    const auto both = testing::PrintToString(lines({"show", "1", "2"}));
    EXPECT_THAT(both, HasSubstr("model.network:5"));
    EXPECT_THAT(both, testing::AllOf(HasSubstr("Dropout(0.2)"), HasSubstr("Dropout(0.1)")));
    EXPECT_THAT(both, testing::Not(HasSubstr("model.sha256")));
    lines({"resume", "1", "--set", "model.path=" + path, "--set", "model.new_head=true"});
    EXPECT_THAT(errors_, HasSubstr("--from start"));
    write("network(features):\n  other: Linear(outputs)\n");
    expect_failed({"resume", "1", "--set", "model.path=" + path}, 3, "fc1.weight");
    lines({"resume", "1", "--set", "model.path=" + path, "--set", "model.init_from="});
    expect_refused({"resume", "1", "--set", "model.options.width=8"}, 2, "keep it");
    expect_refused({"resume", "1", "--set", "model.options.wide=8"}, 2, "model.options.wide");
    EXPECT_THAT(errors_, testing::Not(HasSubstr("keep it")));
}

TEST_F(OwnNetwork, FaultsOfTheTextNameItsLines) {
    write("network(features):\n  fc1: Linear(4\n  fc2: Linear(outputs)\n");
    expect_refused(with_network("train"), 2, "model.network: a:2:");
    write("network(features):\n  fc1: Linear(4)\n");
    expect_failed(with_network("train"), 2, "scores need N x 2");
}

}  // namespace
}  // namespace app
