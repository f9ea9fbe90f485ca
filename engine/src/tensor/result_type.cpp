#include "tensor/result_type.h"

#include <cmath>
#include <optional>

#include "engine/base/error.h"

namespace engine {

Tensor zero_like(const Tensor& x) { return Tensor::scalar(0, x.dtype(), x.device()); }

Tensor scalar_like(const Tensor& x, double value) {
    const DType dtype = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor number = Tensor::scalar(value, dtype, x.device());
    number.impl()->is_number = true;
    return number;
}

Tensor integer_like(const Tensor& x, std::int64_t value) {
    const Tensor number = Tensor::empty({}, DType::i64, x.device());
    number.copy_from_host(&value);
    number.impl()->is_number = true;
    return number;
}

Tensor number_like(const Tensor& x, const OpArguments& args, const std::string& attr) {
    const auto* whole = std::get_if<std::int64_t>(&args.attrs.at(attr));
    return whole && !is_floating(x.dtype()) ? integer_like(x, *whole)
                                            : scalar_like(x, args.number(attr, 0));
}

Tensor whole_number_like(const Op& info, const Tensor& x, double value) {
    if (value != std::trunc(value) || std::fabs(value) >= 0x1p63)
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": alpha must be a whole number beside integers");
    return integer_like(x, static_cast<std::int64_t>(value));
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
