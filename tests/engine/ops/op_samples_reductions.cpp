#include "op_samples.h"
#include "ops/linalg/matrix_norm.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/reduce/extremum.h"
#include "ops/reduce/moments.h"
#include "ops/reduce/order.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/reduce/softmax.h"

namespace engine {
namespace {

using In = const TensorList&;

void add(std::vector<OpSample>& out, const char* op, const char* label, Function f, Shape shape,
         double length, double low = -2, double high = 2) {
    out.push_back({op, label, std::move(f), {shape}, low, high, {}, length});
}

/// Norms of positive numbers, away from kinks.
void add_norms(std::vector<OpSample>& out) {
    const double endless = std::numeric_limits<double>::infinity();
    const std::pair<const char*, double> orders[] = {{"half", 0.5},         {"threehalves", 1.5},
                                                     {"three", 3},          {"minusone", -1},
                                                     {"infinite", endless}, {"least", -endless}};
    for (const auto& [label, p] : orders)
        add(
            out, "norm", label, [p = p](In x) { return norm(x[0], {1}, false, {}, p); }, {3, 4}, 4,
            0.5, 2);
    add(
        out, "linalg_vector_norm", "all", [](In x) { return linalg_vector_norm(x[0]); }, {3, 4},
        12);
    add(
        out, "linalg_vector_norm", "three",
        [](In x) {
            return linalg_vector_norm(x[0], 3, {0, 2}, true);
        },
        {2, 3, 2}, 4, 0.5, 2);
}

void add_matrix_norms(std::vector<OpSample>& out) {
    const std::pair<const char*, MatrixOrder> orders[] = {
        {"frobenius", "fro"}, {"nuclear", "nuc"}, {"two", 2.0}, {"minustwo", -2.0}, {"one", 1.0}};
    for (const auto& [label, ord] : orders)
        add(
            out, "linalg_matrix_norm", label,
            [ord = ord](In x) { return linalg_matrix_norm(x[0], ord); }, {3, 2}, 6);
    add(
        out, "linalg_matrix_norm", "middle",
        [](In x) {
            return linalg_matrix_norm(x[0], "nuc", {2, 0}, true);
        },
        {2, 2, 3}, 6);
    add(
        out, "frobenius_norm", "ends",
        [](In x) {
            return frobenius_norm(x[0], {0, 2});
        },
        {2, 3, 2}, 4);
    add(
        out, "nuclear_norm", "square", [](In x) { return nuclear_norm(x[0]); }, {3, 3}, 9);
}

void add_sums(std::vector<OpSample>& out) {
    add(
        out, "logsumexp", "ends",
        [](In x) {
            return logsumexp(x[0], {0, 2}, true);
        },
        {2, 3, 4}, 8);
    add(
        out, "logsumexp", "last", [](In x) { return logsumexp(x[0], {-1}); }, {3, 4}, 4);
    add(
        out, "prod", "all", [](In x) { return prod(x[0]); }, {2, 3}, 6, 0.5, 2);
    add(
        out, "prod", "middle", [](In x) { return prod(x[0], 1, true); }, {2, 3, 2}, 3);
    add(
        out, "cumsum", "middle", [](In x) { return mul(cumsum(x[0], 1), x[0]); }, {2, 5, 3}, 5);
    add(
        out, "cumsum", "scalar", [](In x) { return cumsum(x[0], 0); }, {}, 1);
    add(
        out, "cumprod", "first", [](In x) { return cumprod(x[0], 0); }, {4, 3}, 4);
    add(
        out, "cumprod", "last", [](In x) { return cumprod(x[0], -1); }, {2, 5}, 5, 0.5, 1.5);
    add(
        out, "softmin", "first", [](In x) { return softmin(x[0], 0); }, {3, 4}, 3);
    add(
        out, "nansum", "last", [](In x) { return mul(nansum(x[0], {-1}, true), x[0]); }, {3, 4}, 4);
    add(
        out, "nanmean", "all", [](In x) { return mul(nanmean(x[0]), x[0]); }, {3, 4}, 12);
}

void add_moments(std::vector<OpSample>& out) {
    add(
        out, "var", "all", [](In x) { return var(x[0]); }, {3, 4}, 12);
    add(
        out, "var", "biased",
        [](In x) {
            return var(x[0], {0, -1}, 0, true);
        },
        {3, 2, 2}, 6);
    add(
        out, "std", "last", [](In x) { return standard_deviation(x[0], {-1}); }, {3, 4}, 4);
    add(
        out, "std", "half", [](In x) { return standard_deviation(x[0], {0}, 0.5); }, {3, 4}, 3);
    add(
        out, "var_mean", "both",
        [](In x) {
            const TensorList y = var_mean(x[0], {1});
            return mul(y[0], y[1]);
        },
        {3, 4}, 4);
    add(
        out, "std_mean", "both",
        [](In x) {
            const TensorList y = std_mean(x[0], {1}, 1, true);
            return mul(y[0], y[1]);
        },
        {3, 4}, 4);
}

/// Squares, so that the second derivative is not zero.
Tensor squared(const Tensor& x) { return mul(x, x); }

void add_order(std::vector<OpSample>& out) {
    add(
        out, "amax", "ends",
        [](In x) {
            return squared(amax(x[0], {0, 2}));
        },
        {2, 3, 2}, 1);
    add(
        out, "amin", "all", [](In x) { return squared(amin(x[0])); }, {3, 4}, 1);
    add(
        out, "max", "all", [](In x) { return squared(max(x[0])); }, {3, 4}, 1);
    add(
        out, "max", "first", [](In x) { return squared(max(x[0], 0).values); }, {3, 4}, 1);
    add(
        out, "min", "all", [](In x) { return squared(min(x[0])); }, {3, 4}, 1);
    add(
        out, "min", "last", [](In x) { return squared(min(x[0], -1, true).values); }, {3, 4}, 1);
    add(
        out, "sort", "down", [](In x) { return mul(sort(x[0], 0, true).values, x[0]); }, {5, 2}, 1);
    add(
        out, "sort", "scalar", [](In x) { return squared(sort(x[0]).values); }, {}, 1);
    add(
        out, "topk", "largest", [](In x) { return squared(topk(x[0], 2).values); }, {3, 5}, 1);
    add(
        out, "topk", "least", [](In x) { return squared(topk(x[0], 2, 0, false).values); }, {4, 3},
        1);
    add(
        out, "median", "all", [](In x) { return squared(median(x[0])); }, {3, 4}, 1);
    add(
        out, "median", "middle", [](In x) { return squared(median(x[0], 1, true).values); },
        {2, 5, 2}, 1);
}

}  // namespace

void add_reductions_samples(std::vector<OpSample>& out) {
    add_norms(out);
    add_matrix_norms(out);
    add_sums(out);
    add_moments(out);
    add_order(out);
}

}  // namespace engine
