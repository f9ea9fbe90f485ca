#include "kernels/multi_tensor.h"
#include "kernels/optimizer_problem.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

/// Not more than 16 f32 (f64) roundings, each of a value of size about 10 (Adagrad's sums: 100),
/// then that of the storage.
double slack_of(DType master) { return 16 * 10 * (master == DType::f64 ? 0x1p-53 : 0x1p-24); }

void expect_follows(const OptimizerCase& optimizer, OptimizerProblem& problem) {
    OptimizerReference expected = reference_of(problem);
    optimizer.reference(expected);
    optimizer.cpu(problem.list(), problem.scalars(), nullptr);
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto& t = problem.tensors[k];
        const double slack = slack_of(t.master.dtype());
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
            // The copy is of the f32 weight, which a 16-bit master has rounded to itself.
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

/// Masters that an update left as they were, read back.
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
                        // Half a unit of a 16-bit weight, or of an f32 one, is about such an
                        // update.
                        for (float& lr : before.lr) lr *= low ? 0x1p-11f : 0x1p-22f;
                        OptimizerProblem after = before;
                        UpdateCounts counts{-1, -1};
                        optimizer.cpu(after.list(), after.scalars(), &counts);
                        // No moment or gradient is 0, so that every update is not.
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
                        // Four f32 roundings of a value of size 1.
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
    // Weights 0: the gradient stays, and has no decay in it (4.4).
    OptimizerProblem problem(optimizer_types[0], {4}, false);
    problem.larc = larcs[1];
    problem.write_grads = true;
    for (std::int64_t i = 0; i < 4; ++i) problem.tensors[0].master.set(i, 0);
    const Buffer before = problem.tensors[0].grad;
    cpu::multi_tensor_sgd(problem.list(), {}, problem.scalars(), nullptr, {});
    for (std::int64_t i = 0; i < 4; ++i)
        EXPECT_EQ(problem.tensors[0].grad.get(i), stored(DType::f32, before.get(i) / 16));
}

// X8: sizes, lists and numbers of the catalogue.
const std::vector<std::int64_t> x8_sizes = {777, 555, 65537, 1};

struct X8List {
    X8List(DType type, double value, int repeats) {
        for (int r = 0; r < repeats; ++r)
            for (const std::int64_t size : x8_sizes)
                buffers.emplace_back(type,
                                     std::vector<double>(static_cast<std::size_t>(size), value));
    }
    std::vector<Array> arrays() { return {buffers.begin(), buffers.end()}; }
    std::vector<ConstArray> views() { return {buffers.begin(), buffers.end()}; }
    std::vector<Buffer> buffers;
};

bool all_are(const Buffer& buffer, double value) {
    for (std::int64_t i = 0; i < buffer.size(); ++i)
        if (buffer.get(i) != value) return false;
    return true;
}

TEST(MultiTensorAxpby, X8Scales4By0Point25To1) {
    on_every_target([] {
        for (const DType from : {DType::f32, DType::f16, DType::bf16, DType::f64})
            for (const DType to : {DType::f32, DType::f16, DType::f64})
                for (const int repeats : {1, 2}) {
                    X8List x(from, 4, repeats), out(to, 9, repeats);
                    float found = 0;
                    cpu::multi_tensor_axpby(out.arrays(), 0.25, x.views(), 0, {}, &found, {});
                    EXPECT_EQ(found, 0);
                    for (const Buffer& b : out.buffers) EXPECT_TRUE(all_are(b, 1));
                }
    });
}

TEST(MultiTensorAxpby, X8TakesListsRepeated55Times) {
    X8List x(DType::f16, 4, 55), out(DType::f32, 9, 55);
    float found = 0;
    cpu::multi_tensor_axpby(out.arrays(), 0.25, x.views(), 0, {}, &found, {});
    EXPECT_EQ(found, 0);
    for (const Buffer& b : out.buffers) EXPECT_TRUE(all_are(b, 1));
}

TEST(MultiTensorAxpby, X8Makes136Of2Times4And8Times16) {
    on_every_target([] {
        for (const DType a : {DType::f32, DType::f16})
            for (const DType b : {DType::f32, DType::f16})
                for (const DType to : {DType::f32, DType::f16}) {
                    X8List x(a, 4, 1), y(b, 16, 1), out(to, 9, 1);
                    float found = 0;
                    cpu::multi_tensor_axpby(out.arrays(), 2, x.views(), 8, y.views(), &found, {});
                    EXPECT_EQ(found, 0);
                    for (const Buffer& buffer : out.buffers) EXPECT_TRUE(all_are(buffer, 136));
                }
    });
}

TEST(MultiTensorAxpby, X8FindsWhatIsNotFiniteFirstLastOrInTheMiddle) {
    on_every_target([] {
        for (const DType type : {DType::f32, DType::f16, DType::f64})
            for (const float bad : {infinity, -infinity, nan})
                for (std::size_t k = 0; k < x8_sizes.size(); ++k)
                    for (const std::int64_t at :
                         {std::int64_t{0}, x8_sizes[k] / 2, x8_sizes[k] - 1})
                        for (const bool in_y : {false, true}) {
                            X8List x(type, 4, 1), y(type, 16, 1), out(DType::f32, 0, 1);
                            (in_y ? y : x).buffers[k].set(at, static_cast<double>(bad));
                            float found = 0;
                            cpu::multi_tensor_axpby(out.arrays(), 2, x.views(), 8, y.views(),
                                                    &found, {});
                            ASSERT_EQ(found, 1);
                        }
    });
}

TEST(MultiTensorL2Norm, X8IsThatOfAllAndOfEachTensor) {
    on_every_target([] {
        for (const DType type : {DType::f32, DType::f16, DType::bf16, DType::f64})
            for (const int repeats : {1, 3}) {
                X8List x(type, 4, repeats);
                std::vector<float> norms(x.buffers.size(), -1);
                float total = -1;
                cpu::multi_tensor_l2_norm(&total, norms.data(), x.views(), {});
                double elements = 0;
                for (std::size_t k = 0; k < norms.size(); ++k) {
                    const auto size = static_cast<double>(x.buffers[k].size());
                    elements += size;
                    EXPECT_EQ(norms[k], static_cast<float>(4 * std::sqrt(size)));
                }
                EXPECT_EQ(total, static_cast<float>(4 * std::sqrt(elements)));
                cpu::multi_tensor_l2_norm(&total, nullptr, x.views(), {});
                EXPECT_EQ(total, static_cast<float>(4 * std::sqrt(elements)));
            }
    });
}

TEST(MultiTensorL2Norm, X8WithAFactor) {
    // Scaled by 1/2 first, as the scale kernel leaves them.
    X8List x(DType::f16, 4, 1), half(DType::f32, 0, 1);
    float found = 0, total = 0;
    cpu::multi_tensor_axpby(half.arrays(), 0.5, x.views(), 0, {}, &found, {});
    cpu::multi_tensor_l2_norm(&total, nullptr, half.views(), {});
    EXPECT_EQ(total, static_cast<float>(2 * std::sqrt(777 + 555 + 65537 + 1)));
}

TEST(MultiTensorL2Norm, NeitherOverflowsNorVanishes) {
    Buffer large(DType::f32, {0x1p120, 0x1p120}), small(DType::f32, {0x1p-130, 0});
    float total = 0;
    cpu::multi_tensor_l2_norm(&total, nullptr, std::vector<ConstArray>{large}, {});
    EXPECT_EQ(total, static_cast<float>(std::sqrt(2.0) * 0x1p120));
    cpu::multi_tensor_l2_norm(&total, nullptr, std::vector<ConstArray>{small}, {});
    EXPECT_EQ(total, 0x1p-130f);
    cpu::multi_tensor_l2_norm(&total, nullptr, {}, {});
    EXPECT_EQ(total, 0);
}

}  // namespace
}  // namespace kernels::test
