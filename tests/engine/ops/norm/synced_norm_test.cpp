#include "ops/norm/synced_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/ranks.h"

namespace engine {
namespace {

using test::on_ranks;

/// Reproducible irregular numbers, times a factor.
Tensor numbers(const Shape& shape, DType dtype, int seed, double factor = 1, double shift = 0) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(shift + factor * std::sin(12.9898 * static_cast<double>(i + 1) + seed));
    return Tensor::of(values, shape, dtype);
}

/// All results of a forward and a backward pass.
struct Result {
    Tensor y, dx, dweight, dbias, dresidual, mean, var;
};

struct Problem {
    Shape shape;
    DType dtype;
    bool fused;  ///< with a residual and relu
    double factor = 1;

    Tensor x() const { return numbers(shape, dtype, 1, factor, 3 * factor); }
    Tensor dy() const { return numbers(shape, dtype, 2); }
    Tensor residual() const { return numbers(shape, dtype, 3); }
    DType wide() const { return dtype == DType::f64 ? DType::f64 : DType::f32; }

    Result on_rows(std::int64_t first, std::int64_t rows) const {
        const auto part = [&](const Tensor& t) {
            return contiguous(narrow(t, 0, first, rows)).detach();
        };
        const std::int64_t channels = shape[1];
        Tensor x_part = part(x()), added = part(residual());
        Tensor weight = numbers({channels}, wide(), 4, 0.5, 1),
               bias = numbers({channels}, wide(), 5);
        for (Tensor* each : {&x_part, &added, &weight, &bias}) each->set_requires_grad(true);
        Result out;
        out.mean = numbers({channels}, wide(), 6);
        out.var = numbers({channels}, wide(), 7, 0.5, 1);
        out.y = fused ? batch_norm_relu(x_part, added, weight, bias, out.mean, out.var, true)
                      : batch_norm(x_part, weight, bias, out.mean, out.var, true);
        const Tensor dy_part = part(dy());
        backward(std::span(&out.y, 1), std::span(&dy_part, 1));
        out.dx = x_part.grad();
        out.dweight = weight.grad();
        out.dbias = bias.grad();
        out.dresidual = added.grad();
        return out;
    }
};

/// Largest difference, relative to the largest magnitude.
double gap(const Tensor& a, const Tensor& b) {
    const auto u = a.values(), v = b.values();
    EXPECT_EQ(u.size(), v.size());
    double largest = 0, most = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        largest = std::max(largest, std::abs(v[i]));
        most = std::max(most, std::abs(u[i] - v[i]));
    }
    return most / largest;
}

/// Compares ranks with these numbers of rows with one process that has all rows.
void expect_joined(const Problem& problem, const std::vector<std::int64_t>& counts) {
    const auto ranks = static_cast<int>(counts.size());
    // Statistics are sums of n numbers with one rounding each, followed by a few operations. 16-bit
    // results may differ in the last bit.
    const double unit = problem.dtype == DType::f64   ? 0x1p-52
                        : problem.dtype == DType::f32 ? 0x1p-23
                        : problem.dtype == DType::f16 ? 0x1p-10
                                                      : 0x1p-7;
    const double n = static_cast<double>(problem.shape.numel() / problem.shape[1]);
    const double bound = problem.dtype == problem.wide() ? (n + 16) * unit * 3 : 2 * unit;
    const Result whole = problem.on_rows(0, problem.shape[0]);
    std::vector<Result> parts(counts.size());
    on_ranks(ranks, [&](const auto& line) {
        const SyncedNorms synced(line.get());
        std::int64_t first = 0;
        for (int rank = 0; rank < line->rank(); ++rank)
            first += counts[static_cast<std::size_t>(rank)];
        const auto own = static_cast<std::size_t>(line->rank());
        parts[own] = problem.on_rows(first, counts[own]);
    });
    const auto joined = [&](Tensor Result::*member) {
        TensorList all;
        for (const Result& part : parts) all.push_back((part.*member).detach());
        return cat(all, 0);
    };
    EXPECT_LE(gap(joined(&Result::y), whole.y), bound);
    EXPECT_LE(gap(joined(&Result::dx), whole.dx), bound);
    if (problem.fused) {
        EXPECT_LE(gap(joined(&Result::dresidual), whole.dresidual), bound);
    }
    Tensor dweight = parts[0].dweight, dbias = parts[0].dbias;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        dweight = add(dweight, parts[i].dweight);
        dbias = add(dbias, parts[i].dbias);
        EXPECT_EQ(parts[i].mean.values(), parts[0].mean.values());
        EXPECT_EQ(parts[i].var.values(), parts[0].var.values());
    }
    const double wide_bound = problem.dtype == problem.wide() ? bound : 4 * unit;
    EXPECT_LE(gap(dweight, whole.dweight), wide_bound);
    EXPECT_LE(gap(dbias, whole.dbias), wide_bound);
    EXPECT_LE(gap(parts[0].mean, whole.mean), bound);
    EXPECT_LE(gap(parts[0].var, whole.var), bound);
}

TEST(SyncedNorm, X16_TwoProcessesAreOneWithTheJoinedBatch) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        SCOPED_TRACE(name(dtype));
        expect_joined({{8, 5}, dtype, false}, {4, 4});
        expect_joined({{6, 3, 4, 5}, dtype, false}, {3, 3});
        expect_joined({{6, 4, 5}, dtype, false}, {3, 3});
    }
}

TEST(SyncedNorm, X16_UnequalPartsAndLargeNumbersMakeNoDifference) {
    for (const DType dtype : {DType::f64, DType::f32}) {
        SCOPED_TRACE(name(dtype));
        expect_joined({{9, 5}, dtype, false, 50}, {2, 7});
        expect_joined({{7, 3, 4, 4}, dtype, false, 50}, {4, 1, 2});
    }
}

TEST(SyncedNorm, X16_AdditionAndReluAreFused) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
        SCOPED_TRACE(name(dtype));
        expect_joined({{6, 3, 4, 5}, dtype, true}, {2, 4});
    }
}

// The example of optimizers.md#synchronised-batch-norm (4.5): parts (1, 2) and (5, 6, 7).
TEST(SyncedNorm, TheExampleOfTheSection) {
    on_ranks(2, [](const auto& line) {
        const Tensor x = line->rank() == 0 ? Tensor::of({1, 2}, {2, 1}, DType::f64)
                                           : Tensor::of({5, 6, 7}, {3, 1}, DType::f64);
        const SyncedStatistics found = synced_statistics(*line, x, {x.size(0), 1});
        EXPECT_EQ(found.rows, 5);
        EXPECT_NEAR(found.mean.item(), 4.2, 1e-14);
        EXPECT_NEAR(found.var.item(), 5.36, 1e-14);
        EXPECT_NEAR(found.unbiased.item(), 6.7, 1e-14);
    });
}

TEST(SyncedNorm, OneValueOnEachRankIsEnoughAndOneInAllIsNot) {
    on_ranks(2, [](const auto& line) {
        const SyncedNorms synced(line.get());
        const Tensor x = Tensor::of({line->rank() == 0 ? 1.0 : 3.0}, {1, 1}, DType::f64);
        EXPECT_NEAR(batch_norm(x, {}, {}, {}, {}, true, 0.1, 0).item(), line->rank() == 0 ? -1 : 1,
                    1e-14);
        const UncountedRows none(line->rank() == 1);
        EXPECT_THROW(batch_norm(x, {}, {}, {}, {}, true), Error);
    });
    EXPECT_THROW(batch_norm(Tensor::of({1}, {1, 1}), {}, {}, {}, {}, true), Error);
}

TEST(SyncedNorm, UncountedRowsMoveNothing) {
    const Problem problem{{5, 3}, DType::f64, false};
    const Result whole = problem.on_rows(0, 4);
    on_ranks(2, [&](const auto& line) {
        const SyncedNorms synced(line.get());
        const UncountedRows none(line->rank() == 1);
        if (line->rank() == 0) {
            const Result own = problem.on_rows(0, 4);
            EXPECT_LE(gap(own.dx, whole.dx), 1e-13);
            EXPECT_LE(gap(own.var, whole.var), 1e-13);
        } else {
            problem.on_rows(4, 1);
        }
    });
}

TEST(SyncedNorm, ANanReachesTheGradientThroughRelu) {
    on_ranks(2, [](const auto& line) {
        const SyncedNorms synced(line.get());
        Tensor x = Tensor::of({1, 2, 3, line->rank() == 0 ? std::nan("") : 4.0}, {4, 1});
        x.set_requires_grad(true);
        backward(sum(batch_norm_relu(x, {}, {}, {}, {}, {}, true)));
        for (const double value : x.grad().values()) EXPECT_TRUE(std::isnan(value));
    });
}

TEST(SyncedNorm, EvaluationAsksNobody) {
    on_ranks(2, [](const auto& line) {
        const SyncedNorms synced(line.get());
        if (line->rank() == 1) return;
        const Tensor x = Tensor::of({3, 5}, {1, 2}, DType::f32);
        EXPECT_EQ(
            batch_norm(x, {}, {}, Tensor::of({1, 1}, {2}), Tensor::of({4, 16}, {2}), false, 0.1, 0)
                .values(),
            (std::vector<double>{1, 1}));
    });
}

}  // namespace
}  // namespace engine
