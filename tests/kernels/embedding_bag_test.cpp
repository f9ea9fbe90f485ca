#include "kernels/embedding_bag.h"

#include "kernels/cuda_device.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Bags of different lengths, including empty ones, over a table.
struct BagProblem {
    std::int64_t rows = 7, width = 5;
    std::vector<double> offsets, index;

    static BagProblem random(std::int64_t bags, std::int64_t width, unsigned seed) {
        BagProblem problem{7, width, {}, {}};
        std::mt19937 engine(seed);
        for (std::int64_t b = 0; b < bags; ++b) {
            problem.offsets.push_back(static_cast<double>(problem.index.size()));
            for (auto n = engine() % 5; n > 0; --n)
                problem.index.push_back(static_cast<double>(engine() % 7));
        }
        return problem;
    }
    std::int64_t bags() const { return static_cast<std::int64_t>(offsets.size()); }
    std::int64_t terms() const { return static_cast<std::int64_t>(index.size()); }
    Bags of(const std::int64_t* where, std::int64_t padding = -1) const {
        return {bags(), terms(), where, false, padding};
    }
    std::int64_t bag_of(std::int64_t term) const {
        std::int64_t bag = -1;
        for (const double first : offsets) bag += first <= static_cast<double>(term) ? 1 : 0;
        return bag;
    }
};

/// The definition, in double.
double element(const BagProblem& problem, const Buffer& table, const Buffer* weights,
               std::int64_t padding, bool mean, std::int64_t bag, std::int64_t c, double& terms) {
    double sum = 0, count = 0;
    terms = 0;
    for (std::int64_t i = 0; i < problem.terms(); ++i) {
        const auto row = static_cast<std::int64_t>(problem.index[static_cast<std::size_t>(i)]);
        if (problem.bag_of(i) != bag || row == padding) continue;
        const double term =
            (weights != nullptr ? weights->get(i) : 1) * table.get(row * problem.width + c);
        sum += term;
        terms += std::fabs(term);
        ++count;
    }
    const double divisor = mean && count > 0 ? count : 1;
    terms /= divisor;
    return sum / divisor;
}

TEST(EmbeddingBag, SumsAndAveragesRowsInEveryType) {
    for (const DType dtype : floating) {
        // The rounding of the storage, and of at most 5 sums, a product and a quotient in f32
        // (f64).
        const double unit = dtype == DType::f64   ? 0x1p-53
                            : dtype == DType::f32 ? 0x1p-24
                            : dtype == DType::f16 ? 0x1p-11
                                                  : 0x1p-8;
        const double inner = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
        const BagProblem problem = BagProblem::random(40, 67, 3);
        Buffer table = random_buffer(dtype, problem.rows * problem.width, 1);
        Buffer weights = random_buffer(dtype, problem.terms(), 2);
        Buffer offsets(DType::i64, problem.offsets), index(DType::i64, problem.index);
        for (const bool mean : {false, true}) {
            for (const bool weighted : {false, true}) {
                Buffer y(dtype, problem.bags() * problem.width);
                cpu::embedding_bag(
                    y, table, index, weighted ? weights.view() : ConstArray(nullptr, dtype, 0),
                    problem.of(offsets.as<std::int64_t>(), 2), problem.width, mean, {});
                for (std::int64_t at = 0; at < y.size(); ++at) {
                    double terms = 0;
                    const double expected =
                        element(problem, table, weighted ? &weights : nullptr, 2, mean,
                                at / problem.width, at % problem.width, terms);
                    ASSERT_NEAR(y.get(at), expected,
                                unit * std::fabs(expected) + 8 * inner * terms + 0x1p-25)
                        << "element " << at;
                }
            }
        }
    }
}

TEST(EmbeddingBag, ReadsAnIndexOutsideTheTableAsNaN) {
    Buffer y(DType::f32, 2), table(DType::f32, {1, 2}), index(DType::i64, {0, 7});
    cpu::embedding_bag(y, table, index, ConstArray(nullptr, DType::f32, 0), {2, 2}, 1, false, {});
    EXPECT_EQ(y.get(0), 1);
    EXPECT_TRUE(std::isnan(y.get(1)));
}

TEST(EmbeddingBag, NumbersTheBagsOfTermsAndSkipsEmptyOnesAndThePadding) {
    Buffer index(DType::i64, {4, 1, 4, 2, 0}), offsets(DType::i64, {0, 0, 2, 2, 4});
    Buffer y(DType::i64, 5);
    cpu::bag_numbers(y, index, {5, 5, offsets.as<std::int64_t>(), false, 1}, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, -1, 3, 3, 4}));
    cpu::bag_numbers(y, index, {4, 5, offsets.as<std::int64_t>(), true, 1}, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, -1, 3, 3, -1})) << "behind the last end";
    cpu::bag_numbers(y, index, {5, 5}, {});
    EXPECT_EQ(y.values(), (std::vector<double>{0, 1, 2, 3, 4}));
}

TEST(EmbeddingBag, StaysInBoundsWhateverTheOffsetsHold) {
    Buffer index(DType::i64, {0, 1, 0}), offsets(DType::i64, {-5, 900, 1});
    Buffer table(DType::f32, {1, 10}), y(DType::f32, 3), numbers(DType::i64, 3);
    const Bags bags{3, 3, offsets.as<std::int64_t>(), false, -1};
    cpu::embedding_bag(y, table, index, ConstArray(nullptr, DType::f32, 0), bags, 1, false, {});
    cpu::bag_numbers(numbers, index, bags, {});
    EXPECT_EQ(y.values(), (std::vector<double>{12, 0, 11}));
    for (const double bag : numbers.values()) EXPECT_TRUE(bag >= -1 && bag < 3);
}

TEST(CudaEmbeddingBag, SumsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const std::int64_t width : {1, 16, 33, 70}) {  // 16: whole packs of every type
            const BagProblem problem = BagProblem::random(300, width, 9);
            Buffer table = random_buffer(dtype, problem.rows * width, 1);
            Buffer offsets(DType::i64, problem.offsets), index(DType::i64, problem.index);
            const DeviceBuffer on_device(offsets), there(index), rows(table);
            for (const bool mean : {false, true}) {
                Buffer expected = poisoned(dtype, problem.bags() * width);
                const ConstArray none(nullptr, dtype, 0);
                cpu::embedding_bag(expected, table, index, none,
                                   problem.of(offsets.as<std::int64_t>(), 3), width, mean, {});
                const DeviceBuffer y(dtype, expected.size());
                cuda::embedding_bag(y, rows, there, none,
                                    problem.of(on_device.as<std::int64_t>(), 3), width, mean, {});
                EXPECT_TRUE(same(y.host(), expected)) << "width " << width;
            }
            Buffer numbers = poisoned(DType::i64, problem.terms());
            cpu::bag_numbers(numbers, index, problem.of(offsets.as<std::int64_t>(), 3), {});
            const DeviceBuffer bag(DType::i64, problem.terms());
            cuda::bag_numbers(bag, there, problem.of(on_device.as<std::int64_t>(), 3), {});
            EXPECT_TRUE(same(bag.host(), numbers));
        }
    }
}

// Bags around the numbers of terms that are loaded together and that are added up first; an index
// outside of the table, and one of the padding.
TEST(CudaEmbeddingBag, SumsLongBagsOfTablesThatAreAlignedOrNot) {
    HALFTONE_NEEDS_CUDA();
    BagProblem problem{7, 16, {}, {}};
    std::mt19937 engine(2);
    for (const int length : {1, 0, 3, 4, 5, 255, 256, 257, 600}) {
        problem.offsets.push_back(static_cast<double>(problem.index.size()));
        for (int i = 0; i < length; ++i)
            problem.index.push_back(static_cast<double>(engine() % 7));
    }
    problem.index[2] = 7;
    problem.index[6] = -2;
    Buffer offsets(DType::i64, problem.offsets), index(DType::i64, problem.index);
    const DeviceBuffer where(offsets), there(index);
    for (const DType dtype : floating) {
        for (const std::int64_t skip : {0, 1}) {
            Buffer table = random_buffer(dtype, problem.rows * problem.width + skip, 1);
            const DeviceBuffer rows(table);
            const ConstArray none(nullptr, dtype, 0);
            Buffer expected = poisoned(dtype, problem.bags() * problem.width);
            cpu::embedding_bag(expected, from(table, skip), index, none,
                               problem.of(offsets.as<std::int64_t>(), 3), problem.width, false, {});
            const DeviceBuffer y(dtype, expected.size());
            cuda::embedding_bag(y, from(rows, skip), there, none,
                                problem.of(where.as<std::int64_t>(), 3), problem.width, false, {});
            EXPECT_TRUE(same(y.host(), expected)) << "skip " << skip;
        }
    }
}

TEST(CudaEmbeddingBag, WeighsTermsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t width : {9, 16}) {
        const BagProblem problem = BagProblem::random(100, width, 4);
        // Products of integers are exact, with or without fused multiply-add.
        Buffer table(DType::f32, problem.rows * width), weights(DType::f32, problem.terms());
        for (std::int64_t i = 0; i < table.size(); ++i)
            table.set(i, static_cast<double>(i % 11) - 5);
        for (std::int64_t i = 0; i < weights.size(); ++i)
            weights.set(i, static_cast<double>(i % 7) - 3);
        Buffer offsets(DType::i64, problem.offsets), index(DType::i64, problem.index);
        Buffer expected = poisoned(DType::f32, problem.bags() * width);
        cpu::embedding_bag(expected, table, index, weights, problem.of(offsets.as<std::int64_t>()),
                           width, false, {});
        const DeviceBuffer y(DType::f32, expected.size()), where(offsets);
        cuda::embedding_bag(y, DeviceBuffer(table), DeviceBuffer(index), DeviceBuffer(weights),
                            problem.of(where.as<std::int64_t>()), width, false, {});
        EXPECT_TRUE(same(y.host(), expected)) << "width " << width;
    }
}

}  // namespace
}  // namespace kernels::test
