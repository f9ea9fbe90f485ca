#include "models/weight_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>

#include "engine/models/made_models.h"
#include "kernels/cuda_device.h"
#include "nn/recurrent.h"
#include "ops/recurrent/weight_block.h"
#include "support/device_support.h"
#include "tensor/memory/memory.h"

// Trainings of recurrent models whose weights lie as the simulated library takes them, beside those
// of weights that lie apart.
namespace engine {
namespace {

using test::cuda;
using test::TrainerFixture;
using testing::IsEmpty;

constexpr int hidden = 8, odd_hidden = 7;

RunConfig text_run(const std::string& precision, const std::string& cell = "lstm",
                   std::int64_t size = hidden, std::int64_t layers = 2) {
    RunConfig config = test::small_text_run(precision);
    config.model.options = {{"cell", cell},
                            {"embedding", std::int64_t{8}},
                            {"hidden", size},
                            {"layers", layers},
                            {"dropout", 0.0}};
    config.scaler.init_scale = 0x1p16;  // some steps are skipped
    return config;
}

bool is_recurrent(const Parameter& parameter) { return parameter.name.starts_with("rnn."); }

/// The tensor of a weight that the network reads: the 16-bit copy, if there is one.
Tensor read_of(const Parameter& parameter) {
    const auto& copy = parameter.tensor.impl()->low_copy;
    return copy ? copy->tensor : parameter.tensor;
}

TensorList read_of(const std::vector<Parameter>& parameters) {
    TensorList out;
    for (const Parameter& each : parameters) {
        if (is_recurrent(each)) out.push_back(read_of(each));
    }
    return out;
}

bool share_memory(const TensorList& tensors) {
    return std::ranges::all_of(tensors, [&](const Tensor& each) {
        return each.impl()->storage.get() == tensors.front().impl()->storage.get();
    });
}

bool lies_in_block(Trainer& trainer) { return share_memory(read_of(trainer.model().parameters())); }

/// Into memory of its own.
void move_apart(const Tensor& tensor) {
    auto storage = std::make_shared<Storage>(tensor.bytes(), tensor.device());
    kernels::cuda::copy_on_device(storage->block.data(), tensor.data(), tensor.bytes(), {});
    storage->version = tensor.version();
    tensor.impl()->storage = std::move(storage);
    tensor.impl()->offset = 0;
}

void move_apart(Trainer& trainer) {
    for (const Tensor& each : read_of(trainer.model().parameters())) move_apart(each);
}

std::vector<std::vector<double>> weights_of(Trainer& trainer) {
    std::vector<std::vector<double>> out;
    for (const auto& parameter : trainer.model().parameters())
        out.push_back(parameter.tensor.values());
    return out;
}

double evaluated(TrainerFixture& fixture, int batches) {
    fixture.trainer.begin_evaluation();
    Batch batch;
    for (int i = 0; i < batches; ++i) {
        fixture.collator.make(batch, 0, i);
        fixture.trainer.evaluate(batch, *fixture.feed);
    }
    return fixture.trainer.take_evaluation().loss;
}

/// The figures of a step that depend on all of its numbers.
std::vector<std::uint32_t> bits_of(const StepRecord& row) {
    return {std::bit_cast<std::uint32_t>(row.loss), std::bit_cast<std::uint32_t>(row.grad_norm),
            std::bit_cast<std::uint32_t>(row.loss_scale)};
}

/// Trains both for `steps` steps more, and evaluates.
void expect_same_training(TrainerFixture& a, TrainerFixture& b, int steps) {
    for (int i = 0; i < steps; ++i) {
        const std::int64_t step = a.trainer.steps();
        EXPECT_EQ(bits_of(a.step(step).row), bits_of(b.step(step).row)) << "step " << step;
    }
    EXPECT_EQ(weights_of(a.trainer), weights_of(b.trainer));
    EXPECT_EQ(evaluated(a, 2), evaluated(b, 2));
}

TEST(RecurrentLayout, ChangesNoBitOfATraining) {
    for (const char* precision : {"fp32", "amp-fp16", "amp-bf16", "pure-fp16", "o2-fp16"})
        for (const char* cell : {"lstm", "gru", "rnn-tanh"}) {
            SCOPED_TRACE(std::string(precision) + " " + cell);
            RunConfig config = text_run(precision, cell);
            config.accumulate = cell == std::string("gru") ? 3 : 1;
            TrainerFixture apart(config, cuda), together(config, cuda), eager(config, cuda);
            move_apart(apart.trainer);
            eager.trainer.set_recording(false);
            EXPECT_TRUE(lies_in_block(together.trainer));
            EXPECT_FALSE(lies_in_block(apart.trainer));
            EXPECT_EQ(evaluated(together, 5), evaluated(apart, 5)) << "captured before the step";
            EXPECT_EQ(evaluated(eager, 5), evaluated(together, 5));
            for (int i = 0; i < 2; ++i) {
                expect_same_training(apart, together, 3);
                for (int k = 0; k < 3; ++k) eager.step(eager.trainer.steps());
                EXPECT_EQ(weights_of(eager.trainer), weights_of(together.trainer));
                (void)evaluated(eager, 2);  // as much of the data's state is carried
            }
            EXPECT_EQ(together.trainer.replayed_steps(), 3);
            EXPECT_EQ(together.trainer.evaluation_graph().captures(), 1) << "nothing moved since";
            EXPECT_TRUE(lies_in_block(together.trainer));
            EXPECT_THAT(together.trainer.take_warnings(), IsEmpty());
        }
}

TEST(RecurrentLayout, LeavesWeightsAloneThatDoNotFitTheKernels) {
    const RunConfig config = text_run("amp-fp16", "lstm", odd_hidden);
    TrainerFixture apart(config, cuda), other(config, cuda);
    EXPECT_FALSE(lies_in_block(other.trainer)) << "16-bit vectors of 28 and matrices of 7 columns";
    move_apart(apart.trainer);
    expect_same_training(apart, other, 5);
    const RunConfig wide = text_run("fp32", "lstm", odd_hidden, 1);
    TrainerFixture alone(wide, cuda), together(wide, cuda);
    EXPECT_TRUE(lies_in_block(together.trainer)) << "four gates of f32 always fit";
    move_apart(alone.trainer);
    expect_same_training(alone, together, 5);
}

TEST(RecurrentLayout, SurvivesASavedStateAndOneThatIsRestoredInPlace) {
    for (const char* precision : {"fp32", "amp-fp16", "o2-fp16"}) {
        SCOPED_TRACE(precision);
        const RunConfig config = text_run(precision);
        TrainerFixture whole(config, cuda);
        for (int i = 0; i < 4; ++i) whole.step(i);
        const TrainingState saved = whole.trainer.saved_state();
        TrainerFixture resumed(config, cuda);
        resumed.trainer.load_state(saved);
        EXPECT_TRUE(lies_in_block(resumed.trainer));
        expect_same_training(whole, resumed, 5);
        const double now = evaluated(whole, 5);
        load_state(whole.trainer.model(), saved.weights);
        const double before = evaluated(whole, 5);
        EXPECT_NE(before, now);
        TrainerFixture third(config, cuda);
        load_state(third.trainer.model(), saved.weights);
        EXPECT_EQ(evaluated(third, 5), before);
        EXPECT_EQ(whole.trainer.evaluation_graph().captures(), 1);
        EXPECT_TRUE(lies_in_block(whole.trainer));
    }
}

TEST(RecurrentLayout, IsAccountedAsWhatItHoldsAndGivenBack) {
    const std::size_t before = memory_in_use(cuda);
    {
        // 2 layers of 4 gates: 8 x 8 matrices from the input and the state, two vectors.
        constexpr std::int64_t weights = 2 * 4 * (8 * 8 + 8 * 8 + 2 * 8);
        TrainerFixture wide(text_run("fp32"), cuda), low(text_run("amp-fp16"), cuda);
        const MemoryAccounting &of_wide = *wide.trainer.accounting(),
                               &of_low = *low.trainer.accounting();
        EXPECT_GE(of_wide.bytes(MemoryUse::weights), 4 * weights);
        EXPECT_EQ(of_wide.bytes(MemoryUse::cast_cache), 0);
        EXPECT_GE(of_low.bytes(MemoryUse::cast_cache), 2 * weights);
        wide.step(0);
        EXPECT_GE(of_wide.bytes(MemoryUse::gradients), 4 * weights);
    }
    EXPECT_EQ(memory_in_use(cuda), before);
}

class ModelLayout : public testing::Test {
protected:
    /// Whether a network's weights lie in one block once these parameters were laid out.
    static bool moved(const std::vector<Parameter>& parameters) {
        const TensorList weights = read_of(parameters);
        std::vector<std::vector<double>> before, after;
        for (const Tensor& each : weights) before.push_back(each.values());
        lay_out_recurrent_weights(parameters);
        for (const Tensor& each : weights) after.push_back(each.values());
        EXPECT_EQ(after, before);
        return share_memory(weights);
    }
    static std::unique_ptr<Model> made(const Device& device) {
        const Options options{{"embedding", std::int64_t{8}},
                              {"hidden", std::int64_t{8}},
                              {"layers", std::int64_t{1}},
                              {"dropout", 0.0}};
        return test::made_model("rnn-lm", options, test::windows(35, 5), 1, device);
    }
    const std::unique_ptr<Model> made_ = made(cuda);
    Model& model_ = *made_;
    std::vector<Parameter> parameters_ = model_.parameters();
};

TEST_F(ModelLayout, TakesANetworkByTheNamesOfItsWeights) {
    EXPECT_TRUE(moved(parameters_));
    EXPECT_FALSE(model_.parameters()[0].tensor.impl()->storage ==
                 model_.parameters()[1].tensor.impl()->storage)
        << "the embedding's table is none of its weights";
}

TEST_F(ModelLayout, LeavesANetworkAloneOfWhichAWeightIsMissing) {
    for (const char* missing : {"weight_hh", "bias_hh", "bias_ih"}) {
        std::vector<Parameter> some = parameters_;
        std::erase_if(some, [&](const Parameter& each) {
            return each.name.find(missing) != std::string::npos;
        });
        ASSERT_EQ(some.size() + 1, parameters_.size());
        EXPECT_FALSE(moved(some)) << missing;
    }
}

TEST_F(ModelLayout, LeavesWeightsAloneThatAreNotThoseOfANetwork) {
    for (const auto& shape :
         {Shape{32, 8, 1}, Shape{32, 4}, Shape{40, 8}, Shape{30, 8}, Shape{24, 8}}) {
        std::vector<Parameter> other = parameters_;
        for (Parameter& each : other) {
            if (each.name.find("weight_hh") != std::string::npos)
                each.tensor = Tensor::zeros(shape, DType::f32, cuda);
        }
        EXPECT_FALSE(moved(other)) << to_string(shape);
    }
    std::vector<Parameter> mixed = parameters_;
    for (Parameter& each : mixed) {
        if (each.name.find("bias_hh") != std::string::npos)
            each.tensor = Tensor::zeros(each.tensor.shape(), DType::f16, cuda);
    }
    EXPECT_FALSE(moved(mixed)) << "two types";
}

TEST_F(ModelLayout, KeepsTheNetworksOfAModelApart) {
    TensorRegistry registry(1, cuda);
    const Recurrent there(registry, "there", RecurrentKind::gru,
                          {.in = 8, .hidden = 8, .bidirectional = true});
    const Recurrent back(registry, "back", RecurrentKind::lstm,
                         {.in = 8, .hidden = 8, .num_layers = 2, .has_biases = false});
    lay_out_recurrent_weights(registry.parameters);
    EXPECT_TRUE(share_memory(there.params));
    EXPECT_TRUE(share_memory(back.params));
    EXPECT_FALSE(share_memory({there.params[0], back.params[0]}));
}

TEST_F(ModelLayout, DoesNothingOnACpu) {
    const auto model = made(Device{});
    EXPECT_FALSE(moved(model->parameters()));
}

}  // namespace
}  // namespace engine
