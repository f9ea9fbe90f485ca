#include "instruments/histograms/weight_changes.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/elementwise.h"
#include "ops/shape/view.h"

namespace engine {
namespace {

void set_to(const Tensor& x, double value) {
    on(x.device(), kernels::cpu::fill, kernels::cuda::fill)(x.array(), value, current_stream());
}

TEST(WeightChanges, AreTheWeightsAfterLessTheWeightsBefore) {
    WeightChanges changes;
    std::vector<Tensor> weights;
    for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16})
        for (const std::int64_t size : {0, 1, 63, 64, 65})
            weights.push_back(Tensor::full({size}, 0.5, dtype));
    for (const Tensor& weight : weights) changes.add(weight);
    ASSERT_EQ(changes.size(), weights.size());
    changes.copy();
    for (std::size_t i = 0; i < weights.size(); ++i) set_to(weights[i], 1 + static_cast<double>(i));
    changes.subtract();
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const Tensor change = changes.change_tensor(i);
        EXPECT_EQ(change.dtype(), weights[i].dtype() == DType::f64 ? DType::f64 : DType::f32);
        EXPECT_EQ(change.shape(), weights[i].shape());
        EXPECT_EQ(changes.change(i).data, change.data());
        EXPECT_EQ(changes.change(i).size, weights[i].numel());
        for (const double value : change.values()) EXPECT_EQ(value, 0.5 + static_cast<double>(i));
    }
    changes.clear();
    EXPECT_EQ(changes.size(), 0);
}

TEST(WeightChanges, OfATransposedWeightHaveItsValuesInPlace) {
    const Tensor weight = Tensor::of({1, 2, 3, 4, 5, 6}, {2, 3}, DType::f32);
    WeightChanges changes;
    changes.add(transpose(weight, 0, 1));
    changes.copy();
    set_to(weight, 10);
    changes.subtract();
    EXPECT_EQ(changes.change_tensor(0).values(), (std::vector<double>{9, 6, 8, 5, 7, 4}));
}

TEST(WeightChanges, OfNothingAreNone) {
    WeightChanges changes;
    changes.copy();
    changes.subtract();
    EXPECT_EQ(changes.size(), 0);
}

}  // namespace
}  // namespace engine
