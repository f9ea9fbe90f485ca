#include "autograd/backward.h"
#include "harness.h"
#include "kernels/multi_tensor.h"
#include "kernels/scaler.h"
#include "ops/loss/loss.h"
#include "ops/shape/sum.h"

namespace engine {
namespace {

/// The part of a recipe between the scaled backward pass and update(), for one batch. A null scaler
/// means the control: plain training that skips the bad batch itself.
struct RecipeRun {
    Net net;
    std::unique_ptr<Sgd> optimizer;
    int applied = 0;
    int skipped = 0;
    double scale = 1;
};

constexpr double clip_at = 0.2;

enum class Clipping { plain, scaled_bound, after_unscale, on_device };

RecipeRun run_clipping(Clipping how) {
    RecipeRun run;
    const bool aware = how == Clipping::on_device;
    run.optimizer = std::make_unique<Sgd>(named(run.net.parameters), SgdOptions{.lr = 1},
                                          OptimizerOptions{.scaling_aware = aware});
    GradScaler scaler({.init_scale = 128, .growth_interval = 1, .enabled = how != Clipping::plain});
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) {
        const auto& batch = batches[static_cast<std::size_t>(i)];
        run.optimizer->zero_grad();
        backward(scaler.scale(mse_loss(run.net(batch.input), batch.target)));
        if (how == Clipping::plain) {
            if (i == bad_batch) continue;
            EXPECT_GT(clip_to_norm(run.net.parameters, clip_at), clip_at) << "nothing to clip";
            run.optimizer->step();
            ++run.applied;
            continue;
        }
        if (i == bad_batch) spoil(run.net);
        if (how == Clipping::after_unscale) scaler.unscale_(*run.optimizer);
        if (how == Clipping::on_device) {
            set_clip(*run.optimizer, checked(*run.optimizer), scaler, clip_at);
        } else {
            // A non-finite norm must not throw.
            clip_to_norm(run.net.parameters,
                         how == Clipping::scaled_bound ? clip_at * scaler.loss_scale() : clip_at);
        }
        scaler.step(*run.optimizer);
        ++(scaler.skipped(*run.optimizer) ? run.skipped : run.applied);
        scaler.update();
    }
    run.scale = scaler.loss_scale();
    return run;
}

TEST(GradScaler, S15_ClippingWithAndWithoutUnscaleEqualsPlainClipping) {
    const RecipeRun plain = run_clipping(Clipping::plain);
    for (const auto how : {Clipping::scaled_bound, Clipping::after_unscale, Clipping::on_device}) {
        const RecipeRun run = run_clipping(how);
        EXPECT_EQ(run.applied, 3);
        EXPECT_EQ(run.skipped, 1);
        EXPECT_EQ(run.scale, 128 * 8 * 0.5);
        // The 1e-6 in the clip coefficient has another effect on a scaled norm: a relative 1e-6 /
        // norm, with norms above 0.2. Added to that are a few f32 roundings, over steps of lr 1.
        expect_match(plain.net, *plain.optimizer, run.net, *run.optimizer, 2e-5);
    }
}

TEST(GradScaler, S16_ClipNumbers) {
    const Tensor w = with_grad({0, 0}, {3 * 1024.0, 4 * 1024.0});
    Sgd optimizer(named({w}), {.lr = 1});
    GradScaler scaler = ready_scaler({.init_scale = 1024});
    scaler.unscale_(optimizer);
    EXPECT_NEAR(clip_to_norm({w}, 1), 5, 1e-6);
    EXPECT_NEAR(w.grad().values()[0], 0.6, 1e-6);
    EXPECT_NEAR(w.grad().values()[1], 0.8, 1e-6);
}

TEST(GradScaler, S16_ClipNumbersOnTheDevice) {
    const Tensor w = with_grad({0, 0}, {3 * 1024.0, 4 * 1024.0});
    Sgd optimizer(named({w}), {.lr = 1}, {.scaling_aware = true});
    GradScaler scaler = ready_scaler({.init_scale = 1024});
    const auto gradient_statistics = checked(optimizer);
    EXPECT_EQ(std::sqrt(gradient_statistics.host().sum_squares), 5 * 1024.0);
    set_clip(optimizer, gradient_statistics, scaler, 1);
    scaler.step(optimizer);
    EXPECT_NEAR(w.values()[0], -0.6, 1e-6);
    EXPECT_NEAR(w.values()[1], -0.8, 1e-6);
}

/// training-loops.md#gradient-penalty (3.4): the loss plus the norm of its gradient.
Tensor with_penalty(const GradScaler& scaler, const Tensor& loss, const Tensor& scaled_loss,
                    const TensorList& parameters) {
    const Tensor outputs[] = {scaled_loss};
    const TensorList scaled = grad(outputs, parameters, {}, {.create_graph = true});
    Tensor squares;
    for (const auto& gradient : scaled) {
        const Tensor unscaled = mul(gradient, 1.0 / scaler.loss_scale());
        const Tensor part = sum(mul(unscaled, unscaled));
        squares = squares.defined() ? add(squares, part) : part;
    }
    return add(loss, pow(squares, 0.5));
}

RecipeRun run_penalty(bool enabled) {
    RecipeRun run;
    run.optimizer = std::make_unique<Sgd>(named(run.net.parameters), SgdOptions{.lr = 0.25});
    GradScaler scaler({.init_scale = 128, .growth_interval = 1, .enabled = enabled});
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) {
        const auto& batch = batches[static_cast<std::size_t>(i)];
        run.optimizer->zero_grad();
        const Tensor loss = mse_loss(run.net(batch.input), batch.target);
        const Tensor total = with_penalty(scaler, loss, scaler.scale(loss), run.net.parameters);
        backward(scaler.scale(total));
        if (!enabled) {
            if (i != bad_batch) run.optimizer->step();
            continue;
        }
        if (i == bad_batch) spoil(run.net);
        scaler.step(*run.optimizer);
        ++(scaler.skipped(*run.optimizer) ? run.skipped : run.applied);
        scaler.update();
    }
    run.scale = scaler.loss_scale();
    return run;
}

TEST(GradScaler, S17_PenaltyEqualsPlainTraining) {
    const RecipeRun plain = run_penalty(false), scaled = run_penalty(true);
    EXPECT_EQ(scaled.applied, 3);
    EXPECT_EQ(scaled.skipped, 1);
    EXPECT_EQ(scaled.scale, 128 * 8 * 0.5);
    expect_match(plain.net, *plain.optimizer, scaled.net, *scaled.optimizer, 1e-6);
}

TEST(GradScaler, S17_PenaltyNumbers) {
    const Tensor w = leaf({3, 4}, {2});
    Sgd optimizer(named({w}), {.lr = 0.1});
    GradScaler scaler({.init_scale = 8});
    const Tensor loss = mul(sum(mul(w, w)), 0.5);
    backward(scaler.scale(with_penalty(scaler, loss, scaler.scale(loss), {w})));
    const auto near = [](const Tensor& t, double a, double b) {
        EXPECT_NEAR(t.values()[0], a, 1e-5);
        EXPECT_NEAR(t.values()[1], b, 1e-5);
    };
    near(w.grad(), 28.8, 38.4);
    scaler.unscale_(optimizer);
    near(w.grad(), 3.6, 4.8);
    scaler.step(optimizer);
    near(w, 2.64, 3.52);
}

TEST(GradScaler, S18_AccumulationOverTwoMicroBatchesEqualsPlain) {
    const auto train = [](bool enabled, bool aware) {
        RecipeRun run;
        run.optimizer = std::make_unique<Sgd>(named(run.net.parameters), SgdOptions{.lr = 1},
                                              OptimizerOptions{.scaling_aware = aware});
        GradScaler scaler({.init_scale = 128, .growth_interval = 1, .enabled = enabled});
        const auto batches = harness_batches();
        for (int i = 0; i < 4; ++i) {
            const auto& batch = batches[static_cast<std::size_t>(i)];
            const Tensor loss = mul(mse_loss(run.net(batch.input), batch.target), 0.5);
            backward(scaler.scale(loss));
            if (i % 2 == 0) continue;
            scaler.step(*run.optimizer);
            ++(scaler.skipped(*run.optimizer) ? run.skipped : run.applied);
            scaler.update();
            if (i != 3) run.optimizer->zero_grad();
        }
        run.scale = scaler.loss_scale();
        return run;
    };
    const RecipeRun plain = train(false, false);
    for (const bool aware : {false, true}) {
        const RecipeRun scaled = train(true, aware);
        EXPECT_EQ(scaled.applied, 2);
        EXPECT_EQ(scaled.skipped, 0);
        EXPECT_EQ(scaled.scale, 128 * 4);
        expect_match(plain.net, *plain.optimizer, scaled.net, *scaled.optimizer, 0);
    }
}

struct TwoNets {
    Net first{1}, second{2};
    Sgd first_optimizer{named(first.parameters), SgdOptions{.lr = 1}};
    Sgd second_optimizer{named(second.parameters), SgdOptions{.lr = 1}};
    double scale = 1;
};

/// training-loops.md#several-losses (3.5): two losses that use both nets; unscale_ is called for
/// the first optimizer only.
std::unique_ptr<TwoNets> run_two(bool enabled) {
    auto nets = std::make_unique<TwoNets>();
    GradScaler scaler({.init_scale = 128, .growth_interval = 1, .enabled = enabled});
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) {
        const auto& batch = batches[static_cast<std::size_t>(i)];
        nets->first_optimizer.zero_grad();
        nets->second_optimizer.zero_grad();
        const Tensor o0 = nets->first(batch.input), o1 = nets->second(batch.input);
        const Tensor loss0 = mse_loss(add(mul(o0, 0.3), mul(o1, 0.7)), batch.target);
        const Tensor loss1 = mse_loss(sub(mul(o0, 0.6), mul(o1, 0.4)), batch.target);
        backward(scaler.scale(loss0), {.retain_graph = true});
        backward(scaler.scale(loss1));
        if (!enabled) {
            nets->first_optimizer.step();
            if (i != bad_batch) nets->second_optimizer.step();
            continue;
        }
        if (i == bad_batch) spoil(nets->second);
        scaler.unscale_(nets->first_optimizer);
        scaler.step(nets->first_optimizer);
        scaler.step(nets->second_optimizer);
        scaler.update();
    }
    nets->scale = scaler.loss_scale();
    return nets;
}

TEST(GradScaler, S19_TwoNetsTwoOptimizersTwoLosses) {
    const auto plain = run_two(false), scaled = run_two(true);
    EXPECT_EQ(scaled->first_optimizer.steps(), 4);
    EXPECT_EQ(scaled->second_optimizer.steps(), 3);
    EXPECT_EQ(scaled->scale, 128 * 8 * 0.5);
    expect_match(plain->first, plain->first_optimizer, scaled->first, scaled->first_optimizer, 0);
    expect_match(plain->second, plain->second_optimizer, scaled->second, scaled->second_optimizer,
                 0);
}

TEST(GradScaler, Recipe39_SkippedTellsAScheduleWhetherTheUpdateWasApplied) {
    OneWeight one;
    GradScaler scaler = ready_scaler({});
    EXPECT_FALSE(scaler.skipped(one.optimizer)) << "not stepped yet";
    scaler.step(one.optimizer);
    EXPECT_FALSE(scaler.skipped(one.optimizer));
    scaler.update();
    give_grad(one.weight, {infinity});
    scaler.step(one.optimizer);
    EXPECT_TRUE(scaler.skipped(one.optimizer));
}

}  // namespace
}  // namespace engine
