#include "ops/index/sparse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "embedding_support.h"

namespace engine {
namespace {

/// Entries of a table with `rows` rows, several of most rows, each value its own.
Tensor table_entries(std::int64_t n, std::int64_t rows, std::int64_t width, DType dtype) {
    Values index, values;
    for (std::int64_t i = 0; i < n; ++i) index.push_back(static_cast<double>(i * i % rows));
    for (std::int64_t i = 0; i < n * width; ++i)
        values.push_back(std::sin(static_cast<double>(5 * i * i + n)));
    return sparse_rows(Tensor::of(index, {n}, DType::i64), Tensor::of(values, {n, width}, dtype),
                       {rows, width});
}

void expect_same_entries(const Tensor& found, const Tensor& expected) {
    EXPECT_TRUE(sparse_parts(found).coalesced);
    EXPECT_EQ(found.shape(), expected.shape());
    EXPECT_EQ(sparse_parts(found).indices.values(), sparse_parts(expected).indices.values());
    EXPECT_EQ(sparse_parts(found).values.values(), sparse_parts(expected).values.values());
}

TEST(Sparse, CoalescesAListAsOneByOne) {
    const TensorList list{
        table_entries(40, 7, 4, DType::f32),
        table_entries(600, 3, 4, DType::f32),
        table_entries(9, 100, 3, DType::f32),
        table_entries(30, 7, 4, DType::f16),
        coalesce(table_entries(8, 5, 4, DType::f32)),  // is so already
        sparse_tensor(Tensor::of({1, 0, 1, 2, 2, 2}, {2, 3}, DType::i64),
                      Tensor::of({3, 4, 5}, {3}), {3, 4})};  // places of two dimensions
    const TensorList found = coalesce(list);
    ASSERT_EQ(found.size(), list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        SCOPED_TRACE(i);
        expect_same_entries(found[i], coalesce(list[i]));
    }
    EXPECT_TRUE(coalesce(TensorList{}).empty());
}

TEST(Sparse, ColumnsOfUnusedEntriesStayUnused) {
    const Tensor once = coalesce(table_entries(20, 4, 2, DType::f32));
    const Tensor twice = add_sparse(once, once);  // entries of no place, with index -1
    const TensorList found = coalesce(TensorList{twice, table_entries(20, 4, 2, DType::f32)});
    expect_same_entries(found[0], coalesce(twice));
}

}  // namespace
}  // namespace engine
