#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "autograd/backward.h"
#include "made_models.h"
#include "models/model.h"
#include "ops/loss/cross_entropy.h"
#include "support/module_log.h"

// The modules that a forward pass opens have the names of named_modules() in PyTorch (torchvision).
namespace engine {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using Names = std::vector<std::string>;

/// Removes the model itself, whose ops belong to no named module, and entries that then repeat the
/// previous one.
Names named(const Names& names) {
    Names out;
    for (const std::string& name : names) {
        if (!name.empty() && (out.empty() || out.back() != name)) out.push_back(name);
    }
    return out;
}

/// The modules that have tensors of their own, unordered.
std::set<std::string> with_tensors(const Model& model) {
    std::set<std::string> out;
    for (const auto* list : {&model.parameters(), &model.buffers()}) {
        for (const Parameter& entry : *list)
            out.insert(entry.name.substr(0, entry.name.rfind('.')));
    }
    return out;
}

std::unique_ptr<Model> made(const std::string& kind, const FieldSpec& input) {
    ModelConfig config;
    config.kind = kind;
    return make_model(config, {{input}, 4}, 1, Device{});
}

Tensor ones(const Shape& shape) { return Tensor::full(shape, 1, DType::f32, Device{}); }

/// The modules of one step on two images of this shape.
ModuleLog step_of(Model& model, const Shape& images) {
    ModuleLog log;
    const ObserverScope attached(log);
    const Tensor logits = model.forward({ones(images)}).front();
    EXPECT_THAT(open_modules(), IsEmpty());
    backward(cross_entropy(logits, Tensor::of({1, 3}, {2}, DType::i64, Device{})));
    EXPECT_THAT(open_modules(), IsEmpty());
    return log;
}

Names resnet_blocks_modules() {
    Names out;
    for (const int stage : {1, 2, 3, 4}) {
        for (const int i : {0, 1}) {
            const std::string block = "layer" + std::to_string(stage) + "." + std::to_string(i);
            out.insert(out.end(), {block + ".conv1", block + ".bn1"});
            // torchvision computes it last. Here it comes before conv2, since bn2 adds its result
            // in one fused operation.
            if (stage > 1 && i == 0)
                out.insert(out.end(), {block + ".downsample.0", block + ".downsample.1"});
            out.insert(out.end(), {block + ".conv2", block + ".bn2"});
        }
    }
    return out;
}

std::unique_ptr<Model> resnet() {
    return made("resnet18", {.name = "image", .kind = FieldKind::image, .shape = {3, 32, 32}});
}

TEST(ModelModules, OfAnMlp) {
    const auto model = made("mlp", {.name = "features", .kind = FieldKind::features, .shape = {5}});
    const ModuleLog log = step_of(*model, {2, 5});
    EXPECT_THAT(named(log.forward), ElementsAre("fc1", "fc2", "fc3"));
    EXPECT_THAT(named(log.backward), ElementsAre("fc3", "fc2", "fc1"));
}

TEST(ModelModules, OfLeNet) {
    const auto model =
        made("lenet", {.name = "image", .kind = FieldKind::image, .shape = {1, 28, 28}});
    const ModuleLog log = step_of(*model, {2, 1, 28, 28});
    EXPECT_THAT(named(log.forward), ElementsAre("conv1", "conv2", "fc1", "fc2", "fc3"));
    EXPECT_THAT(named(log.backward), ElementsAre("fc3", "fc2", "fc1", "conv2", "conv1"));
}

TEST(ModelModules, OfResNet18) {
    const auto model = resnet();
    const Names modules = named(step_of(*model, {2, 3, 32, 32}).forward);
    Names expected{"conv1", "bn1"};
    for (const auto& name : resnet_blocks_modules()) expected.push_back(name);
    expected.insert(expected.end(), {"avgpool", "fc"});
    EXPECT_THAT(modules, ElementsAreArray(expected));
    std::set<std::string> computing(modules.begin(), modules.end());
    computing.erase("avgpool");  // has no tensors
    EXPECT_EQ(computing, with_tensors(*model));
}

TEST(ModelModules, OfRecomputedBlocksAreThoseOfTheFirstRun) {
    const auto plain = resnet(), recomputing_model = resnet();
    recomputing_model->recompute_blocks = true;
    const ModuleLog kept = step_of(*plain, {2, 3, 32, 32});
    const ModuleLog again = step_of(*recomputing_model, {2, 3, 32, 32});
    EXPECT_THAT(kept.recomputed, IsEmpty());
    EXPECT_EQ(named(again.forward), named(kept.forward));
    // Last block first; within a block in forward order.
    Names expected;
    const Names modules = resnet_blocks_modules();
    for (std::size_t end = modules.size(); end > 0;) {
        const std::string block = modules[end - 1].substr(0, 8);
        std::size_t begin = end;
        while (begin > 0 && modules[begin - 1].starts_with(block)) --begin;
        expected.insert(expected.end(), modules.begin() + static_cast<std::ptrdiff_t>(begin),
                        modules.begin() + static_cast<std::ptrdiff_t>(end));
        end = begin;
    }
    EXPECT_THAT(named(again.recomputed), ElementsAreArray(expected));
    EXPECT_EQ(std::ranges::count(again.recomputed, ""), 0) << "every op is in a block";
    EXPECT_GT(std::ranges::count(again.backward, "layer1.0.conv1"), 0);
}

/// The modules of a forward pass of a language model with dropout.
Names modules_of_words(bool tied) {
    const Options options{{"embedding", std::int64_t{4}},
                          {"hidden", std::int64_t{4}},
                          {"layers", std::int64_t{2}},
                          {"dropout", 0.5},
                          {"tied", tied}};
    const auto made_words = test::made_model("rnn-lm", options, test::windows(3, 11));
    Model& model = *made_words;
    StepRandom random(1, Tensor::zeros({}, DType::i64, Device{}));
    random.begin(0);
    model.random = &random;
    TensorList in{Tensor::of({1, 2, 3, 4, 5, 0}, {2, 3}, DType::i64, Device{})};
    for (const Shape& shape : model.state_shapes(2))
        in.push_back(Tensor::zeros(shape, DType::f32, Device{}));
    ModuleLog log;
    const ObserverScope attached(log);
    const Tensor logits = model.forward(in).front();
    EXPECT_EQ(logits.impl()->node->module().text(), "decoder");
    return named(log.forward);
}

TEST(ModelModules, OfTheRnnLanguageModel) {
    for (const bool tied : {false, true}) {
        EXPECT_THAT(modules_of_words(tied),
                    ElementsAre("encoder", "drop", "rnn", "drop", "decoder"));
    }
}

/// The modules of a forward pass in training, over two windows of three tokens.
ModuleLog step_of_words(const std::string& kind) {
    ModelConfig config;
    config.kind = kind;
    config.options = {
        {"layers", std::int64_t{2}}, {"width", std::int64_t{4}}, {"heads", std::int64_t{2}}};
    const FieldSpec input{.name = "tokens",
                          .kind = FieldKind::tokens,
                          .dtype = DType::i64,
                          .shape = {3},
                          .cardinality = 11,
                          .windowed = true};
    const auto model = make_model(config, {{input}, 11}, 1, Device{});
    StepRandom random(1, Tensor::zeros({}, DType::i64, Device{}));
    random.begin(0);
    model->random = &random;
    ModuleLog log;
    const ObserverScope attached(log);
    const Tensor logits =
        model->forward({Tensor::of({1, 2, 3, 4, 5, 0}, {2, 3}, DType::i64, Device{})}).front();
    backward(cross_entropy(logits, Tensor::of({1, 2, 3, 4, 5, 0}, {6}, DType::i64, Device{})));
    EXPECT_THAT(open_modules(), IsEmpty());
    return log;
}

TEST(ModelModules, OfTheTransformerLanguageModel) {
    const std::set<std::string> found = [] {
        const Names names = named(step_of_words("transformer-lm").forward);
        return std::set<std::string>(names.begin(), names.end());
    }();
    std::set<std::string> expected{"transformer",      "transformer.wte",  "transformer.wpe",
                                   "transformer.drop", "transformer.ln_f", "lm_head"};
    for (const std::string block : {"transformer.h.0", "transformer.h.1"}) {
        expected.insert(block);
        for (const char* part : {"ln_1", "attn", "attn.c_attn", "attn.c_proj", "attn.resid_dropout",
                                 "ln_2", "mlp.c_fc", "mlp.act", "mlp.c_proj", "mlp.dropout"})
            expected.insert(block + "." + part);
    }
    EXPECT_EQ(found, expected);
}

TEST(ModelModules, OfBert) {
    const std::set<std::string> found = [] {
        const Names names = named(step_of_words("bert").forward);
        return std::set<std::string>(names.begin(), names.end());
    }();
    std::set<std::string> expected{"bert.embeddings",
                                   "bert.embeddings.word_embeddings",
                                   "bert.embeddings.position_embeddings",
                                   "bert.embeddings.token_type_embeddings",
                                   "bert.embeddings.LayerNorm",
                                   "bert.embeddings.dropout",
                                   "cls.predictions.transform",
                                   "cls.predictions.transform.dense",
                                   "cls.predictions.transform.LayerNorm",
                                   "cls.predictions.decoder"};
    for (const std::string block : {"bert.encoder.layer.0", "bert.encoder.layer.1"}) {
        for (const char* part :
             {"attention.self", "attention.self.query", "attention.self.key",
              "attention.self.value", "attention.output", "attention.output.dense",
              "attention.output.dropout", "attention.output.LayerNorm", "intermediate",
              "intermediate.dense", "output", "output.dense", "output.dropout", "output.LayerNorm"})
            expected.insert(block + "." + part);
    }
    EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace engine
