#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

enum class UnaryOp {
    neg,
    abs,
    sign,
    exp,
    expm1,
    log,
    log1p,
    log2,
    log10,
    sqrt,
    rsqrt,
    reciprocal,
    square,
    sin,
    cos,
    tanh,
    sigmoid,
    relu,
    gelu,
    gelu_grad /* derivative of gelu at x */,
    erf,
    erfc,
    erfinv /* infinite at -1 and 1, NaN beyond */,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    asinh,
    acosh,
    atanh,
    tanhshrink /* x - tanh(x), without its cancellation */,
    floor,
    ceil,
    round /* to nearest, halves to even */,
    trunc,
    logical_not /* boolean */
};
enum class BinaryOp {
    add,
    sub,
    mul,
    div,
    maximum,
    minimum,
    pow,
    atan2,
    relu_backward,     ///< 0 where b <= 0, else (NaN too) a: a = dy, b = y (or x)
    sigmoid_backward,  ///< a * b * (1 - b), b = y
    tanh_backward,     ///< a * (1 - b * b), b = y
    fmod,              ///< a - b * trunc(a / b), exact; the sign of a
    remainder,         ///< a - b * floor(a / b), exact but for one rounding; the sign of b
};
enum class CompareOp { eq, ne, lt, le, gt, ge };

/// y[i] = x[i] converted: any dtype to any. Floats round to nearest even once (f64 to 16 bits is
/// not rounded twice), subnormals kept, overflow to infinity; floats to integers truncate
/// (NaN: 0; beyond int64_t: its nearest end; narrower integers wrap); to boolean: != 0.
using Cast = void(Array y, ConstArray x, Stream stream);
HALFTONE_KERNEL(Cast, cast);

/// y[i] = op(x[i]); y of x's dtype (floating; neg, abs, sign, square also i64, i32); y may alias x.
/// f16, bf16 and f32 compute in f32 and round once; f64 in f64. exp, log, tanh ...: at most 2 f32
/// units in the last place from the exact value before that rounding. sign of NaN is 0, relu of NaN
/// is NaN. Integers wrap around.
using Unary = void(Array y, ConstArray x, UnaryOp op, Stream stream);
HALFTONE_KERNEL(Unary, unary);

/// y[i] = op(a[i], b[i]); all of one dtype (floating; add ... minimum also i64, i32). a or b may
/// have size 1 and is then used for every i. y may alias a or b. Arithmetic as Unary. maximum and
/// minimum give NaN if either is NaN. NaN and infinities follow IEEE.
using Binary = void(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream);
HALFTONE_KERNEL(Binary, binary);

/// y[i] = a[i] op b[i], y boolean; a, b of one dtype, either may have size 1.
using Compare = void(Array y, ConstArray a, ConstArray b, CompareOp op, Stream stream);
HALFTONE_KERNEL(Compare, compare);

/// y[i] = condition[i] ? a[i] : b[i]; condition boolean; a or b may have size 1; bits copied as
/// they are.
using Where = void(Array y, ConstArray condition, ConstArray a, ConstArray b, Stream stream);
HALFTONE_KERNEL(Where, where);

/// y[i] = alpha * a[i] + beta * b[i], rounded once; y may alias. Floating dtypes, all equal.
using Axpby = void(Array y, ConstArray a, ConstArray b, double alpha, double beta, Stream stream);
HALFTONE_KERNEL(Axpby, axpby);

/// y[i] = x[i] * scale[0] with scale an f32 on the device; product in f32 (f64 for f64), rounded
/// once.
using ScaleBy = void(Array y, ConstArray x, const float* scale, Stream stream);
HALFTONE_KERNEL(ScaleBy, scale_by);

/// y[i] = value, rounded to y's dtype.
using Fill = void(Array y, double value, Stream stream);
HALFTONE_KERNEL(Fill, fill);

/// y = x, both strided with the same shape and dtype; y's strides must not overlap.
using CopyStrided = void(Strided y, ConstStrided x, Stream stream);
HALFTONE_KERNEL(CopyStrided, copy_strided);

/// y[r, c] = x[r, c] + bias[c] (then relu if asked), y and x (rows, cols) dense, all of one
/// floating dtype; y may alias x. rows = x.size / bias.size.
using AddBias = void(Array y, ConstArray x, ConstArray bias, bool relu, Stream stream);
HALFTONE_KERNEL(AddBias, add_bias);

/// Largest finite-or-not magnitude so far: result[0] = max(result[0], max |x[i]|) as f32, with
/// result[0] >= 0 before or NaN; NaN if any x is NaN. Floating x. result lies on the device.
using AbsMax = void(float* result, ConstArray x, Stream stream);
HALFTONE_KERNEL(AbsMax, abs_max);

}  // namespace kernels
