#include "ops/linalg/products_in_place.h"

#include "ops/linalg/addmm.h"
#include "ops/linalg/products.h"
#include "ops/pointwise/inplace.h"
#include "ops/pointwise/write_in_place.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, double, double);

template <Form op>
TensorList run_in_place(const OpArguments& args) {
    // A copy with a place in the graph, since a leaf must not be written to.
    const Tensor& from = args.at(0);
    const Tensor x = copy_(empty_like(from), from);
    return {op(x, args.at(1), args.at(2), args.number("beta", 1), args.number("alpha", 1))};
}

Tensor write_sum(const OpInfo& info, Form op, const Tensor& x, const Tensor& a, const Tensor& b,
                 double beta, double alpha) {
    return write_in_place(info, x, {a, b}, [&](const Tensor& old, const TensorList& sides) {
        return op(old, sides[0], sides[1], beta, alpha);
    });
}

constexpr const char* no_entry =
    "In-place forms are never on the list: the left side keeps its type.";

}  // namespace

const OpInfo addmm_in_place_info{"addmm_", CastPolicy::none, "addmm_(x, a, b; beta, alpha)",
                                 2,        no_entry,         run_in_place<addmm_>, true};
const OpInfo baddbmm_in_place_info{"baddbmm_", CastPolicy::none, "baddbmm_(x, b1, b2; beta, alpha)",
                                   2,          no_entry,         run_in_place<baddbmm_>, true};
const OpInfo addbmm_in_place_info{"addbmm_", CastPolicy::none, "addbmm_(x, b1, b2; beta, alpha)",
                                  2,         no_entry,         run_in_place<addbmm_>, true};
const OpInfo addmv_in_place_info{
    "addmv_", CastPolicy::none, "addmv_(x, matrix, vector; beta, alpha)",
    2,        no_entry,         run_in_place<addmv_>, true};
const OpInfo addr_in_place_info{"addr_", CastPolicy::none, "addr_(x, v1, v2; beta, alpha)",
                                2,       no_entry,         run_in_place<addr_>};

Tensor addmm_(const Tensor& x, const Tensor& a, const Tensor& b, double beta, double alpha) {
    one_type(addmm_in_place_info, {x, a, b});
    return write_sum(addmm_in_place_info, addmm, x, a, b, beta, alpha);
}
Tensor baddbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta, double alpha) {
    one_type(baddbmm_in_place_info, {x, b1, b2});
    return write_sum(baddbmm_in_place_info, baddbmm, x, b1, b2, beta, alpha);
}
Tensor addbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta, double alpha) {
    one_type(addbmm_in_place_info, {x, b1, b2});
    return write_sum(addbmm_in_place_info, addbmm, x, b1, b2, beta, alpha);
}
Tensor addmv_(const Tensor& x, const Tensor& matrix, const Tensor& vector, double beta,
              double alpha) {
    one_type(addmv_in_place_info, {x, matrix, vector});
    return write_sum(addmv_in_place_info, addmv, x, matrix, vector, beta, alpha);
}
Tensor addr_(const Tensor& x, const Tensor& v1, const Tensor& v2, double beta, double alpha) {
    return write_sum(addr_in_place_info, addr, x, v1, v2, beta, alpha);
}

}  // namespace engine
