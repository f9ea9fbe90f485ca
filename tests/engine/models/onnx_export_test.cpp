#include "models/onnx_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/network/network.h"
#include "io/onnx/onnx_graph.h"
#include "io/onnx/read_onnx.h"
#include "models/model_descriptor.h"
#include "models/network_model.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/pool/pool.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/view.h"
#include "support/expectations.h"

// tests/peer/onnx_models.py and network_onnx.py compare the graphs in onnxruntime.
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
    const ModelShape shape = shape_for(*model_descriptor(config));
    const auto model = zero_model(config, shape);
    return ReadOnnx(onnx_model(onnx_graph(*model, shape, dtype), {}));
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
        make_model(config, shape_for(*model_descriptor(config)), std::nullopt, Device{});
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
        if (kind.from_text) continue;  // file_test.cpp
        if (kind.output == ModelOutput::detections) continue;  // refused
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

/// A model of one function.
template <Tensor (*function)(const Tensor&)>
class FunctionModel final : public SimpleModel {
public:
    FunctionModel() : SimpleModel(1, Device{}) {}
    Tensor forward(const Tensor& x) override { return function(x); }
};

template <Tensor (*function)(const Tensor&)>
OnnxGraph exported_function() {
    FunctionModel<function> model;
    return onnx_graph(model, {{{.name = "x", .shape = {4, 6, 6}}}, 4}, DType::f32);
}

Tensor fire(const Tensor& x) {
    const Tensor h = max_pool2d(relu(x), {.kernel = {2, 2}, .ceil_mode = true});
    return softmax(flatten(cat({h, mul(sigmoid(h), 0.5)}, 1), 1), 1);
}

TEST(OnnxExport, NeedsNothingOfANewModelButItsForwardPass) {
    const ReadOnnx read(onnx_model(exported_function<fire>(), {}));
    EXPECT_EQ(read.faults(), "");
    for (const char* type : {"Relu", "MaxPool", "Sigmoid", "Mul", "Concat", "Flatten", "Softmax"})
        EXPECT_EQ(read.count(type), 1) << type;
}

Tensor by_size(const Tensor& x) { return mul(x, 1.0 / static_cast<double>(x.size(0))); }
Tensor by_branch(const Tensor& x) { return x.size(0) == 2 ? relu(x) : sigmoid(x); }

TEST(OnnxExport, OfAModelWithoutNodesIsRefused) {
    EXPECT_THAT(message_of(ErrorCode::settings, [] { exported_function<log1p>(); }),
                HasSubstr("This model cannot be exported to ONNX: there are no nodes for log1p."));
    for (auto* differs : {exported_function<by_size>, exported_function<by_branch>})
        EXPECT_THAT(message_of(ErrorCode::settings, [&] { differs(); }),
                    HasSubstr("with inputs of other sizes it computes something else."));
}

ReadOnnx written_network(const std::string& text, const ModelShape& shape, DType dtype = DType::f32) {
    const auto model = make_network_model(text, {}, shape, 1, Device{});
    return ReadOnnx(onnx_model(onnx_graph(*model, shape, dtype), {}));
}

ModelShape one_input(FieldKind kind, const Shape& shape) { return {{{.name = name(kind), .kind = kind, .shape = shape}}, 4}; }

TEST(OnnxExport, OfTemplatesIsWellFormed) {
    for (const DType dtype : {DType::f32, DType::f16}) {
        for (const char* name : {"lenet", "lstm", "unet", "autoencoder"}) {
            const ReadOnnx read = written_network(network_template(name), one_input(FieldKind::image, {1, 28, 28}), dtype);
            EXPECT_EQ(read.faults(), "") << name;
        }
        EXPECT_EQ(written_network(network_template("siamese"), one_input(FieldKind::features, {8}), dtype).faults(), "");
    }
}

TEST(OnnxExport, RecurrentLayersOfWrittenNetworksBeginWithZerosForAnyBatch) {
    const ReadOnnx read = written_network("network(image):\n  Flatten(2)\n  r: GRU(5, num_layers=2, bidirectional=true)\n  Select(1, -1)\n  fc: Linear(outputs)\n",
                                          one_input(FieldKind::image, {3, 2, 3}));
    EXPECT_EQ(read.faults(), "");
    EXPECT_EQ(read.count("GRU"), 2);
    EXPECT_EQ(read.count("Expand"), 0);
}

TEST(OnnxExport, NormsOfWrittenNetworksAreWellFormed) {
    for (const DType dtype : {DType::f32, DType::f16}) {
        const ReadOnnx read = written_network("network(image):\n  GroupNorm(2)\n  InstanceNorm2d\n  InstanceNorm2d(affine=true)\n  RMSNorm\n"
                                              "  AdaptiveAvgPool2d([2, 3])\n  Upsample(2)\n  Pad([1, 2])\n  Flip(2)\n  Slice(3, 0, -1, step=2)\n  Flatten\n  fc: Linear(outputs)\n",
                                              one_input(FieldKind::image, {4, 5, 5}), dtype);
        EXPECT_EQ(read.faults(), "");
        EXPECT_EQ(read.count("InstanceNormalization"), 3);
        EXPECT_EQ(read.count("Resize"), 1);
    }
}

TEST(OnnxExport, ParametersMayBeCalledAsTheGraphsOwnConstants) {
    const ModelShape shape = one_input(FieldKind::image, {1, 12, 12});
    const auto names = [&](const std::string& label) {
        const ReadOnnx read = written_network("network(image):\n  \"" + label + "\": Parameter([5, 5])\n  AdaptiveAvgPool2d(5) from image\n  Add from above, \"" + label +
                                                  "\"\n  Clamp(-1, 1)\n  Flatten\n  fc: Linear(outputs)\n", shape);
        EXPECT_EQ(read.faults(), "") << label;
        const auto own = read.initializers.find(label);
        EXPECT_TRUE(own != read.initializers.end() && own->second.dims == (std::vector<std::int64_t>{5, 5})) << label;
        return read.initializers.size();
    };
    const std::size_t usual = names("p");
    for (const char* label : {"constant.1", "constant.2", "number.1", "number.-1", "integers.0", "MatMul_0"}) EXPECT_EQ(names(label), usual) << label;
    EXPECT_THAT(message_of(ErrorCode::settings, [&] { names("output"); }), HasSubstr("output is the name of an input or output there"));
}

TEST(OnnxExport, HoldsItsProperties) {
    const ModelShape shape = shape_for(*find_kind(models(), "mlp"));
    ModelConfig config;
    config.kind = "mlp";
    const auto model = make_model(config, shape, 1, Device{});
    const ReadOnnx read(
        onnx_model(onnx_graph(*model, shape, DType::f32), {{"precision", "amp-fp16"}}));
    EXPECT_EQ(read.faults(), "");
    EXPECT_EQ(read.metadata.at("precision"), "amp-fp16");
}

}  // namespace
}  // namespace engine
