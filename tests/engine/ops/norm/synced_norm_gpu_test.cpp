#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "ops/norm/batch_norm.h"
#include "ops/norm/synced_norm.h"
#include "ops/shape/view.h"
#include "parallel/device_ranks.h"
#include "support/ranks.h"

namespace engine {
namespace {

using test::on_two_gpus;
using Values = std::vector<double>;

Values numbers(std::int64_t count, int seed) {
    Values out;
    for (std::int64_t i = 0; i < count; ++i)
        out.push_back(3 + std::sin(12.9898 * static_cast<double>(i + 1) + seed));
    return out;
}

struct Result {
    Values y, dx, mean, var;
};

/// Rows [first, first + rows) of five, of three channels.
Result on_rows(std::int64_t first, std::int64_t rows, const Device& device) {
    const auto part = [&](int seed) {
        const Tensor all = Tensor::of(numbers(15, seed), {5, 3}, DType::f32, device);
        return contiguous(narrow(all, 0, first, rows)).detach();
    };
    Tensor x = part(1), weight = Tensor::of(numbers(3, 2), {3}, DType::f32, device),
           bias = Tensor::of(numbers(3, 3), {3}, DType::f32, device);
    for (Tensor* each : {&x, &weight, &bias}) each->set_requires_grad(true);
    Tensor mean = Tensor::zeros({3}, DType::f32, device),
           var = Tensor::full({3}, 1, DType::f32, device);
    const Tensor y = batch_norm(x, weight, bias, mean, var, true);
    const Tensor dy = part(4);
    backward(std::span(&y, 1), std::span(&dy, 1));
    return {y.values(), x.grad().values(), mean.values(), var.values()};
}

void expect_near(const Values& found, const Values& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    // Sums of five numbers below 5, each rounding once, and a few operations more.
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], wanted[i], 16 * 5 * 0x1p-23) << i;
}

// optimizers.md#synchronised-batch-norm (4.5), with two rows on one GPU and three on the other.
TEST(SyncedNormOnGpus, TwoDevicesAreOneWithAllRows) {
    const Result whole = on_rows(0, 5, {});
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const SyncedNorms synced(ranks.get());
        const std::ptrdiff_t first = device.index == 0 ? 0 : 2, rows = device.index == 0 ? 2 : 3;
        const Result part = on_rows(first, rows, device);
        const auto own = [&](const Values& all) {
            return Values(all.begin() + 3 * first, all.begin() + 3 * (first + rows));
        };
        expect_near(part.y, own(whole.y));
        expect_near(part.dx, own(whole.dx));
        expect_near(part.mean, whole.mean);
        expect_near(part.var, whole.var);
    });
}

}  // namespace
}  // namespace engine
