#include "tensor/dtype.h"

#include "engine/base/error.h"

namespace engine {

DType dtype_from_name(const std::string& wanted) {
    if (const auto dtype = value_of_name<DType>(wanted)) return *dtype;
    throw Error(ErrorCode::value, "no dtype is called " + wanted);
}

DType promote(DType a, DType b) {
    if (a == b) return a;
    const bool fa = is_floating(a), fb = is_floating(b);
    if (fa != fb) return fa ? a : b;
    if (fa) {
        if (a == DType::f64 || b == DType::f64) return DType::f64;
        return DType::f32;  // f32 with a 16-bit type, or the two 16-bit types
    }
    for (const DType wide : {DType::i64, DType::i32, DType::u8}) {
        if (a == wide || b == wide) return wide;
    }
    return DType::boolean;
}

}  // namespace engine
