#include "autograd/backward.h"
#include "harness.h"
#include "kernels/cuda_graph.h"
#include "needs_cuda.h"
#include "ops/linalg/linear.h"
#include "ops/loss/loss.h"
#include "ops/shape/sum.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/memory_pool.h"
#include "tensor/restore.h"

namespace engine {
namespace {

constexpr Device gpu{Device::Kind::cuda, 0};

/// Captures the work that `work` submits to the device. Its memory belongs to the graph.
template <typename F>
std::unique_ptr<kernels::cuda::Graph> recorded(const std::shared_ptr<MemoryPool>& pool, F work) {
    const PoolScope scope(pool);
    kernels::cuda::begin_capture(current_stream());
    try {
        work();
    } catch (...) {
        kernels::cuda::abandon_capture(current_stream());
        throw;
    }
    return kernels::cuda::end_capture(current_stream());
}

Tensor made_leaf_on(const Device& device, const std::vector<double>& values, const Shape& shape) {
    Tensor t = Tensor::of(values, shape, DType::f32, device);
    t.set_requires_grad(true);
    return t;
}

TEST(GradScaler, S22_CapturedGraph) {
    HALFTONE_NEEDS_CUDA();
    const Tensor weight = made_leaf_on(gpu, std::vector<double>(100, 1.0), {100});
    Sgd optimizer(named({weight}), {.lr = 0.1}, {.scaling_aware = true, .write_grads = false});
    GradScaler scaler({.init_scale = 4, .growth_interval = 2});
    scaler.scale(Tensor::full({}, 1, DType::f32, gpu));  // creates the scale, once
    const Tensor input = Tensor::full({100}, 0, DType::f16, gpu);
    const auto pool = std::make_shared<MemoryPool>(gpu);
    const auto graph = recorded(pool, [&] {
        optimizer.zero_grad();
        backward(scaler.scale(sum(mul(to(weight, DType::f16), input))));
        scaler.step(optimizer);
        scaler.update();
    });
    const double inputs[] = {5, 20000, 5, 40000};
    const double gradients[] = {20, infinity, 10, infinity};
    const double scales[] = {4, 2, 2, 1};
    const std::int64_t trackers[] = {1, 0, 1, 0};
    for (int i = 0; i < 4; ++i) {
        input.copy_from_host(Tensor::full({100}, inputs[i], DType::f16, Device{}).data());
        graph->launch(current_stream());
        EXPECT_THAT(weight.grad().values(), testing::Each(gradients[i]));
        EXPECT_EQ(scaler.loss_scale(), scales[i]);
        EXPECT_EQ(scaler.growth_tracker(), trackers[i]);
    }
    EXPECT_THAT(weight.values(), testing::Each(testing::DoubleNear(0, 1e-7)));
}

/// Two linear layers, the optimizer and the scaler, on the device.
using MakeFused = std::function<std::unique_ptr<Optimizer>(const std::vector<Parameter>&,
                                                           const OptimizerOptions&)>;

template <class Kind, class Settings>
MakeFused fused(const Settings& settings, bool larc = false) {
    return [=](const std::vector<Parameter>& parameters, OptimizerOptions options) {
        options.larc.on = larc;
        return std::make_unique<Kind>(parameters, settings, options);
    };
}

const SgdOptions momentum{.lr = 0.1, .momentum = 0.9};
const std::vector<MakeFused> every_fused = {
    fused<Sgd>(momentum),
    fused<Sgd>(momentum, /*larc=*/true),
    fused<Adam>(AdamOptions{.lr = 0.01, .amsgrad = true}),
    fused<Adam>(AdamOptions{.lr = 0.01, .weight_decay = 0.01, .decoupled = true}),
    fused<Adagrad>(AdagradOptions{}),
    fused<Lamb>(LambOptions{.lr = 0.01}),
    fused<NovoGrad>(NovoGradOptions{.lr = 0.1, .weight_decay = 0.01}),
};

struct Training {
    explicit Training(const MakeFused& make)
        : w(made_leaf_on(gpu, Net().parameters[0].copy_to(Device{}).values(),
                         {net_width, net_width})),
          x(Tensor::zeros({net_width, net_width}, DType::f32, gpu)),
          target(Tensor::zeros({net_width, net_width}, DType::f32, gpu)),
          scaler({.init_scale = 128, .growth_interval = 1}) {
        const OptimizerOptions options{.scaling_aware = true, .write_grads = false};
        optimizer = make(named({w}), options);
    }
    void step() {
        optimizer->zero_grad();
        const AutocastRegion region(Device::Kind::cuda, true, DType::f16);
        const auto inside = region.enter();
        backward(scaler.scale(mse_loss(linear(x, w, {}), target)));
        scaler.step(*optimizer);
        scaler.update();
    }
    void give(const HarnessBatch& batch, double factor) const {
        const auto put = [factor](const Tensor& to, const Tensor& from) {
            auto values = from.values();
            for (double& value : values) value *= factor;
            to.copy_from_host(Tensor::of(values, to.shape(), DType::f32, Device{}).data());
        };
        put(x, batch.input);
        put(target, batch.target);
    }

    Tensor w, x, target;
    std::unique_ptr<Optimizer> optimizer;
    GradScaler scaler;
};

TEST(GradScaler, S23_CapturedStepAndUpdateEqualTheUncapturedRun) {
    HALFTONE_NEEDS_CUDA();
    const auto batches = harness_batches();
    for (const MakeFused& make : every_fused) {
        Training eager(make), captured(make);
        const auto pool = std::make_shared<MemoryPool>(gpu);
        std::unique_ptr<kernels::cuda::Graph> graph;
        for (int i = 0; i < 9; ++i) {
            // The last step but one overflows in f16.
            const double factor = i == 7 ? 1e4 : 1;
            const HarnessBatch& batch = batches[static_cast<std::size_t>(i % 4)];
            eager.give(batch, factor);
            eager.step();
            captured.give(batch, factor);
            if (i < 3) {
                captured.step();
            } else {
                if (!graph) graph = recorded(pool, [&] { captured.step(); });
                graph->launch(current_stream());
            }
            ASSERT_EQ(eager.w.values(), captured.w.values()) << "iteration " << i;
            ASSERT_EQ(eager.scaler.loss_scale(), captured.scaler.loss_scale());
            ASSERT_EQ(eager.optimizer->steps(), captured.optimizer->steps());
        }
        EXPECT_EQ(captured.optimizer->steps(), 8) << "one of nine was skipped";
    }
}

TEST(GradScaler, ALoadedStateReachesTheStepThatWasRecordedBeforeIt) {
    HALFTONE_NEEDS_CUDA();
    const auto batches = harness_batches();
    for (const MakeFused& make : every_fused) {
        Training source(make), captured(make);
        const auto step = [&](int i) {
            source.give(batches[static_cast<std::size_t>(i % 4)], 1);
            source.step();
        };
        for (int i = 0; i < 5; ++i) step(i);
        const auto pool = std::make_shared<MemoryPool>(gpu);
        captured.give(batches[3], 1);
        for (int i = 0; i < 2; ++i) captured.step();
        const auto graph = recorded(pool, [&] { captured.step(); });
        graph->launch(current_stream());

        fill({{"w", captured.w}}, {{"w", snapshot(source.w)}});
        captured.optimizer->load_state(source.optimizer->saved_state());
        captured.scaler.load_state(source.scaler.saved_state());
        for (int i = 5; i < 9; ++i) {
            step(i);
            captured.give(batches[static_cast<std::size_t>(i % 4)], 1);
            graph->launch(current_stream());
            ASSERT_EQ(source.w.values(), captured.w.values()) << "iteration " << i;
            ASSERT_EQ(source.scaler.loss_scale(), captured.scaler.loss_scale());
            ASSERT_EQ(source.optimizer->steps(), captured.optimizer->steps());
        }
    }
}

}  // namespace
}  // namespace engine
