#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "engine/session/session.h"
#include "io/safetensors/tensor_file.h"
#include "made_models.h"
#include "models/network_model.h"
#include "support/device_support.h"
#include "support/expectations.h"
#include "temp_folder.h"

// Fine-tuning: weights from a file, a new last layer, and frozen parameters.
namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::unique_ptr<Model> lenet(std::int64_t classes, std::int64_t seed) {
    return test::made_model("lenet", {}, test::pictures({1, 28, 28}, classes), seed);
}

std::vector<std::string> trained_names(const Model& model) {
    std::vector<std::string> names;
    for (const Parameter& parameter : model.parameters()) {
        if (parameter.tensor.requires_grad()) names.push_back(parameter.name);
    }
    return names;
}

TEST(Freeze, LeavesTheOtherParametersToTrain) {
    const auto made_model = lenet(10, 1);
    Model& model = *made_model;
    freeze(model, {});
    EXPECT_EQ(trained_names(model).size(), 10U);
    freeze(model, {"conv", "fc1.weight"});
    EXPECT_THAT(trained_names(model), testing::ElementsAre("fc1.bias", "fc2.weight", "fc2.bias",
                                                           "fc3.weight", "fc3.bias"));
}

TEST(Freeze, RefusesANameThatFitsNoneAndAModelWithoutAnythingToTrain) {
    const auto made_model = lenet(10, 1);
    Model& model = *made_model;
    EXPECT_THAT(message_of(ErrorCode::settings,
                           [&] {
                               freeze(model, {"conv", "layer1"});
                           }),
                HasSubstr("layer1"));
    EXPECT_THROW(freeze(model, {"conv", "fc"}), Error);
}

class NewHead : public testing::Test {
protected:
    std::string weights_of(const Model& model) {
        const std::string file = (folder_ / "weights.safetensors").string();
        save_tensors(file, saved_state(model));
        return file;
    }
    const test_support::TempFolder folder_;
};

TEST_F(NewHead, IsDrawnWhereTheShapesDifferAndReadWhereTheyDoNot) {
    const auto made_from = lenet(10, 1);
    const Model& from = *made_from;
    const std::string file = weights_of(from);
    const auto made_other = lenet(7, 2);
    Model& other = *made_other;
    const auto drawn = saved_state(other).at("fc3.weight").values();
    load_weights(other, file, Head::drawn_if_other);
    EXPECT_EQ(saved_state(other).at("fc3.weight").values(), drawn);
    EXPECT_EQ(saved_state(other).at("fc2.weight").values(),
              saved_state(from).at("fc2.weight").values());
    const auto made_same = lenet(10, 3);
    Model& same = *made_same;
    load_weights(same, file, Head::drawn_if_other);
    EXPECT_EQ(saved_state(same).at("fc3.weight").values(),
              saved_state(from).at("fc3.weight").values());
}

TEST_F(NewHead, IsAskedForAndOfTheLastLayerAlone) {
    const std::string file = weights_of(*lenet(10, 1));
    const auto made_seven = lenet(7, 2);
    Model& seven = *made_seven;
    EXPECT_THROW(load_weights(seven, file), Error) << "not asked for";
    const auto wider = test::made_model("lenet", {}, test::pictures({1, 32, 32}, 7), 2);
    EXPECT_THAT(
        message_of(ErrorCode::data, [&] { load_weights(*wider, file, Head::drawn_if_other); }),
        HasSubstr("fc1.weight"));
}

TEST_F(NewHead, IsDrawnWhereTheFileHasNoneOrAPartOfIt) {
    const auto made_from = lenet(10, 1);
    const Model& from = *made_from;
    for (const std::vector<std::string>& absent :
         {std::vector<std::string>{"fc3.weight", "fc3.bias"}, {"fc3.weight"}, {"fc3.bias"}}) {
        TensorMap saved = saved_state(from);
        for (const std::string& name : absent) saved.erase(name);
        const std::string file = (folder_ / "headless.safetensors").string();
        save_tensors(file, saved);
        const auto made_other = lenet(10, 2);
        Model& other = *made_other;
        const auto drawn = saved_state(other);
        load_weights(other, file, Head::drawn_if_other);
        for (const char* name : {"fc3.weight", "fc3.bias"})
            EXPECT_EQ(saved_state(other).at(name).values(), drawn.at(name).values()) << name;
        EXPECT_EQ(saved_state(other).at("fc2.weight").values(),
                  saved_state(from).at("fc2.weight").values());
        try {
            load_weights(other, file);
            ADD_FAILURE() << "read without a last layer";
        } catch (const Error& error) {
            const bool whole = absent.size() == 2;
            EXPECT_EQ(error.hint().str().find("model.new_head") != std::string::npos, whole);
        }
    }
}

TEST_F(NewHead, OfAWrittenNetworkIsItsLastLayer) {
    const auto made = [](std::int64_t outputs, std::int64_t seed) {
        return make_network_model("network(features):\n  scale: Parameter([8])\n  Mul from in, scale\n  body:\n    Linear(6)\n    BatchNorm1d\n    ReLU\n  fc: Linear(outputs)\n  LogSoftmax(1)\n", {},
                                  {{{.name = "x", .kind = FieldKind::features, .shape = {8}}}, outputs}, seed, Device{});
    };
    const auto from = made(10, 1), other = made(7, 2);
    const std::string file = weights_of(*from);
    const auto drawn = saved_state(*other);
    EXPECT_THROW(load_weights(*other, file), Error);
    load_weights(*other, file, Head::drawn_if_other);
    const auto now = saved_state(*other), read = saved_state(*from);
    for (const auto& [name, tensor] : now)
        EXPECT_EQ(tensor.values(), (name.starts_with("fc.") ? drawn : read).at(name).values()) << name;
}

class FineTuning : public testing::Test {
protected:
    TensorMap train(const RunConfig& config) {
        Session session(config, std::make_shared<ComputeThread>(), store_);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(600));
        EXPECT_EQ(session.state(), RunState::done);
        const fs::path folder = store_->find(session.run())->folder;
        last_ = find_checkpoint(folder, "last").folder;
        return load_tensors(last_ / "weights.safetensors");
    }
    const test_support::TempFolder folder_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(folder_ / "runs");
    fs::path last_;
};

TEST_F(FineTuning, MovesWhatIsNotFrozenFromTheWeightsOfARun) {
    for (const char* precision : {"fp32", "amp-fp16", "o2-fp16"}) {
        RunConfig config = test::small_run("lenet", precision);
        config.max_steps = 4;
        const TensorMap first = train(config);
        config.model.init_from = (last_ / "weights.safetensors").string();
        config.model.freeze = {"conv1", "fc"};
        config.max_steps = 6;
        const TensorMap tuned = train(config);
        for (const auto& [name, before] : first) {
            const bool same = before.values() == tuned.at(name).values();
            EXPECT_EQ(same, !name.starts_with("conv2")) << precision << " " << name;
        }
        // The optimizer has no state for parameters that it does not update.
        for (const auto& [name, state] : load_tensors(last_ / "optimizer.safetensors"))
            EXPECT_TRUE(name.starts_with("conv2") || name.starts_with("groups.")) << name;
    }
}

}  // namespace
}  // namespace engine
