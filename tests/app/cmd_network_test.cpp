#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(NetworkCommand, PrintsTheLayersOfATemplate) {
    Program printed({"network", "--template", "lenet"});
    printed.finish();
    EXPECT_EQ(printed.exit_code(), 0);
    test_support::TempFolder folder;
    std::ofstream(folder / "a.network") << printed.output_text();
    Program checked({"network", (folder / "a.network").string(), "--input", "image=1x28x28", "--json"});
    checked.finish();
    EXPECT_EQ(checked.exit_code(), 0) << checked.errors();
    const json network = json::parse(checked.output_text());
    EXPECT_EQ(network.at("parameter_count"), 44'426);
    EXPECT_EQ(network.at("layers").at(0).at("layer"), "Conv2d(6, 5)");
    EXPECT_EQ(network.at("parameters").at(0).at("name"), "conv1.weight");
    EXPECT_TRUE(network.at("usable"));
}

TEST(NetworkCommand, PredictsTypes) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "network(image):\n  conv: Conv2d(4, 3)\n  Flatten\n  fc: Linear(outputs)\n  Softmax(1)\n";
    Program usual({"network", file, "--precision", "amp-fp16", "--json"});
    usual.finish();
    EXPECT_EQ(usual.exit_code(), 0) << usual.errors();
    const json layers = json::parse(usual.output_text()).at("layers");
    EXPECT_EQ(layers.at(0).at("type"), "f16");
    EXPECT_EQ(layers.at(3).at("operations").at(0).at("rule"), "f32_dtype");
    EXPECT_EQ(layers.at(0).at("operations").at(0).at("rule"), "low");
    Program forced({"network", file, "--set", "precision.preset=amp-fp16", "--set", "dataset.kind=glyphs", "--force", "conv=bf16", "--json"});
    forced.finish();
    EXPECT_EQ(forced.exit_code(), 0) << forced.errors();
    const json conv = json::parse(forced.output_text()).at("layers").at(0);
    EXPECT_EQ(conv.at("type"), "bf16");
    EXPECT_EQ(conv.at("operations").at(0).at("key"), "conv");
    Program plain({"network", file, "--precision", "fp32"});
    plain.finish();
    EXPECT_THAT(plain.output_text(), testing::Not(HasSubstr("f16")));
    for (const auto& wrong : std::vector<std::vector<std::string>>{{"--force", "conv9=fp32"}, {"--force", "conv=fp8"}, {"--precision", "fp3"}}) {
        std::vector<std::string> words{"network", file};
        words.insert(words.end(), wrong.begin(), wrong.end());
        Program refused(words);
        refused.finish();
        EXPECT_EQ(refused.exit_code(), 2) << wrong.back();
        EXPECT_THAT(refused.errors(), HasSubstr("precision."));
    }
}

TEST(NetworkCommand, WritesATextWithTheNumbersOfOptions) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "option width = 4 in 1..9\nnetwork(features):\n  fc1: Linear(2 * width)\n  fc2: Linear(outputs)\n";
    Program program({"network", file, "--option", "width=3", "--to", "network"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_EQ(program.output_text(), "network(features):\n  fc1: Linear(6)\n  fc2: Linear(outputs)\n");
}

TEST(NetworkCommand, SaysWhatAnOnnxModelBecame) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string(), model = (folder / "a.onnx").string(), text = (folder / "b.network").string();
    std::ofstream(file) << "network(image):\n  conv: Conv2d(4, 3)\n  ReLU\n  Flatten\n  fc: Linear(outputs)\n";
    Program written({"network", file, "--input", "image=1x8x8", "--outputs", "5", "--to", "onnx", "-o", model});
    written.finish();
    ASSERT_EQ(written.exit_code(), 0) << written.errors();
    Program read({"network", model, "--json"});
    read.finish();
    ASSERT_EQ(read.exit_code(), 0) << read.errors();
    const json found = json::parse(read.output_text());
    EXPECT_EQ(found.at("inputs").at(0).at("sizes"), json({1, 8, 8}));
    EXPECT_EQ(found.at("outputs"), 5);
    EXPECT_EQ(found.at("tensors").size(), 4);
    EXPECT_EQ(found.at("report").at(0).at("kind"), "advice");
    EXPECT_EQ(found.at("report").back().at("kind"), "data");
    bool advised = false;
    for (const json& remark : found.at("report")) advised = advised || remark.value("copy", "").find("torch.onnx.export") != std::string::npos;
    EXPECT_TRUE(advised);
    Program made({"network", model, "--to", "network", "-o", text});
    made.finish();
    EXPECT_EQ(made.exit_code(), 0) << made.errors();
    Program again({"network", text, "--input", "image=1x8x8", "--outputs", "5", "--json"});
    again.finish();
    EXPECT_EQ(json::parse(again.output_text()).at("parameter_count"), 4 * 9 + 4 + 4 * 36 * 5 + 5);
    Program without({"train", "--set", "model.path=" + model});
    without.finish();
    EXPECT_EQ(without.exit_code(), 2);
    EXPECT_THAT(without.errors(), HasSubstr("--to network -o"));
}

TEST(NetworkCommand, WritesOnnxWithInitialWeights) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string(), model = (folder / "a.onnx").string();
    std::ofstream(file) << "network(features):\n  fc1: Linear(7)\n  Softsign\n  fc2: Linear(outputs)\n";
    Program program({"network", file, "--to", "onnx", "-o", model});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    std::ifstream in(model, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    for (const char* part : {"features", "fc1.weight", "Softsign", "Gemm"}) EXPECT_THAT(bytes, HasSubstr(part));
    const auto with_seed = [&](const char* seed) {
        Program drawn({"network", file, "--set", "dataset.kind=spirals", "--set", seed, "--to", "onnx"});
        drawn.finish();
        EXPECT_EQ(drawn.exit_code(), 0) << drawn.errors();
        return drawn.output_text();
    };
    EXPECT_EQ(with_seed("seed=7"), with_seed("seed=7"));
    EXPECT_NE(with_seed("seed=7"), with_seed("seed=8"));
}

TEST(NetworkCommand, DoesNotWriteOverItsOwnFile) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string(), text = "network(image):\n  Flatten\n  fc: Linear(outputs)\n";
    std::ofstream(file) << text;
    Program program({"network", file, "--to", "svg", "-o", file});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr("the network's own file"));
    std::ifstream in(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
    Program picture({"network", file, "--lying"});
    picture.finish();
    EXPECT_EQ(picture.exit_code(), 2);
    EXPECT_THAT(picture.errors(), HasSubstr("--to svg"));
}

TEST(NetworkCommand, WritesFaultsWithTheirPlaces) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "network(image):\n  Flatten\n  Dense(3)\n  Linear(outputs) from in if wrong\n";
    Program program({"network", file});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.errors(), HasSubstr(file + ":3:3: Dense: there is no such layer. Did you mean Linear?"));
    EXPECT_THAT(program.errors(), HasSubstr(file + ":4:30: wrong: there is no such value"));
}

TEST(NetworkCommand, NamesWhatItsFiguresAreFor) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "network(image):\n  Flatten\n  fc: Linear(outputs)\n";
    Program plain({"network", file});
    plain.finish();
    EXPECT_THAT(plain.output_text(), HasSubstr("\nfor image 3 x 224 x 224 (not set), 10 outputs (not set)\na step in amp-fp16 on a batch of "));
    Program sized({"network", file, "--input", "image=1x8x8", "--precision", "fp32"});
    sized.finish();
    EXPECT_THAT(sized.output_text(), HasSubstr("\nfor image 1 x 8 x 8, 10 outputs (not set)\na step in fp32 on a batch of "));
    Program data({"network", file, "--set", "dataset.kind=glyphs", "--set", "batch_size=16"});
    data.finish();
    EXPECT_THAT(data.output_text(), HasSubstr("\nfor image 1 x 28 x 28, 20 outputs of the data set glyphs\na step in "));
    EXPECT_THAT(data.output_text(), HasSubstr(" on a batch of 16 keeps "));
}

TEST(NetworkCommand, ATextWithAFaultHasNoFiguresOfMemory) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "network(image):\n  Flatten\n  fc: Linear(8)\n  Dense(3)\n";
    Program program({"network", file});
    program.finish();
    EXPECT_EQ(program.exit_code(), 2);
    EXPECT_THAT(program.output_text(), HasSubstr("Linear(8)"));
    EXPECT_THAT(program.output_text(), testing::Not(HasSubstr("0 B")));
}

TEST(NetworkCommand, TakesSizesAndOptions) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "option hidden = [8]\nnetwork(features):\n  repeat h in hidden: Linear(h)\n  Linear(outputs)\n";
    Program program({"network", file, "--input", "features=5", "--outputs", "2", "--option", "hidden=[3,4]", "--json"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    EXPECT_EQ(json::parse(program.output_text()).at("parameter_count"), 5 * 3 + 3 + 3 * 4 + 4 + 4 * 2 + 2);
    for (const char* wrong : {"hiden=[3]", "hidden=[18446744073709551615]", "hidden"}) {
        Program refused({"network", file, "--option", wrong});
        refused.finish();
        EXPECT_EQ(refused.exit_code(), 2) << wrong;
    }
    Program unknown({"network", file, "--option", "hiden=[3]"});
    unknown.finish();
    EXPECT_THAT(unknown.errors(), HasSubstr("the text has no such option. Did you mean hidden?"));
    Program twice({"network", file, "--option", "hidden=[3]", "--option", "hidden=[4]"});
    twice.finish();
    EXPECT_EQ(twice.exit_code(), 2);
    EXPECT_THAT(twice.errors(), HasSubstr("hidden is given twice"));
    for (const char* wrong : {"image=3x", "image=3x2", "sound=3", "features=0"}) {
        Program refused({"network", file, "--input", wrong});
        refused.finish();
        EXPECT_EQ(refused.exit_code(), 2) << wrong;
    }
}

TEST(NetworkCommand, WritesPyTorch) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string(), out = (folder / "model.py").string();
    std::ofstream(file) << "network(features):\n  fc: Linear(outputs)\n";
    Program written({"network", file, "--input", "features=5", "--to", "pytorch", "-o", out});
    written.finish();
    EXPECT_EQ(written.exit_code(), 0) << written.errors();
    std::ifstream made(out);
    const std::string python((std::istreambuf_iterator<char>(made)), {});
    EXPECT_THAT(python, HasSubstr("        self.fc = nn.Linear(5, 10)\n"));
    Program printed({"network", file, "--input", "features=5", "--to", "pytorch"});
    printed.finish();
    EXPECT_EQ(printed.output_text(), python);
    Program refused({"network", file, "--to", "keras"});
    refused.finish();
    EXPECT_EQ(refused.exit_code(), 2);
    EXPECT_THAT(refused.errors(), HasSubstr("the forms are"));
    std::ofstream(file) << "network(features):\n  Linear(8\n";
    Program faulty({"network", file, "--to", "pytorch"});
    faulty.finish();
    EXPECT_EQ(faulty.exit_code(), 2);
    EXPECT_EQ(faulty.output_text(), "");
}

TEST(NetworkCommand, TakesTheDataAndOptionsOfSettings) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "option width = 8 in 1..64\nnetwork(features or image):\n  Flatten\n  Linear(width)\n  Linear(outputs)\n";
    Program program({"network", file, "--set", "dataset.kind=glyphs", "--set", "model.options.width=16", "--json"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
    const json network = json::parse(program.output_text());
    EXPECT_EQ(network.at("layers").at(0).at("shape"), "N x 784");
    EXPECT_EQ(network.at("layers").at(1).at("shape"), "N x 16");
    EXPECT_EQ(network.at("shape"), "N x 20");
    Program overridden({"network", file, "--set", "dataset.kind=glyphs", "--set", "model.options.width=16", "--option", "width=4", "--json"});
    overridden.finish();
    EXPECT_EQ(overridden.exit_code(), 0) << overridden.errors();
    EXPECT_EQ(json::parse(overridden.output_text()).at("layers").at(1).at("shape"), "N x 4");
    Program refused({"network", file, "--set", "model.options.width=65"});
    refused.finish();
    EXPECT_EQ(refused.exit_code(), 2);
    EXPECT_THAT(refused.errors(), HasSubstr("model.options.width: 65: use a whole number from 1 to 64"));
    std::ofstream(file) << "network(image):\n  Flatten(\n";
    Program faulty({"network", file, "--set", "dataset.kind=glyphs"});
    faulty.finish();
    EXPECT_THAT(faulty.errors(), HasSubstr(file + ":2:"));
}

TEST(NetworkCommand, WritesAPictureAndJson) {
    test_support::TempFolder folder;
    const std::string file = (folder / "a.network").string();
    std::ofstream(file) << "block Two():\n  Linear(4)\n  ReLU\nnetwork(features):\n  Two\n  Linear(outputs)\n";
    Program closed({"network", file, "--to", "svg"}), open({"network", file, "--to", "svg", "--depth", "1", "--lying"});
    for (Program* each : {&closed, &open}) {
        each->finish();
        EXPECT_EQ(each->exit_code(), 0) << each->errors();
    }
    EXPECT_THAT(closed.output_text(), testing::Not(HasSubstr("ReLU")));
    EXPECT_THAT(open.output_text(), HasSubstr("ReLU"));
    EXPECT_THAT(open.output_text(), HasSubstr("rotate(-90)"));
    Program listed({"network", file, "--to", "json"});
    listed.finish();
    EXPECT_EQ(json::parse(listed.output_text()).at("layers").at(2).at("inputs"), json({1}));
    Program refused({"network", file, "-o", (folder / "b").string()});
    refused.finish();
    EXPECT_EQ(refused.exit_code(), 2);
}

TEST(NetworkCommand, ListsTheKindsOfLayers) {
    Program program({"network", "--kinds", "--json"});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0);
    EXPECT_GE(json::parse(program.output_text()).size(), 90u);
    Program nothing({"network"});
    nothing.finish();
    EXPECT_EQ(nothing.exit_code(), 2);
}

}  // namespace
}  // namespace app
