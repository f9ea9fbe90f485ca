#pragma once

namespace kernels::cpu {

/// The y with erf(y) = x: infinite at -1 and 1, NaN beyond them. Within 2 units in the last place.
double erfinv(double x);
/// x - tanh(x) without its cancellation near 0.
double tanhshrink(double x);

}  // namespace kernels::cpu
