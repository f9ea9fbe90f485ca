#pragma once

namespace kernels::cpu {

/// The y with erf(y) = x: infinite at -1 and 1, NaN beyond them. Within 2 units in the last place.
double erfinv(double x);

}  // namespace kernels::cpu
