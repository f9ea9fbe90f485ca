#pragma once

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

// The functions and what each of them computes: kernels/elementwise_functions.inc.
enum class UnaryOp {
#define HALFTONE_UNARY(name, cpu, cuda, numbers) name,
#include "kernels/elementwise_functions.inc"
};
enum class BinaryOp {
#define HALFTONE_BINARY(name, cpu, cuda, numbers) name,
#include "kernels/elementwise_functions.inc"
};
enum class CompareOp {
#define HALFTONE_COMPARE(name, relation) name,
#include "kernels/elementwise_functions.inc"
};

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

/// y[i] = op(a[i], b[i]); all of one dtype (floating; arithmetic, maximum, minimum, pow,
/// fmod and remainder also i64, i32). a or b may
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

/// losses[i] = (1 - t) x - log_sigmoid(x) of logit x[i] and target t[i], with the bits of the
/// single elementwise functions: ((-t + 1) * x) - (min(x, 0) - log1p(exp(-|x|))). All f32.
using LogitsLoss = void(Array losses, ConstArray x, ConstArray target, Stream stream);
HALFTONE_CUDA_KERNEL(LogitsLoss, logits_loss);

/// Its gradient dx[i] = dy (1 - t) - dy sigmoid(-x), with the bits of the single functions. dy has
/// the size of x or one element. All f32.
using LogitsLossBackward = void(Array dx, ConstArray dy, ConstArray x, ConstArray target,
                                Stream stream);
HALFTONE_CUDA_KERNEL(LogitsLossBackward, logits_loss_backward);

/// y[i] = b[i] > 0 ? a[i] : a[i] * slope: leaky ReLU where a = b = x, and its gradient where a = dy
/// and b = x. Dense, all of one floating dtype; y may alias either. f16, bf16 and f32 compute in
/// f32, the slope too, and round once; f64 in f64. The CPU's alone: on a GPU the op is made of
/// others.
using LeakyRelu = void(Array y, ConstArray a, ConstArray b, double slope, Stream stream);
namespace cpu {
LeakyRelu leaky_relu;
}

}  // namespace kernels
