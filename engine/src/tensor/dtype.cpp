#include "tensor/dtype.h"

#include "engine/base/error.h"

namespace engine {

const char* name(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return "f64";
        case DType::f32:
            return "f32";
        case DType::f16:
            return "f16";
        case DType::bf16:
            return "bf16";
        case DType::i64:
            return "i64";
        case DType::i32:
            return "i32";
        case DType::u8:
            return "u8";
        case DType::boolean:
            return "bool";
    }
    return "?";
}

DType dtype_from_name(const std::string& wanted) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                              DType::i32, DType::u8, DType::boolean}) {
        if (wanted == name(dtype)) return dtype;
    }
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
