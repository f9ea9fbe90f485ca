#include <gmock/gmock.h>

#include "optim/optimizers.h"
#include "optim_support.h"

// The numerical examples of optimizers.md#optimizer-formulas (4.3) and 4.4 (X10, X13).

namespace engine {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

/// The weights after one step of `make(weights)` from p with gradient g.
template <class Make>
std::vector<double> stepped(const std::vector<double>& p, const std::vector<double>& g,
                            const Make& make, DType dtype = DType::f32) {
    const Tensor w = weight_of(p, dtype);
    const auto optimizer = make(std::vector<Parameter>{{"w", w}});
    w.set_grad(Tensor::of(g, w.shape(), dtype));
    optimizer->step();
    return w.values();
}

auto near(double value, double tolerance) { return DoubleNear(value, tolerance); }

/// The examples have six decimals, and f32 numbers near 4 have a unit of 2^-22.
constexpr double given = 5e-7 + 0x1p-22;
constexpr double few_roundings = 4 * 0x1p-23;

TEST(Formulas, X10AdamDecoupledAndL2) {
    const auto adamw = [](const auto& w) {
        return std::make_unique<Adam>(
            w, AdamOptions{.lr = 0.1, .weight_decay = 0.1, .decoupled = true});
    };
    const auto adam = [](const auto& w) {
        return std::make_unique<Adam>(w, AdamOptions{.lr = 0.1, .weight_decay = 0.1});
    };
    EXPECT_THAT(stepped({1, 2}, {0.5, -1}, adamw),
                ElementsAre(near(0.89, few_roundings), near(2.08, few_roundings)));
    EXPECT_THAT(stepped({1, 2}, {0.5, -1}, adam),
                ElementsAre(near(0.9, few_roundings), near(2.1, few_roundings)));
}

TEST(Formulas, X10AdamWithoutBiasCorrection) {
    // m = 0.05, v = 0.00025: 0.05 / (sqrt(0.00025) + 1e-8)
    const auto adam = [](const auto& w) {
        return std::make_unique<Adam>(w, AdamOptions{.lr = 0.1, .bias_correction = false});
    };
    EXPECT_THAT(stepped({1}, {0.5}, adam),
                ElementsAre(near(1 - 0.1 * 0.05 / (std::sqrt(0.00025) + 1e-8), few_roundings)));
}

TEST(Formulas, X10Lamb) {
    const auto lamb = [](double decay, bool nvlamb) {
        return [=](const auto& w) {
            return std::make_unique<Lamb>(
                w, LambOptions{.lr = 0.1, .weight_decay = decay, .nvlamb = nvlamb});
        };
    };
    EXPECT_THAT(stepped({3, 4}, {3, 4}, lamb(0.01, false)),
                ElementsAre(near(2.648159, given), near(3.644743, given)));
    EXPECT_THAT(stepped({3, 4}, {3, 4}, lamb(0, false)),
                ElementsAre(near(2.9, 2e-6), near(3.9, 2e-6)));
    EXPECT_THAT(stepped({3, 4}, {3, 4}, lamb(0, true)),
                ElementsAre(near(2.646447, given), near(3.646447, given)));
}

TEST(Formulas, X10LambClipsByTheNormOfAllGroups) {
    // Two tensors in two groups: norm 5 of all, as in the example, so each is divided by 5.
    const Tensor a = weight_of({3}), b = weight_of({4});
    Lamb lamb({{"a", a}}, {.lr = 0.1});
    lamb.add_group({{"b", b}});
    a.set_grad(Tensor::of({3}, {1}));
    b.set_grad(Tensor::of({4}, {1}));
    lamb.step();
    EXPECT_NEAR(lamb.state(0)[0].second.item(), 0.06, 1e-8);
    EXPECT_NEAR(lamb.state(1)[0].second.item(), 0.08, 1e-8);
    // For one element the ratio is p / u, so each loses a tenth of itself.
    EXPECT_NEAR(a.item(), 2.7, few_roundings);
    EXPECT_NEAR(b.item(), 3.6, few_roundings);
}

TEST(Formulas, X10NovoGradInBothModes) {
    for (const bool inside : {false, true}) {
        const auto novograd = [&](const auto& w) {
            return std::make_unique<NovoGrad>(w, NovoGradOptions{.lr = 0.1,
                                                                 .beta1 = 0.95,
                                                                 .beta2 = 0.98,
                                                                 .weight_decay = 0.01,
                                                                 .regularise_inside = inside});
        };
        // c2 also divides the norm of the first step: 5 / sqrt(0.02).
        EXPECT_THAT(stepped({1, 2}, {3, 4}, novograd),
                    ElementsAre(near(0.990515, given), near(1.986686, given)));
    }
}

TEST(Formulas, X10NovoGradKeepsTheNormItself) {
    const Tensor w = weight_of({1, 2});
    NovoGrad l2({{"w", w}}, {.beta2 = 0.75}),
        largest({{"w", w}}, {.beta2 = 0.75, .norm = kernels::NormKind::largest}),
        zero({{"w", w}}, {.beta2 = 0.75, .init_zero = true});
    for (const double times : {1.0, 3.0}) {
        w.set_grad(Tensor::of({3 * times, 4 * times}, {2}));
        l2.step();
        largest.step();
        zero.step();
        const auto norm = [](const NovoGrad& o) { return o.state(0)[1].second.item(); };
        if (times == 1) {
            EXPECT_NEAR(norm(l2), 5, 1e-6);
            EXPECT_NEAR(norm(largest), 4, 1e-6);
            EXPECT_NEAR(norm(zero), 2.5, 1e-6);
        } else {
            EXPECT_NEAR(norm(l2), std::sqrt(0.75 * 25 + 0.25 * 225), 1e-5);
            EXPECT_NEAR(norm(largest), 0.75 * 4 + 0.25 * 12, 1e-5);
            EXPECT_NEAR(norm(zero), std::sqrt(0.75 * 6.25 + 0.25 * 225), 1e-5);
        }
    }
}

TEST(Formulas, X10AdagradCoupledAndDecoupled) {
    // With h = (g + d p)^2 the quotient is 1. Decoupled, h = g^2 makes it 1, and the decay is
    // added.
    const auto adagrad = [](bool decoupled) {
        return [=](const auto& w) {
            return std::make_unique<Adagrad>(
                w, AdagradOptions{.lr = 0.1, .weight_decay = 0.1, .decoupled = decoupled});
        };
    };
    EXPECT_THAT(stepped({1, 2}, {0.5, -1}, adagrad(false)),
                ElementsAre(near(0.9, few_roundings), near(2.1, few_roundings)));
    EXPECT_THAT(stepped({1, 2}, {0.5, -1}, adagrad(true)),
                ElementsAre(near(0.89, few_roundings), near(2.08, few_roundings)));
}

TEST(Formulas, X10SgdWithTheDecayAfterTheMomentum) {
    const Tensor w = weight_of({2});
    Sgd sgd({{"w", w}},
            {.lr = 0.5, .momentum = 0.5, .weight_decay = 0.25, .decay_after_momentum = true});
    w.set_grad(Tensor::of({1}, {1}));
    sgd.step();  // buf 1, direction 1 + 0.5
    EXPECT_EQ(w.item(), 1.25);
    EXPECT_EQ(sgd.state(0)[0].second.item(), 1);
    sgd.step();  // buf 1.5, direction 1.5 + 0.3125
    EXPECT_EQ(w.item(), 1.25 - 0.5 * 1.8125);
}

std::vector<double> larc_gradient(double lr, bool clip) {
    const Tensor w = weight_of({3, 4});
    Sgd sgd({{"w", w}}, {.lr = lr}, {.larc = {.on = true, .clip = clip}});
    w.set_grad(Tensor::of({0.6, 0.8}, {2}));
    sgd.step();
    return w.grad().values();
}

TEST(Formulas, X13Larc) {
    EXPECT_THAT(larc_gradient(0.25, true), ElementsAre(near(0.24, 1e-7), near(0.32, 1e-7)));
    EXPECT_THAT(larc_gradient(0.05, true), ElementsAre(near(0.6, 1e-7), near(0.8, 1e-7)));
    EXPECT_THAT(larc_gradient(0.25, false), ElementsAre(near(0.06, 1e-7), near(0.08, 1e-7)));
}

TEST(Formulas, X13LarcTakesTheDecayOver) {
    // The rate is 0.02 * 5 / (1 + 5 * 0.1) = 1 / 15. The inner step has no decay.
    const Tensor w = weight_of({3, 4});
    Sgd sgd({{"w", w}}, {.lr = 0.5, .weight_decay = 0.1}, {.larc = {.on = true, .clip = false}});
    w.set_grad(Tensor::of({0.6, 0.8}, {2}));
    sgd.step();
    EXPECT_THAT(w.values(), ElementsAre(near(3 - 0.5 * 0.9 / 15, few_roundings),
                                        near(4 - 0.5 * 1.2 / 15, few_roundings)));
}

TEST(Formulas, X13LarcGoesAroundEveryOptimizer) {
    const OptimizerOptions larc{.larc = {.on = true}};
    const Tensor w = weight_of({3, 4});
    w.set_grad(Tensor::of({0.6, 0.8}, {2}));
    Adam adam({{"w", w}}, {.weight_decay = 0.01, .decoupled = true}, larc);
    Lamb lamb({{"w", w}}, {}, larc);
    NovoGrad novograd({{"w", w}}, {}, larc);
    Adagrad adagrad({{"w", w}}, {}, larc);
    for (Optimizer* optimizer : std::vector<Optimizer*>{&adam, &lamb, &novograd, &adagrad}) {
        const auto before = w.values();
        optimizer->step();
        EXPECT_LT(w.values()[0], before[0]);
    }
}

TEST(Formulas, X10TakeAnEmptyGroup) {
    const Tensor w = weight_of({1, 2});
    Lamb lamb({{"w", w}}, {});
    lamb.add_group({});
    w.set_grad(Tensor::of({0.5, -1}, {2}));
    lamb.step();
    EXPECT_EQ(lamb.steps(1), 1);
    EXPECT_LT(w.values()[0], 1);
}

TEST(Formulas, RefuseSettingsOutOfRange) {
    const std::vector<Parameter> none;
    EXPECT_THROW(Adam(none, {.beta1 = 1}), Error);
    EXPECT_THROW(Adam(none, {.weight_decay = -1}), Error);
    EXPECT_THROW(Lamb(none, {.beta2 = -0.5}), Error);
    EXPECT_THROW(Lamb(none, {.max_grad_norm = -1}), Error);
    EXPECT_THROW(NovoGrad(none, {.eps = -1}), Error);
    EXPECT_THROW(Adagrad(none, {.lr_decay = -1}), Error);
    EXPECT_THROW(Adagrad(none, {.initial_accumulator_value = -1}), Error);
    EXPECT_THROW(Sgd(none, {}, {.larc = {.on = true, .trust = 0}}), Error);
}

TEST(Groups, HaveTheirOwnRateDecayAndCount) {
    const Tensor a = weight_of({1}), b = weight_of({1}), c = weight_of({1});
    Sgd sgd({{"a", a}}, {.lr = 0.5, .weight_decay = 0.25});
    EXPECT_EQ(sgd.add_group({{"b", b}}, {.lr = 0.25, .weight_decay = 0}), 1);
    for (const Tensor& w : {a, b}) w.set_grad(Tensor::of({1}, {1}));
    sgd.step();
    EXPECT_EQ(a.item(), 1 - 0.5 * 1.25);
    EXPECT_EQ(b.item(), 1 - 0.25);
    EXPECT_EQ(sgd.add_group({{"c", c}}), 2);
    c.set_grad(Tensor::of({1}, {1}));
    sgd.set_lr(1, 1);
    sgd.step();
    EXPECT_EQ(b.item(), 1 - 0.25 - 1);
    EXPECT_EQ(c.item(), 1 - 0.5 * 1.25);
    EXPECT_EQ(sgd.steps(0), 2);
    EXPECT_EQ(sgd.steps(2), 1);
    EXPECT_EQ(sgd.lr(0), 0.5);
    EXPECT_EQ(sgd.lr(1), 1);
}

TEST(Groups, AreCorrectedByTheirOwnCount) {
    const Tensor a = weight_of({1}), b = weight_of({1});
    Adam adam({{"a", a}}, {.lr = 0.125});
    a.set_grad(Tensor::of({1}, {1}));
    adam.step();
    adam.step();
    adam.add_group({{"b", b}});
    b.set_grad(Tensor::of({1}, {1}));
    adam.step();
    EXPECT_NEAR(b.item(), 1 - 0.125, few_roundings) << "the first step is lr whatever the gradient";
}

/// Trains a weight of 1 with gradients 1 and 2, at lr 0.1. Before that, its group had an update
/// without a gradient of this weight, and a skipped one.
template <class Make>
double started_late(const Make& make) {
    const Tensor other = weight_of({1}), w = weight_of({1});
    const auto optimizer = make(std::vector<Parameter>{{"other", other}, {"w", w}});
    const auto step = [&](const std::vector<double>& grad, bool skipped = false) {
        other.set_grad(Tensor::of({1}, {1}));
        w.set_grad(grad.empty() ? Tensor() : Tensor::of(grad, {1}));
        optimizer->found_inf = Tensor::full({}, skipped ? 1 : 0, DType::f32);
        optimizer->step();
    };
    step({});
    step({8}, /*skipped=*/true);
    step({1});
    step({2});
    EXPECT_EQ(optimizer->steps(), 3);
    return w.item();
}

TEST(LateStart, OfSgdTakesTheFirstGradientUndamped) {
    const auto sgd = [](const auto& w) {
        return std::make_unique<Sgd>(w, SgdOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
    };
    // The buffers are 1 and 0.9 + 0.5 * 2.
    EXPECT_NEAR(started_late(sgd), 1 - 0.1 * (1 + 1.9), few_roundings);
}

TEST(LateStart, OfAdamAndAdagradCountsTheParametersOwnUpdates) {
    const auto adam = [](bool amsgrad) {
        return [=](const auto& w) {
            return std::make_unique<Adam>(w, AdamOptions{.lr = 0.1, .amsgrad = amsgrad});
        };
    };
    const auto adamw = [](const auto& w) {
        return std::make_unique<Adam>(w,
                                      AdamOptions{.lr = 0.1, .weight_decay = 0, .decoupled = true});
    };
    // The first update is lr; then m = 0.29 and v = 0.004999, corrected by 0.19 and 0.001999.
    const double expected = 0.9 - 0.1 * (0.29 / 0.19) / std::sqrt(0.004999 / 0.001999);
    EXPECT_NEAR(expected, 0.8035, 5e-5);
    EXPECT_NEAR(started_late(adam(false)), expected, few_roundings);
    EXPECT_NEAR(started_late(adam(true)), expected, few_roundings);
    EXPECT_NEAR(started_late(adamw), expected, few_roundings);
    const auto adagrad = [](const auto& w) {
        return std::make_unique<Adagrad>(w, AdagradOptions{.lr = 0.1, .lr_decay = 1});
    };
    EXPECT_NEAR(started_late(adagrad), 0.9 - 0.05 * 2 / std::sqrt(5.0), few_roundings);
}

TEST(LateStart, OfNovoGradStartsTheNormButKeepsTheGroupsCount) {
    const auto novograd = [](const auto& w) {
        return std::make_unique<NovoGrad>(w,
                                          NovoGradOptions{.lr = 0.1, .beta1 = 0.9, .beta2 = 0.98});
    };
    // They are updates 2 and 3 of the group. Norms: 1 and sqrt(0.98 + 0.02 * 4); m: 0.1 and 0.09 +
    // 0.2.
    const double first = 0.1 / 0.19 * std::sqrt(1 - 0.98 * 0.98);
    const double second = 0.29 / 0.271 * std::sqrt((1 - 0.98 * 0.98 * 0.98) / 1.06);
    EXPECT_NEAR(started_late(novograd), 1 - 0.1 * (first + second), few_roundings);
}

TEST(LateStart, OfLambKeepsTheGroupsCount) {
    const auto lamb = [](const auto& w) {
        return std::make_unique<Lamb>(
            w, LambOptions{.lr = 0.1, .weight_decay = 0, .max_grad_norm = 0});
    };
    // m and v by optimizers.md#optimizer-formulas (4.3), corrected for updates 2 and 3 of the
    // group.
    const double first = 0.1 / 0.19 / std::sqrt(0.001 / 0.001999);
    const double second = 0.29 / 0.271 / std::sqrt(0.004999 / 0.002997001);
    EXPECT_NEAR(started_late(lamb), 1 - 0.1 * (first + second), 2e-6) << "eps is 1e-6";
}

TEST(Groups, AreSkippedTogether) {
    const Tensor a = weight_of({1}), b = weight_of({1});
    Sgd sgd({{"a", a}}, {.lr = 1});
    sgd.add_group({{"b", b}});
    for (const Tensor& w : {a, b}) w.set_grad(Tensor::of({1}, {1}));
    sgd.found_inf = Tensor::full({}, 1, DType::f32);
    sgd.step();
    EXPECT_EQ(a.item(), 1);
    EXPECT_EQ(b.item(), 1);
    EXPECT_EQ(sgd.steps(0), 0);
    EXPECT_EQ(sgd.steps(1), 0);
}

}  // namespace
}  // namespace engine
