#include "tensor/result_type.h"

#include <cmath>
#include <optional>

#include "engine/base/error.h"
#include "tensor/operand_type.h"

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

DType result_type(const OperandType& a, const OperandType& b) {
    if (a.type == b.type) return a.type;
    if (is_floating(a.type) == is_floating(b.type)) {
        if (a.is_number) return b.type;
        if (b.is_number) return a.type;
        if (a.has_dims != b.has_dims) return a.has_dims ? a.type : b.type;
    }
    return promote(a.type, b.type);
}

DType result_type(const Tensor& a, const Tensor& b) {
    return result_type(operand_type(a), operand_type(b));
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
