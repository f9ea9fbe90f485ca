#include "models/onnx_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "io/onnx/onnx_graph.h"
#include "io/onnx/read_onnx.h"
#include "support/expectations.h"
#include "temp_folder.h"

// tests/peer/onnx_models.py compares the graphs in onnxruntime.
namespace engine {
namespace {

using test::ReadOnnx;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ModelShape shape_for(const ModelDescriptor& kind) {
    if (kind.takes(FieldKind::tokens))
        return {{{.name = "tokens",
                  .kind = FieldKind::tokens,
                  .dtype = DType::i64,
                  .shape = {35},
                  .cardinality = 11,
                  .windowed = true}},
                11};
    if (kind.output == ModelOutput::click_scores)
        return {{{.name = "dense", .kind = FieldKind::features, .shape = {13}},
                 {.name = "ids",
                  .kind = FieldKind::indices,
                  .dtype = DType::i64,
                  .shape = {4},
                  .cardinality = 9}},
                1};
    if (kind.output == ModelOutput::generated)
        return {{{.name = "latent", .shape = {100}}}, 0, {3, 32, 32}};
    return {{{.name = "image", .kind = FieldKind::image, .shape = {3, 32, 32}}}, 5, {3, 32, 32}};
}

/// The weights are 0: drawing those of the deep networks would take longer than the rest of the
/// test.
std::unique_ptr<Model> zero_model(const ModelConfig& config, const ModelShape& shape) {
    auto model = make_model(config, shape, std::nullopt, Device{});
    for (const Parameter& parameter : model->parameters()) {
        Tensor weight = parameter.tensor;
        const std::vector<float> zeros(static_cast<std::size_t>(weight.numel()), 0.f);
        weight.copy_from_host(zeros.data());
    }
    return model;
}

ReadOnnx exported(const ModelConfig& config, DType dtype) {
    const ModelDescriptor& kind = model_descriptor(config.kind);
    const ModelShape shape = shape_for(kind);
    const auto model = zero_model(config, shape);
    return ReadOnnx(onnx_model(onnx_graph(*model, shape, kind.output, dtype), {}));
}

ReadOnnx exported(const std::string& kind, DType dtype) {
    ModelConfig config;
    config.kind = kind;
    return exported(config, dtype);
}

/// The parameters and buffers that the graph does not contain in their own shape, except counters
/// and the network that a generator learns against.
std::vector<std::string> absent(const ModelConfig& config, const ReadOnnx& read) {
    const auto model =
        make_model(config, shape_for(model_descriptor(config.kind)), std::nullopt, Device{});
    std::vector<std::string> out;
    for (const auto* list : {&model->parameters(), &model->buffers()})
        for (const Parameter& entry : *list) {
            if (entry.name.starts_with("discriminator.")) continue;
            if (entry.name.ends_with("num_batches_tracked")) continue;
            const auto found = read.initializers.find(entry.name);
            const Shape& shape = entry.tensor.shape();
            if (found == read.initializers.end() ||
                found->second.dims != std::vector<std::int64_t>(shape.begin(), shape.end()))
                out.push_back(entry.name);
        }
    return out;
}

class OnnxExport : public testing::TestWithParam<DType> {};

INSTANTIATE_TEST_SUITE_P(Types, OnnxExport, testing::Values(DType::f32, DType::f16),
                         [](const auto& type) { return std::string(name(type.param)); });

TEST_P(OnnxExport, OfEveryModelIsWellFormedUnderPyTorchsNames) {
    for (const ModelDescriptor& kind : models()) {
        SCOPED_TRACE(kind.kind);
        ModelConfig config;
        config.kind = kind.kind;
        const ReadOnnx read = exported(config, GetParam());
        EXPECT_EQ(read.faults(), "");
        EXPECT_THAT(absent(config, read), IsEmpty());
        EXPECT_TRUE(read.outputs.contains("output"));
        const std::string input = shape_for(kind).inputs.front().name;
        EXPECT_THAT(read.inputs.at(input).dims.front(), testing::AnyOf("batch", "streams"));
    }
}

TEST_P(OnnxExport, OfEachCellCarriesItsState) {
    for (const char* cell : {"lstm", "gru", "rnn-tanh", "rnn-relu"})
        for (const bool tied : {false, true}) {
            SCOPED_TRACE(std::string(cell) + (tied ? ", tied" : ""));
            ModelConfig config;
            config.kind = "rnn-lm";
            config.options = {{"cell", std::string(cell)}, {"tied", tied}};
            const ReadOnnx read = exported(config, GetParam());
            EXPECT_EQ(read.faults(), "");
            EXPECT_THAT(absent(config, read), IsEmpty());
            EXPECT_EQ(read.initializers.contains("decoder.weight"), !tied);
            const std::size_t states = std::string(cell) == "lstm" ? 2 : 1;
            ASSERT_EQ(read.inputs.size(), 1 + states);
            ASSERT_EQ(read.outputs.size(), 1 + states);
            EXPECT_THAT(read.inputs.at("tokens").dims, ElementsAre("streams", "window"));
            EXPECT_THAT(read.inputs.at("state_0").dims, ElementsAre("2", "streams", "200"));
            EXPECT_THAT(read.outputs.at("next_state_0").dims, ElementsAre("2", "streams", "200"));
            EXPECT_THAT(read.outputs.at("output").dims, ElementsAre("tokens", "11"));
        }
}

TEST(OnnxExport, OfResNetHasTheNodesOfItsBlocksUnderTheirModules) {
    const ReadOnnx read = exported("resnet18", DType::f16);
    EXPECT_EQ(read.count("Conv"), 20);
    EXPECT_EQ(read.count("BatchNormalization"), 20);
    EXPECT_EQ(read.count("Add"), 8);
    EXPECT_EQ(read.count("Relu"), 17);
    EXPECT_EQ(read.initializers.at("layer1.0.bn1.running_var").type, 1) << "not fp32";
    EXPECT_EQ(read.initializers.at("layer1.0.conv1.weight").type, 10);
    std::set<std::string> names;
    for (const auto& node : read.nodes) names.insert(node.name.substr(0, node.name.find('/')));
    EXPECT_TRUE(names.contains("layer2.0.downsample.0"));
}

class NoGraph final : public SimpleModel {
public:
    NoGraph() : SimpleModel(1, Device{}) {}
    Tensor forward(const Tensor& x) override { return x; }
};

TEST(OnnxExport, OfAModelWithoutAGraphIsRefused) {
    const ModelShape shape = shape_for(model_descriptor("mlp"));
    EXPECT_THAT(message_of(ErrorCode::settings,
                           [&] { onnx_graph(NoGraph(), shape, ModelOutput::scores, DType::f32); }),
                HasSubstr("This model cannot be exported to ONNX."));
}

TEST(OnnxExport, IsWrittenToAFile) {
    const ModelDescriptor& kind = model_descriptor("mlp");
    const ModelShape shape = shape_for(kind);
    ModelConfig config;
    config.kind = "mlp";
    const auto model = make_model(config, shape, 1, Device{});
    const test_support::TempFolder folder;
    write_onnx(folder / "a.onnx", onnx_graph(*model, shape, kind.output, DType::f32),
               {{"precision", "amp-fp16"}});
    std::ifstream in(folder / "a.onnx", std::ios::binary);
    const ReadOnnx read(std::string((std::istreambuf_iterator<char>(in)), {}));
    EXPECT_EQ(read.faults(), "");
    EXPECT_EQ(read.metadata.at("precision"), "amp-fp16");
}

}  // namespace
}  // namespace engine
