// The optimizers that update each element by itself: the CUDA kernels against their CPU twins.
#include <gtest/gtest.h>

#include <memory>

#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_update.h"
#include "kernels/support.h"
#include "kernels/update_types.h"

namespace kernels::test {
namespace {

/// Whether the CPU's loops use fused multiply-add like the device. Processors without it round
/// twice.
bool cpu_joins() {
    const double near_one = 1 + 0x1p-12;
    Buffer p(DType::f32, {1 + 0x1p-11}), g(DType::f32, {near_one});
    const auto lr = static_cast<float>(near_one);
    const Array none{nullptr, DType::f32, 0};
    const std::vector<UpdateTensor> tensors = {{p, g, none, none, none}};
    cpu::multi_tensor_sgd(tensors, {}, {&lr}, nullptr, {});
    return p.get(0) != 0;
}

enum UpdatePart { master, grad, state1, state2, low, parts };

/// The five arrays of a parameter on the host. With `start` they begin inside their memory.
struct TwinParameter {
    TwinParameter(const Types& t, std::int64_t size_, unsigned seed, std::int64_t start_ = 0)
        : size(size_), start(start_) {
        const std::int64_t all = size + start;
        arrays = {random_buffer(t.master, all, seed), random_buffer(t.grad, all, seed + 1, 0, 10),
                  random_buffer(t.state, all, seed + 2),
                  random_buffer(t.state, all, seed + 3, 2, 0.1), Buffer(t.low, all)};
    }
    std::int64_t size, start;
    std::vector<Buffer> arrays;
    bool momentum = true, with_low = true;

    UpdateTensor tensor(const std::vector<Array>& memory) const {
        std::vector<Array> part;
        for (const Array& a : memory)
            part.push_back({static_cast<unsigned char*>(a.data) +
                                static_cast<std::size_t>(start) * size_of(a.dtype),
                            a.dtype, size});
        if (!momentum) part[state1].data = part[state2].data = nullptr;
        if (!with_low) part[low].data = nullptr;
        return {part[master], part[grad], part[state1], part[state2], part[low]};
    }
};

struct TwinScalars {
    float lr = 0.01f, scale = 3, clip = 0.7f, found_inf = 0;
    std::int64_t step = 3;
};

/// Runs both twins on the same parameters.
class Twins {
public:
    explicit Twins(const std::vector<TwinParameter>& parameters) : host_(parameters) {
        for (TwinParameter& p : host_) {
            std::vector<Array> memory, device_memory;
            for (Buffer& b : p.arrays) {
                memory.push_back(b.array());
                device_.push_back(std::make_unique<DeviceBuffer>(b));
                device_memory.push_back(device_.back()->array());
            }
            tensors_.push_back(p.tensor(memory));
            device_tensors_.push_back(p.tensor(device_memory));
        }
    }

    template <class Options, class Cpu, class Cuda>
    void update(const Options& options, const TwinScalars& s, bool write_grads,
                const Cpu& cpu_update, const Cuda& cuda_update) {
        UpdateCounts expected{-1, -1};
        cpu_update(
            tensors_, options,
            UpdateScalars{&s.lr, &s.scale, &s.clip, &s.found_inf, &s.step, &s.step, write_grads},
            &expected, Stream{});
        const DeviceValue<float> lr(s.lr), scale(s.scale), clip(s.clip), found(s.found_inf);
        const DeviceValue<std::int64_t> step(s.step);
        const DeviceValue<UpdateCounts> counts({-1, -1});
        cuda_update(device_tensors_, options,
                    UpdateScalars{lr.get(), scale.get(), clip.get(), found.get(), step.get(),
                                  step.get(), write_grads},
                    counts.get(), Stream{});
        const UpdateCounts actual = counts.host();
        EXPECT_EQ(actual.nonzero, expected.nonzero);
        EXPECT_EQ(actual.lost, expected.lost);
    }
    void sgd(const SgdOptions& options, const TwinScalars& s, bool write_grads = false) {
        update(options, s, write_grads, cpu::multi_tensor_sgd, cuda::multi_tensor_sgd);
    }
    void adam(const AdamOptions& options, const TwinScalars& s, bool write_grads = false) {
        update(options, s, write_grads, cpu::multi_tensor_adam, cuda::multi_tensor_adam);
    }

    void expect_same(std::initializer_list<UpdatePart> which) const {
        for (std::size_t i = 0; i < host_.size(); ++i)
            for (const UpdatePart part : which)
                ASSERT_EQ(actual(i, part).bytes(), host_[i].arrays[part].bytes())
                    << "tensor " << i << " part " << part;
    }
    /// Compares masters and low copies after Adam from `before`. beta^step may be off by one or two
    /// units of f64, so the step's size and the root of its correction may each be off by one unit
    /// of f32 (several of f64).
    void expect_near_masters(const std::vector<TwinParameter>& before) const {
        for (std::size_t i = 0; i < host_.size(); ++i) {
            const Buffer values = actual(i, master), copies = actual(i, low);
            const double unit = values.dtype() == DType::f64 ? 0x1p-50 : 0x1p-23;
            for (std::int64_t k = 0; k < values.size(); ++k) {
                const double old = before[i].arrays[master].get(k);
                const double expected = host_[i].arrays[master].get(k);
                const double slack = 3 * unit * (std::fabs(expected - old) + std::fabs(old) * unit);
                ASSERT_TRUE(near(values.get(k), expected, values.dtype(), slack));
                if (host_[i].with_low && k >= host_[i].start) {
                    ASSERT_TRUE(near(copies.get(k), expected, copies.dtype(),
                                     slack + 2 * half_ulp(values.dtype(), expected)));
                }
            }
        }
    }

private:
    Buffer actual(std::size_t i, UpdatePart part) const {
        return device_[i * parts + part]->host();
    }

    std::vector<TwinParameter> host_;
    std::vector<UpdateTensor> tensors_, device_tensors_;
    std::vector<std::unique_ptr<DeviceBuffer>> device_;
};

const std::vector<SgdOptions> sgd_options = {
    {},
    {.momentum = 0.9, .weight_decay = 0.1},
    {.momentum = 0.9, .nesterov = true},
    {.momentum = 0.9, .dampening = 0.25, .weight_decay = 0.1},
    {.momentum = 0.9, .dampening = 0.25, .weight_decay = 0.1, .nesterov = true}};

#define HALFTONE_NEEDS_JOINED_PRODUCTS() \
    if (!cpu_joins()) GTEST_SKIP() << "the CPU rounds products before it adds them"

TEST(CudaSgd, GivesTheCpusBitsForEveryTypeAndOption) {
    HALFTONE_NEEDS_CUDA();
    HALFTONE_NEEDS_JOINED_PRODUCTS();
    for (const Types& t : type_sets)
        for (const SgdOptions& options : sgd_options)
            for (const std::int64_t step : {1, 2}) {
                if (step == 2 && options.dampening == 0) continue;
                std::vector<TwinParameter> parameters;
                for (const std::int64_t size : {0, 1, 3, 4, 5, 1000})
                    parameters.emplace_back(t, size, 10, size % 2);
                parameters.emplace_back(t, 7, 10, 1);
                Twins twins(parameters);
                TwinScalars s;
                s.step = step;
                twins.sgd(options, s);
                twins.expect_same({master, grad, state1, state2, low});
            }
}

TEST(CudaSgd, NeedsNeitherMomentumNorLowCopiesNorScalars) {
    HALFTONE_NEEDS_CUDA();
    HALFTONE_NEEDS_JOINED_PRODUCTS();
    TwinParameter parameter(type_sets[0], 5000, 1);
    parameter.momentum = parameter.with_low = false;
    Twins twins({parameter});
    twins.update(
        SgdOptions{}, TwinScalars{}, false,
        [](auto& tensors, auto& options, const UpdateScalars& s, auto*, Stream stream) {
            cpu::multi_tensor_sgd(tensors, options, {s.lr}, nullptr, stream);
        },
        [](auto& tensors, auto& options, const UpdateScalars& s, auto*, Stream stream) {
            cuda::multi_tensor_sgd(tensors, options, {s.lr}, nullptr, stream);
        });
    twins.expect_same({master, grad, state1, low});
}

TEST(CudaUpdate, WritesTheUnscaledGradientWhereAsked) {
    HALFTONE_NEEDS_CUDA();
    HALFTONE_NEEDS_JOINED_PRODUCTS();
    for (const Types& t : type_sets) {
        Twins twins({TwinParameter(t, 33, 1), TwinParameter(t, 4097, 2, 1)});
        twins.sgd({.momentum = 0.9}, TwinScalars(), true);
        twins.expect_same({master, grad, state1, low});
        Twins adam({TwinParameter(t, 33, 1)});
        adam.adam({}, TwinScalars(), true);
        adam.expect_same({grad});
    }
}

TEST(CudaUpdate, WritesNothingButZeroCountsWhenAGradientWasNotFinite) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& t : type_sets) {
        Twins twins({TwinParameter(t, 100, 1)});
        TwinScalars s;
        s.found_inf = 1;
        twins.sgd({.momentum = 0.9}, s, true);
        twins.adam({}, s, true);
        twins.expect_same({master, grad, state1, state2, low});
    }
}

TEST(CudaUpdate, TakesListsLongerThanALaunchAndSeveralChunks) {
    HALFTONE_NEEDS_CUDA();
    HALFTONE_NEEDS_JOINED_PRODUCTS();
    std::vector<TwinParameter> parameters;
    for (unsigned i = 0; i < 150; ++i)
        parameters.emplace_back(type_sets[i % type_sets.size()], i * 37 % 61, i, i % 2);
    parameters.emplace_back(type_sets[0], 70001, 7);
    parameters.emplace_back(type_sets[3], 20001, 8);
    Twins twins(parameters);
    twins.sgd({.momentum = 0.9}, TwinScalars());
    twins.expect_same({master, grad, state1, state2, low});
}

TEST(CudaUpdate, CountsUpdatesThatDoNotChangeA16BitWeight) {
    HALFTONE_NEEDS_CUDA();
    HALFTONE_NEEDS_JOINED_PRODUCTS();
    for (const DType dtype : {DType::f16, DType::bf16}) {
        Twins twins({TwinParameter({dtype, dtype, DType::f32, dtype}, 9001, 5)});
        TwinScalars s;
        s.lr = 1e-4f;  // about half of the updates are lost
        twins.sgd({.momentum = 0.9}, s);
        twins.sgd({.momentum = 0.9}, s);
        twins.expect_same({master});
    }
}

TEST(CudaAdam, FollowsTheCpuForEveryTypeAndOption) {
    HALFTONE_NEEDS_CUDA();
    HALFTONE_NEEDS_JOINED_PRODUCTS();
    for (const Types& t : type_sets)
        for (const bool decoupled : {true, false})
            for (const std::int64_t step : {1, 1000}) {
                AdamOptions options;
                options.weight_decay = 0.1;
                options.decoupled = decoupled;
                std::vector<TwinParameter> parameters;
                for (const std::int64_t size : {0, 1, 3, 4, 5, 1000})
                    parameters.emplace_back(t, size, 10, size % 2);
                parameters.emplace_back(t, 7, 10, 1);
                Twins twins(parameters);
                TwinScalars s;
                s.step = step;
                twins.adam(options, s);
                twins.expect_same({grad, state1, state2});
                twins.expect_near_masters(parameters);
            }
}

}  // namespace
}  // namespace kernels::test
