#include <memory>

#include "kernels/sort.h"
#include "kernels/sparse_rows.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// A table's entries, and the results of sort_order and coalesce_rows.
struct SparseProblem {
    std::int64_t n, rows;
    Buffer index, values, places, sums;

    SparseProblem(DType dtype, std::int64_t count, std::int64_t all, std::int64_t width,
                  unsigned seed)
        : n(count),
          rows(all),
          index(DType::i64, count),
          values(random_buffer(dtype, count * width, seed)),
          places(poisoned(DType::i64, count)),
          sums(poisoned(dtype, count * width)) {
        std::mt19937 engine(seed);
        for (std::int64_t i = 0; i < n; ++i) {
            // Few rows get most of the entries.
            const auto row = engine() % 3 == 0 ? engine() % static_cast<unsigned>(rows)
                                               : engine() % static_cast<unsigned>(1 + rows / 50);
            index.set(i, engine() % 9 == 0 ? -1 : static_cast<double>(row));
        }
        Buffer order(DType::i64, n);
        cpu::sort_order(order, index, 1, n, 1, false, {});
        cpu::coalesce_rows(
            places, sums,
            {index.as<std::int64_t>(), index.as<std::int64_t>(), order.as<std::int64_t>(), 1, n},
            values, {});
    }
};

struct DeviceSparse {
    DeviceBuffer index, values, places, sums;
    SparseTable table;

    explicit DeviceSparse(const SparseProblem& of)
        : index(of.index),
          values(of.values),
          places(DType::i64, of.n),
          sums(of.sums.dtype(), of.sums.size()),
          table{index.as<std::int64_t>(),
                values.as<char>(),
                places.as<std::int64_t>(),
                sums.as<char>(),
                of.n,
                of.rows} {}
};

/// All problems at once on the device.
void expect_the_bits_of_each(const std::vector<SparseProblem>& problems, std::int64_t width) {
    std::vector<std::unique_ptr<DeviceSparse>> there;
    std::vector<SparseTable> tables;
    for (const SparseProblem& each : problems) {
        there.push_back(std::make_unique<DeviceSparse>(each));
        tables.push_back(there.back()->table);
    }
    cuda::coalesce_tables(tables, problems.front().values.dtype(), width, {});
    for (std::size_t t = 0; t < problems.size(); ++t) {
        EXPECT_TRUE(same(there[t]->places.host(), problems[t].places)) << "table " << t;
        EXPECT_TRUE(same(there[t]->sums.host(), problems[t].sums)) << "table " << t;
    }
}

TEST(CudaCoalesceTables, HasTheBitsOfEachTableByItself) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        const std::int64_t width = dtype == DType::f32 ? 20 : 3;
        std::vector<SparseProblem> problems;
        problems.emplace_back(dtype, 1, 1, width, 1);
        problems.emplace_back(dtype, 900, 3, width, 2);  // several pieces of one row
        problems.emplace_back(dtype, 40, 1'000'000, width, 3);
        problems.emplace_back(dtype, 2048, 70, width, 4);  // a whole tile
        expect_the_bits_of_each(problems, width);
    }
}

TEST(CudaCoalesceTables, MergesWhatNoTileHolds) {
    HALFTONE_NEEDS_CUDA();
    std::vector<SparseProblem> problems;
    problems.emplace_back(DType::f32, 4097, 5000, 1, 5);  // two tiles and one entry
    problems.emplace_back(DType::f32, 10'000, 9, 1, 6);
    problems.emplace_back(DType::f32, 300, 9, 1, 7);
    expect_the_bits_of_each(problems, 1);
}

TEST(CudaCoalesceTables, TakesMoreTablesThanALaunch) {
    HALFTONE_NEEDS_CUDA();
    std::vector<SparseProblem> problems;
    for (unsigned t = 0; t < 70; ++t) problems.emplace_back(DType::f16, 5 + t, 1 + t, 2, t);
    expect_the_bits_of_each(problems, 2);
}

TEST(CudaCoalesceTables, TakesAnIndexOutsideOfTheTableForNone) {
    HALFTONE_NEEDS_CUDA();
    SparseProblem problem(DType::f32, 4, 4, 2, 1);
    problem.index = Buffer(DType::i64, {-5, 2, 4, 1e12});
    const DeviceSparse there(problem);
    cuda::coalesce_tables(std::vector{there.table}, DType::f32, 2, {});
    EXPECT_EQ(there.places.host().values(), (std::vector<double>{-1, -1, -1, 2}));
    EXPECT_EQ(
        there.sums.host().values(),
        (std::vector<double>{0, 0, 0, 0, 0, 0, problem.values.get(2), problem.values.get(3)}));
}

}  // namespace
}  // namespace kernels::test
