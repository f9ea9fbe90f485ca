#include "op_samples.h"
#include "ops/index/embedding.h"
#include "ops/index/embedding_bag.h"
#include "ops/index/gather.h"
#include "ops/index/index_put.h"
#include "ops/index/masked.h"
#include "ops/index/scatter.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/rearrange.h"
#include "ops/shape/slice.h"

namespace engine {
namespace {

using In = const TensorList&;

Tensor places(const std::vector<double>& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::i64);
}
Tensor places(const std::vector<double>& values) {
    return places(values, {static_cast<std::int64_t>(values.size())});
}
/// Squares, so that the second derivative is not zero.
Tensor squared(const Tensor& x) { return mul(x, x); }

using Add = std::function<void(const char*, const char*, Function, std::vector<Shape>, double)>;

Tensor mask(const Shape& shape) {
    return greater(random_tensor(shape, DType::f32, 77), Tensor::scalar(0, DType::f32));
}

void add_writes(const Add& by_index) {
    by_index(
        "scatter", "smaller",
        [](In x) {
            return scatter(x[0], 1, places({3, 0, 2, 1}, {2, 2}), x[1]);
        },
        {{3, 4}, {2, 3}}, 1);
    by_index(
        "scatter", "number",
        [](In x) {
            return scatter(x[0], 0, places({1, 0, 1, 1}, {2, 2}), 0.5);
        },
        {{2, 2}}, 1);
    struct Reduce {
        const char *together, *alone;
    };
    for (const Reduce reduce : {Reduce{"sum", "sumAlone"},
                                {"prod", "prodAlone"},
                                {"mean", "meanAlone"},
                                {"amax", "amaxAlone"},
                                {"amin", "aminAlone"}}) {
        for (const bool include_self : {true, false}) {
            by_index(
                "scatter_reduce", include_self ? reduce.together : reduce.alone,
                [reduce, include_self](In x) {
                    return scatter_reduce(x[0], 1, places({3, 0, 3, 1, 3, 1}, {2, 3}), x[1],
                                          reduce.together, include_self);
                },
                {{3, 4}, {2, 3}}, 4);
        }
    }
    by_index(
        "index_copy", "rows",
        [](In x) {
            return index_copy(x[0], 1, places({2, 0}), x[1]);
        },
        {{2, 3}, {2, 2}}, 1);
    by_index(
        "index", "neighbours",
        [](In x) {
            return index(x[0], {Tensor(), places({-1, 0, 1}), places({1, 1, -2})});
        },
        {{2, 2, 3}}, 1);
    by_index(
        "index", "apart",
        [](In x) {
            return index(x[0], {places({1, 0}, {2, 1}), Tensor(), places({1, 1, 2})});
        },
        {{2, 2, 3}}, 1);
    by_index(
        "index_put", "put",
        [](In x) {
            return index_put(x[0], {Tensor(), places({2, 0})}, x[1]);
        },
        {{2, 3, 2}, {2}}, 1);
    by_index(
        "index_put", "accumulate",
        [](In x) {
            return index_put(x[0], {places({1, -1, 0}), places({2, 2, 0})}, x[1], true);
        },
        {{2, 3}, {3}}, 3);
    by_index(
        "index_put_", "accumulate",
        [](In x) {
            return index_put_(mul(x[0], 1.0), {places({1, 1, 0})}, x[1], true);
        },
        {{2, 3}, {3, 3}}, 3);
    by_index(
        "take_along_dim", "broadcast",
        [](In x) {
            return take_along_dim(x[0], places({2, 0, 0, 3}, {2, 2}), 1);
        },
        {{1, 4}}, 1);
    by_index(
        "masked_fill", "number",
        [](In x) {
            return masked_fill(x[0], mask({3, 1}), 0.5);
        },
        {{3, 4}}, 1);
    by_index(
        "masked_fill", "tensor",
        [](In x) {
            return masked_fill(x[0], mask({3, 4}), x[1]);
        },
        {{4}, {}}, 1);
    by_index(
        "masked_scatter", "plain", [](In x) { return masked_scatter(x[0], mask({4}), x[1]); },
        {{3, 4}, {13}}, 1);
    by_index(
        "tril", "below", [](In x) { return tril(x[0], -1); }, {{2, 3, 4}}, 1);
    by_index(
        "triu", "above", [](In x) { return triu(x[0], 1); }, {{4, 3}}, 1);
}

void add_parts(const Add& by_index) {
    by_index(
        "slice", "steps", [](In x) { return slice(x[0], 1, 1, -1, 2); }, {{2, 6}}, 1);
    by_index(
        "select", "middle", [](In x) { return select(x[0], 1, -1); }, {{2, 3, 2}}, 1);
    by_index(
        "unsqueeze", "last", [](In x) { return unsqueeze(x[0], -1); }, {{2, 3}}, 1);
    by_index(
        "squeeze", "all", [](In x) { return squeeze(x[0]); }, {{1, 3, 1}}, 1);
    by_index(
        "unbind", "second", [](In x) { return unbind(x[0], 1)[1]; }, {{2, 3}}, 1);
    by_index(
        "split", "sizes",
        [](In x) {
            return split(x[0], {1, 3}, 1)[1];
        },
        {{2, 4}}, 1);
    by_index(
        "chunk", "last", [](In x) { return chunk(x[0], 2, 0)[1]; }, {{5, 2}}, 1);
    by_index(
        "stack", "pair",
        [](In x) {
            return mul(stack(x, 1), stack({x[1], x[0]}, 1));
        },
        {{2, 3}, {2, 3}}, 1);
    by_index(
        "flip", "ends",
        [](In x) {
            return flip(x[0], {0, -1});
        },
        {{2, 3, 2}}, 1);
    by_index(
        "roll", "two",
        [](In x) {
            return roll(x[0], {1, -2}, {0, 1});
        },
        {{2, 3}}, 1);
    by_index(
        "repeat", "more",
        [](In x) {
            return repeat(x[0], {2, 1, 3});
        },
        {{2, 2}}, 6);
    by_index(
        "repeat_interleave", "middle", [](In x) { return repeat_interleave(x[0], 3, 1); }, {{2, 2}},
        3);
    by_index(
        "repeat_interleave", "flat", [](In x) { return repeat_interleave(x[0], 2); }, {{2, 2}}, 2);
}

}  // namespace

void add_indexing_samples(std::vector<OpSample>& out) {
    const auto by_index = [&](const char* op, const char* label, Function f,
                              std::vector<Shape> shapes, double length = 1) {
        out.push_back({op,
                       label,
                       [f = std::move(f)](In x) { return squared(f(x)); },
                       std::move(shapes),
                       -2,
                       2,
                       {},
                       length});
    };
    by_index("index_select", "middle",
             [](In x) {
                 return index_select(x[0], 1, places({2, 0, 0, 1}));
             },
             {{2, 3, 2}});
    by_index("index_select", "scalar", [](In x) { return index_select(x[0], 0, places({0})); },
             {{}});
    by_index("gather", "smaller",
             [](In x) {
                 return gather(x[0], -1, places({2, 0, 0, 3, 1, 1}, {2, 3}));
             },
             {{3, 4}});
    by_index("gather", "first",
             [](In x) {
                 return gather(x[0], 0, places({1, 0, 1, 1, 1, 0}, {3, 2}));
             },
             {{2, 2}});
    by_index(
        "index_add", "rows",
        [](In x) {
            return index_add(x[0], 0, places({2, 0, 2}), x[1]);
        },
        {{3, 2}, {3, 2}}, 3);
    by_index(
        "index_add", "scaled",
        [](In x) {
            return index_add(x[0], 1, places({1, 1}), x[1], -0.5);
        },
        {{2, 3}, {2, 2}}, 3);
    by_index(
        "scatter_add", "smaller",
        [](In x) {
            return scatter_add(x[0], 1, places({3, 0, 3, 1}, {2, 2}), x[1]);
        },
        {{3, 4}, {2, 3}}, 3);
    by_index(
        "scatter_add", "vector",
        [](In x) {
            return scatter_add(x[0], 0, places({1, 1, 0, 1}), x[1]);
        },
        {{3}, {4}}, 4);
    by_index("embedding", "table",
             [](In x) {
                 return embedding(places({3, 0, 3, 1}, {2, 2}), x[0]);
             },
             {{4, 3}});
    by_index("embedding", "padding",
             [](In x) {
                 return embedding(places({2, 0, 2, 1}), x[0], {.padding_idx = -1});
             },
             {{4, 3}});
    by_index("embedding_bag", "rows of bags",
             [](In x) {
                 return embedding_bag(places({3, 0, 3, 1}, {2, 2}), x[0]);
             },
             {{4, 3}});
    by_index("embedding_bag", "offsets, padding",
             [](In x) {
                 return embedding_bag(places({2, 0, 2, 1, 1}), x[0], places({0, 3, 3}), {},
                                      {.mode = BagMode::mean, .padding_idx = 0});
             },
             {{4, 3}});
    by_index("embedding_bag", "weights of samples",
             [](In x) {
                 return embedding_bag(places({2, 0, 2, 1, 1}), x[0], places({0, 3, 5}), x[1],
                                      {.mode = BagMode::sum, .include_last_offset = true});
             },
             {{4, 3}, {5}});
    add_writes(by_index);
    add_parts(by_index);
}

}  // namespace engine
