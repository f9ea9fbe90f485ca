#pragma once

#include <gmock/gmock.h>

#include <vector>

#include "autograd/backward.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "parallel/communicator.h"
#include "parallel/gradient_exchange.h"

namespace engine::test {

inline Tensor leaf(const Tensor& values) { return values.detach().set_requires_grad(true); }

/// Options that must not change the averages.
inline std::vector<ExchangeOptions> exchange_forms() {
    return {
        {},
        {.message_size = 1},
        {.trigger_parameters = {1}},
        {.message_size = 1, .lines = 3},
        {.predivide = 8},
        {.delay = true},
        {.in_f32 = true},
    };
}

/// X14, one of two ranks: a = 1, b = 2, the input of iteration i is i + rank; the product of all
/// three is summed.
inline void expect_averages(Communicator& ranks, const Device& device,
                            const ExchangeOptions& options, int iterations) {
    constexpr std::int64_t n = 100;
    const Tensor a = leaf(Tensor::full({n}, 1, DType::f32, device)),
                 b = leaf(Tensor::full({n}, 2, DType::f32, device));
    GradientExchange exchange(ranks, {a, b}, options);
    for (int i = 0; i < iterations; ++i) {
        a.set_grad({});
        b.set_grad({});
        exchange.begin();
        backward(sum(mul(mul(a, b), Tensor::full({n}, i + ranks.rank(), DType::f32, device))));
        exchange.finish();
        EXPECT_THAT(a.grad().values(), testing::Each(2 * (i + 0.5))) << i;
        EXPECT_THAT(b.grad().values(), testing::Each(i + 0.5)) << i;
    }
}

}  // namespace engine::test
