#include "op_samples.h"
#include "ops/binary.h"
#include "ops/embedding.h"
#include "ops/gather.h"

namespace engine {
namespace {

using In = const TensorList&;

Tensor places(const std::vector<double>& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::i64);
}
Tensor places(const std::vector<double>& values) {
    return places(values, {static_cast<std::int64_t>(values.size())});
}
/// So that the second derivative is not zero.
Tensor squared(const Tensor& x) { return mul(x, x); }

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
}

}  // namespace engine
