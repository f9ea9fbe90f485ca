#include "models/network_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "network_twin.h"
#include "support/module_log.h"

namespace engine::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tensor tokens(const Shape& shape, int words) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>((i * 7 + 3) % words));
    return Tensor::of(values, shape, DType::i64, Device{});
}

TEST(NetworkModel, RefusesATextThatDoesNotFitTheData) {
    try {
        written_model("network(image):\n  Flatten\n  Linear(3)\n", pictures({1, 4, 4}, 10));
        FAIL() << "it has 3 classes";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_THAT(error.what(), HasSubstr("line 3, column 3"));
        EXPECT_THAT(error.what(), HasSubstr("scores need N x 10"));
    }
    EXPECT_THROW(written_model("network(tokens):\n  Linear(3)\n", pictures({1, 4, 4}, 3)), Error);
    EXPECT_THROW(written_model("network(image):\n  Relu\n  Flaten\n  Linear(3)\n", pictures({1, 4, 4}, 3)), Error);
}

TEST(NetworkModel, ABufferNeedsAFileOfWeights) {
    const std::string text = written("network(features)", "m: Buffer([5])\nAdd from features, m\nfc: Linear(outputs)");
    EXPECT_THROW(written_model(text, features(5, 2)), Error);
    const auto model = make_network_model(text, {}, features(5, 2), 1, Device{}, /*has_file=*/true);
    ASSERT_EQ(model->buffers().size(), 1u);
    EXPECT_EQ(model->buffers()[0].name, "m");
    EXPECT_EQ(model->parameters().size(), 2u);
}

TEST(NetworkModel, ItsHeadIsTheLastProductThatItsResultDependsOn) {
    const auto heads = [](const std::string& body) { return written_model(written("network(features)", body), features(5, 2))->heads; };
    EXPECT_THAT(heads("body: Linear(4)\nReLU\nfc: Linear(outputs)\nLogSoftmax(1)"), ElementsAre("fc"));
    EXPECT_THAT(heads("body: Linear(4)\nfc: Linear(outputs)\nunused: Linear(outputs) from body\noutput fc"), ElementsAre("fc"));
}

TEST(NetworkModel, LayersWithoutNameOrWeightsBelongToTheModuleAround) {
    const std::string text = written("network(image)", "stem:\n  Conv2d(4, 3)\n  ReLU\n  pool: MaxPool2d(2)\nx = GELU\nFlatten\nfc: Linear(outputs)\n");
    const auto model = written_model(text, pictures({1, 8, 8}, 3));
    ModuleLog log;
    const ObserverScope attached(log);
    model->forward({made_pictures({2, 1, 8, 8})});
    EXPECT_THAT(log.forward, ElementsAre("stem.0", "stem", "stem.pool", "", "fc"));
    EXPECT_THAT(open_modules(), IsEmpty());
}

TEST(NetworkModel, ComputesTogetherWhatBuiltInModelsDo) {
    const auto model = written_model(written("network(image)",
                                             "Conv2d(4, 3, padding=1)\nBatchNorm2d\nReLU\nconv: Conv2d(4, 3, padding=1)\nbn: BatchNorm2d\nAdd from bn, conv\nReLU\n"
                                             "Flatten\nfc1: Linear(6)\nReLU\nDropout(0)\nfc2: Linear(6)\nReLU\nfc3: Linear(outputs)"),
                                     pictures({1, 4, 4}, 3));
    EXPECT_TRUE(has_node(model->forward({made_pictures({2, 1, 4, 4})}).front(), "batch_norm_relu"));
    EXPECT_TRUE(has_node(model->forward({made_pictures({2, 1, 4, 4})}).front(), "linear_relu"));
    EXPECT_TRUE(has_node(model->forward({made_pictures({2, 1, 4, 4})}).front(), "linear_chain"));
    EXPECT_FALSE(has_node(model->forward({made_pictures({2, 1, 4, 4})}).front(), "batch_norm"));
    EXPECT_FALSE(has_node(model->forward({made_pictures({2, 1, 4, 4})}).front(), "relu"));
    // A relu with a name is a module, and a value that is read twice stays.
    const auto named = written_model(written("network(image)", "Conv2d(4, 3)\nbn: BatchNorm2d\nact: ReLU\nbn2: BatchNorm2d\nReLU\nAdd from above, bn2\nFlatten\nLinear(outputs)"), pictures({1, 4, 4}, 3));
    EXPECT_FALSE(has_node(named->forward({made_pictures({2, 1, 4, 4})}).front(), "batch_norm_relu"));
}

TEST(NetworkModel, ComputesTogetherOnlyWithinAModule) {
    const auto linear = written_model(written("network(image)", "Flatten\na:\n  Linear(6)\n  ReLU\nb:\n  Linear(6)\n  ReLU\nLinear(outputs)"), pictures({1, 4, 4}, 3));
    const Tensor scores = linear->forward({made_pictures({2, 1, 4, 4})}).front();
    EXPECT_TRUE(has_node(scores, "linear_relu"));
    EXPECT_FALSE(has_node(scores, "linear_chain"));
    const auto norm = written_model(written("network(image)", "a:\n  Conv2d(4, 3)\n  BatchNorm2d\nb:\n  ReLU\nFlatten\nLinear(outputs)"), pictures({1, 4, 4}, 3));
    EXPECT_FALSE(has_node(norm->forward({made_pictures({2, 1, 4, 4})}).front(), "batch_norm_relu"));
}

const char* const attention_text = R"(option dropout = 0.2 in 0..0.9
block Block(heads, dropout):
  ln_1: LayerNorm
  attn: MultiheadAttention(heads, dropout=dropout, causal=true)
  Dropout(dropout)
  x = Add from above, in
  ln_2: LayerNorm
  mlp:
    Linear(2 * in.width)
    GELU
    Linear(in.width)
    DropPath(dropout)
  Add from x, mlp
network(tokens) gives token scores:
  wte: Embedding(8)
  wpe: Positions(12)
  Add from wte, wpe
  h: repeat 2: Block(2, dropout)
  ln_f: LayerNorm
  lm_head: Linear(outputs, weight=wte.weight, bias=false)
)";

TEST(NetworkModel, BlocksThatAreComputedAgainGiveTheSameBits) {
    const auto step = [](bool recompute, std::optional<DType> low) {
        const auto model = written_model(attention_text, windows(12, 9));
        model->recompute_blocks = recompute;
        return twin_step(*model, {tokens({3, 7}, 9)}, low, "checkpoint");
    };
    for (const std::optional<DType> low : {std::optional<DType>(), std::optional(DType::bf16)}) {
        const TwinBits plain = step(false, low), again = step(true, low);
        EXPECT_FALSE(plain.joined);
        EXPECT_TRUE(again.joined);
        EXPECT_EQ(plain.bits, again.bits);
    }
}

TEST(NetworkModel, OfATextReadsWindowsUpToItsContext) {
    const auto model = written_model(attention_text, windows(12, 9));
    EXPECT_EQ(model->context(), 12);
    EXPECT_THAT(model->state_shapes(3), IsEmpty());
    ASSERT_EQ(model->aliases().size(), 1u);
    EXPECT_EQ(model->aliases()[0].name + " " + model->aliases()[0].of, "lm_head.weight wte.weight");
    EXPECT_TRUE(model->parameters()[0].autocast_low) << "the table is the weight of a product";
    model->training = false;
    EXPECT_EQ(model->forward({tokens({3, 7}, 9)}).front().shape(), (Shape{21, 9}));
    EXPECT_EQ(model->forward({tokens({2, 12}, 9)}).front().shape(), (Shape{24, 9}));
    EXPECT_THROW(model->forward({tokens({2, 13}, 9)}), Error);
}

TEST(NetworkModel, CarriesTheStateOfARecurrentLayer) {
    const std::string text = written("network(tokens) gives token scores", "Embedding(6)\nlstm: LSTM(5, num_layers=2, carry=true)\ngru: GRU(4, carry=true)\nLinear(outputs)");
    const auto model = written_model(text, windows(8, 9));
    EXPECT_EQ(model->state_shapes(3), (std::vector<Shape>{{2, 3, 5}, {2, 3, 5}, {1, 3, 4}}));
    model->training = false;
    const GradMode off(false);
    const Tensor text_tokens = tokens({3, 8}, 9);
    const TensorList whole = model->forward({text_tokens});
    TensorList first = model->forward({contiguous(narrow(text_tokens, 1, 0, 5))});
    ASSERT_EQ(first.size(), 4u);
    TensorList inputs{contiguous(narrow(text_tokens, 1, 5, 3))};
    inputs.insert(inputs.end(), first.begin() + 1, first.end());
    const TensorList second = model->forward(inputs);
    const Tensor expected = narrow(reshape(whole[0], {3, 8, 9}), 1, 5, 3);
    EXPECT_THAT(second[0].values(), testing::Pointwise(testing::DoubleNear(1e-5), contiguous(flatten(expected, 0, 1)).values()));
    EXPECT_THAT(second[1].values(), testing::Pointwise(testing::DoubleNear(1e-5), whole[1].values()));
    EXPECT_THAT(second[3].values(), testing::Pointwise(testing::DoubleNear(1e-5), whole[3].values()));
}

TEST(NetworkModel, AModuleThatRunsAgainSharesItsWeightsAndStatistics) {
    const std::string text = written("network(image)", "body:\n  Conv2d(3, 3, padding=1)\n  BatchNorm2d\n  ReLU\ny = body from body\nAdd from y, body\nFlatten\nLinear(outputs)");
    const auto model = written_model(text, pictures({3, 4, 4}, 2));
    EXPECT_EQ(model->parameters().size(), 6u);
    EXPECT_EQ(model->buffers().size(), 3u);
    model->forward({made_pictures({2, 3, 4, 4})});
    EXPECT_EQ(model->buffers()[2].tensor.values(), std::vector<double>{2}) << "two batches were counted";
}

TEST(NetworkModel, TakesSeveralInputsByTheirKinds) {
    const ModelShape shape{{{.name = "numbers", .kind = FieldKind::features, .shape = {5}},
                            {.name = "ids", .kind = FieldKind::indices, .dtype = DType::i64, .shape = {3}, .cardinality = 7}},
                           1};
    const auto model = written_model(network_template("clicks"), shape);
    EXPECT_EQ(model->forward({made_pictures({4, 5}), tokens({4, 3}, 7)}).front().shape(), (Shape{4, 1}));
    EXPECT_EQ(model->parameters()[4].name, "tables.0.weight");
}

TEST(NetworkModel, EachTemplateTakesAStep) {
    for (const char* name : {"siamese", "lstm", "unet", "vit"}) {
        const std::string kind = name;
        const bool image = kind != "siamese";
        ModelShape shape = image ? pictures({1, 16, 16}, 4) : features(6, 4);
        if (kind == "unet") shape = {.inputs = shape.inputs, .output = {1, 16, 16}};
        Options options;
        if (kind == "vit") options = {{"depth", std::int64_t{2}}, {"width", std::int64_t{18}}, {"dropout", 0.1}};
        const auto model = written_model(network_template(kind), shape, options);
        const TwinBits step = twin_step(*model, {image ? made_pictures({2, 1, 16, 16}) : made_pictures({2, 6})}, {}, "");
        for (std::size_t i = 0; i < model->parameters().size(); ++i) EXPECT_FALSE(step.bits[i + 1].empty()) << kind << ' ' << model->parameters()[i].name;
    }
}

}  // namespace
}  // namespace engine::test
