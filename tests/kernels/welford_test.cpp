#include "kernels/batch_norm.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/targets.h"
#include "kernels/welford_problem.h"

namespace kernels::test {
namespace {

Array row_of(Buffer& all, std::size_t k, std::int64_t channels) {
    auto* bytes =
        all.as<unsigned char>() + static_cast<std::size_t>(channels) * k * size_of(all.dtype());
    return {bytes, all.dtype(), channels};
}

TEST(Welford, X16MergesToTheNumbersOfTheSection) {
    const WelfordExample e;
    Buffer mean(DType::f64, 1), var(DType::f64, 1), unbiased(DType::f64, 1);
    cpu::welford_merge(mean, var, unbiased, e.means, e.vars, e.counts, 1, {});
    EXPECT_NEAR(mean.get(0), e.mean, 1e-14);
    EXPECT_NEAR(var.get(0), e.var, 1e-14);
    EXPECT_NEAR(unbiased.get(0), e.unbiased, 1e-14);
    cpu::welford_local(mean, var, Buffer(DType::f64, {1, 2, 5, 6, 7}), 5, 1, {});
    EXPECT_NEAR(mean.get(0), e.mean, 1e-14);
    EXPECT_NEAR(var.get(0), e.var, 1e-14);
}

TEST(Welford, X16UnequalPartsMergeToTheStatisticsOfTheWholeBatch) {
    on_every_target([] {
        for_each_welford([](const WelfordProblem& p) {
            const auto parts = p.counts.size();
            const std::int64_t all = static_cast<std::int64_t>(parts) * p.channels;
            Buffer means(p.wide, all), vars(p.wide, all);
            Buffer mean(p.wide, p.channels), var(p.wide, p.channels), unbiased(p.wide, p.channels);
            for (std::size_t k = 0; k < parts; ++k)
                cpu::welford_local(row_of(means, k, p.channels), row_of(vars, k, p.channels),
                                   p.part(p.x, k), p.counts[k], p.channels, {});
            cpu::welford_merge(mean, var, unbiased, means, vars, p.counts_buffer(), p.channels, {});
            expect_merged(p, mean, var, unbiased);
        });
    });
}

TEST(Welford, X16TheGradientsSumsOfThePartsAddUpToThoseOfTheWholeBatch) {
    on_every_target([] {
        for_each_welford([](const WelfordProblem& p) {
            const Buffer mean = random_buffer(p.wide, p.channels, 3);
            std::vector<double> sum(static_cast<std::size_t>(p.channels)), centred = sum;
            for (std::size_t k = 0; k < p.counts.size(); ++k) {
                Buffer s(p.wide, p.channels), t(p.wide, p.channels);
                cpu::welford_backward_sums(s, t, p.part(p.dy, k), p.part(p.x, k), mean, p.counts[k],
                                           p.channels, {});
                for (std::size_t c = 0; c < sum.size(); ++c) {
                    sum[c] += s.get(static_cast<std::int64_t>(c));
                    centred[c] += t.get(static_cast<std::int64_t>(c));
                }
            }
            expect_sums(p, mean, sum, centred);
        });
    });
}

TEST(Welford, GivesTheSameBitsForEveryThreadCount) {
    const WelfordProblem p(DType::f32, {20'000}, 5);
    const auto statistics = [&] {
        Buffer mean(p.wide, p.channels), var(p.wide, p.channels);
        cpu::welford_local(mean, var, p.x, p.rows, p.channels, {});
        return std::pair(mean.bytes(), var.bytes());
    };
    const auto expected = statistics();
    with_threads([&](int) { EXPECT_EQ(statistics(), expected); });
}

Array row_of(const DeviceBuffer& all, std::size_t k, std::int64_t channels) {
    const Array whole = all;
    auto* bytes = static_cast<char*>(whole.data) +
                  static_cast<std::size_t>(channels) * k * size_of(whole.dtype);
    return {bytes, whole.dtype, channels};
}

TEST(CudaWelford, X16MergesToTheNumbersOfTheSection) {
    HALFTONE_NEEDS_CUDA();
    const WelfordExample e;
    const DeviceBuffer mean(DType::f64, 1), var(DType::f64, 1), unbiased(DType::f64, 1);
    cuda::welford_merge(mean, var, unbiased, DeviceBuffer(e.means), DeviceBuffer(e.vars),
                        DeviceBuffer(e.counts), 1, {});
    EXPECT_NEAR(mean.host().get(0), e.mean, 1e-14);
    EXPECT_NEAR(var.host().get(0), e.var, 1e-14);
    EXPECT_NEAR(unbiased.host().get(0), e.unbiased, 1e-14);
}

TEST(CudaWelford, X16UnequalPartsMergeToTheStatisticsOfTheWholeBatch) {
    HALFTONE_NEEDS_CUDA();
    for_each_welford([](const WelfordProblem& p) {
        const auto parts = p.counts.size();
        const std::int64_t all = static_cast<std::int64_t>(parts) * p.channels;
        const DeviceBuffer means(p.wide, all), vars(p.wide, all), counts(p.counts_buffer());
        const DeviceBuffer mean(p.wide, p.channels), var(p.wide, p.channels),
            unbiased(p.wide, p.channels);
        for (std::size_t k = 0; k < parts; ++k) {
            const DeviceBuffer x(p.part(p.x, k));
            cuda::welford_local(row_of(means, k, p.channels), row_of(vars, k, p.channels), x,
                                p.counts[k], p.channels, {});
        }
        cuda::welford_merge(mean, var, unbiased, means, vars, counts, p.channels, {});
        expect_merged(p, mean.host(), var.host(), unbiased.host());
    });
}

TEST(CudaWelford, X16TheGradientsSumsOfThePartsAddUpToThoseOfTheWholeBatch) {
    HALFTONE_NEEDS_CUDA();
    for_each_welford([](const WelfordProblem& p) {
        const Buffer mean = random_buffer(p.wide, p.channels, 3);
        const DeviceBuffer device_mean(mean);
        std::vector<double> sum(static_cast<std::size_t>(p.channels)), centred = sum;
        for (std::size_t k = 0; k < p.counts.size(); ++k) {
            const DeviceBuffer s(p.wide, p.channels), t(p.wide, p.channels), x(p.part(p.x, k)),
                dy(p.part(p.dy, k));
            cuda::welford_backward_sums(s, t, dy, x, device_mean, p.counts[k], p.channels, {});
            const Buffer host_s = s.host(), host_t = t.host();
            for (std::size_t c = 0; c < sum.size(); ++c) {
                sum[c] += host_s.get(static_cast<std::int64_t>(c));
                centred[c] += host_t.get(static_cast<std::int64_t>(c));
            }
        }
        expect_sums(p, mean, sum, centred);
    });
}

}  // namespace
}  // namespace kernels::test
