#include "engine/models/network_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "instruments/xray/op_trace.h"
#include "network_twin.h"
#include "support/device_support.h"
#include "tasks/task_descriptor.h"
#include "tensor/cast.h"

// The types of each layer and template are predicted as the X-ray sees them.
namespace engine::test {
namespace {

using testing::ElementsAreArray;
using testing::HasSubstr;

const char* const presets[] = {"fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16"};

Tensor filled(const FieldSpec& field) {
    Shape shape{4};
    if (field.kind == FieldKind::tokens) shape.push_back(6);
    for (const std::int64_t size : field.shape) shape.push_back(size);
    if (field.dtype != DType::i64) return made_pictures(shape);
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>((i * 7 + 3) % field.cardinality));
    return Tensor::of(values, shape, DType::i64, Device{});
}

/// One line an operation of the forward pass.
template <typename Op>
std::string line(const Op& op, const std::string& type, const std::string& result) {
    return op.module + ' ' + op.op + ' ' + type + " to " + result + ' ' + op.rule + ' ' + op.key;
}

/// The type that an operation wrote; a cast is predicted by what it is made for.
std::string written_type(const XrayOp& op) {
    const std::string type = op.outputs.empty() || op.op == cast_op.name ? std::string() : op.outputs.front().dtype;
    return !op.compute_dtype.empty() && type.find('f') != type.npos ? type : std::string();
}

std::vector<std::string> seen(const std::string& text, const ModelShape& shape, const Options& options, const PrecisionConfig& settings) {
    const ModuleNames modules;
    const auto model = written_model(text, shape, options);
    model->modules.assign(modules.names().begin(), modules.names().end());
    const RecipeSettings recipes{.quantize = {.head = true, .convolutions = true}};
    MixedPrecision precision(resolve(settings), ScalerConfig{}, *model, Device{}, nullptr, recipes);
    precision.attach_low_copies(*model);
    StepRandom random(1, Tensor::zeros({}, DType::i64, Device{}));
    random.begin(0);
    model->random = &random;
    TensorList inputs;
    for (const FieldSpec& field : shape.inputs) {
        const Tensor input = filled(field);
        const bool casts = precision.casts().inputs && is_floating(input.dtype());
        inputs.push_back(casts ? to(input, *precision.casts().inputs) : input);
    }
    const RunConfig config = small_run("mlp", "fp32");
    const auto task = make_task(config, dataset_descriptor(config.dataset.kind).schema(config.dataset));
    OpTrace trace(Device{}, std::make_shared<MemoryAccounting>());
    const StepView step{.step = 1, .task = *task, .model = *model, .precision = precision, .optimizers = {}};
    trace.begin(step);
    precision.run([&] { return model->forward(inputs); });
    trace.end(step);
    const QuantizedLayers* const layers = precision.quantized();
    EXPECT_TRUE(layers == nullptr || !layers->met().empty());
    std::vector<std::string> out;
    for (const XrayOp& op : trace.take()) out.push_back(line(op, op.compute_dtype, written_type(op)));
    return out;
}

std::vector<std::string> predicted(const std::string& text, const ModelShape& shape, const Options& options, const PrecisionConfig& settings) {
    std::vector<std::string> out;
    for (const PredictedType& op : predict_types(text, network_data(shape, options), settings)) out.push_back(line(op, op.type, op.op == cast_op.name ? std::string() : op.result));
    return out;
}

void expect_as_seen(const std::string& text, const ModelShape& shape, const Options& options, const ForcedTypes& forced) {
    for (const char* preset : presets) {
        const PrecisionConfig settings{.preset = preset, .force = forced};
        EXPECT_THAT(predicted(text, shape, options, settings), ElementsAreArray(seen(text, shape, options, settings))) << preset << '\n' << text;
    }
}

/// Inputs of each kind; the scores are those of features.
const ModelShape all_inputs{{{.name = "features", .kind = FieldKind::features, .shape = {6}},
                             {.name = "image", .kind = FieldKind::image, .shape = {3, 8, 8}},
                             {.name = "tokens", .kind = FieldKind::tokens, .dtype = DType::i64, .shape = {}, .cardinality = 7},
                             {.name = "indices", .kind = FieldKind::indices, .dtype = DType::i64, .shape = {3}, .cardinality = 7}},
                            4};

/// Each kind of layer but Buffer, which needs a file, on values of 16 bits where there is a convolution or product before it.
const char* const bodies[] = {
    "x = Flatten(2) from image\nc: Conv1d(4, 3)\nt: ConvTranspose1d(4, 3)\nMaxPool1d(2)\nAvgPool1d(2)\nLPPool1d(2, 2)",
    "x = Flatten(2) from image\nc: Conv1d(4, 3)\na = AdaptiveAvgPool1d(2) from c\nb = AdaptiveMaxPool1d(2) from c\nd = Dropout1d(0.2) from c\nbn: BatchNorm1d from c",
    "c: Conv2d(4, 3, padding_mode=reflect, padding=1) from image\nd: Conv2d(4, 3, padding_mode=replicate, padding=1)\nConvTranspose2d(4, 3, bias=false)\nBatchNorm2d(affine=false)\nBatchNorm2d",
    "u = Unsqueeze(2) from image\nc: Conv3d(4, [1, 3, 3])\nt: ConvTranspose3d(4, [1, 3, 3])\nbn: BatchNorm3d\nDropout3d(0.2)\na = MaxPool3d([1, 2, 2]) from c\nb = AvgPool3d([1, 2, 2]) from c\nf = LPPool3d(2, [1, 2, 2]) from c\nd = AdaptiveAvgPool3d([1, 2, 2]) from c\ne = AdaptiveMaxPool3d([1, 2, 2]) from c",
    "c: Conv2d(4, 3) from image\nn: LayerNorm\nm: LayerNorm(dims=3) from c\nr: RMSNorm from c\ng: GroupNorm(2) from c\ni: InstanceNorm2d from c\nj: InstanceNorm2d(affine=true) from c\np: PReLU from c",
    "c: Conv2d(4, 3) from image\nReLU\nGELU\nGELU(approximate=tanh)\nSiLU\nSigmoid\nTanh\nLeakyReLU\nELU\nSELU\nCELU\nHardswish\nHardsigmoid\nReLU6\nMish\nSoftsign\nLogSigmoid\nActivation(elu)\nIdentity\nx = Softplus from c\ny = Softmax(1) from c\nz = LogSoftmax(1) from c",
    "c: Conv2d(4, 3) from image\nMaxPool2d(2)\nb = AvgPool2d(2) from c\nd = AdaptiveAvgPool2d(2) from c\ne = AdaptiveMaxPool2d(2) from c\nf = LPPool2d(2, 2) from c\nDropout(0.5)\nDropout2d(0.5)\nDropPath(0.5)\nDropout(0)",
    "c: Conv2d(4, 3) from image\nFlatten\nFlatten\nUnflatten(1, [4, 36])\nReshape(-1, 12)\nPermute(0, 2, 1)\nTranspose(1, 2)\nUnsqueeze(1)\nSqueeze(1)\nSelect(1, 0)\nSlice(1, 0, 8, step=2)\nSplit(1, 1, 2)\nFlip(1)\nRoll(1, 1)",
    "c: Conv2d(4, 3, padding=1) from image\na = Upsample(2) from c\nb = Upsample(2, mode=bilinear) from c\nd = Upsample(2, mode=bicubic) from c\ne = PixelShuffle(2) from c\nf = PixelUnshuffle(2) from c\ng = Pad(1) from c\nh = Pad(1, mode=reflect) from c\ni = Pad([1, 0], mode=replicate) from image",
    "t: EmbeddingTables(4) from indices\nb: EmbeddingBag(4) from indices",
    "e: Embedding(4) from tokens\np: Positions(9)\nAdd from e, p\nr: RNN(5, num_layers=2, dropout=0.5)\nx = GELU from r.hidden\ng: GRU(4, bidirectional=true) from e\ny = GELU from g.hidden\nl: LSTM(5, carry=true) from e\nz = GELU from l.cell",
    "e: Embedding(4) from tokens\nm: MultiheadAttention(2, causal=true)\nn: MultiheadAttention(2, dropout=0.3) from e, m, e\nl: Linear(4) from e\nr = Attention(2) from l\ns = Attention(2) from l, e, l\nq = Rotary from e\nt = Rotary from l",
    "c: Conv2d(4, 3) from image\nx = Flatten(2)\nk: Parameter([3, 1, 4])\nm: MultiheadAttention(3, mask=k) from x\nn: MultiheadAttention(3, mask=k) from x, x, x\nr = Attention(3, mask=k) from m\ny = Where from x, m, r\nz = Constant(2)\nw = Where from z, x, z\nt = Unsqueeze(-1) from tokens\ne: Embedding(4) from tokens\nv = Where from t, e, z",
    "p: Parameter([1, 6])\nAdd from features, p\nk: Constant(3)\nMul from above, k\nl: Linear(6) from features\nMul from l, k\nq: Parameter([])\nAdd from k, q",
    "l: Linear(6) from features\nScale(2)\nAbs\nSquare\nSqrt\nClamp(0.1, 0.9)\nx = Exp from l\nAbs\nLog",
    "c: Conv2d(4, 3) from image\na = Mean([2, 3]) from c\nb = Sum(1) from c\nd = Max([1, 2]) from c\ne = Normalize(1) from c\nf = CosineSimilarity from c, c",
    "l: Linear(6) from features\na = Sub from l, features\nb = Div from l, features\nd = Maximum from l, features, l\ne = Minimum from l, l\nf = Concat from l, features\ng = Stack(1) from l, features\np: Parameter([1, 6])\nh = Concat from l, p",
    "c: Conv2d(3, 3, padding=1) from image\na = MatMul from c, c\nb = MatMul from c, image",
    "c: Conv2d(4, 3) from image\nBatchNorm2d\nReLU\nd: Conv2d(4, 3, padding=1)\nbn: BatchNorm2d\ne: Conv2d(4, 3, padding=1) from d\nbn2: BatchNorm2d\nAdd from bn, bn2\nReLU",
    "c: Conv2d(3, 3, padding=1) from image\nbn: BatchNorm2d\nAdd from bn, image\nReLU",
    "a: Linear(5) from features\nReLU\nb: Linear(5)\nReLU\nd: Linear(6)\nAdd from d, features\nLayerNorm\nd2: Linear(6)\nReLU\nGELU",
};

std::string with_scores(const std::string& body) { return written("network(features, image, tokens, indices)", body + "\nscores: Linear(outputs) from features"); }

TEST(NetworkTypes, EachKindOfLayerIsAsTheXraySeesIt) {
    std::string all;
    for (const char* body : bodies) {
        all += '\n' + std::string(body);
        expect_as_seen(with_scores(body), all_inputs, {}, {});
    }
    for (const LayerKindInfo& kind : network_layer_kinds()) {
        if (kind.name == "Buffer") continue;
        EXPECT_THAT(all, testing::ContainsRegex("[\n =]" + kind.name + "([(\n ]|$)")) << kind.name;
    }
}

TEST(NetworkTypes, ForcedTypesAreAsTheXraySeesThem) {
    for (const char* body : bodies) {
        const std::string text = with_scores(body);
        for (const char* op : {"linear", "conv2d", "batch_norm", "add", "mul", "gelu", "embedding", "maximum", "minimum", "clamp"})
            expect_as_seen(text, all_inputs, {}, {{op, ForcedType::fp16}});
        expect_as_seen(text, all_inputs, {}, {{"scores", ForcedType::bf16}});
        expect_as_seen(text, all_inputs, {}, {{"scores:linear", ForcedType::fp32}});
        // All layers of the body in a forced container.
        std::string inside = "box: from features\n";
        for (std::size_t from = 0, to = 0; from < std::string_view(body).size(); from = to + 1) {
            to = std::min(std::string_view(body).find('\n', from), std::string_view(body).size());
            inside += "  " + std::string(body).substr(from, to - from) + '\n';
        }
        expect_as_seen(with_scores(inside), all_inputs, {}, {{"box", ForcedType::bf16}});
        expect_as_seen(text, all_inputs, {}, {{"softmax", ForcedType::bf16}, {"layer_norm", ForcedType::fp16}, {"lstm", ForcedType::fp16},
                                              {"scaled_dot_product_attention", ForcedType::fp32}, {"batch_norm_relu", ForcedType::bf16}});
    }
}

/// Presets with recipes. Codes are the operands of a product, not its types.
std::vector<std::string> recipe_presets() {
    std::vector<std::string> out;
    for (const PrecisionDescriptor& each : precisions())
        if (each.settings.has_recipe()) out.push_back(each.kind);
    return out;
}

TEST(NetworkTypes, RecipesAreAsTheXraySeesThem) {
    const auto multiplies = [](const std::string& body) {
        return body.find("Linear") != body.npos || body.find("Conv2d") != body.npos || body.find("Attention") != body.npos;
    };
    for (const std::string& preset : recipe_presets())
        for (const std::string body : bodies) {
            if (!multiplies(body)) continue;
            const PrecisionConfig settings{.preset = preset};
            const std::string text = with_scores(body);
            EXPECT_THAT(predicted(text, all_inputs, {}, settings), ElementsAreArray(seen(text, all_inputs, {}, settings))) << preset << '\n' << text;
        }
}

struct Template {
    ModelShape shape;
    Options options{};
};

/// Small inputs and widths for a template.
Template small_template(const std::string& name) {
    if (name == "mlp" || name == "siamese") return {features(6, 4)};
    if (name == "lstm") return {pictures({1, 8, 8}, 4)};
    if (name == "unet" || name == "autoencoder") return {{.inputs = pictures({1, 16, 16}, 0).inputs, .output = {1, 16, 16}}};
    if (name == "clicks")
        return {{{{.name = "numbers", .kind = FieldKind::features, .shape = {5}}, {.name = "ids", .kind = FieldKind::indices, .dtype = DType::i64, .shape = {3}, .cardinality = 7}}, 1}};
    if (name == "vit") return {pictures({1, 16, 16}, 4), {{"depth", std::int64_t{2}}, {"width", std::int64_t{24}}, {"dropout", 0.1}}};
    if (name.starts_with("resnet")) return {pictures({3, 8, 8}, 4), {{"width", std::int64_t{8}}, {"stem", std::string("cifar")}}};
    if (name.starts_with("resnext") || name == "mobilenetv2") return {pictures({3, 8, 8}, 4), {{"stem", std::string("cifar")}}};
    return {pictures({name == "lenet" ? 1 : 3, 32, 32}, 4)};
}

TEST(NetworkTypes, EachTemplateIsAsTheXraySeesIt) {
    for (const std::string& name : network_templates()) {
        if (name == "vgg11") continue;  // half a gigabyte of weights, for layers that others have
        if (name.ends_with("101") || name == "resnet152") continue;  // more of the blocks of resnet50 and resnext50
        const Template small = small_template(name);
        expect_as_seen(network_template(name), small.shape, small.options, {});
    }
}

TEST(NetworkTypes, TemplatesWithRecipesAreAsTheXraySeesThem) {
    for (const std::string& preset : recipe_presets())
        for (const char* const name : {"mlp", "lenet", "resnet18", "vit", "lstm", "clicks"}) {
            const Template small = small_template(name);
            const PrecisionConfig settings{.preset = preset};
            EXPECT_THAT(predicted(network_template(name), small.shape, small.options, settings),
                        ElementsAreArray(seen(network_template(name), small.shape, small.options, settings)))
                << preset << ' ' << name;
        }
}

TEST(NetworkTypes, ForcedModulesOfATemplateHoldWhatIsInside) {
    const Template small = small_template("resnet18");
    expect_as_seen(network_template("resnet18"), small.shape, small.options,
                   {{"layer1", ForcedType::fp32}, {"layer2.0:conv2d", ForcedType::fp16}, {"batch_norm_relu", ForcedType::bf16}});
}

TEST(NetworkTypes, BelongToRows) {
    const std::string text = written("network(image)", "Conv2d(4, 3)\nBatchNorm2d\nReLU\nFlatten\nLinear(outputs)");
    std::vector<int> rows;
    for (const PredictedType& op : predict_types(text, network_data(pictures({1, 4, 4}, 3), {}), {.preset = "amp-fp16"})) rows.push_back(op.row);
    EXPECT_EQ(rows, (std::vector<int>{0, 1, 3, 4}));
}

TEST(NetworkTypes, ARowEndsWithTheTypeOfItsResult) {
    const std::string text = written("network(image)", "c: Conv2d(4, 3)\nSoftmax(1)\nFlatten\nLinear(outputs)");
    const auto rows = [&](const char* preset) { return types_by_row(predict_types(text, network_data(pictures({1, 4, 4}, 3), {}), {.preset = preset}), 4); };
    EXPECT_THAT(rows("amp-fp16"), testing::ElementsAre("f16", "f16, f32", "f32", "f16"));
    EXPECT_THAT(rows("fp32"), testing::ElementsAre("f32", "f32", "f32", "f32"));
}

TEST(NetworkTypes, RefuseAKeyThatIsNoModuleAndNoOperation) {
    try {
        predict_types(network_template("lenet"), network_data(pictures({1, 28, 28}, 10), {}), {.force = {{"conv9", ForcedType::fp32}}});
        FAIL() << "there is no conv9";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("precision.force.conv9"));
    }
}

}  // namespace
}  // namespace engine::test
