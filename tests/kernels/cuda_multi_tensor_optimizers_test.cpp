#include <memory>

#include "kernels/device_array.h"
#include "kernels/multi_tensor.h"
#include "kernels/optimizer_problem.h"

namespace kernels::test {
namespace {

/// A problem's arrays and scalars on the device.
class DeviceProblem {
public:
    explicit DeviceProblem(const OptimizerProblem& from)
        : lr_(DType::f32, {static_cast<double>(from.lr[0]), static_cast<double>(from.lr[1])}),
          decays_(DType::f64, {from.decays[0], from.decays[1]}),
          scale_(from.scale),
          clip_(from.clip),
          found_(from.found_inf) {
        for (const auto& t : from.tensors) {
            Part part;
            const Buffer* buffers[] = {&t.master, &t.grad, &t.state1, &t.state2, &t.low, &t.state3};
            for (int k = 0; k < 6; ++k) part[k] = std::make_unique<DeviceBuffer>(*buffers[k]);
            list_.push_back({*part[0], *part[1], *part[2], *part[3], *part[4], *part[5], t.group,
                             static_cast<int>(list_.size()), from.behind_low});
            parts_.push_back(std::move(part));
        }
        const auto counts = [](std::span<const std::int64_t> values) {
            Buffer buffer(DType::i64, static_cast<std::int64_t>(values.size()));
            std::copy(values.begin(), values.end(), buffer.as<std::int64_t>());
            return std::make_unique<DeviceBuffer>(buffer);
        };
        device_lr_ = std::make_unique<DeviceBuffer>(lr_);
        device_decays_ = std::make_unique<DeviceBuffer>(decays_);
        device_steps_ = counts(from.steps);
        device_own_steps_ = counts(from.own_steps);
        scalars_ = {.lr = device_lr_->as<float>(),
                    .grad_scale = scale_.get(),
                    .clip = clip_.get(),
                    .found_inf = found_.get(),
                    .step = device_steps_->as<std::int64_t>(),
                    .own_step = device_own_steps_->as<std::int64_t>(),
                    .write_grads = from.write_grads,
                    .weight_decay = device_decays_->as<double>(),
                    .larc = from.larc};
    }
    const std::vector<UpdateTensor>& list() const { return list_; }
    const UpdateScalars& scalars() const { return scalars_; }
    Buffer host(std::size_t tensor, int part) const { return parts_[tensor][part]->host(); }

private:
    using Part = std::array<std::unique_ptr<DeviceBuffer>, 6>;
    Buffer lr_, decays_;
    DeviceValue<float> scale_, clip_, found_;
    std::unique_ptr<DeviceBuffer> device_lr_, device_decays_, device_steps_, device_own_steps_;
    std::vector<Part> parts_;
    std::vector<UpdateTensor> list_;
    UpdateScalars scalars_;
};

/// After an update of both twins. Norms are sums in another order and `pow` may be off by a unit or
/// two of f64, so that what is worked out for a tensor may be by one of f32 (some of f64), and with
/// it the update, whose parts are of size 10.
void expect_close(const OptimizerCase& optimizer, const OptimizerProblem& cpu,
                  const DeviceProblem& cuda) {
    for (std::size_t k = 0; k < cpu.tensors.size(); ++k) {
        const auto& t = cpu.tensors[k];
        const Buffer* expected[] = {&t.master, &t.grad, &t.state1, &t.state2, &t.low, &t.state3};
        for (int part = 0; part < 6; ++part) {
            const Buffer actual = cuda.host(k, part);
            for (std::int64_t i = 0; i < actual.size(); ++i) {
                const double value = expected[part]->get(i);
                const double unit = t.master.dtype() == DType::f64 ? 0x1p-50 : 0x1p-23;
                ASSERT_TRUE(near(
                    actual.get(i), value, actual.dtype(),
                    3 * unit * std::max(10.0, std::fabs(value)) + half_ulp(actual.dtype(), value)))
                    << optimizer.name << " tensor " << k << " part " << part << " element " << i;
            }
        }
    }
}

TEST(CudaOptimizers, X10FollowTheCpuForEveryTypeGroupAndLarc) {
    HALFTONE_NEEDS_CUDA();
    for (const OptimizerCase& optimizer : optimizer_cases())
        for (const auto& types : optimizer_types)
            for (const Larc& larc : larcs) {
                OptimizerProblem problem(types, {1000, 1, 33, 0, 5}, optimizer.one_norm);
                problem.larc = larc;
                problem.write_grads = true;
                problem.behind_low = true;
                const DeviceProblem device(problem);
                UpdateCounts expected{-1, -1};
                optimizer.cpu(problem.list(), problem.scalars(), &expected);
                const DeviceValue<UpdateCounts> counts({-1, -1});
                optimizer.cuda(device.list(), device.scalars(), counts.get());
                EXPECT_EQ(counts.host().nonzero, expected.nonzero) << optimizer.name;
                expect_close(optimizer, problem, device);
            }
}

TEST(CudaOptimizers, TakeSeveralChunksListsAndTypes) {
    HALFTONE_NEEDS_CUDA();
    std::vector<std::int64_t> lengths = {9001, 4096, 4097};
    for (std::int64_t i = 0; i < 60; ++i) lengths.push_back(i * 37 % 61);
    for (const OptimizerCase& optimizer : optimizer_cases()) {
        OptimizerProblem problem(optimizer_types[0], lengths, optimizer.one_norm);
        const OptimizerProblem wide(optimizer_types[4], lengths, optimizer.one_norm, 7);
        for (std::size_t k = 0; k < wide.tensors.size(); k += 2)
            problem.tensors[k] = wide.tensors[k];
        const DeviceProblem device(problem);
        optimizer.cpu(problem.list(), problem.scalars(), nullptr);
        optimizer.cuda(device.list(), device.scalars(), nullptr);
        expect_close(optimizer, problem, device);
    }
}

TEST(CudaOptimizers, S21WriteNothingAtAllWhenAGradientWasNotFinite) {
    HALFTONE_NEEDS_CUDA();
    for (const OptimizerCase& optimizer : optimizer_cases())
        for (const Larc& larc : larcs) {
            OptimizerProblem problem(optimizer_types[1], {100, 3}, optimizer.one_norm);
            problem.larc = larc;
            problem.found_inf = 1;
            problem.write_grads = true;
            const DeviceProblem device(problem);
            const DeviceValue<UpdateCounts> counts({-1, -1});
            optimizer.cuda(device.list(), device.scalars(), counts.get());
            EXPECT_EQ(counts.host().nonzero, 0);
            for (std::size_t k = 0; k < problem.tensors.size(); ++k) {
                const auto& t = problem.tensors[k];
                EXPECT_EQ(device.host(k, 0).bytes(), t.master.bytes()) << optimizer.name;
                EXPECT_EQ(device.host(k, 1).bytes(), t.grad.bytes()) << optimizer.name;
                EXPECT_EQ(device.host(k, 2).bytes(), t.state1.bytes()) << optimizer.name;
                EXPECT_EQ(device.host(k, 3).bytes(), t.state2.bytes()) << optimizer.name;
                EXPECT_EQ(device.host(k, 4).bytes(), t.low.bytes()) << optimizer.name;
                EXPECT_EQ(device.host(k, 5).bytes(), t.state3.bytes()) << optimizer.name;
            }
        }
}

/// Buffers on the device, as lists.
struct DeviceList {
    explicit DeviceList(const std::vector<Buffer>& from) {
        for (const Buffer& b : from) buffers.push_back(std::make_unique<DeviceBuffer>(b));
    }
    std::vector<Array> arrays() const {
        std::vector<Array> out;
        for (const auto& b : buffers) out.push_back(b->array());
        return out;
    }
    std::vector<ConstArray> views() const {
        const auto all = arrays();
        return {all.begin(), all.end()};
    }
    std::vector<std::unique_ptr<DeviceBuffer>> buffers;
};

std::vector<Buffer> random_list(DType type, int repeats) {
    std::vector<Buffer> out;
    unsigned seed = 1;
    for (int r = 0; r < repeats; ++r)
        for (const std::int64_t size : {777, 555, 9001, 1, 0})
            out.push_back(random_buffer(type, size, seed++));
    return out;
}

TEST(CudaMultiTensorAxpby, X8GivesTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64})
        for (const DType to : {DType::f32, DType::f16, DType::f64})
            for (const bool two : {false, true}) {
                const int repeats = type == DType::f16 && to == DType::f32 ? 55 : 1;
                const auto x = random_list(type, repeats), y = random_list(DType::f32, repeats);
                auto expected = random_list(to, repeats);
                std::vector<ConstArray> xs(x.begin(), x.end()), ys(y.begin(), y.end());
                float found = 0;
                cpu::multi_tensor_axpby(std::vector<Array>(expected.begin(), expected.end()), 0.3,
                                        xs, 1.7, two ? ys : std::vector<ConstArray>{}, &found, {});
                const DeviceList dx(x), dy(y), dout(expected);
                const DeviceValue<float> flag(0);
                cuda::multi_tensor_axpby(dout.arrays(), 0.3, dx.views(), 1.7,
                                         two ? dy.views() : std::vector<ConstArray>{}, flag.get(),
                                         {});
                EXPECT_EQ(flag.host(), 0);
                for (std::size_t k = 0; k < expected.size(); ++k)
                    ASSERT_EQ(dout.buffers[k]->host().bytes(), expected[k].bytes());
            }
}

TEST(CudaMultiTensorAxpby, X8FindsWhatIsNotFinite) {
    HALFTONE_NEEDS_CUDA();
    for (const DType type : {DType::f32, DType::f16, DType::f64})
        for (const std::size_t k : {0u, 2u, 3u})
            for (const bool in_y : {false, true}) {
                auto x = random_list(type, 1), y = random_list(type, 1);
                Buffer& spoiled = (in_y ? y : x)[k];
                spoiled.set(spoiled.size() / 2, static_cast<double>(infinity));
                const DeviceList dx(x), dy(y), out(random_list(DType::f32, 1));
                const DeviceValue<float> flag(0);
                cuda::multi_tensor_axpby(out.arrays(), 2, dx.views(), 8, dy.views(), flag.get(),
                                         {});
                EXPECT_EQ(flag.host(), 1);
            }
}

TEST(CudaMultiTensorL2Norm, X8IsTheCpusToTheOrderOfTheSum) {
    HALFTONE_NEEDS_CUDA();
    for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64})
        for (const int repeats : {1, 55}) {
            if (repeats > 1 && type != DType::f16) continue;
            const auto x = random_list(type, repeats);
            const std::vector<ConstArray> views(x.begin(), x.end());
            std::vector<float> norms(x.size());
            float total = 0;
            cpu::multi_tensor_l2_norm(&total, norms.data(), views, {});
            const DeviceList dx(x);
            const DeviceBuffer device_norms(DType::f32, static_cast<std::int64_t>(x.size()));
            const DeviceValue<float> device_total(-1);
            cuda::multi_tensor_l2_norm(device_total.get(), device_norms.as<float>(), dx.views(),
                                       {});
            // The sums in f64 differ by far less than half a unit of f32: a rounding at the most.
            EXPECT_NEAR(static_cast<double>(device_total.host()), static_cast<double>(total),
                        static_cast<double>(total) * 0x1p-23);
            const Buffer actual = device_norms.host();
            for (std::size_t k = 0; k < norms.size(); ++k)
                EXPECT_NEAR(actual.get(static_cast<std::int64_t>(k)), static_cast<double>(norms[k]),
                            static_cast<double>(norms[k]) * 0x1p-23);
        }
}

}  // namespace
}  // namespace kernels::test
