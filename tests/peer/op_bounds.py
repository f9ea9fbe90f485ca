"""Bounds on the difference of a correct result from the exact one.

An op reads operands of its type, computes in an accumulator (f32; f64 for f64) and rounds once on store. So, with y the
value computed in f64 from the operands as cast, and got the stored value:

    |got - y| <= u_out |y|  +  u_acc A  +  u_run L  +  s_run T  +  s_out

u_out |y|   the one rounding on store, half a unit in the last place: u is 2^-11 for f16, 2^-8 for bf16, 2^-24 for f32
            and 2^-53 for f64. Nothing (exact) when y itself fits the type. A gradient of a leaf of a smaller type is
            rounded twice: to the op's type, and to the leaf's.
u_acc A     the accumulator's roundings. A sum of n products differs from the exact sum by at most
            n u sum |a_i b_i| in any order of summation (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1),
            so A = n * (the op on absolute values); for a function of one element A = k |y| with k its rounding count.
u_run L     values that are stored in the op's own type on the way: a result saved for backward, a gradient stored
            before it is summed over broadcast dimensions. L is the sensitivity of the answer to them.
s_run T     results stored on the way that are too small for a relative bound: each is off by half the smallest
            subnormal s of the op's type, and T is what that is multiplied by until it reaches the answer.
s_out       half the smallest subnormal of the type; of a result that fits its type none, unless the result is stored in a
            smaller type than it was computed in.

Each reference hands over y, A, L and T. For f64 the reference itself errs as much as the engine may: the bound doubles.
"""

import dataclasses

import torch

UNIT = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8, torch.float32: 2.0**-24, torch.float64: 2.0**-53}
SUBNORMAL = {torch.float16: 2.0**-24, torch.bfloat16: 2.0**-133, torch.float32: 2.0**-149,
             torch.float64: 5e-324}
LARGEST = {torch.float16: 65504.0, torch.bfloat16: 3.3895313892515355e38, torch.float32: 3.4028234663852886e38,
           torch.float64: 1.7976931348623157e308}


@dataclasses.dataclass
class Expected:
    """One tensor: its value in f64, and the magnitudes A, L and T of the bound (0 where there is none)."""
    value: torch.Tensor
    acc: torch.Tensor | float = 0.0
    low: torch.Tensor | float = 0.0
    exact: bool = False
    tiny: torch.Tensor | float = 0.0


def unit_of_accumulator(dtype):
    return 2.0**-53 if dtype == torch.float64 else 2.0**-24


def stored_in(expected, dtype, coarse):
    """`expected`, whose bound is taken in the type `coarse`, with the underflow of results that are stored in `dtype`."""
    ratio = SUBNORMAL[dtype] / SUBNORMAL[coarse]
    if ratio > 1:
        expected.tiny = (expected.tiny + 1) * ratio
    return expected


def tolerance(expected, run_dtype, out_dtype):
    """The bound above, elementwise, in f64."""
    value = expected.value.abs()
    if expected.exact:
        bound = torch.zeros_like(value)
        if UNIT[out_dtype] > UNIT[run_dtype]:
            bound = UNIT[out_dtype] * value + SUBNORMAL[out_dtype] / 2
    else:
        bound = UNIT[out_dtype] * value
        if UNIT[run_dtype] > UNIT[out_dtype]:
            bound = UNIT[run_dtype] * value
        elif UNIT[run_dtype] < UNIT[out_dtype]:  # stored in the op's type, then cast to the leaf's
            bound = bound + UNIT[run_dtype] * value
        bound = bound + unit_of_accumulator(run_dtype) * expected.acc + UNIT[run_dtype] * expected.low
        bound = bound + SUBNORMAL[run_dtype] / 2 * expected.tiny
    bound = bound + max(SUBNORMAL[out_dtype], SUBNORMAL[run_dtype]) / 2 * (0 if expected.exact else 1)
    # The bound itself was computed in f64 from magnitudes that are rounded: one per cent covers their roundings.
    bound = bound * 1.01
    return bound * 2 if out_dtype == torch.float64 else bound


def compare(got, expected, run_dtype, out_dtype):
    """(worst error as a share of its bound, worst error in units in the last place, number of failures)."""
    value = expected.value
    bound = tolerance(expected, run_dtype, out_dtype)
    got64 = got.to(torch.float64)
    # Beyond the largest finite number by half a unit and more the rounded result is an infinity.
    edge = min(LARGEST[run_dtype], LARGEST[out_dtype])
    finite = torch.isfinite(value) & torch.isfinite(got64)
    error = torch.where(finite, (got64 - value).abs(), torch.zeros_like(value))
    failed = finite & (error > bound)
    both_infinite = torch.isinf(got64) & (torch.sign(got64) == torch.sign(value))
    may_overflow = both_infinite & (torch.isinf(value) | (value.abs() + bound > edge))
    failed |= ~finite & ~may_overflow & ~(torch.isnan(got64) & torch.isnan(value))
    # A finite answer where the exact value is far beyond the type can only be wrong.
    failed |= torch.isfinite(got64) & (value.abs() - bound > LARGEST[out_dtype] * (1 + UNIT[out_dtype]))
    share = torch.where(bound > 0, error / bound.clamp_min(1e-320), (error > 0) * float("inf"))
    coarse = max((run_dtype, out_dtype), key=lambda t: UNIT[t])
    ulp = 2 * UNIT[coarse] * torch.exp2(torch.floor(torch.log2(value.abs().clamp_min(1e-300))))
    ulp = ulp.clamp_min(SUBNORMAL[coarse])
    ulps = torch.where(finite, error / ulp, torch.zeros_like(value))
    if value.numel() == 0:
        return 0.0, 0.0, 0
    share = torch.where(torch.isnan(share), torch.zeros_like(share), share)
    return float(share.max()), float(ulps.max()), int(failed.sum())
