#include "ops/linalg/products.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/linalg/addmm.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

template <Tensor (*op)(const Tensor&, const Tensor&, const Tensor&, double, double)>
TensorList run(const OpArguments& args) {
    return {
        op(args.at(0), args.at(1), args.at(2), args.number("beta", 1), args.number("alpha", 1))};
}

/// c for a result that is seen as one column.
Tensor column(const OpInfo& info, const Tensor& c) {
    if (c.rank() == 0) return c;
    check_rank(info, c, 1);
    return reshape(c, {c.size(0), 1});
}

/// (b, n, k), (b, k, m)
void check_batches(const OpInfo& info, const Tensor& b1, const Tensor& b2) {
    check_rank(info, b1, 3);
    check_rank(info, b2, 3);
    check_shapes(info, b1.size(0) == b2.size(0) && b1.size(2) == b2.size(1), b1, b2);
}

/// c in the type that it and the vectors have in common.
DType common_type(const Tensor& c, const Tensor& v1, const Tensor& v2) {
    const DType vectors = result_type(v1, v2);
    return c.rank() == 0 ? vectors : promote(vectors, c.dtype());
}

}  // namespace

const OpInfo baddbmm_info{"baddbmm",
                          CastPolicy::low,
                          "baddbmm(c, b1, b2; beta, alpha)",
                          2,
                          "A batch of matrix products with an addition: as addmm.",
                          run<baddbmm>};
const OpInfo addbmm_info{"addbmm",
                         CastPolicy::low,
                         "addbmm(c, b1, b2; beta, alpha)",
                         2,
                         "A batch of matrix products in one long sum, kept in fp32: as addmm.",
                         run<addbmm>};
const OpInfo addmv_info{"addmv",
                        CastPolicy::low,
                        "addmv(c, matrix, vector; beta, alpha)",
                        2,
                        "A matrix times a vector with an addition: as addmm.",
                        run<addmv>};
const OpInfo addr_info{"addr",
                       CastPolicy::low,
                       "addr(c, v1, v2; beta, alpha)",
                       2,
                       "A product of a column and a row, listed with the matrix products; outer, "
                       "which only multiplies, is not.",
                       run<addr>};

Tensor baddbmm(const Tensor& c0, const Tensor& b10, const Tensor& b20, double beta, double alpha) {
    if (intercepted(baddbmm_info))
        return dispatched(
            baddbmm_info, [](const auto&... a) { return baddbmm(a...); }, c0, b10, b20, beta,
            alpha);
    const auto [c, b1, b2] = autocast(baddbmm_info, c0, b10, b20);
    one_type(baddbmm_info, {c, b1, b2});
    check_batches(baddbmm_info, b1, b2);
    return add_product(baddbmm_info, c, b1, b2, beta, alpha);
}

Tensor addbmm(const Tensor& c0, const Tensor& b10, const Tensor& b20, double beta, double alpha) {
    if (intercepted(addbmm_info))
        return dispatched(
            addbmm_info, [](const auto&... a) { return addbmm(a...); }, c0, b10, b20, beta, alpha);
    const auto [c, b1, b2] = autocast(addbmm_info, c0, b10, b20);
    one_type(addbmm_info, {c, b1, b2});
    check_batches(addbmm_info, b1, b2);
    // All batches side by side are one product: (n, b k) (b k, m).
    const std::int64_t terms = b1.size(0) * b1.size(2);
    const Tensor left = reshape(permute(b1, {1, 0, 2}), {b1.size(1), terms});
    const Tensor right = reshape(b2, {terms, b2.size(2)});
    return add_product(addbmm_info, c, left, right, beta, alpha);
}

Tensor addmv(const Tensor& c0, const Tensor& matrix0, const Tensor& vector0, double beta,
             double alpha) {
    if (intercepted(addmv_info))
        return dispatched(
            addmv_info, [](const auto&... a) { return addmv(a...); }, c0, matrix0, vector0, beta,
            alpha);
    const auto [c, matrix, vector] = autocast(addmv_info, c0, matrix0, vector0);
    one_type(addmv_info, {c, matrix, vector});
    check_rank(addmv_info, matrix, 2);
    check_rank(addmv_info, vector, 1);
    check_shapes(addmv_info, matrix.size(1) == vector.size(0), matrix, vector);
    const Tensor y = add_product(addmv_info, column(addmv_info, c), matrix,
                                 reshape(vector, {vector.size(0), 1}), beta, alpha);
    return reshape(y, {matrix.size(0)});
}

Tensor addr(const Tensor& c0, const Tensor& v10, const Tensor& v20, double beta, double alpha) {
    if (intercepted(addr_info))
        return dispatched(
            addr_info, [](const auto&... a) { return addr(a...); }, c0, v10, v20, beta, alpha);
    const auto [c, v1, v2] = autocast(addr_info, c0, v10, v20);
    for (const auto& x : {c, v1, v2}) check_floating(addr_info, x);
    check_rank(addr_info, v1, 1);
    check_rank(addr_info, v2, 1);
    const DType dtype = common_type(c, v1, v2);
    const Tensor left = reshape(to(v1, dtype), {v1.size(0), 1});
    const Tensor right = reshape(to(v2, dtype), {1, v2.size(0)});
    // Not by a BLAS in PyTorch, so that 0 times an infinity is NaN here.
    if (alpha == 0) return add_product(addr_info, to(c, dtype), mul(left, 0.0), right, beta, 1);
    return add_product(addr_info, to(c, dtype), left, right, beta, alpha);
}

}  // namespace engine
