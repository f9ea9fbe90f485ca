#include "train/step/mixed_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "tensor/module_scope.h"
#include "train/bench/bench_steps.h"
#include "train/run/trainer.h"
#include "train/step/batch_feed.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> modules = {"conv1",          "fc1", "layer1", "layer1.0",
                                          "layer1.0.conv1", "relu"};

std::string key_of(const ForcedTypes& forced, const char* module, const char* op) {
    const auto rules = force_rules(forced, modules);
    const ForceRule* rule = rules->find(module, op);
    return rule == nullptr ? "" : rule->key;
}

TEST(ForcedTypes, KeysAreModulesOperationsOrBoth) {
    const ForcedTypes all = {{"layer1", ForcedType::fp16},
                             {"layer1.0:conv2d", ForcedType::fp32},
                             {"gelu", ForcedType::bf16},
                             {":linear", ForcedType::fp32}};
    EXPECT_EQ(key_of(all, "layer1.1", "conv2d"), "layer1");
    EXPECT_EQ(key_of(all, "layer1.0.conv1", "conv2d"), "layer1.0:conv2d");
    EXPECT_EQ(key_of(all, "fc1", "gelu"), "gelu");
    EXPECT_EQ(key_of(all, "fc1", "linear"), ":linear");
    const auto rules = force_rules(all, modules);
    EXPECT_EQ(rules->find("fc1", "gelu")->type, DType::bf16);
}

TEST(ForcedTypes, ANameOfBothMeansTheModule) {
    const ForcedTypes forced = {{"relu", ForcedType::fp16}};
    EXPECT_EQ(key_of(forced, "relu", "tanh"), "relu");
    EXPECT_EQ(key_of(forced, "fc1", "relu"), "");
    EXPECT_EQ(key_of({{":relu", ForcedType::fp16}}, "fc1", "relu"), ":relu");
}

TEST(ForcedTypes, NoKeysAreNoRules) { EXPECT_EQ(force_rules({}, modules), nullptr); }

std::string error_text(const ForcedTypes& forced) {
    try {
        force_rules(forced, modules);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        return error.message().str();
    }
    return "";
}

TEST(ForcedTypes, RefusesUnknownKeysAllAtOnce) {
    const std::string text = error_text({{"layer1.0.conv2", ForcedType::fp16},
                                         {"fc1:reshape", ForcedType::fp32},
                                         {"conv1", ForcedType::fp32},
                                         {"nothing:relu", ForcedType::bf16},
                                         {"softwhat", ForcedType::fp16}});
    EXPECT_THAT(text,
                AllOf(HasSubstr("precision.force.layer1.0.conv2: fp16: the model has no such "
                                "module; did you mean layer1.0.conv1?"),
                      HasSubstr("precision.force.fc1:reshape: fp32: reshape is not an operation"),
                      HasSubstr("precision.force.nothing:relu: bf16: "),
                      HasSubstr("precision.force.softwhat: fp16: "),
                      Not(HasSubstr("precision.force.conv1: "))));
}

/// A run of a model on random data.
struct Small {
    explicit Small(const RunConfig& given)
        : config(completed(given)),
          trainer(config, Device{}, dataset_descriptor(config.dataset.kind).schema(config.dataset),
                  100),
          batch(random_batch(trainer.task().schema(true), config.batch_size, 7)),
          feed(Device{}, trainer.task().schema(true), batch) {}
    CompletedStep step() {
        const std::vector<Batch> batches{batch};
        return trainer.step(batches, feed);
    }
    RunConfig config;
    Trainer trainer;
    Batch batch;
    FixedFeed feed;
};

/// Records the operations of the forward pass, such as "conv1 conv2d f16".
class ForwardTypes final : public StepObserver, public OpObserver {
public:
    void begin(const StepView&) override { scope_.emplace(*this); }
    void end(const StepView&) override { scope_.reset(); }
    std::vector<std::string> seen;

private:
    void on_op(const OpEvent& event) override {
        if (event.in_backward || !is_floating(event.inputs[0].dtype())) return;
        seen.push_back(current_module() + " " + std::string(event.info->name) + " " +
                       name(event.inputs[0].dtype()));
    }
    std::optional<ObserverScope> scope_;
};

RunConfig lenet(const char* preset, const ForcedTypes& forced) {
    RunConfig config;
    config.precision.preset = preset;
    config.precision.force = forced;
    config.batch_size = 4;
    config.threads = 1;
    return config;
}

std::vector<std::string> types_of(const RunConfig& config) {
    Small run(config);
    const auto types = std::make_shared<ForwardTypes>();
    run.trainer.attach(types);
    EXPECT_TRUE(std::isfinite(run.step().row.loss));
    return types->seen;
}

TEST(ForcedTypes, HoldUnderEveryPreset) {
    for (const char* preset : {"fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16"}) {
        const auto types = types_of(lenet(preset, {{"conv2", ForcedType::fp32},
                                                   {"fc1", ForcedType::fp16},
                                                   {"fc2:linear", ForcedType::bf16}}));
        EXPECT_THAT(types, Contains("conv2 conv2d f32")) << preset;
        EXPECT_THAT(types, Contains("fc1 linear f16")) << preset;
        EXPECT_THAT(types, Contains("fc2 linear bf16")) << preset;
    }
}

TEST(ForcedTypes, LeaveTheOtherLayersAsTheyAre) {
    const auto plain = types_of(lenet("fp32", {}));
    const auto forced = types_of(lenet("fp32", {{"fc2", ForcedType::fp16}}));
    EXPECT_THAT(plain, Contains("fc2 linear f32"));
    EXPECT_THAT(forced, AllOf(Contains("fc2 linear f16"), Contains("fc1 linear f32"),
                              Contains("fc3 linear f32"), Not(Contains("fc2 linear f32"))));
}

/// amp-fp16 with everything forced to FP32, and with a power of two as loss scale, is FP32
/// training.
TEST(ForcedTypes, AllInFp32EqualsFp32BitForBit) {
    ForcedTypes all;
    for (const char* module : {"conv1", "conv2", "fc1", "fc2", "fc3"})
        all[module] = ForcedType::fp32;
    Small forced(lenet("amp-fp16", all)), plain(lenet("fp32", {}));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(forced.step().row.loss, plain.step().row.loss) << i;
    const auto &a = forced.trainer.model().parameters(), &b = plain.trainer.model().parameters();
    for (std::size_t i = 0; i < a.size(); ++i)
        EXPECT_EQ(a[i].tensor.values(), b[i].tensor.values()) << a[i].name;
}

/// Each module of a model computes in each type, forward and backward.
class EveryModel : public testing::TestWithParam<const char*> {};

TEST_P(EveryModel, TrainsWithAnyModuleInAnyType) {
    const std::string kind = GetParam();
    RunConfig config;
    config.model.kind = kind;
    config.batch_size = 2;
    config.threads = 1;
    if (kind == "resnet18" || kind == "mobilenetv2") config.dataset.kind = "cifar10";
    if (kind == "mlp") config.dataset.kind = "spirals";
    if (kind == "rnn-lm" || kind == "transformer-lm" || kind == "bert")
        config.dataset.kind = "text-generated";
    if (kind == "dlrm") config.dataset.kind = "clicks-generated";
    if (kind == "bert") config.task.kind = "masked-language-model";
    config.bptt = 6;
    const std::vector<std::string> names = Small(config).trainer.model().modules;
    ASSERT_FALSE(names.empty());
    const std::pair<const char*, ForcedType> cases[] = {
        {"fp32", ForcedType::fp16}, {"amp-fp16", ForcedType::fp32}, {"amp-fp16", ForcedType::bf16}};
    for (const auto& [preset, type] : cases) {
        // Forces every third module, so that types meet at residuals and shared weights.
        config.precision = {};
        config.precision.preset = preset;
        for (std::size_t i = 0; i < names.size(); i += 3) config.precision.force[names[i]] = type;
        Small run(config);
        EXPECT_FALSE(std::isnan(run.step().row.loss)) << kind << " " << preset;
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryModel,
                         testing::Values("mlp", "lenet", "resnet18", "mobilenetv2", "rnn-lm",
                                         "transformer-lm", "bert", "dlrm", "autoencoder"),
                         [](const auto& each) {
                             std::string name = each.param;
                             std::erase(name, '-');
                             return name;
                         });

}  // namespace
}  // namespace engine
