#include "ops/index/sparse.h"
#include "scaler_support.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

/// The indices [[0, 1, 1], [2, 0, 2]] of S7 in a 2 x 3 parameter.
Tensor with_sparse_grad(const std::vector<double>& values, DType dtype) {
    Tensor weight = leaf({1, 1, 1, 1, 1, 1}, {2, 3}, dtype);
    weight.set_grad(sparse_tensor(Tensor::of({0, 1, 1, 2, 0, 2}, {2, 3}, DType::i64),
                                  Tensor::of(values, {3}, dtype), {2, 3}));
    return weight;
}

float flag_of(const Optimizer& optimizer) { return checked(optimizer).host().found_inf; }

TEST(GradScaler, S7_UnscalesTheStoredValuesOfASparseGradient) {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
        const Tensor weight = with_sparse_grad({16, 32, 64}, dtype);
        Sgd optimizer(named({weight}), {.lr = 1});
        GradScaler scaler = ready_scaler({.init_scale = 4});
        scaler.unscale_(optimizer);
        ASSERT_TRUE(weight.grad().is_sparse());
        EXPECT_EQ(sparse_parts(weight.grad()).values.values(), (std::vector<double>{4, 8, 16}));
        EXPECT_EQ(flag_of(optimizer), 0);
        scaler.update();
        EXPECT_EQ(scaler.loss_scale(), 4);
    }
}

TEST(GradScaler, S7_AnInfiniteStoredValueBacksTheScaleOff) {
    for (const double bad : {infinity, not_a_number}) {
        const Tensor weight = with_sparse_grad({16, bad, 64}, DType::f32);
        Sgd optimizer(named({weight}), {.lr = 1});
        GradScaler scaler = ready_scaler({.init_scale = 4});
        scaler.unscale_(optimizer);
        scaler.update();
        EXPECT_EQ(scaler.loss_scale(), 2);
    }
}

TEST(GradScaler, S7_AnF16SparseGradientIsCheckedButNotUnscaled) {
    const Tensor weight = with_sparse_grad({16, 32, 64}, DType::f16);
    Sgd optimizer(named({weight}), {.lr = 1}, {.scaling_aware = true});
    GradScaler scaler = ready_scaler({.init_scale = 4});
    EXPECT_EQ(flag_of(optimizer), 0);
    expect_error(ErrorCode::value, "f16 gradients", [&] { scaler.unscale_(optimizer); });
}

TEST(GradScaler, S7_EqualIndicesThatOverflowTogetherAreSeen) {
    const auto flag = [](DType dtype) {
        Tensor weight = leaf({1, 1, 1}, {3}, dtype);
        weight.set_grad(sparse_tensor(Tensor::of({1, 1}, {1, 2}, DType::i64),
                                      Tensor::of({64000, 64000}, {2}, dtype), {3}));
        Sgd optimizer(named({weight}), {.lr = 1}, {.scaling_aware = true});
        return flag_of(optimizer);
    };
    EXPECT_EQ(flag(DType::f16), 1);
    EXPECT_EQ(flag(DType::f32), 0);
}

}  // namespace
}  // namespace engine
