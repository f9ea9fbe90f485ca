#include "train/step/hidden_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tensor/device.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// A model that computes nothing and carries two layers of three numbers and one of two.
class Carrier final : public Model {
public:
    Carrier() : Model(std::nullopt, default_device()) {}
    TensorList forward(const TensorList&) override { return {}; }
    std::vector<Shape> state_shapes(std::int64_t streams) const override {
        return {{2, streams, 3}, {1, streams, 2}};
    }
};

class Forgetful final : public Model {
public:
    Forgetful() : Model(std::nullopt, default_device()) {}
    TensorList forward(const TensorList&) override { return {}; }
};

std::int64_t resets_of(const HiddenState& state) {
    std::int64_t count = 0;
    copy_to_host(&count, state.resets(), sizeof count, default_device());
    return count;
}

/// A state of two streams with the values 1, 2, 3, ... in this type.
TensorList counted(DType dtype = DType::f32) {
    std::vector<double> first, second;
    for (int i = 1; i <= 12; ++i) first.push_back(i);
    for (int i = 13; i <= 16; ++i) second.push_back(i);
    return {Tensor::of(first, {2, 2, 3}, dtype), Tensor::of(second, {1, 2, 2}, dtype)};
}

TEST(HiddenState, BeginsAtZeroAndHasWhatTheStepBeforeLeft) {
    const Carrier model;
    HiddenState state(model, default_device());
    const TensorList in = state.in(2);
    ASSERT_THAT(in, SizeIs(2));
    EXPECT_EQ(in[0].shape(), (Shape{2, 2, 3}));
    EXPECT_EQ(in[1].shape(), (Shape{1, 2, 2}));
    for (const Tensor& buffer : in) EXPECT_THAT(buffer.values(), Each(0));
    state.carry(counted());
    EXPECT_EQ(state.in(2)[0].values(), counted()[0].values());
    EXPECT_EQ(state.in(2)[1].values(), counted()[1].values());
    EXPECT_EQ(state.in(2)[0].data(), in[0].data()) << "where a captured step reads it";
    EXPECT_EQ(resets_of(state), 0);
}

TEST(HiddenState, Holds16BitValuesExactly) {
    const Carrier model;
    for (const DType dtype : {DType::f16, DType::bf16}) {
        HiddenState state(model, default_device());
        (void)state.in(2);
        const TensorList out = counted(dtype);
        state.carry(out);
        EXPECT_EQ(state.in(2)[0].dtype(), DType::f32);
        EXPECT_EQ(state.in(2)[0].values(), out[0].values());
    }
}

TEST(HiddenState, AStreamWithANonFiniteElementIsZeroedWholeAndCounted) {
    const Carrier model;
    HiddenState state(model, default_device());
    for (const double bad : {infinity, -infinity, nan_value}) {
        (void)state.in(2);
        set_zero(state.resets(), sizeof(std::int64_t), default_device());
        TensorList out = counted();
        std::vector<double> values = out[1].values();
        values[3] = bad;  // in the second stream
        out[1] = Tensor::of(values, {1, 2, 2});
        state.carry(out);
        EXPECT_THAT(state.in(2)[0].values(), ElementsAre(1, 2, 3, 0, 0, 0, 7, 8, 9, 0, 0, 0));
        EXPECT_THAT(state.in(2)[1].values(), ElementsAre(13, 14, 0, 0));
        EXPECT_EQ(resets_of(state), 1);
    }
    state.carry({Tensor::full({2, 2, 3}, infinity, DType::f32), counted()[1]});
    EXPECT_EQ(resets_of(state), 1 + 2) << "until they are cleared";
    set_zero(state.resets(), sizeof(std::int64_t), default_device());
    EXPECT_EQ(resets_of(state), 0);
}

TEST(HiddenState, APassBeginsWithZeros) {
    const Carrier model;
    HiddenState state(model, default_device());
    const void* place = state.in(2)[0].data();
    state.carry(counted());
    state.reset();
    EXPECT_EQ(state.in(2)[0].data(), place);
    for (const Tensor& buffer : state.in(2)) EXPECT_THAT(buffer.values(), Each(0));
}

TEST(HiddenState, OfAnotherNumberOfStreamsIsZeros) {
    const Carrier model;
    HiddenState state(model, default_device());
    (void)state.in(2);
    state.carry(counted());
    EXPECT_EQ(state.in(5)[0].shape(), (Shape{2, 5, 3}));
    EXPECT_THAT(state.in(5)[0].values(), Each(0));
    EXPECT_THAT(state.in(2)[0].values(), Each(0));
}

TEST(HiddenState, AModelWithoutOneCarriesNothing) {
    const Forgetful model;
    HiddenState state(model, default_device());
    EXPECT_THAT(state.in(3), IsEmpty());
    EXPECT_EQ(state.resets(), nullptr);
    state.carry({});
    state.reset();
}

}  // namespace
}  // namespace engine
