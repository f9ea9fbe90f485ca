#include "core/result_type.h"

#include <optional>

namespace engine {

Tensor scalar_like(const Tensor& x, double value) {
    const DType dtype = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor number = Tensor::scalar(value, dtype, x.device());
    number.impl()->is_number = true;
    return number;
}

DType result_type(const Tensor& a, const Tensor& b) {
    if (a.dtype() == b.dtype()) return a.dtype();
    const bool fa = is_floating(a.dtype()), fb = is_floating(b.dtype());
    if (fa == fb && a.impl()->is_number) return b.dtype();
    if (fa == fb && b.impl()->is_number) return a.dtype();
    if (fa == fb && (a.rank() == 0) != (b.rank() == 0))
        return a.rank() == 0 ? b.dtype() : a.dtype();
    return promote(a.dtype(), b.dtype());
}

DType result_type(std::initializer_list<Tensor> tensors) {
    std::optional<DType> types[2];  // of the tensors without dimensions, and of the others
    for (const auto& tensor : tensors) {
        auto& type = types[tensor.rank() > 0];
        type = type ? promote(*type, tensor.dtype()) : tensor.dtype();
    }
    const auto& [single, several] = types;
    if (!several || !single) return several ? *several : *single;
    const bool same_kind = is_floating(*single) == is_floating(*several);
    return same_kind ? *several : promote(*single, *several);
}

}  // namespace engine
