#include <gmock/gmock.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "kernels/elementwise.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "scaler_support.h"
#include "support/element.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/parameter.h"

// Models with two weights that are multiplied. Several models share one or two optimizers, and some
// gradients overflow (X6, X7). Every number is exact, also in f16.

namespace engine {
namespace {

using testing::ElementsAreArray;

/// A level of optimizers.md#opt-levels (4.1). The masters of O2 are f32, O3 has none. `mixed`: one
/// weight f32, one f16, as in the original case.
struct Level {
    const char* name;
    DType first, second;
    bool masters = false;
    bool region = false;
};
const std::vector<Level> levels = {{"O0", DType::f32, DType::f32},
                                   {"O1", DType::f32, DType::f32, false, true},
                                   {"O1 mixed", DType::f32, DType::f16, true, true},
                                   {"mixed", DType::f32, DType::f16},
                                   {"O2", DType::f16, DType::f16, true},
                                   {"O3", DType::f16, DType::f16}};

/// w0 = u + [0, 1], w1 = 1 + u + [0, 1], loss = sum(x w0 w1), x = [1, 1].
struct TwoWeights {
    TwoWeights(double u, const Level& level)
        : first(leaf({u, u + 1}, {2}, level.first)),
          second(leaf({u + 1, u + 2}, {2}, level.second)),
          x(Tensor::full({2}, 1, level.first)) {}
    Tensor loss() const { return to(sum(mul(mul(x, first), second)), DType::f32); }
    Tensor first, second, x;
};

enum class Zero { by_hand, in_place, by_optimizer };

/// Where a gradient gets inf: iteration, model, weight.
struct Spoil {
    int iteration = -1, model = 0;
    bool in_second = false;
};

struct TwoModelsSetup {
    Level level;
    Zero zero = Zero::by_optimizer;
    std::vector<double> scales = {4};  ///< one scaler for all, or one per model
    Spoil spoil{};
    bool write_grads = true;
    bool two_optimizers = false;  ///< one per model; otherwise one optimizer with two groups
};

struct Expected {
    std::vector<double> first, second;
};
const std::vector<std::vector<Expected>> gradients = {
    {{{2, 3}, {1, 2}}, {{3, 4}, {2, 3}}}, {{{1.75, 2.5}, {0.5, 1.25}}, {{2, 2.5}, {0.5, 1}}}};
const std::vector<Expected> finals = {{{0, 0.53125}, {1.59375, 2.125}},
                                      {{-0.6875, -0.5}, {1.625, 1.8125}}};
const double rates[] = {0.25, 0.5};

class Session {
public:
    explicit Session(const TwoModelsSetup& setup) : setup_(setup) {
        for (const double u : {1.0, 2.0}) models_.emplace_back(u, setup.level);
        const OptimizerOptions options{.scaling_aware = true,
                                       .master_weights = setup.level.masters,
                                       .write_grads = setup.write_grads};
        const SgdOptions sgd{.lr = rates[0], .momentum = 0.125};
        optimizers_.push_back(std::make_unique<Sgd>(parameters(0), sgd, options));
        if (setup.two_optimizers) {
            optimizers_.push_back(std::make_unique<Sgd>(
                parameters(1), SgdOptions{.lr = rates[1], .momentum = 0.125}, options));
        } else {
            optimizers_[0]->add_group(parameters(1), {.lr = rates[1], .weight_decay = {}});
        }
        for (const double scale : setup.scales)
            scalers_.push_back(ready_scaler({.init_scale = scale}));
    }

    void iterate(int number) {
        zero();
        for (int k = 0; k < 2; ++k) {
            GradScaler& scaler = scaler_of(k);
            Tensor loss;
            {
                const AutocastRegion region(here, setup_.level.region, DType::f16);
                const auto entered = region.enter();
                loss = models_[at(k)].loss();
            }
            backward(scaler.scale(loss));
            const Spoil& spoil = setup_.spoil;
            if (spoil.iteration == number && spoil.model == k) {
                const TwoWeights& model = models_[at(k)];
                set_element((spoil.in_second ? model.second : model.first).grad(), 1, infinity);
            } else if (applied(k) < 2) {
                expect_gradients(k, scaler.loss_scale());
            }
        }
        for (std::size_t k = 0; k < optimizers_.size(); ++k)
            scaler_of(static_cast<int>(k)).step(*optimizers_[k]);
        for (GradScaler& scaler : scalers_) scaler.update();
    }

    std::int64_t applied(int model) const {
        return optimizers_[std::min(at(model), optimizers_.size() - 1)]->steps();
    }

    void expect_final(int k) const {
        const TwoWeights& model = models_[at(k)];
        EXPECT_THAT(model.first.values(), ElementsAreArray(finals[at(k)].first));
        EXPECT_THAT(model.second.values(), ElementsAreArray(finals[at(k)].second));
    }

private:
    static std::size_t at(int k) { return static_cast<std::size_t>(k); }
    GradScaler& scaler_of(int k) { return scalers_[std::min(at(k), scalers_.size() - 1)]; }
    std::vector<Parameter> parameters(int k) const {
        return named({models_[at(k)].first, models_[at(k)].second});
    }
    void zero() {
        for (const TwoWeights& model : models_) {
            for (const Tensor& w : {model.first, model.second}) {
                if (setup_.zero == Zero::by_hand) w.set_grad({});
                if (setup_.zero == Zero::in_place && w.grad().defined())
                    on(w.device(), kernels::cpu::fill, kernels::cuda::fill)(w.grad().array(), 0.0,
                                                                            current_stream());
            }
        }
        if (setup_.zero != Zero::by_optimizer) return;
        for (const auto& optimizer : optimizers_) optimizer->zero_grad();
    }
    void expect_gradients(int k, double scale) const {
        const Expected& expected = gradients[static_cast<std::size_t>(applied(k))][at(k)];
        const auto unscaled = [scale](const Tensor& w) {
            auto values = w.grad().values();
            for (double& value : values) value /= scale;
            return values;
        };
        EXPECT_THAT(unscaled(models_[at(k)].first), ElementsAreArray(expected.first));
        EXPECT_THAT(unscaled(models_[at(k)].second), ElementsAreArray(expected.second));
    }

    TwoModelsSetup setup_;
    std::vector<TwoWeights> models_;
    std::vector<std::unique_ptr<Sgd>> optimizers_;
    std::vector<GradScaler> scalers_;
};

TEST(TwoModels, X6TwoGroupsStepAsGivenAtEveryLevel) {
    for (const Level& level : levels) {
        SCOPED_TRACE(level.name);
        Session session({.level = level});
        session.iterate(0);
        session.iterate(1);
        session.expect_final(0);
        session.expect_final(1);
    }
}

TEST(TwoModels, X7AnOverflowCostsOneIterationAndNothingElse) {
    for (const Level& level : levels)
        for (const Zero zero : {Zero::by_hand, Zero::in_place, Zero::by_optimizer})
            for (const bool write_grads : {true, false})
                for (const int iteration : {0, 1})
                    for (const int model : {0, 1})
                        for (const bool in_second : {false, true}) {
                            SCOPED_TRACE(level.name);
                            Session session({.level = level,
                                             .zero = zero,
                                             .spoil = {iteration, model, in_second},
                                             .write_grads = write_grads});
                            for (int i = 0; i < 3; ++i) session.iterate(i);
                            EXPECT_EQ(session.applied(0), 2);
                            session.expect_final(0);
                            session.expect_final(1);
                        }
}

TEST(TwoModels, X7TwoOptimizersWithOneScalerOrTwoSkipEachForItself) {
    for (const Level& level : levels)
        for (const auto& scales : {std::vector<double>{4}, {4, 16}})
            for (const int iteration : {0, 1})
                for (const int model : {0, 1}) {
                    SCOPED_TRACE(level.name);
                    Session session({.level = level,
                                     .scales = scales,
                                     .spoil = {iteration, model, false},
                                     .two_optimizers = true});
                    session.iterate(0);
                    session.iterate(1);
                    // The other model has finished. The third iteration belongs to the model with
                    // the overflow.
                    session.expect_final(1 - model);
                    EXPECT_EQ(session.applied(model), 1);
                    session.iterate(2);
                    session.expect_final(model);
                }
}

TEST(TwoModels, X7AGroupAddedAfterSomeStepsStartsAtItsFirst) {
    for (const Level& level : levels) {
        SCOPED_TRACE(level.name);
        const TwoWeights early(1, level), late(2, level);
        const OptimizerOptions options{.scaling_aware = true, .master_weights = level.masters};
        Sgd sgd(named({early.first, early.second}), {.lr = rates[0], .momentum = 0.125}, options);
        GradScaler scaler = ready_scaler({.init_scale = 4});
        for (int i = 0; i < 4; ++i) {
            if (i == 2)
                sgd.add_group(named({late.first, late.second}),
                              {.lr = rates[1], .weight_decay = {}});
            sgd.zero_grad();
            const TwoWeights& model = i < 2 ? early : late;
            backward(scaler.scale(model.loss()));
            scaler.step(sgd);
            scaler.update();
        }
        EXPECT_THAT(early.first.values(), ElementsAreArray(finals[0].first));
        EXPECT_THAT(early.second.values(), ElementsAreArray(finals[0].second));
        EXPECT_THAT(late.first.values(), ElementsAreArray(finals[1].first));
        EXPECT_THAT(late.second.values(), ElementsAreArray(finals[1].second));
    }
}

TEST(TwoModels, X7ThreeModelsUnderTwoOptimizers) {
    for (const Level& level : levels) {
        SCOPED_TRACE(level.name);
        const TwoWeights a(1, level), b(1, level), c(2, level);
        const OptimizerOptions options{.scaling_aware = true, .master_weights = level.masters};
        Sgd both(named({a.first, a.second, c.first, c.second}), {.lr = rates[0], .momentum = 0.125},
                 options);
        Sgd second(named({b.first, b.second}), {.lr = rates[0], .momentum = 0.125}, options);
        GradScaler scaler = ready_scaler({.init_scale = 4});
        for (int i = 0; i < 3; ++i) {
            both.zero_grad();
            second.zero_grad();
            for (const TwoWeights* model : {&a, &b, &c}) backward(scaler.scale(model->loss()));
            if (i == 1) set_element(b.second.grad(), 0, infinity);
            if (i < 2) scaler.step(both);
            scaler.step(second);
            scaler.update();
        }
        EXPECT_THAT(a.first.values(), ElementsAreArray(finals[0].first));
        EXPECT_THAT(b.first.values(), ElementsAreArray(finals[0].first));
        EXPECT_THAT(b.second.values(), ElementsAreArray(finals[0].second));
    }
}

}  // namespace
}  // namespace engine
