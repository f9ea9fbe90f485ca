#include <memory>

#include "kernels/embedding_bag.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Tables of different sizes, an index for each bag and table, and the memory of y.
struct GroupProblem {
    BagGroup group;
    std::vector<Buffer> tables;
    Buffer index, y;

    GroupProblem(std::size_t count, std::int64_t bags, std::int64_t width, DType dtype)
        : group{bags, static_cast<std::int64_t>(count) + 2, 1, width},
          index(DType::i64, static_cast<std::int64_t>(count) * bags),
          y(awkward_buffer(dtype, bags * group.across * width, 3)) {
        std::mt19937 engine(11);
        for (std::size_t t = 0; t < count; ++t) {
            const auto rows = static_cast<std::int64_t>(5 + 3 * t);
            tables.push_back(awkward_buffer(dtype, rows * width, static_cast<unsigned>(t)));
            for (std::int64_t b = 0; b < bags; ++b) {
                const auto at = static_cast<std::int64_t>(t) * bags + b;
                index.set(at, static_cast<double>(engine() % static_cast<unsigned>(rows)));
            }
        }
    }
    std::vector<ConstArray> arrays() {
        std::vector<ConstArray> all;
        for (Buffer& table : tables) all.emplace_back(table.view());
        return all;
    }
    std::size_t row_bytes() const {
        return static_cast<std::size_t>(group.width) * size_of(y.dtype());
    }
    /// Where vector `first + t` of a bag lies in y.
    std::size_t at(std::int64_t bag, std::size_t t) const {
        return (static_cast<std::size_t>(bag * group.across + group.first) + t) * row_bytes();
    }
};

/// y by a call of embedding_bag for each table; the other vectors are as they were.
Buffer one_by_one(GroupProblem& problem) {
    const BagGroup& group = problem.group;
    Buffer expected = problem.y;
    for (std::size_t t = 0; t < problem.tables.size(); ++t) {
        Buffer own(problem.y.dtype(), group.bags * group.width);
        const ConstArray index(
            problem.index.as<std::int64_t>() + static_cast<std::int64_t>(t) * group.bags,
            DType::i64, group.bags);
        cpu::embedding_bag(own, problem.tables[t], index, ConstArray(nullptr, problem.y.dtype(), 0),
                           {group.bags, group.bags}, group.width, false, {});
        for (std::int64_t b = 0; b < group.bags; ++b)
            std::memcpy(expected.as<char>() + problem.at(b, t),
                        own.as<char>() + static_cast<std::size_t>(b) * problem.row_bytes(),
                        problem.row_bytes());
    }
    return expected;
}

TEST(EmbeddingBagGroup, HasTheBitsOfACallForEachTable) {
    for (const DType dtype : floating) {
        for (const std::int64_t width : {1, 8, 67}) {
            GroupProblem problem(3, 40, width, dtype);
            problem.index.set(5, -2);  // outside: NaN, as by itself
            problem.index.set(47, 8);
            const Buffer expected = one_by_one(problem);
            cpu::embedding_bag_group(problem.y, problem.arrays(), problem.index, problem.group, {});
            EXPECT_TRUE(same(problem.y, expected)) << "width " << width;
        }
    }
}

TEST(EmbeddingBagGroup, SplitsVectorsByTable) {
    for (const DType dtype : floating) {
        GroupProblem problem(3, 40, 5, dtype);
        std::vector<Buffer> rows(3, poisoned(dtype, 40 * 5));
        std::vector<Array> arrays;
        for (Buffer& each : rows) arrays.push_back(each.array());
        cpu::split_bag_group(arrays, problem.y, problem.group, {});
        for (std::size_t t = 0; t < 3; ++t)
            for (std::int64_t b = 0; b < 40; ++b)
                ASSERT_EQ(std::memcmp(problem.y.as<char>() + problem.at(b, t),
                                      rows[t].as<char>() +
                                          static_cast<std::size_t>(b) * problem.row_bytes(),
                                      problem.row_bytes()),
                          0);
    }
}

/// Copies of the tables on the device; their arrays may begin one element late.
struct DeviceTables {
    std::vector<std::unique_ptr<DeviceBuffer>> held;

    explicit DeviceTables(const std::vector<Buffer>& tables) {
        for (const Buffer& table : tables) held.push_back(std::make_unique<DeviceBuffer>(table));
    }
    template <typename A>
    std::vector<A> arrays(std::int64_t skip = 0) const {
        std::vector<A> all;
        for (const auto& each : held) all.push_back(from(each->array(), skip));
        return all;
    }
};

TEST(CudaEmbeddingBagGroup, HasTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        // More tables than one launch takes; rows of whole packs, and of none.
        const std::pair<std::size_t, std::int64_t> shapes[] = {{200, 1}, {3, 16}, {3, 33}};
        for (const auto& [tables, width] : shapes) {
            GroupProblem problem(tables, 70, width, dtype);
            problem.index.set(9, -1);
            const DeviceBuffer y(problem.y), index(problem.index);
            const DeviceTables there(problem.tables);
            cuda::embedding_bag_group(y, there.arrays<ConstArray>(), index, problem.group, {});
            cpu::embedding_bag_group(problem.y, problem.arrays(), problem.index, problem.group, {});
            EXPECT_TRUE(same(y.host(), problem.y)) << tables << " tables of width " << width;

            const std::vector<Buffer> empty(tables, poisoned(dtype, 70 * width));
            std::vector<Buffer> rows = empty;
            std::vector<Array> arrays;
            for (Buffer& each : rows) arrays.push_back(each.array());
            cpu::split_bag_group(arrays, problem.y, problem.group, {});
            const DeviceTables split(empty);
            cuda::split_bag_group(split.arrays<Array>(), y, problem.group, {});
            for (std::size_t t = 0; t < tables; ++t)
                ASSERT_TRUE(same(split.held[t]->host(), rows[t])) << "table " << t;
        }
    }
}

TEST(CudaEmbeddingBagGroup, TakesTablesThatAreNotAligned) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : {DType::f32, DType::f16}) {
        GroupProblem problem(2, 30, 16, dtype);
        std::vector<Buffer> shifted;
        for (Buffer& table : problem.tables) {
            shifted.push_back(poisoned(dtype, table.size() + 1));
            std::memcpy(shifted.back().as<char>() + size_of(dtype), table.as<char>(),
                        table.bytes().size());
        }
        const DeviceBuffer y(problem.y), index(problem.index);
        const DeviceTables there(shifted);
        cuda::embedding_bag_group(y, there.arrays<ConstArray>(1), index, problem.group, {});
        cpu::embedding_bag_group(problem.y, problem.arrays(), problem.index, problem.group, {});
        EXPECT_TRUE(same(y.host(), problem.y));
    }
}

}  // namespace
}  // namespace kernels::test
