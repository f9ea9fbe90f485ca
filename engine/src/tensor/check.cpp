#include "tensor/check.h"

#include "engine/base/error.h"

namespace engine {

namespace {

[[noreturn]] void refuse_mixed(const Op& info, DType a, DType b) {
    // Without an entry a region changes nothing (autocast.md#operations-without-an-entry, 1.11).
    throw Error(ErrorCode::dtype,
                std::string(info.name) + ": the arguments have different types, " + name(a) +
                    " and " + name(b),
                info.policy == CastPolicy::none
                    ? "Cast one of them: autocast has no entry for this form."
                    : "Cast one of them, or call it inside an autocast region.");
}

}  // namespace

void check_floating(const Op& info, const Tensor& x) {
    if (!is_floating(x.dtype())) {
        throw Error(ErrorCode::dtype,
                    std::string(info.name) + ": not defined for " + name(x.dtype()));
    }
}

void same_type(const Op& info, std::initializer_list<Tensor> tensors) {
    const Tensor& first = *tensors.begin();
    for (const auto& tensor : tensors) {
        if (tensor.defined() && tensor.dtype() != first.dtype())
            refuse_mixed(info, first.dtype(), tensor.dtype());
    }
}

DType one_type(const Op& info, std::initializer_list<Tensor> tensors) {
    const Tensor& first = *tensors.begin();
    same_type(info, tensors);
    check_floating(info, first);
    return first.dtype();
}

void check_shapes(const Op& info, bool ok, const Tensor& a, const Tensor& b) {
    if (!ok) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": shapes " + to_string(a.shape()) +
                                          " and " + to_string(b.shape()) +
                                          " do not fit one another");
    }
}

void check_rank(const Op& info, const Tensor& x, int rank) {
    if (x.rank() != rank) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": takes a tensor of rank " +
                                          std::to_string(rank) + ", not of shape " +
                                          to_string(x.shape()));
    }
}

}  // namespace engine
