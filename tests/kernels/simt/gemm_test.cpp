#include <gtest/gtest.h>

#include <cmath>

#include "cuda/matmul_plans.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_array.h"
#include "kernels/gemm.h"
#include "simt/libraries.h"

// Cases of cuda::gemm that only the simulated library can produce.
namespace kernels::test {
namespace {

/// Frees its memory, since other tests count the device's memory.
class SimulatedGemm : public ::testing::Test {
protected:
    ~SimulatedGemm() override { cuda::release_workspaces(); }
};

struct Operands {
    DType dtype = DType::f16;
    DeviceBuffer a{random_buffer(dtype, 16 * 24, 1)}, b{random_buffer(dtype, 24 * 32, 2)},
        bias{random_buffer(dtype, 32, 3)}, c{dtype, 16 * 32};

    /// Each test uses another number of rows, since a shape that has a plan is not planned again.
    void run(std::int64_t rows, const GemmOptions& options, Stream stream = {}) const {
        cuda::gemm({c.as<void>(), dtype, rows, 32, 32}, {a.as<void>(), dtype, rows, 24, 24},
                   {b.as<void>(), dtype, 24, 32, 32}, options, stream);
    }
};

TEST_F(SimulatedGemm, RoundsOnceWithoutTheLibrarysBias) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
        const Operands operands{dtype};
        const GemmOptions options{.alpha = 0.5, .bias = operands.bias.as<void>(), .relu = true};
        operands.run(16, options);
        const std::vector<double> by_library = operands.c.host().values();
        simt::configure(simt::LibrarySettings{.bias_epilogue = false});
        operands.run(15, options);
        EXPECT_EQ(operands.c.host().values(), by_library);
        simt::configure(simt::LibrarySettings{});
    }
}

std::int64_t launches() { return cuda::call_counts().launches; }

/// Launches of one product with a bias and relu, after a first one that made its plan.
std::int64_t launches_of_relu(const Operands& operands, std::int64_t rows) {
    const GemmOptions options{.bias = operands.bias.as<void>(), .relu = true};
    operands.run(rows, options);
    const std::int64_t before = launches();
    operands.run(rows, options);
    return launches() - before;
}

TEST_F(SimulatedGemm, TakesTheLibrarysReluOnlyIfItKeepsNaN) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
        Operands operands{dtype};
        Buffer a = random_buffer(dtype, 16 * 24, 1);
        a.set(5 * 24, std::nan(""));
        cuda::copy_to_device(operands.a.as<void>(), a.bytes().data(), a.bytes().size(), {});
        EXPECT_EQ(launches_of_relu(operands, 12), 1);
        const std::vector<double> by_library = operands.c.host().values();
        simt::configure(simt::LibrarySettings{.relu_keeps_nan = false});
        EXPECT_EQ(launches_of_relu(operands, 11), 2);
        const std::vector<double> by_two = operands.c.host().values();
        simt::configure(simt::LibrarySettings{.relu_epilogue = false});
        EXPECT_EQ(launches_of_relu(operands, 10), 2);
        simt::configure(simt::LibrarySettings{});
        for (std::size_t i = 0; i < 10 * 32; ++i) {
            EXPECT_EQ(std::isnan(by_library[i]), i / 32 == 5);
            if (i / 32 != 5) {
                EXPECT_EQ(by_library[i], by_two[i]);
            }
            EXPECT_EQ(std::isnan(by_two[i]), i / 32 == 5);
        }
    }
}

TEST_F(SimulatedGemm, MakesNoTrialWhileItIsCaptured) {
    const Operands operands{DType::f16};
    const GemmOptions options{.bias = operands.bias.as<void>(), .relu = true};
    cuda::begin_capture({});
    operands.run(9, options);
    const auto graph = cuda::end_capture({});
    EXPECT_EQ(graph->nodes(), 2) << "the product, then relu";
    EXPECT_EQ(launches_of_relu(operands, 9), 1) << "the question stayed open";
}

TEST_F(SimulatedGemm, SumsAnOperandWithTheProductOrAfterIt) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
        // c (24, 32) = a^T b, of 16 rows.
        const Operands operands{dtype};
        const DeviceBuffer c(dtype, 24 * 32), sums(dtype, 32);
        const auto run = [&](std::int64_t rows) {
            const std::int64_t before = launches();
            cuda::gemm({c.as<void>(), dtype, 24, 32, 32},
                       {operands.a.as<void>(), dtype, 24, rows, 24, true},
                       {operands.b.as<void>(), dtype, rows, 32, 32}, {.sums_of_b = sums.as<void>()},
                       {});
            return launches() - before;
        };
        EXPECT_EQ(run(16), 1);
        const std::vector<double> by_library = sums.host().values();
        simt::configure(simt::LibrarySettings{.sums_epilogue = false});
        EXPECT_GT(run(15), 1);
        const std::vector<double> by_two = sums.host().values();
        simt::configure(simt::LibrarySettings{});
        const std::vector<double> b = operands.b.host().values();
        for (std::size_t j = 0; j < 32; ++j) {
            double all = 0, less = 0;
            for (std::size_t p = 0; p < 16; ++p) {
                all += b[p * 32 + j];
                if (p < 15) less += b[p * 32 + j];
            }
            EXPECT_TRUE(near(by_library[j], all, dtype, 16 * 16 * 0x1p-24));
            EXPECT_TRUE(near(by_two[j], less, dtype, 16 * 16 * 0x1p-24));
        }
    }
}

TEST_F(SimulatedGemm, AsksTheLibraryOnceForAShape) {
    const Operands operands{DType::bf16};
    const std::int64_t before = simt::plans_made();
    operands.run(14, {});
    operands.run(14, {.alpha = 3, .beta = 1});
    EXPECT_EQ(simt::plans_made(), before + 1);
    operands.run(14, {.bias = operands.bias.as<void>()});
    EXPECT_EQ(simt::plans_made(), before + 2);
}

TEST_F(SimulatedGemm, KeepsTf32PlansApart) {
    const Operands operands{DType::f32};
    const std::int64_t before = simt::plans_made();
    operands.run(14, {});
    operands.run(14, {}, {.tf32 = true});
    operands.run(14, {}, {.tf32 = true});
    EXPECT_EQ(simt::plans_made(), before + 2);
}

TEST_F(SimulatedGemm, AsksAgainForABiasThatIsLessAligned) {
    const Operands operands{DType::f16};
    const std::int64_t before = simt::plans_made();
    operands.run(13, {.bias = operands.bias.as<void>()});
    // Its last element is not read, since there are 31 columns.
    const auto run_beside = [&](int start) {
        cuda::gemm({operands.c.as<void>(), DType::f16, 13, 31, 32},
                   {operands.a.as<void>(), DType::f16, 13, 24, 24},
                   {operands.b.as<void>(), DType::f16, 24, 31, 32},
                   {.bias = operands.bias.as<std::uint16_t>() + start}, {});
        cuda::synchronize({});
    };
    run_beside(0);
    run_beside(1);
    EXPECT_EQ(simt::plans_made(), before + 3);
}

TEST(MatmulPlans, HaveAKeyForAllThatMatters) {
    using cuda::lt::Product;
    const Product base;
    const auto differs = [&](auto change) {
        Product other;
        change(other);
        return other.key() != base.key();
    };
    EXPECT_TRUE(differs([](Product& p) { p.in = cuda::lt::DataType::f16; }));
    EXPECT_TRUE(differs([](Product& p) { p.out = cuda::lt::DataType::f16; }));
    EXPECT_TRUE(differs([](Product& p) { p.compute = cuda::lt::ComputeType::tf32; }));
    EXPECT_TRUE(differs([](Product& p) { p.epilogue = cuda::lt::Epilogue::bias; }));
    EXPECT_TRUE(differs([](Product& p) { p.bias_alignment = 4; }));
    EXPECT_TRUE(differs([](Product& p) { p.batch = 2; }));
    EXPECT_TRUE(differs([](Product& p) { p.device = 1; }));
    EXPECT_TRUE(differs([](Product& p) { p.choice.measured = true; }));
    EXPECT_TRUE(differs([](Product& p) { p.choice.bit_stable = false; }));
    for (auto operand : {&Product::a, &Product::b, &Product::d}) {
        EXPECT_TRUE(differs([&](Product& p) { (p.*operand).rows = 5; }));
        EXPECT_TRUE(differs([&](Product& p) { (p.*operand).cols = 5; }));
        EXPECT_TRUE(differs([&](Product& p) { (p.*operand).ld = 5; }));
        EXPECT_TRUE(differs([&](Product& p) { (p.*operand).stride = 5; }));
        EXPECT_TRUE(differs([&](Product& p) { (p.*operand).alignment = 16; }));
    }
    EXPECT_TRUE(differs([](Product& p) { p.a.transposed = true; }));
    EXPECT_TRUE(differs([](Product& p) { p.b.transposed = true; }));
}

TEST(LruCache, DropsWhatWasNotUsedForLongest) {
    cuda::LruCache<int, int, std::hash<int>> cache(2);
    int made = 0;
    const auto make = [&] { return ++made; };
    EXPECT_EQ(cache.get(1, make), 1);
    EXPECT_EQ(cache.get(2, make), 2);
    EXPECT_EQ(cache.get(1, make), 1);
    EXPECT_EQ(cache.get(3, make), 3);  // 2 is evicted
    EXPECT_TRUE(cache.holds(1));
    EXPECT_FALSE(cache.holds(2));
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_EQ(cache.get(2, make), 4);
    EXPECT_FALSE(cache.holds(1));
}

TEST(LruCache, KeepsNothingOfWhatCouldNotBeMade) {
    cuda::LruCache<int, int, std::hash<int>> cache(2);
    EXPECT_THROW(cache.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
    EXPECT_FALSE(cache.holds(1));
    EXPECT_EQ(cache.get(1, [] { return 7; }), 7);
}

}  // namespace
}  // namespace kernels::test
