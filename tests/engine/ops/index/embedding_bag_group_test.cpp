#include "ops/index/embedding_bag_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "embedding_support.h"
#include "engine/base/error.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/expectations.h"
#include "tensor/cast.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

using testing::HasSubstr;

/// Numbers that are no sums of few powers of two.
Tensor group_numbers(const Shape& shape, DType dtype, double factor, bool learned = true) {
    Values values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = factor * std::sin(static_cast<double>(7 * i * i + 3 * i + 1));
    return Tensor::of(values, shape, dtype).set_requires_grad(learned);
}

/// A first tensor, and three tables of different sizes.
struct GroupVectors {
    Tensor first;
    TensorList tables;

    GroupVectors(DType of_first, DType of_tables)
        : first(group_numbers({4, 5}, of_first, 1)),
          tables{group_numbers({3, 5}, of_tables, 0.3), group_numbers({7, 5}, of_tables, 2),
                 group_numbers({3, 5}, of_tables, 5)} {}
    TensorList all() const { return {first, tables[0], tables[1], tables[2]}; }
};

Tensor group_ids() { return Tensor::of({2, 6, 0, 1, 0, 0, 2, 6, 2, 2, 6, 0}, {4, 3}, DType::i64); }

/// As the model does it where single operations are watched.
Tensor vectors_one_by_one(const GroupVectors& v, bool sparse) {
    TensorList vectors{v.first};
    for (std::int64_t t = 0; t < 3; ++t)
        vectors.push_back(embedding_bag(narrow(group_ids(), 1, t, 1),
                                        v.tables[static_cast<std::size_t>(t)], {}, {},
                                        {.mode = BagMode::sum, .sparse = sparse}));
    return reshape(cat(vectors, 1), {4, 4, 5});
}
Tensor vectors_together(const GroupVectors& v, bool sparse) {
    return embedding_bag_group(v.first, group_ids(), v.tables, sparse);
}

/// Differentiates a loss in which every element has its own factor.
void differentiate_vectors(const Tensor& y) {
    backward(sum(mul(to(y, DType::f64), group_numbers(y.shape(), DType::f64, 3, false))));
}

TEST(EmbeddingBagGroup, HasTheBitsAndGradientsOfAnOpForEachTable) {
    const std::pair<DType, DType> types[] = {{DType::f32, DType::f32},
                                             {DType::f16, DType::f32},
                                             {DType::f64, DType::f64},
                                             {DType::bf16, DType::bf16}};
    for (const auto& [of_first, of_tables] : types) {
        for (const bool sparse : {false, true}) {
            const GroupVectors one(of_first, of_tables), other(of_first, of_tables);
            ASSERT_TRUE(can_group_bags(one.first, one.tables));
            const Tensor expected = vectors_one_by_one(one, sparse),
                         y = vectors_together(other, sparse);
            EXPECT_EQ(y.dtype(), expected.dtype());
            EXPECT_EQ(y.values(), expected.values());
            differentiate_vectors(expected);
            differentiate_vectors(y);
            for (std::size_t i = 0; i < 4; ++i) {
                const Tensor grad = other.all()[i].grad();
                EXPECT_EQ(grad.is_sparse(), sparse && i > 0);
                EXPECT_EQ(grad.dtype(), other.all()[i].dtype());
                EXPECT_EQ(to_dense(grad).values(), to_dense(one.all()[i].grad()).values()) << i;
            }
        }
    }
}

TEST(EmbeddingBagGroup, SparseGradientsAreTheTablesOwnMemory) {
    const GroupVectors v(DType::f32, DType::f32);
    differentiate_vectors(vectors_together(v, true));
    for (const Tensor& table : v.tables) {
        const SparseParts& parts = sparse_parts(table.grad());
        EXPECT_EQ(parts.values.impl()->storage.use_count(), 2)
            << "the values' and the gradient's: no copy was needed";
        EXPECT_FALSE(parts.coalesced) << "of several batches the entries are added up at once";
    }
}

TEST(EmbeddingBagGroup, DenseGradientsHaveGradientsOfTheirOwn) {
    const GroupVectors one(DType::f64, DType::f64), other(DType::f64, DType::f64);
    TensorList found[2];
    int i = 0;
    for (const auto& [v, y] : {std::pair{&one, vectors_one_by_one(one, false)},
                               std::pair{&other, vectors_together(other, false)}}) {
        const Tensor loss = sum(mul(mul(y, y), y));
        const TensorList inputs = v->all();
        const TensorList grads = grad({&loss, 1}, inputs, {}, {.create_graph = true});
        Tensor penalty = sum(mul(grads[0], grads[0]));
        for (std::size_t k = 1; k < grads.size(); ++k)
            penalty = add(penalty, sum(mul(grads[k], grads[k])));
        found[i++] = grad({&penalty, 1}, inputs);
    }
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(found[1][k].values(), found[0][k].values());
    const Tensor y = sum(vectors_together(other, true));
    EXPECT_THROW(grad({&y, 1}, other.all(), {}, {.create_graph = true}), Error);
}

TEST(EmbeddingBagGroup, LeavesOutWhatItDoesNotFit) {
    const GroupVectors v(DType::f32, DType::f32);
    EXPECT_FALSE(can_group_bags(v.first, {}));
    EXPECT_FALSE(can_group_bags(group_numbers({4, 6}, DType::f32, 1), v.tables)) << "another width";
    EXPECT_FALSE(can_group_bags(group_numbers({4, 5}, DType::f64, 1), v.tables))
        << "would widen them";
    EXPECT_FALSE(can_group_bags(v.first, {transpose(group_numbers({5, 3}, DType::f32, 1), 0, 1)}));
    EXPECT_FALSE(can_group_bags(v.first, {v.tables[0], group_numbers({3, 5}, DType::f16, 1)}));
}

TEST(EmbeddingBagGroup, RefusesIdsThatATableDoesNotHave) {
    const GroupVectors v(DType::f32, DType::f32);
    const auto refused = [&](ErrorCode code, const Values& values, const Shape& shape) {
        return message_of(code, [&] {
            const Tensor wrong = Tensor::of(values, shape, DType::i64);
            (void)embedding_bag_group(v.first, wrong, v.tables, true).values();
        });
    };
    EXPECT_THAT(refused(ErrorCode::value, {2, 6, 3, 1, 0, 0, 2, 6, 2, 2, 6, 0}, {4, 3}),
                HasSubstr("embedding_bag: index 3 is out of range for a dimension of 3"));
    EXPECT_THAT(refused(ErrorCode::value, {2, 7, 0, 1, 0, 0, 2, 6, 2, 2, 6, 0}, {4, 3}),
                HasSubstr("index 7 is out of range for a dimension of 7"));
    EXPECT_THAT(refused(ErrorCode::shape, {2, 6, 0, 1, 0, 0}, {3, 2}), HasSubstr("3 tables"));
}

}  // namespace
}  // namespace engine
