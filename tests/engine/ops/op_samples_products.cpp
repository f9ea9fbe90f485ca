#include "op_samples.h"
#include "ops/linalg/einsum.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/products.h"
#include "ops/linalg/tensor_products.h"
#include "ops/linalg/vector_products.h"
#include "ops/pointwise/binary.h"

namespace engine {
namespace {

using In = const TensorList&;

template <Tensor (*op)(const Tensor&, const Tensor&)>
Tensor two(In x) {
    return op(x[0], x[1]);
}
using Sum = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, double, double);
template <Sum op>
Tensor scaled(In x) {
    return op(x[0], x[1], x[2], 0.5, -2);
}
/// Calls the in-place form on a non-leaf with the first argument's values.
template <Sum op>
Tensor in_place(In x) {
    return op(mul(x[0], 1.0), x[1], x[2], 0.5, -2);
}
Function equation(const char* text) {
    return [text](In x) { return einsum(text, x); };
}

}  // namespace

void add_products_samples(std::vector<OpSample>& out) {
    const auto product = [&](const char* op, const char* label, Function f,
                             std::vector<Shape> shapes, double length) {
        out.push_back({op, label, std::move(f), std::move(shapes), -2, 2, {}, length});
    };
    product("baddbmm", "factors", scaled<baddbmm>, {{3, 1}, {2, 3, 4}, {2, 4, 2}}, 5);
    product("addbmm", "factors", scaled<addbmm>, {{2}, {3, 2, 3}, {3, 3, 2}}, 10);
    product("addmv", "factors", scaled<addmv>, {{3}, {3, 4}, {4}}, 5);
    product("addmv", "scalar", scaled<addmv>, {{}, {3, 4}, {4}}, 5);
    product("addr", "factors", scaled<addr>, {{3, 1}, {3}, {4}}, 2);
    product("addmm_", "factors", in_place<addmm_>, {{2, 4}, {2, 3}, {3, 4}}, 4);
    product("baddbmm_", "factors", in_place<baddbmm_>, {{2, 3, 2}, {2, 3, 4}, {2, 4, 2}}, 5);
    product("addbmm_", "factors", in_place<addbmm_>, {{2, 2}, {3, 2, 3}, {3, 3, 2}}, 10);
    product("addmv_", "factors", in_place<addmv_>, {{3}, {3, 4}, {4}}, 5);
    product("addr_", "factors", in_place<addr_>, {{3, 4}, {3}, {4}}, 2);
    product("chain_matmul", "three", chain_matmul, {{2, 3}, {3, 4}, {4, 2}}, 30);
    product("linalg_multi_dot", "vectors", linalg_multi_dot, {{3}, {3, 2}, {2, 3}, {3}}, 60);
    product(
        "linalg_vecdot", "broadcast", [](In x) { return linalg_vecdot(x[0], x[1], 1); },
        {{2, 3, 1}, {3, 4}}, 3);
    product("vdot", "plain", two<vdot>, {{5}, {5}}, 5);
    product("outer", "plain", two<outer>, {{3}, {4}}, 1);
    product("kron", "ranks", two<kron>, {{2, 3}, {2}}, 1);
    product(
        "cross", "first", [](In x) { return cross(x[0], x[1]); }, {{2, 3, 2}, {2, 3, 1}}, 2);
    product(
        "linalg_cross", "last", [](In x) { return linalg_cross(x[0], x[1]); }, {{2, 3}, {1, 3}}, 2);
    product(
        "tensordot", "lists",
        [](In x) {
            return tensordot(x[0], x[1], {2, 0}, {0, -1});
        },
        {{2, 3, 4}, {4, 2, 2}}, 8);
    product(
        "tensordot", "ones", [](In x) { return tensordot(x[0], x[1], 1); }, {{2, 1}, {4, 3}}, 4);
    product(
        "bilinear", "bias", [](In x) { return bilinear(x[0], x[1], x[2], x[3]); },
        {{2, 2, 3}, {2, 2, 4}, {2, 3, 4}, {2}}, 40);
    product("einsum", "batched", equation("bij, bjk -> bki"), {{2, 3, 4}, {2, 4, 2}}, 4);
    product("einsum", "diagonal", equation("iij,j->i"), {{3, 3, 2}, {2}}, 2);
    product("einsum", "ellipsis", equation("...ij,j...->...i"), {{2, 3, 4}, {4, 1}}, 4);
    product("einsum", "three", equation("ij,kj,lk"), {{2, 3}, {4, 3}, {2, 4}}, 24);
    product("einsum", "alone", equation("ijk->ki"), {{2, 3, 4}}, 3);
    product("einsum", "elementwise", equation("ij,j->ji"), {{2, 3}, {3}}, 1);
    product(
        "linear", "onerow", [](In x) { return linear(x[0], x[1]); }, {{2, 3, 4}, {4}}, 4);
}

}  // namespace engine
