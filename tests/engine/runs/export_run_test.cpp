#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "data/dataset.h"
#include "data/input_guide.h"
#include "engine/io/work_scope.h"
#include "engine/network/network.h"
#include "engine/runs/export.h"
#include "io/onnx/read_onnx.h"
#include "io/safetensors/tensor_file.h"
#include "models/model.h"
#include "models/network_model.h"
#include "record/step_record.h"
#include "runs/checkpoint.h"
#include "support/expectations.h"
#include "support/small_tokenizer.h"
#include "tasks/task_descriptor.h"
#include "temp_folder.h"

namespace engine {
namespace {

using nlohmann::json;
using test::ReadOnnx;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ExportRun : public testing::Test {
protected:
    /// A run with these settings and with checkpoints at these steps. Each checkpoint's weights are
    /// drawn with its step as the seed.
    std::filesystem::path run_of(const RunConfig& config, const std::vector<std::int64_t>& steps) {
        const RunConfig whole = completed(config);
        const auto run = store_.create(whole);
        const auto data = open_dataset(whole.dataset, 1).train.data;
        InputGuide guide{.schema = data->schema()};
        data->guide(guide);
        write_input_guide(run.folder, guide);
        const ModelShape shape = make_task(whole, guide.schema)->model_shape();
        for (const std::int64_t step : steps) {
            const auto model = make_model(whole.model, shape, step, Device{});
            CheckpointContent content;
            content.weights = saved_state(*model);
            content.state = std::make_shared<json>(json{{"step", step}, {"best", step == 1}});
            write_checkpoint(run.folder, content);
        }
        return run.folder;
    }
    std::filesystem::path glyphs(const std::vector<std::int64_t>& steps) {
        RunConfig config;
        config.dataset.kind = "glyphs";
        config.dataset.train_limit = 20;
        config.dataset.test_limit = 20;
        return run_of(config, steps);
    }
    ReadOnnx onnx(const std::filesystem::path& run, const ExportOptions& options = {}) {
        find_export("onnx")->write(run, dir_ / "model.onnx", options);
        std::ifstream in(dir_ / "model.onnx", std::ios::binary);
        return ReadOnnx(std::string((std::istreambuf_iterator<char>(in)), {}));
    }

    static std::string content(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const test_support::TempFolder dir_;
    RunStore store_{dir_ / "runs"};
};

TEST_F(ExportRun, TakesTheWeightsOfTheCheckpointThatIsNamed) {
    const auto run = glyphs({1, 2, 3});
    for (const auto& [which, step] :
         {std::pair<const char*, int>{"last", 3}, {"best", 1}, {"2", 2}}) {
        SCOPED_TRACE(which);
        const auto file = dir_ / "weights.safetensors";
        find_export("safetensors")->write(run, file, {.checkpoint = which});
        const auto wanted =
            load_tensors(run / ("checkpoint-" + std::to_string(step)) / "weights.safetensors");
        const auto got = load_tensors(file);
        ASSERT_THAT(got, SizeIs(wanted.size()));
        for (const auto& [name, tensor] : wanted)
            EXPECT_EQ(got.at(name).values(), tensor.values()) << name;
        const ReadOnnx model = onnx(run, {.checkpoint = which});
        EXPECT_EQ(model.metadata.at("source"), "run 1, step " + std::to_string(step));
        const Tensor& bias = wanted.at("fc3.bias");
        EXPECT_EQ(model.initializers.at("fc3.bias").data,
                  std::string(bias.data_as<char>(), bias.bytes()));
    }
}

TEST_F(ExportRun, WritesTheNetworkForPyTorchWithItsWeightsBeside) {
    const auto run = glyphs({1, 2});
    find_export("pytorch")->write(run, dir_ / "model.py", {.checkpoint = "1"});
    EXPECT_THAT(content(dir_ / "model.py"), HasSubstr("self.fc3 = nn.Linear(84, 20)"));
    const auto wanted = load_tensors(run / "checkpoint-1" / "weights.safetensors");
    const TensorMap weights = load_tensors(dir_ / "model.safetensors");
    EXPECT_EQ(weights.at("fc3.bias").values(), wanted.at("fc3.bias").values());
    std::set<std::string> names, checked;
    for (const auto& each : weights) names.insert(each.first);
    for (const NetworkParameter& each : check_network(network_template("lenet"), {.inputs = {{"image", {1, 28, 28}, {}}}, .outputs = 20}).parameters) checked.insert(each.name);
    EXPECT_EQ(names, checked);
}

TEST_F(ExportRun, AWrittenNetworkHasTheInitialWeightsOfItsSeed) {
    const std::string text = "network(features):\n  fc: Linear(outputs)\n";
    const NetworkData data{.inputs = {{"features", {5}, {}}}, .outputs = 3};
    const auto weight = [&](std::int64_t seed) { return ReadOnnx(network_to_onnx(text, data, seed)).initializers.at("fc.weight").data; };
    const auto model = make_network_model(text, {}, {{{.name = "features", .kind = FieldKind::features, .shape = {5}}}, 3}, 7, Device{});
    const Tensor& drawn = model->parameters().front().tensor;
    EXPECT_EQ(weight(7), std::string(drawn.data_as<char>(), drawn.bytes()));
    EXPECT_NE(weight(7), weight(8));
}

TEST_F(ExportRun, AWrittenNetworkOfFewPositionsHasAWindowThatFits) {
    const NetworkData data{.inputs = {{"tokens", {}, {9}}}, .outputs = 9};
    const std::string text = "network(tokens) gives token scores:\n  e: Embedding(4)\n  p: Positions(4)\n  Add from e, p\n  fc: Linear(outputs)\n";
    EXPECT_TRUE(ReadOnnx(network_to_onnx(text, data, 1)).initializers.contains("p.weight"));
}

TEST_F(ExportRun, WritesTheTextOfABuiltInModelWithTheOptionsOfTheRun) {
    RunConfig config;
    config.dataset.kind = "glyphs";
    config.dataset.train_limit = config.dataset.test_limit = 20;
    config.model.kind = "mlp";
    config.model.options = {{"hidden", std::vector<std::int64_t>{5, 6}}};
    find_export("network")->write(run_of(config, {1}), dir_ / "mlp.network", {});
    EXPECT_THAT(content(dir_ / "mlp.network"), HasSubstr("option hidden = [5, 6] in 1..65536 "));
    config.model.kind = "bert";
    config.model.options = {};
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { find_export("network")->write(store_.create(completed(config)).folder, dir_ / "b.network", {}); }),
                HasSubstr("bert has no text"));
}

TEST_F(ExportRun, PacksTheCheckpointsThatAreChosen) {
    const auto run = glyphs({1, 2, 3});
    const auto packed = [&](PackedCheckpoints which) {
        find_export("run")->write(run, dir_ / "run.halftone", {.checkpoints = which});
        const auto made = store_.import_run(dir_ / "run.halftone");
        std::vector<std::int64_t> steps;
        for (const auto& each : list_checkpoints(made.folder)) steps.push_back(each.step);
        return steps;
    };
    EXPECT_THAT(packed(PackedCheckpoints::none), IsEmpty());
    EXPECT_THAT(packed(PackedCheckpoints::best), testing::ElementsAre(1));
    EXPECT_THAT(packed(PackedCheckpoints::all), testing::ElementsAre(3))
        << "of a run that goes on the newest one";
}

TEST_F(ExportRun, TellsInOnnxWhatGoesInAndComesOut) {
    const ReadOnnx model = onnx(glyphs({1}));
    EXPECT_EQ(model.faults(), "");
    EXPECT_EQ(model.metadata.at("data_set"), "glyphs");
    EXPECT_EQ(model.metadata.at("model"), "lenet");
    EXPECT_EQ(model.metadata.at("precision"), "amp-fp16");
    EXPECT_THAT(json::parse(model.metadata.at("classes")), SizeIs(20));
    const auto normalization = json::parse(model.metadata.at("input_normalization"));
    EXPECT_THAT(normalization.at("mean"), SizeIs(1));
    EXPECT_GT(normalization.at("deviation").at(0).get<double>(), 0);
    EXPECT_EQ(model.inputs.at("image").dims, (std::vector<std::string>{"batch", "1", "28", "28"}));
}

TEST_F(ExportRun, OfARegressionTellsTheUnitsOfItsTargets) {
    std::string rows = "a,b,price\n";
    for (int i = 0; i < 40; ++i)
        rows += std::to_string(i) + "," + std::to_string(i * i % 7) + "," + std::to_string(3 * i) +
                "\n";
    RunConfig config;
    config.dataset.kind = "csv";
    config.dataset.path = {dir_.write("prices.csv", rows)};
    config.dataset.options["target"] = std::string("price");
    config.model.kind = "mlp";
    const auto run = run_of(config, {1});
    std::filesystem::remove(dir_ / "prices.csv");  // an export does not need it
    const ReadOnnx model = onnx(run);
    EXPECT_EQ(json::parse(model.metadata.at("inputs")), json({"a", "b"}));
    EXPECT_EQ(json::parse(model.metadata.at("targets")), json({"price"}));
    EXPECT_THAT(json::parse(model.metadata.at("output_normalization")).at("mean"), SizeIs(1));
    EXPECT_FALSE(model.metadata.contains("classes"));
}

TEST_F(ExportRun, HasTiedWeightsUnderBothNames) {
    RunConfig config;
    config.dataset.kind = "text-generated";
    config.model.kind = "rnn-lm";
    config.model.options = {
        {"tied", true}, {"embedding", std::int64_t{8}}, {"hidden", std::int64_t{8}}};
    const auto run = run_of(config, {1});
    find_export("safetensors")->write(run, dir_ / "weights.safetensors", {});
    const TensorMap got = load_tensors(dir_ / "weights.safetensors");
    EXPECT_EQ(got.at("decoder.weight").values(), got.at("encoder.weight").values());
    EXPECT_THAT(got, SizeIs(1 + 2 * 4 + 2));
    const auto words = json::parse(onnx(run).metadata.at("vocabulary"));
    EXPECT_EQ(static_cast<std::int64_t>(words.size()), got.at("decoder.bias").numel());
}

TEST_F(ExportRun, HasTheTokenizerOfATextBesideOrInside) {
    RunConfig config;
    config.dataset.kind = "text-tokens";
    std::string text;
    for (int i = 0; i < 50; ++i) text += "the dog saw a cat.\n";
    config.dataset.path = {dir_.write("t.txt", text)};
    config.dataset.options["tokenizer"] = dir_.write("t.json", test::small_tokenizer());
    config.model.kind = "bert";
    config.model.options = {
        {"layers", std::int64_t{1}}, {"width", std::int64_t{8}}, {"heads", std::int64_t{2}}};
    const auto run = run_of(config, {1});
    find_export("safetensors")->write(run, dir_ / "model.safetensors", {});
    std::ifstream beside(dir_ / "model.tokenizer.json");
    EXPECT_EQ(std::string((std::istreambuf_iterator<char>(beside)), {}), test::small_tokenizer());
    const TensorMap weights = load_tensors(dir_ / "model.safetensors");
    EXPECT_EQ(weights.at("bert.embeddings.word_embeddings.weight").size(0), 12)
        << "its own [MASK] is enough";
    EXPECT_EQ(onnx(run).metadata.at("tokenizer"), test::small_tokenizer());
}

TEST_F(ExportRun, WithoutACheckpointHasNoWeightsAndLeavesNoFile) {
    const auto run = glyphs({});
    for (const char* format : {"safetensors", "onnx"})
        EXPECT_THAT(message_of(ErrorCode::data,
                               [&] { find_export(format)->write(run, dir_ / "file", {}); }),
                    HasSubstr("the run has no checkpoint"));
    EXPECT_FALSE(std::filesystem::exists(dir_ / "file"));
}

TEST_F(ExportRun, FormsHaveNamesOfTheirOwn) {
    std::set<std::string> names, endings;
    for (const ExportInfo& info : export_formats()) {
        EXPECT_EQ(find_export(info.name), &info);
        EXPECT_TRUE(info.ending.starts_with("."));
        names.insert(info.name);
        endings.insert(info.ending);
    }
    EXPECT_THAT(names, SizeIs(export_formats().size()));
    EXPECT_THAT(endings, SizeIs(export_formats().size()));
    EXPECT_EQ(find_export("tar"), nullptr);
}

TEST_F(ExportRun, AFileIsNamedAfterTheTitleWhereThatMakesAName) {
    RunSummary run;
    run.folder = "/runs/12";
    const ExportInfo& form = *find_export("onnx");
    EXPECT_EQ(export_file_name(run, form), "run-12.onnx");
    run.title = "first try";
    EXPECT_EQ(export_file_name(run, form), "first try.onnx");
    for (const char* title : {"../up", "a/b", ".hidden", "-o", "a\nb", "c:d"}) {
        run.title = title;
        EXPECT_EQ(export_file_name(run, form), "run-12.onnx") << title;
    }
}

TEST_F(ExportRun, ReportsItsShareAndLeavesNothingWhenItIsGivenUp) {
    const auto run = glyphs({1});
    auto record = StepRecordWriter::create(run);
    for (int step = 1; step <= 3; ++step) {
        StepRecord row{};
        row.step = step;
        record.append(row);
    }
    const auto entries = [&] {
        return std::distance(std::filesystem::directory_iterator(dir_.path()), {});
    };
    for (const ExportInfo& format : export_formats()) {
        const auto before = entries();
        SCOPED_TRACE(format.name);
        const auto file = dir_ / ("out" + format.ending);
        {
            const WorkScope scope([](double) { throw Error(ErrorCode::state, msg("Cancelled.")); });
            EXPECT_EQ(message_of(ErrorCode::state, [&] { format.write(run, file, {}); }),
                      "Cancelled.");
        }
        EXPECT_EQ(entries(), before) << "nothing was written";
        std::vector<double> shares;
        const WorkScope scope([&](double share) { shares.push_back(share); });
        format.write(run, file, {});
        ASSERT_FALSE(shares.empty());
        EXPECT_TRUE(std::ranges::is_sorted(shares));
        EXPECT_GT(shares.back(), 0.9);
    }
}

}  // namespace
}  // namespace engine
