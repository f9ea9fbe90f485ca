#include "parallel/gradient_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "autograd/backward.h"
#include "averaged_gradients.h"
#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/ranks.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using test::leaf;
using test::on_ranks;
using testing::Each;
using testing::ElementsAre;
using Buckets = std::vector<std::vector<std::size_t>>;

/// A parameter of so many elements, and the gradient 1 that a backward pass of its sum gives it.
TensorList parameters(const std::vector<std::pair<std::int64_t, DType>>& sizes) {
    TensorList out;
    for (const auto& [size, dtype] : sizes) out.push_back(leaf(Tensor::full({size}, 1, dtype)));
    return out;
}

Tensor total_of(const TensorList& parts) {
    Tensor total = Tensor::zeros({}, DType::f64);
    for (const Tensor& part : parts) total = add(total, to(sum(part), DType::f64));
    return total;
}

/// The parameters in the order in which they become ready: the last that was used comes first.
void exchange_once(GradientExchange& exchange, const TensorList& parts) {
    for (const Tensor& part : parts) part.set_grad({});
    exchange.begin();
    backward(total_of(parts));
    exchange.finish();
}

Buckets buckets_of(const std::vector<std::pair<std::int64_t, DType>>& sizes,
                   const ExchangeOptions& options) {
    Buckets out;
    on_ranks(2, [&](const auto& line) {
        const TensorList parts = parameters(sizes);
        GradientExchange exchange(*line, parts, options);
        exchange_once(exchange, parts);
        if (line->rank() == 0) out = exchange.buckets();
    });
    return out;
}

TEST(GradientExchange, X14_AveragesTheGradientsOfTwoRanksWhateverTheOptions) {
    for (const ExchangeOptions& options : test::exchange_forms())
        on_ranks(2, [&](const auto& line) { test::expect_averages(*line, {}, options, 10); });
}

TEST(GradientExchange, ABucketClosesAtTheMessageSizeAndTheRestComesLast) {
    EXPECT_THAT(buckets_of({{4, DType::f32}, {3, DType::f32}, {2, DType::f32}, {5, DType::f32}},
                           {.message_size = 6}),
                ElementsAre(ElementsAre(3, 2), ElementsAre(1, 0)));
    EXPECT_THAT(
        buckets_of({{4, DType::f32}, {3, DType::f32}, {5, DType::f32}}, {.message_size = 6}),
        ElementsAre(ElementsAre(2, 1), ElementsAre(0)));
    EXPECT_THAT(buckets_of({{4, DType::f32}, {3, DType::f32}}, {}), ElementsAre(ElementsAre(1, 0)));
}

TEST(GradientExchange, EveryTypeHasBucketsOfItsOwn) {
    EXPECT_THAT(buckets_of({{4, DType::f32}, {4, DType::f16}, {4, DType::f32}, {4, DType::f64}},
                           {.message_size = 8}),
                ElementsAre(ElementsAre(2, 0), ElementsAre(3), ElementsAre(1)));
    EXPECT_THAT(buckets_of({{4, DType::f32}, {4, DType::f16}, {4, DType::f32}}, {.delay = true}),
                ElementsAre(ElementsAre(2, 0), ElementsAre(1)));
}

TEST(GradientExchange, TriggerParametersCloseBucketsInPlaceOfTheSize) {
    EXPECT_THAT(buckets_of({{4, DType::f32}, {3, DType::f32}, {2, DType::f32}, {5, DType::f32}},
                           {.message_size = 1, .trigger_parameters = {1}}),
                ElementsAre(ElementsAre(3, 2, 1), ElementsAre(0)));
}

TEST(GradientExchange, RefusesOptionsThatDoNotGoTogether) {
    on_ranks(2, [](const auto& line) {
        const TensorList parts = parameters({{4, DType::f32}});
        const auto refused = [&](const ExchangeOptions& options) {
            EXPECT_THROW(GradientExchange(*line, parts, options), Error);
        };
        refused({.delay = true, .trigger_parameters = {0}});
        refused({.delay = true, .lines = 2});
        refused({.trigger_parameters = {1}});
        refused({.message_size = 0});
        refused({.predivide = 0});
    });
}

/// Gradients of f16 values, all `value`.
double exchanged_f16(double value, const ExchangeOptions& options) {
    double out = 0;
    on_ranks(2, [&](const auto& line) {
        const Tensor weight = leaf(Tensor::full({3}, 1, DType::f16));
        GradientExchange exchange(*line, {weight}, options);
        exchange.begin();
        weight.set_grad(Tensor::full({3}, value, DType::f16));
        exchange.finish();
        if (line->rank() == 0) out = weight.grad().values()[0];
    });
    return out;
}

TEST(GradientExchange, SumsOfF16OverflowUnlessTheyTravelAsF32OrAreDividedBefore) {
    EXPECT_EQ(exchanged_f16(40000, {}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(exchanged_f16(40000, {.in_f32 = true}), 40000);
    EXPECT_EQ(exchanged_f16(40000, {.predivide = 2}), 40000);
}

TEST(GradientExchange, PredivisionWithoutAveragingOnlyDividesBefore) {
    EXPECT_EQ(exchanged_f16(4, {.average = false}), 8);
    EXPECT_EQ(exchanged_f16(4, {.average = false, .predivide = 4}), 2);
    EXPECT_EQ(exchanged_f16(4, {.predivide = 4}), 4);
}

// A long gradient is summed where it lies, short ones together in a buffer.
TEST(GradientExchange, LongAndShortGradientsHaveTheSameBits) {
    for (const ExchangeOptions& options : test::exchange_forms()) {
        for (const DType dtype : {DType::f32, DType::f16}) {
            on_ranks(3, [&](const auto& line) {
                const Tensor longer = leaf(Tensor::full({140'000}, 1, dtype)),
                             shorter = leaf(Tensor::full({5}, 1, dtype));
                GradientExchange exchange(*line, {longer, shorter}, options);
                for (int step = 0; step < 2; ++step) {
                    exchange.begin();
                    for (const Tensor& each : {longer, shorter})
                        each.set_grad(Tensor::full(each.shape(), 0.1 + line->rank(), dtype));
                    exchange.finish();
                    const double sum = shorter.grad().values()[0];
                    EXPECT_NEAR(sum, options.average ? 1.1 : 3.3, 2e-3);
                    EXPECT_THAT(longer.grad().values(), Each(sum));
                }
            });
        }
    }
}

TEST(GradientExchange, AnInfinityOfOneRankReachesAll) {
    on_ranks(3, [](const auto& line) {
        const Tensor weight = leaf(Tensor::full({3}, 1, DType::f32));
        GradientExchange exchange(*line, {weight}, {});
        exchange.begin();
        const double inf = std::numeric_limits<double>::infinity();
        weight.set_grad(Tensor::full({3}, line->rank() == 1 ? inf : 1, DType::f32));
        exchange.finish();
        EXPECT_THAT(weight.grad().values(), Each(inf));
    });
}

TEST(GradientExchange, PassesBeforeTheLastAddUpOnTheirRank) {
    on_ranks(2, [](const auto& line) {
        const Tensor weight = leaf(Tensor::full({3}, 1, DType::f32));
        GradientExchange exchange(*line, {weight}, {});
        for (int step = 0; step < 3; ++step) {
            weight.set_grad({});
            const auto pass = [&](double factor) { backward(sum(mul(weight, factor))); };
            pass(1 + line->rank());
            exchange.begin();
            pass(10);
            exchange.finish();
            EXPECT_THAT(weight.grad().values(), Each(11.5)) << step;
        }
    });
}

TEST(GradientExchange, ASecondBackwardPassInTheStepIsRefused) {
    on_ranks(2, [](const auto& line) {
        const Tensor weight = leaf(Tensor::full({3}, 1, DType::f32));
        GradientExchange exchange(*line, {weight}, {});
        exchange_once(exchange, {weight});
        exchange.begin();
        backward(sum(weight));
        EXPECT_THROW(backward(sum(weight)), Error);
    });
}

TEST(GradientExchange, OtherParametersThanInTheFirstPassAreRefused) {
    on_ranks(2, [](const auto& line) {
        const TensorList parts = parameters({{4, DType::f32}, {3, DType::f32}});
        GradientExchange exchange(*line, parts, {});
        exchange_once(exchange, parts);
        for (const Tensor& part : parts) part.set_grad({});
        exchange.begin();
        backward(sum(parts[0]));
        EXPECT_THROW(exchange.finish(), Error);
    });
}

TEST(GradientExchange, SendsWhileTheBackwardPassGoesOn) {
    on_ranks(2, [](const auto& line) {
        const TensorList parts = parameters({{100'000, DType::f32}, {100'000, DType::f32}});
        GradientExchange exchange(*line, parts, {.message_size = 1});
        exchange_once(exchange, parts);
        EXPECT_EQ(exchange.times().hidden_ms, 0) << "the first pass shows the order";
        // The rest of the pass takes so long, and longer where another thread is slow to begin.
        bool hidden = false;
        for (const int ms : {50, 1000, 20'000}) {
            if (hidden) break;
            for (const Tensor& part : parts) part.set_grad({});
            exchange.begin();
            backward(sum(parts[1]), {});
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
            for (const Tensor& part : parts) {
                if (!part.grad().defined()) part.set_grad(Tensor::full({100'000}, 1, DType::f32));
            }
            exchange.finish();
            EXPECT_GE(exchange.times().total_ms, exchange.times().hidden_ms);
            hidden = !any(*line, exchange.times().hidden_ms <= 0);
        }
        EXPECT_TRUE(hidden);
    });
}

TEST(GradientExchange, SparseGradientsAreGathered) {
    on_ranks(2, [](const auto& line) {
        const Tensor table = leaf(Tensor::zeros({6, 2}, DType::f32));
        GradientExchange exchange(*line, {table}, {});
        for (int step = 0; step < 2; ++step) {
            exchange.begin();
            // Rank 0: row 1 twice; rank 1: rows 1, 5 and 0.
            table.set_grad(line->rank() == 0
                               ? sparse_tensor(Tensor::of({1, 1}, {1, 2}, DType::i64),
                                               Tensor::of({2, 4, 6, 8}, {2, 2}), {6, 2})
                               : sparse_tensor(Tensor::of({1, 5, 0}, {1, 3}, DType::i64),
                                               Tensor::of({10, 20, 30, 40, 50, 60}, {3, 2}),
                                               {6, 2}));
            exchange.finish();
            ASSERT_TRUE(table.grad().is_sparse());
            EXPECT_THAT(to_dense(table.grad()).values(),
                        ElementsAre(25, 30, 9, 16, 0, 0, 0, 0, 0, 0, 15, 20));
        }
    });
}

}  // namespace
}  // namespace engine
