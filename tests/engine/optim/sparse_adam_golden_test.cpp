#include "optim/optimizers.h"

#include <gmock/gmock.h>

#include <limits>

#include "golden.h"
#include "sparse_support.h"
#include "support/grad_scaler.h"

namespace engine {
namespace {

using testing::ElementsAre;

TEST(SparseAdam, FollowsPyTorchOver20Updates) {
    const Golden golden;
    for (const DType dtype : {DType::f32, DType::f64}) {
        const Tensor start = golden.tensor("sparse.w");
        const Tensor w = table_of(start.values(), start.shape(), dtype);
        SparseAdam optimizer({{"w", w}}, {.lr = 0x1p-7});
        for (int t = 0; t < 20; ++t) {
            const std::string number = std::to_string(t);
            w.set_grad(sparse_rows(golden.tensor("sparse.i." + number).values(),
                                   golden.tensor("sparse.v." + number).values(), w.shape(), dtype));
            optimizer.step();
        }
        // As in the dense golden runs: 10 roundings per update of values up to 8.
        const double tolerance = 20 * 10 * 8 * (dtype == DType::f64 ? 0x1p-53 : 0x1p-24);
        const std::string prefix = std::string("sparse.") + name(dtype) + ".";
        expect_near(w, golden.tensor(prefix + "w"), tolerance, prefix);
        for (const auto& [state, value] : optimizer.state(0))
            expect_near(value, golden.tensor(prefix + state), tolerance, prefix + state);
    }
}

TEST(SparseAdam, LeavesRowsWithoutGradientAloneStateAndAll) {
    const Tensor w = table_of({1, 2, 3, 4, 5, 6}, {3, 2});
    SparseAdam optimizer({{"w", w}}, {.lr = 0.5});
    w.set_grad(sparse_rows({2, 0}, {1, -1, 4, -4}, {3, 2}));
    optimizer.step();
    const auto first = optimizer.state(0)[0].second.values();
    w.set_grad(sparse_rows({2, 2}, {1, 0, 0, 1}, {3, 2}));
    optimizer.step();
    EXPECT_EQ(w.values()[2], 3);
    EXPECT_EQ(w.values()[3], 4);
    const auto second = optimizer.state(0)[0].second.values();
    EXPECT_EQ(second[0], first[0]) << "no decay of the moments of row 0";
    EXPECT_NE(second[4], first[4]);
    EXPECT_NEAR(w.values()[0], 0.5, 1e-6);
}

TEST(SparseAdam, AddsTheValuesOfARowNamedTwiceBeforeItSquaresThem) {
    const Tensor once = table_of({1, 1}, {1, 2}), twice = table_of({1, 1}, {1, 2});
    SparseAdam a({{"w", once}}, {}), b({{"w", twice}}, {});
    once.set_grad(sparse_rows({0}, {3, -1}, {1, 2}));
    twice.set_grad(sparse_rows({0, 0}, {1, 1, 2, -2}, {1, 2}));
    a.step();
    b.step();
    EXPECT_EQ(once.values(), twice.values());
    EXPECT_EQ(a.state(0)[1].second.values(), b.state(0)[1].second.values());
}

TEST(SparseAdam, UnscalesAndSkipsOnTheDeviceWithMastersToo) {
    for (const DType dtype : {DType::f32, DType::f16}) {
        const Tensor w = table_of({1, 2, 3, 4}, {2, 2}, dtype);
        SparseAdam optimizer({{"w", w}}, {.lr = 0.25},
                             {.scaling_aware = true, .master_weights = true});
        GradScaler scaler({.init_scale = 1024});
        scaler.scale(Tensor::zeros({}, DType::f32));
        const double inf = std::numeric_limits<double>::infinity();
        w.set_grad(sparse_rows({1}, {inf, 1}, {2, 2}, dtype));
        scaler.step(optimizer);
        scaler.update();
        EXPECT_EQ(scaler.loss_scale(), 512);
        EXPECT_EQ(optimizer.steps(), 0);
        EXPECT_THAT(w.values(), ElementsAre(1, 2, 3, 4));
        w.set_grad(sparse_rows({1}, {1, -1}, {2, 2}, dtype));
        scaler.step(optimizer);
        scaler.update();
        EXPECT_EQ(optimizer.steps(), 1);
        // lr, apart from eps added to sqrt(0.001) / 512.
        const double eps = 0.25 * 1e-8 * 512 / std::sqrt(0.001) + 1e-6;
        EXPECT_THAT(w.values(), ElementsAre(1, 2, testing::DoubleNear(2.75, eps),
                                            testing::DoubleNear(4.25, eps)));
    }
}

TEST(SparseAdam, UpdatesDenseParametersAsAdam) {
    const Tensor table = table_of({1, 2, 3, 4}, {2, 2}), bias = table_of({1, -1}, {1, 2});
    const Tensor same_table = table_of({1, 2, 3, 4}, {2, 2}), same_bias = table_of({1, -1}, {1, 2});
    SparseAdam both({{"table", table}, {"bias", bias}}, {.lr = 0.25, .eps = 0.125});
    SparseAdam rows({{"table", same_table}}, {.lr = 0.25, .eps = 0.125});
    Adam rest({{"bias", same_bias}}, {.lr = 0.25, .eps = 0.125});
    for (int t = 0; t < 3; ++t) {
        for (const Tensor& w : {table, same_table})
            w.set_grad(sparse_rows({1, 1}, {1, 2, 3, 4.0 * t}, {2, 2}));
        for (const Tensor& w : {bias, same_bias}) w.set_grad(Tensor::of({0.5, 2.0 - t}, {1, 2}));
        both.step();
        rows.step();
        rest.step();
    }
    EXPECT_EQ(table.values(), same_table.values());
    EXPECT_EQ(bias.values(), same_bias.values());
    EXPECT_EQ(both.state(1)[1].second.values(), rest.state(0)[1].second.values());
}

TEST(SparseAdam, AloneOfTheTwoTakesSparseGradients) {
    const Tensor w = table_of({1, 2, 3, 4}, {2, 2});
    Adam dense({{"w", w}}, {});
    w.set_grad(sparse_rows({1}, {1, 1}, {2, 2}));
    EXPECT_THROW(dense.step(), Error);
    EXPECT_THROW(SparseAdam({{"w", w}}, {.beta1 = 1}), Error);
}

}  // namespace
}  // namespace engine
