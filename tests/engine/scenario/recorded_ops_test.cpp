#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/device_error.h"
#include "op_samples.h"
#include "ops/detection/nms.h"
#include "ops/shape/sum.h"
#include "tensor/device.h"

// Operations that may be part of a captured step (decisions.md#whole-step, D5): they neither wait
// for the device nor copy from the host.
namespace engine {
namespace {

struct Results {
    TensorList tensors;  // the value, then the gradients of the arguments that take one
    std::unique_ptr<kernels::cuda::Graph> graph = nullptr;  // kept as long as it may run
};

Results compute(const OpSample& sample, const TensorList& args) {
    TensorList wanted;
    for (const Tensor& x : args) {
        if (x.requires_grad()) wanted.push_back(x);
    }
    Results out;
    const Tensor y = sample.call(args);
    out.tensors.push_back(y.detach());
    const Tensor total = sum(y);
    if (!total.requires_grad()) return out;
    for (const Tensor& g : grad({&total, 1}, wanted, {}, {}, /*allow_unused=*/true)) {
        if (g.defined()) out.tensors.push_back(g.detach());
    }
    return out;
}

/// The results of the captured work when it is replayed; nothing if it cannot be captured.
std::optional<Results> recorded(const OpSample& sample, const TensorList& args) {
    kernels::cuda::begin_capture(current_stream());
    try {
        Results out = compute(sample, args);
        out.graph = kernels::cuda::end_capture(current_stream());
        out.graph->launch(current_stream());
        return out;
    } catch (const kernels::DeviceError&) {
    } catch (const Error&) {
    }
    kernels::cuda::abandon_capture(current_stream());
    return std::nullopt;
}

TEST(RecordedOps, RunInAGraphWithTheirOwnBitsButForThoseThatNeedTheHost) {
    if (default_device().kind != Device::Kind::cuda)
        GTEST_SKIP() << "the tests' device is the processor, which records nothing";
    const DeviceScope scope(default_device());
    std::set<std::string> refused;
    for (const OpSample& sample : op_samples()) {
        SCOPED_TRACE(std::string(sample.op) + " " + sample.label);
        const TensorList args = arguments(sample, DType::f32);
        const Results eager = compute(sample, args);  // also creates the libraries' plans
        const std::optional<Results> graph = recorded(sample, args);
        if (!graph) {
            refused.insert(sample.op);
            continue;
        }
        ASSERT_EQ(graph->tensors.size(), eager.tensors.size());
        for (std::size_t i = 0; i < eager.tensors.size(); ++i)
            EXPECT_THAT(
                graph->tensors[i].values(),
                testing::Pointwise(testing::NanSensitiveDoubleEq(), eager.tensors[i].values()));
    }
    // Norms of singular values are computed on the host.
    EXPECT_THAT(refused, testing::ElementsAre("linalg_matrix_norm", "nuclear_norm"));
}

TEST(RecordedOps, RefuseSuppressionWhoseResultsSizeDependsOnValues) {
    if (default_device().kind != Device::Kind::cuda)
        GTEST_SKIP() << "the tests' device is the processor, which records nothing";
    const DeviceScope scope(default_device());
    const Tensor boxes = Tensor::of({0, 0, 4, 4, 1, 1, 4, 4}, {2, 4});
    const Tensor scores = Tensor::of({1, 2}, {2}), groups = Tensor::zeros({2}, DType::i64);
    for (const bool grouped : {false, true}) {
        kernels::cuda::begin_capture(current_stream());
        bool refused = false;
        try {
            if (grouped)
                batched_nms(boxes, scores, groups, 0.5);
            else
                nms(boxes, scores, 0.5);
        } catch (const kernels::DeviceError&) {
            refused = true;
        } catch (const Error&) {
            refused = true;
        }
        kernels::cuda::abandon_capture(current_stream());
        EXPECT_TRUE(refused);
    }
}

}  // namespace
}  // namespace engine
