#include <gtest/gtest.h>

#include <cmath>
#include <span>

#include "amp/recipe.h"
#include "kernels/parallel.h"

// The numbers of rounding at random, as the layers of a run draw them.
namespace engine {
namespace {

constexpr std::int64_t rounded_rows = 1024, rounded_cols = 128, of_block = 32;
const Recipe four_bits{.rule = ScaleBasis::mx,
                       .forward = kernels::fp4_e2m1_layout,
                       .gradient = kernels::fp4_e2m1_layout,
                       .block = of_block,
                       .random_gradients = true};

/// 0.25, in the middle between two codes, but for one 6 in each block of both contractions, which
/// makes all scales 1.
std::vector<double> halves() {
    std::vector<double> out(rounded_rows * rounded_cols, 0.25);
    for (std::int64_t row = 0; row < rounded_rows; ++row)
        for (std::int64_t col = row % of_block; col < rounded_cols; col += of_block)
            out[static_cast<std::size_t>(row * rounded_cols + col)] = 6;
    return out;
}

std::vector<std::uint8_t> codes_of(const std::vector<double>& values, const QuantizedStep& now,
                                   Contraction along = Contraction::cols, std::uint64_t place = 1,
                                   int micro_batch = 0) {
    const Tensor x =
        Tensor::of(values, {std::ssize(values) / rounded_cols, rounded_cols}, DType::f32, Device{});
    QuantizedLayer layer(four_bits, now, place);
    Tensor codes;
    for (int i = 0; i <= micro_batch; ++i)
        codes = layer.quantize(x, ProductOperand::gradient, along).codes;
    const auto* const first = codes.data_as<std::uint8_t>();
    return {first, first + codes.numel()};
}

/// 1 for each value that went up and -1 for one that went down; 0 for 6.
std::vector<int> directions(const std::vector<std::uint8_t>& codes) {
    std::vector<int> out;
    for (const std::uint8_t code : codes) out.push_back(code == 7 ? 0 : code == 1 ? 1 : -1);
    return out;
}

/// Independent directions have a mean product of 0 with a deviation of 1 / sqrt(count).
void expect_independent(std::span<const int> a, std::span<const int> b) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        sum += a[i] * b[i];
        count += std::abs(a[i] * b[i]);
    }
    EXPECT_GT(count, 100'000);
    EXPECT_LE(std::abs(sum) / count, 4 / std::sqrt(count));
}

TEST(RandomNumbersOfCasts, AreIndependentFromElementToElement) {
    const std::vector<int> all =
        directions(codes_of(halves(), {.seed = 5, .step = 7, .operands = 9}));
    for (const std::size_t apart : {1, 2, 3, 4, 7, 8, 16, 64, 128}) {
        SCOPED_TRACE(apart);
        expect_independent(all, std::span(all).subspan(apart));
    }
}

TEST(RandomNumbersOfCasts, AreIndependentAcrossStepsContractionsLayersAndMicroBatches) {
    const std::vector<double> x = halves();
    const QuantizedStep now{.seed = 5, .step = 7, .operands = 9};
    QuantizedStep next = now, other_seed = now;
    next.step = 8;
    other_seed.seed = 6;
    const std::vector<int> first = directions(codes_of(x, now));
    const std::vector<std::vector<std::uint8_t>> others{
        codes_of(x, next), codes_of(x, other_seed), codes_of(x, now, Contraction::rows),
        codes_of(x, now, Contraction::cols, 2), codes_of(x, now, Contraction::cols, 1, 1)};
    for (std::size_t i = 0; i < others.size(); ++i) {
        SCOPED_TRACE(i);
        expect_independent(first, directions(others[i]));
    }
}

TEST(RandomNumbersOfCasts, AreTheSameForAnyNumberOfThreadsAndRanks) {
    const std::vector<double> x = halves();
    const QuantizedStep now{.seed = 5, .step = 7, .operands = 9};
    const int before = kernels::cpu::threads();
    kernels::cpu::set_threads(1);
    const std::vector<std::uint8_t> whole = codes_of(x, now);
    for (const int threads : {2, 8}) {
        kernels::cpu::set_threads(threads);
        EXPECT_EQ(codes_of(x, now), whole) << threads;
    }
    kernels::cpu::set_threads(before);
    constexpr std::int64_t samples = 256, of_sample = rounded_rows / samples * rounded_cols;
    for (const int ranks : {2, 3, 4}) {
        std::vector<std::uint8_t> parts;
        for (int rank = 0; rank < ranks; ++rank) {
            QuantizedStep of_rank = now;
            of_rank.share = share_of(samples, rank, ranks);
            const auto begin = x.begin() + of_rank.share.first * of_sample;
            const auto own = codes_of({begin, begin + of_rank.share.rows * of_sample}, of_rank);
            parts.insert(parts.end(), own.begin(), own.end());
        }
        EXPECT_EQ(parts, whole) << ranks;
    }
}

}  // namespace
}  // namespace engine
