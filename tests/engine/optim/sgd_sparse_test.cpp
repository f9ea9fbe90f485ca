#include <gmock/gmock.h>

#include <limits>

#include "golden.h"
#include "json_optimizer.h"
#include "ops/index/sparse.h"
#include "sparse_support.h"
#include "support/grad_scaler.h"

namespace engine {
namespace {

using testing::ElementsAre;

/// A copy of w after updates by the same gradients, converted to dense ones.
Tensor dense_twin(const Tensor& w, const SgdOptions& settings, const std::vector<Tensor>& grads) {
    const Tensor twin = table_of(w.values(), w.shape(), w.dtype());
    Sgd optimizer({{"w", twin}}, settings);
    for (const Tensor& grad : grads) {
        twin.set_grad(to_dense(grad));
        optimizer.step();
    }
    return twin;
}

TEST(SparseSgd, AndAdagradFollowPyTorchOver20Updates) {
    const Golden golden;
    for (const nlohmann::json& variant : golden.setting("sparse")) {
        for (const DType dtype : {DType::f32, DType::f64}) {
            const Tensor start = golden.tensor("sparse.w");
            const Tensor w = table_of(start.values(), start.shape(), dtype);
            const auto optimizer = make_optimizer(variant, {{"w", w}});
            for (int t = 0; t < 20; ++t) {
                const std::string number = std::to_string(t);
                w.set_grad(sparse_rows(golden.tensor("sparse.i." + number).values(),
                                       golden.tensor("sparse.v." + number).values(), w.shape(),
                                       dtype));
                optimizer->step();
            }
            // The tolerance of the dense golden runs.
            const double tolerance = 2 * 20 * 10 * 8 * (dtype == DType::f64 ? 0x1p-53 : 0x1p-24);
            const std::string prefix =
                "sparse." + variant.at("name").get<std::string>() + "." + name(dtype) + ".";
            expect_near(w, golden.tensor(prefix + "w"), tolerance, prefix);
            for (const auto& [state, value] : optimizer->state(0))
                expect_near(value, golden.tensor(prefix + state), tolerance, prefix + state);
        }
    }
}

TEST(SparseSgd, WithoutMomentumAddsRowsNamedTwiceAndWritesNoOthers) {
    const double untouched = std::numeric_limits<double>::quiet_NaN();
    const Tensor w = table_of({1, 2, untouched, 4, 5, 6}, {3, 2});
    Sgd optimizer({{"w", w}}, {.lr = 0.5});
    w.set_grad(sparse_rows({2, 0, 2}, {1, -1, 4, -4, 3, 5}, {3, 2}));
    optimizer.step();
    EXPECT_THAT(w.values(), ElementsAre(-1, 4, testing::IsNan(), 4, 3, 4));
    EXPECT_TRUE(optimizer.state(0).empty());
    EXPECT_TRUE(w.grad().is_sparse());
}

TEST(SparseSgd, WithMomentumMovesRowsWhoseGradientIsPast) {
    const Tensor w = table_of({8, 8, 8, 8}, {2, 2});
    Sgd optimizer({{"w", w}}, {.lr = 1, .momentum = 0.5, .dampening = 0.5});
    w.set_grad(sparse_rows({1, 1}, {1, 2, 3, 2}, {2, 2}));
    optimizer.step();  // buffer 4, 4, without dampening
    w.set_grad(sparse_rows({0}, {2, 2}, {2, 2}));
    optimizer.step();  // buffers 1, 1 and 2, 2
    EXPECT_THAT(w.values(), ElementsAre(7, 7, 2, 2));
    EXPECT_THAT(optimizer.state(0)[0].second.values(), ElementsAre(1, 1, 2, 2));
}

TEST(SparseSgd, RefusesWeightDecayByGroup) {
    const Tensor decayed = table_of({1, 2}, {1, 2}), free = table_of({1, 2}, {1, 2});
    for (const double momentum : {0.0, 0.9}) {
        Sgd optimizer({{"decayed", decayed}}, {.lr = 1, .momentum = momentum, .weight_decay = 0.1});
        optimizer.add_group({{"free", free}}, {.lr = 1, .weight_decay = 0});
        free.set_grad(sparse_rows({0}, {1, 1}, {1, 2}));
        optimizer.step();
        decayed.set_grad(sparse_rows({0}, {1, 1}, {1, 2}));
        try {
            optimizer.step();
            ADD_FAILURE() << "not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::value);
            EXPECT_THAT(error.what(), testing::HasSubstr("decayed is sparse"));
        }
        EXPECT_THAT(decayed.values(), ElementsAre(1, 2));
        decayed.set_grad({});
    }
}

TEST(SparseSgd, GoesByTheWeightDecayOfALoadedState) {
    const Tensor w = table_of({1, 2}, {1, 2});
    Sgd decaying({{"w", w}}, {.lr = 1, .weight_decay = 0.1}), free({{"w", w}}, {.lr = 1});
    const TensorMap with_decay = decaying.saved_state();
    decaying.load_state(free.saved_state());
    free.load_state(with_decay);
    w.set_grad(sparse_rows({0}, {1, 1}, {1, 2}));
    EXPECT_THROW(free.step(), Error);
    decaying.step();
    EXPECT_THAT(w.values(), ElementsAre(0, 1));
}

TEST(SparseSgd, UnscalesAndSkipsOnTheDeviceForEveryWeightType) {
    struct Weights {
        DType dtype;
        bool masters;
    };
    for (const auto& [dtype, masters] :
         {Weights{DType::f32, false}, Weights{DType::f64, false}, Weights{DType::f16, false},
          Weights{DType::f16, true}, Weights{DType::bf16, true}}) {
        for (const double momentum : {0.0, 0.5}) {
            SCOPED_TRACE(std::string(name(dtype)) + (masters ? " with masters" : ""));
            const Tensor w = table_of({1, 2, 3, 4}, {2, 2}, dtype);
            Sgd optimizer({{"w", w}}, {.lr = 0.25, .momentum = momentum, .dampening = momentum},
                          {.scaling_aware = true, .master_weights = masters});
            GradScaler scaler({.init_scale = 1024});
            scaler.scale(Tensor::zeros({}, DType::f32));
            const auto step = [&](const std::vector<double>& values) {
                w.set_grad(sparse_rows({1, 1}, values, {2, 2}, dtype));
                scaler.step(optimizer);
                scaler.update();
            };
            step({std::numeric_limits<double>::infinity(), 1, 1, 1});
            EXPECT_EQ(scaler.loss_scale(), 512);
            EXPECT_THAT(w.values(), ElementsAre(1, 2, 3, 4));
            EXPECT_EQ(optimizer.steps(), 0);
            step({512, 512, 512, -1024});  // 2 and -1: the first update, so no dampening
            EXPECT_THAT(w.values(), ElementsAre(1, 2, 2.5, 4.25));
            EXPECT_THAT(to_dense(w.grad()).values(), ElementsAre(0, 0, 2, -1)) << "written back";
            EXPECT_EQ(optimizer.steps(), 1);
        }
    }
}

TEST(SparseSgd, TakesAPlainScalersUnscaledGradients) {
    const Tensor w = table_of({1, 2, 3, 4}, {2, 2});
    Sgd optimizer({{"w", w}}, {.lr = 0.25});
    GradScaler scaler({.init_scale = 1024});
    scaler.scale(Tensor::zeros({}, DType::f32));
    w.set_grad(sparse_rows({1, 1}, {1024, 1024, 1024, -2048}, {2, 2}));
    scaler.step(optimizer);
    EXPECT_THAT(w.values(), ElementsAre(1, 2, 2.5, 4.25));
}

TEST(SparseSgd, UnderLarcOrBesideDenseGradientsIsTheDenseUpdate) {
    const Tensor w = table_of({1, 2, 3, 4}, {2, 2});
    const std::vector<Tensor> grads = {sparse_rows({1, 1}, {1, 2, 3, 4}, {2, 2}),
                                       sparse_rows({0}, {1, 1}, {2, 2})};
    const SgdOptions settings{.lr = 0.5, .momentum = 0.5};
    const Tensor twin = dense_twin(w, settings, grads);
    const Tensor mixed = table_of(w.values(), w.shape());
    Sgd optimizer({{"w", mixed}}, settings);
    mixed.set_grad(grads[0]);
    optimizer.step();
    mixed.set_grad(to_dense(grads[1]));
    optimizer.step();
    EXPECT_EQ(mixed.values(), twin.values());

    const Tensor a = table_of(w.values(), w.shape()), b = table_of(w.values(), w.shape());
    const OptimizerOptions larc{.larc = {.on = true}};
    Sgd sparse({{"a", a}}, {.lr = 0.5}, larc), dense({{"b", b}}, {.lr = 0.5}, larc);
    a.set_grad(grads[0]);
    b.set_grad(to_dense(grads[0]));
    sparse.step();
    dense.step();
    EXPECT_EQ(a.values(), b.values());
}

}  // namespace
}  // namespace engine
