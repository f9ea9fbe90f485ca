#include <memory>

#include "kernels/device_array.h"
#include "kernels/multi_tensor.h"
#include "kernels/optimizer_problem.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

/// At most 16 f32 (f64) roundings, each of a value of about 10 (Adagrad's sums: 100), and that of
/// the storage.
double trust_slack(DType master) { return 16 * 10 * (master == DType::f64 ? 0x1p-53 : 0x1p-24); }

void expect_follows(const OptimizerCase& optimizer, OptimizerProblem& problem) {
    OptimizerReference expected = reference_of(problem);
    optimizer.reference(expected);
    optimizer.cpu(problem.list(), problem.scalars(), nullptr);
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto& t = problem.tensors[k];
        const double slack = trust_slack(t.master.dtype());
        const auto near_all = [&](const Buffer& actual, const std::vector<double>& values) {
            for (std::int64_t i = 0; i < actual.size(); ++i) {
                const double value = values[static_cast<std::size_t>(i)];
                ASSERT_TRUE(near(actual.get(i), value, actual.dtype(),
                                 slack * std::max(1.0, std::fabs(value) / 10)))
                    << optimizer.name << " tensor " << k << " element " << i;
            }
        };
        near_all(t.master, expected[k].p);
        near_all(t.state1, expected[k].s1);
        near_all(t.state2, expected[k].s2);
        near_all(t.state3, expected[k].s3);
        for (std::int64_t i = 0; i < t.low.size(); ++i) {
            // The copy is rounded from the f32 weight. A 16-bit master has already rounded it.
            ASSERT_EQ(t.low.get(i), stored(t.low.dtype(), t.master.get(i)));
        }
    }
}

TEST(Optimizers, X10FollowTheirFormulasForEveryTypeGroupAndLarc) {
    on_every_target([] {
        for (const OptimizerCase& optimizer : optimizer_cases())
            for (const auto& types : optimizer_types)
                for (const Larc& larc : larcs) {
                    OptimizerProblem problem(types, {1000, 1, 33, 0, 777}, optimizer.one_norm);
                    problem.larc = larc;
                    expect_follows(optimizer, problem);
                }
    });
}

TEST(Optimizers, S21WriteNothingAtAllWhenAGradientWasNotFinite) {
    for (const OptimizerCase& optimizer : optimizer_cases())
        for (const auto& types : optimizer_types)
            for (const Larc& larc : larcs) {
                OptimizerProblem problem(types, {100, 3}, optimizer.one_norm);
                problem.larc = larc;
                problem.found_inf = 1;
                problem.write_grads = true;
                OptimizerProblem after = problem;
                UpdateCounts counts{-1, -1};
                optimizer.cpu(after.list(), after.scalars(), &counts);
                EXPECT_EQ(counts.nonzero, 0);
                for (std::size_t k = 0; k < after.tensors.size(); ++k) {
                    const auto &a = after.tensors[k], &b = problem.tensors[k];
                    EXPECT_EQ(a.master.bytes(), b.master.bytes()) << optimizer.name;
                    EXPECT_EQ(a.grad.bytes(), b.grad.bytes()) << optimizer.name;
                    EXPECT_EQ(a.state1.bytes(), b.state1.bytes()) << optimizer.name;
                    EXPECT_EQ(a.state2.bytes(), b.state2.bytes()) << optimizer.name;
                    EXPECT_EQ(a.state3.bytes(), b.state3.bytes()) << optimizer.name;
                    EXPECT_EQ(a.low.bytes(), b.low.bytes()) << optimizer.name;
                }
            }
}

/// The number of masters that an update did not change, read back.
std::int64_t unchanged(const OptimizerProblem& before, const OptimizerProblem& after) {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < before.tensors.size(); ++k) {
        const Buffer &was = before.tensors[k].master, &is = after.tensors[k].master;
        for (std::int64_t i = 0; i < was.size(); ++i) count += was.get(i) == is.get(i);
    }
    return count;
}

TEST(Optimizers, CountTheUpdatesThatDoNotChangeA16BitWeightOrTheMasterBehindIt) {
    on_every_target([] {
        for (const OptimizerCase& optimizer : optimizer_cases())
            for (const auto& types : optimizer_types)
                for (const Larc& larc : larcs)
                    for (const bool behind : {false, true}) {
                        const bool low = size_of(types.master) == 2;
                        const bool counted = low || (behind && types.master == DType::f32);
                        OptimizerProblem before(types, {1000, 1, 33, 0, 777}, optimizer.one_norm);
                        before.larc = larc;
                        before.behind_low = behind;
                        // An update of about half a unit of a 16-bit or f32 weight.
                        for (float& lr : before.lr) lr *= low ? 0x1p-11f : 0x1p-22f;
                        OptimizerProblem after = before;
                        UpdateCounts counts{-1, -1};
                        optimizer.cpu(after.list(), after.scalars(), &counts);
                        // No moment or gradient is 0, and therefore no update.
                        EXPECT_EQ(counts.nonzero, counted ? 1811 : 0) << optimizer.name;
                        EXPECT_EQ(counts.lost, counted ? unchanged(before, after) : 0)
                            << optimizer.name;
                        if (counted) {
                            EXPECT_GT(counts.lost, 0) << optimizer.name;
                            EXPECT_LT(counts.lost, 1811) << optimizer.name;
                        }
                    }
    });
}

TEST(Optimizers, CountNeitherAWeightNorAnUpdateThatIsNotFiniteAndCountAZeroThatOnlyChangesItsSign) {
    const double nan = std::nan("");
    Buffer p(DType::f16, {nan, 1, 0, 0}), g(DType::f16, {0x1p-12, nan, 0x1p-24, 0x1p-10});
    const float lr = 0x1p-4f;
    const Array none{nullptr, DType::f16, 0};
    UpdateCounts counts{};
    const std::vector<UpdateTensor> tensors = {{p, g, none, none, none}};
    cpu::multi_tensor_sgd(tensors, {}, {&lr}, &counts, {});
    EXPECT_TRUE(std::signbit(p.get(2)));
    EXPECT_EQ(p.get(3), -0x1p-14);
    EXPECT_EQ(counts.nonzero, 2);
    EXPECT_EQ(counts.lost, 1);
}

TEST(Optimizers, WriteTheAdaptedGradientOnce) {
    for (const OptimizerCase& optimizer : optimizer_cases())
        for (const auto& types : optimizer_types)
            for (const Larc& larc : larcs) {
                OptimizerProblem problem(types, {1000, 33}, optimizer.one_norm);
                problem.larc = larc;
                problem.write_grads = true;
                const OptimizerReference expected = reference_of(problem);
                optimizer.cpu(problem.list(), problem.scalars(), nullptr);
                for (std::size_t k = 0; k < expected.size(); ++k)
                    for (std::int64_t i = 0; i < problem.tensors[k].grad.size(); ++i) {
                        const Buffer& g = problem.tensors[k].grad;
                        const double value = expected[k].g[static_cast<std::size_t>(i)];
                        // Four f32 roundings of a value of about 1.
                        ASSERT_TRUE(near(g.get(i), value, g.dtype(),
                                         types.master == DType::f64 ? 0x1p-48 : 0x1p-20))
                            << optimizer.name;
                    }
            }
}

TEST(Optimizers, GiveTheSameBitsForEveryThreadCount) {
    for (const OptimizerCase& optimizer : optimizer_cases()) {
        OptimizerProblem start(optimizer_types[0], {100003, 10, 70000, 33}, optimizer.one_norm);
        start.larc = larcs[1];
        const auto run = [&] {
            OptimizerProblem after = start;
            optimizer.cpu(after.list(), after.scalars(), nullptr);
            return after;
        };
        cpu::set_threads(1);
        const auto expected = run();
        with_threads([&](int) {
            const auto after = run();
            for (std::size_t k = 0; k < after.tensors.size(); ++k)
                EXPECT_EQ(after.tensors[k].master.bytes(), expected.tensors[k].master.bytes())
                    << optimizer.name;
        });
    }
}

TEST(Optimizers, LarcLeavesATensorWithoutNormAlone) {
    // With weights of 0 the gradient is unchanged, and includes no decay (optimizers.md#larc, 4.4).
    OptimizerProblem problem(optimizer_types[0], {4}, false);
    problem.larc = larcs[1];
    problem.write_grads = true;
    for (std::int64_t i = 0; i < 4; ++i) problem.tensors[0].master.set(i, 0);
    const Buffer before = problem.tensors[0].grad;
    cpu::multi_tensor_sgd(problem.list(), {}, problem.scalars(), nullptr, {});
    for (std::int64_t i = 0; i < 4; ++i)
        EXPECT_EQ(problem.tensors[0].grad.get(i), stored(DType::f32, before.get(i) / 16));
}

/// The arrays and scalars of a problem, on the device.
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

/// Compares both twins after an update. Norms are summed in another order and `pow` may be off by
/// one or two units of f64, so the factors of a tensor may be off by one unit of f32 (several of
/// f64), and with them the update, whose terms are about 10.
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

}  // namespace
}  // namespace kernels::test
