#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/settings/catalog.h"
#include "engine/settings/command_line.h"
#include "error_lines.h"
#include "temp_folder.h"

// The text of a network in the settings: where it comes from, what replaces it, and what is refused.
namespace engine {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char small_network[] =
    "# two layers\n"
    "option width = 16 in 1..512 \"Width of the hidden layer\"\n"
    "option act = relu of relu, gelu \"Activation\"\n"
    "network(features or image):\n"
    "  Flatten\n"
    "  fc1: Linear(width)\n"
    "  Activation(act)\n"
    "  fc2: Linear(outputs)\n";

class NetworkSettings : public testing::Test {
protected:
    ParsedConfig parse(const std::vector<std::string>& overrides, const json& document = json::object()) const {
        return parse_run_config(document.dump(), overrides);
    }
    RunConfig read(const std::vector<std::string>& overrides, const json& document = json::object()) const {
        const ParsedConfig parsed = parse(overrides, document);
        EXPECT_THAT(error_lines(parsed), IsEmpty());
        return parsed.config;
    }
    json written(const RunConfig& config) const { return json::parse(to_json(config)); }

    test_support::TempFolder folder;
    const std::string path = folder.write("small.network", std::string(small_network));
    const std::string set_path = "model.path=" + path;
};

TEST_F(NetworkSettings, APathBringsTheTextWithItsHashAndOptions) {
    const RunConfig config = read({set_path});
    EXPECT_EQ(config.model.network.all.size(), 8u);
    EXPECT_EQ(config.model.network.all.front(), "# two layers");
    EXPECT_EQ(config.model.options.at("width"), OptionValue(std::int64_t{16}));
    const json model = written(config)["model"];
    EXPECT_EQ(model["kind"], "file");
    EXPECT_EQ(model["network"].size(), 8u);
    EXPECT_EQ(model["notation"], 1);
    // sha256sum of the file
    EXPECT_EQ(model["sha256"], read_network(config.model.network)->sha256);
    EXPECT_EQ(model["sha256"].get<std::string>().size(), 64u);
}

TEST_F(NetworkSettings, LinesMayEndAsOnWindowsAndTheHashIsTheSame) {
    std::string text = "\xEF\xBB\xBF" + std::string(small_network);
    for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 2)) text.insert(at, 1, '\r');
    const std::string other = folder.write("windows.network", text);
    EXPECT_EQ(read({"model.path=" + other}).model.sha256, read({set_path}).model.sha256);
}

TEST_F(NetworkSettings, TheTextIsAllThatAReaderNeeds) {
    const std::string settings = to_json(read({set_path, "model.options.width=32"}));
    std::filesystem::remove(path);
    const ParsedConfig again = parse_run_config(settings);
    EXPECT_THAT(error_lines(again), IsEmpty());
    EXPECT_EQ(to_json(again.config), settings);
    EXPECT_EQ(again.config.model.options.at("width"), OptionValue(std::int64_t{32}));
}

TEST_F(NetworkSettings, OverridesStandInAnyOrder) {
    const RunConfig one = read({set_path, "model.options.width=32", "model.kind=file"});
    EXPECT_EQ(read({"model.options.width=32", "model.kind=file", set_path}), one);
    EXPECT_EQ(read({"model.kind=file", set_path, "model.options.width=32"}), one);
}

TEST_F(NetworkSettings, APathByOverrideReplacesTheTextAndOptionsThatTheNewOneLacks) {
    const json before = written(read({set_path, "model.options.act=gelu", "model.options.width=32"}));
    const std::string other = folder.write("other.network",
                                           "option width = 8 in 1..64 \"Width\"\n"
                                           "network(image):\n  Flatten\n  fc: Linear(width)\n  out: Linear(outputs)\n");
    const ParsedConfig parsed = parse({"model.path=" + other}, before);
    EXPECT_THAT(error_lines(parsed), IsEmpty());
    EXPECT_EQ(parsed.config.model.network.all.size(), 5u);
    EXPECT_EQ(parsed.config.model.options, (Options{{"width", std::int64_t{32}}})) << "a choice stays";
    ASSERT_EQ(parsed.notes.size(), 1u);
    EXPECT_THAT(parsed.notes.front().str(), HasSubstr("model.options.act"));
    const json usual = written(read({set_path}));
    EXPECT_EQ(read({"model.path=" + other}, usual).model.options, (Options{{"width", std::int64_t{8}}}))
        << "the default of the old text is not a choice";
}

TEST_F(NetworkSettings, ATextInAFileCountsAndANoteSaysSoIfTheFileAtItsPathDiffers) {
    const json before = written(read({set_path}));
    EXPECT_TRUE(other_text_in_file(read({}, before).model).empty());
    folder.write("small.network", std::string("network(image):\n  Flatten\n  Linear(outputs)\n"));
    const RunConfig config = read({}, before);
    EXPECT_EQ(config.model.network.all.size(), 8u);
    EXPECT_THAT(other_text_in_file(config.model).str(), HasSubstr(path));
    EXPECT_EQ(read({set_path}, before).model.network.all.size(), 3u) << "--set reads the file again";
}

TEST_F(NetworkSettings, APathAloneInAFileIsRead) {
    EXPECT_EQ(read({}, {{"model", {{"kind", "file"}, {"path", path}}}}).model, read({set_path}).model);
}

TEST_F(NetworkSettings, PathAndTextByOverrideAreRefusedTogether) {
    EXPECT_THAT(error_lines(parse({set_path, R"(model.network=["network(image):"])"})),
                Contains(HasSubstr("set model.path or model.network, not both")));
}

TEST_F(NetworkSettings, ATextByOverrideIsAnOwnNetwork) {
    const RunConfig config =
        read({R"json(model.network=["network(image):", "  Flatten", "  fc: Linear(outputs)"])json"});
    EXPECT_EQ(config.model.kind, "file");
    EXPECT_EQ(config.model.path, "");
    EXPECT_EQ(read({"model.network="}).model.kind, RunConfig{}.model.kind) << "none, as the window takes it back";
    EXPECT_EQ(model_name(config.model), "own network");
    EXPECT_EQ(model_name(read({set_path}).model), "small");
    EXPECT_EQ(model_name(RunConfig{}.model), "lenet");
}

TEST_F(NetworkSettings, AnotherTextThanTheHashIsRefused) {
    json document = written(read({set_path}));
    document["model"]["network"][4] = "  Flatten(1)";
    EXPECT_THAT(error_lines(parse({}, document)), ElementsAre(HasSubstr("model.sha256: ")));
    document["model"].erase("sha256");
    EXPECT_THAT(error_lines(parse({}, document)), IsEmpty());
}

TEST_F(NetworkSettings, ANewerNotationIsRefused) {
    json document = written(read({set_path}));
    document["model"]["notation"] = 2;
    EXPECT_THAT(error_lines(parse({}, document)), ElementsAre(HasSubstr("use a newer version of Halftone")));
    const std::string newer =
        folder.write("newer.network", "# halftone network 2\n" + std::string(small_network));
    EXPECT_THAT(error_lines(parse({"model.path=" + newer})), ElementsAre(HasSubstr("notation 2")));
}

TEST_F(NetworkSettings, FilesThatAreNoTextAreRefused) {
    const auto refused = [&](const std::string& file) {
        const auto lines = error_lines(parse({"model.path=" + file}));
        EXPECT_EQ(lines.size(), 1u) << file;
        return lines.empty() ? std::string() : lines.front();
    };
    EXPECT_THAT(refused("x.onnx"), HasSubstr("this is an ONNX model: write it as text first"));
    EXPECT_THAT(refused((folder / "none.network").string()), HasSubstr("There is no file that can be read."));
    EXPECT_THAT(refused(folder.str()), HasSubstr("There is no file that can be read."));
    const std::string huge = folder.write("huge.network", std::string(small_network));
    std::filesystem::resize_file(huge, std::uintmax_t{1} << 30);
    EXPECT_THAT(refused(huge), HasSubstr("262144")) << "what is behind the limit is not read";
    EXPECT_THAT(refused(folder.write("latin.network", std::string("# gr\xfc\xdf\nnetwork(image):\n"))), HasSubstr("UTF-8"));
    EXPECT_THAT(refused(folder.write("nul.network", std::string("a\0b", 3))), HasSubstr("UTF-8"));
    EXPECT_THAT(refused(folder.write("long.network", std::string(300'000, '#'))), HasSubstr("262144"));
    EXPECT_THAT(refused(folder.write("empty.network", std::string())), HasSubstr("The file is empty."));
    const std::string other = refused(folder.write("other.network", "secret:1:2\n"));
    EXPECT_THAT(other, HasSubstr("no line that begins with network"));
    EXPECT_THAT(other, Not(HasSubstr("secret")));
    EXPECT_THAT(error_lines(parse({"model.kind=file"})), ElementsAre(HasSubstr("choose the file of the network")));
}

TEST_F(NetworkSettings, FaultsOfTheTextComeAllAtOnceWithTheirPlaces) {
    const std::string bad = folder.write("bad.network", std::string("network(image):\n  Flatten(\n  fc: Linear(3\n"));
    const auto lines = error_lines(parse({"model.path=" + bad}));
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.front(), HasSubstr("model.network: bad:2:10: "));
}

TEST_F(NetworkSettings, OptionsOfTheTextHaveItsRangeAndWords) {
    EXPECT_THAT(error_lines(parse({set_path, "model.options.width=0"})),
                ElementsAre("model.options.width: 0: use a whole number from 1 to 512"));
    EXPECT_THAT(error_lines(parse({set_path, "model.options.act=tanh"})),
                ElementsAre(HasSubstr("use one of relu, gelu")));
    EXPECT_THAT(error_lines(parse({set_path, "model.options.widht=3"})),
                ElementsAre(HasSubstr("there is no such option of small; it has width, act")));
}

TEST_F(NetworkSettings, FieldsAreThoseOfTheText) {
    const RunConfig config = read({set_path});
    const auto width = find_field("model.options.width", config);
    ASSERT_NE(width, nullptr);
    EXPECT_EQ(width->help, "Width of the hidden layer");
    EXPECT_TRUE(width->prominent);
    EXPECT_THAT(width->kinds, Contains("file"));
    EXPECT_EQ(find_field("model.options.act", config)->choices.size(), 2u);
    EXPECT_EQ(find_field("model.options.act"), nullptr) << "no kind of the catalog has it";
    const auto all = fields(config);
    EXPECT_EQ(all.size(), fields().size() + 1) << "width is an option of other models, too";
}

TEST_F(NetworkSettings, TheDataMustHaveWhatTheTextTakes) {
    EXPECT_THAT(error_lines(parse({set_path, "dataset.kind=text-generated"})),
                ElementsAre(HasSubstr("use a network that takes tokens")));
    EXPECT_THAT(error_lines(parse({set_path, "dataset.kind=spirals"})), IsEmpty());
}

TEST_F(NetworkSettings, BlocksOfTheTextCanBeRecomputed) {
    EXPECT_THAT(error_lines(parse({set_path, "recompute=blocks"})), ElementsAre(HasSubstr("has no blocks")));
    const std::string blocks = folder.write(
        "blocks.network",
        std::string("block Two(out):\n  Linear(out)\n  ReLU\nnetwork(features):\n  a: Two(8)\n  fc: Linear(outputs)\n"));
    EXPECT_THAT(error_lines(parse({"model.path=" + blocks, "dataset.kind=spirals", "recompute=blocks"})), IsEmpty());
}

TEST_F(NetworkSettings, AnotherKindHasNoText) {
    const ParsedConfig parsed = parse({"model.kind=lenet"}, written(read({set_path})));
    EXPECT_THAT(error_lines(parsed), IsEmpty());
    EXPECT_TRUE(parsed.config.model.network.empty());
    EXPECT_THAT(parsed.notes.front().str(), HasSubstr("model.network"));
    EXPECT_FALSE(written(parsed.config)["model"].contains("network"));
    EXPECT_FALSE(written(RunConfig{})["model"].contains("path")) << "older files are written as before";
}

TEST_F(NetworkSettings, TheCommandLineNamesTheFile) {
    const RunConfig config = read({set_path, "model.options.width=32"});
    const auto overrides = to_overrides(config);
    EXPECT_THAT(overrides, ElementsAre("model.kind=file", set_path, "model.options.width=32"));
    EXPECT_EQ(read(overrides), config);
    RunConfig own = config;
    own.model.path.clear();
    EXPECT_EQ(read(to_overrides(own)), own);
}

}  // namespace
}  // namespace engine
