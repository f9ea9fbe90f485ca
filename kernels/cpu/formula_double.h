#pragma once

#include <cmath>

/// The functions that formulas (.inc) use, for double: cpu/formula-inl.h has those for vectors.
namespace kernels::cpu::wide {

inline double multiply_add(double a, double b, double c) { return a * b + c; }
inline double multiply_subtract(double a, double b, double c) { return a * b - c; }
inline double negative_multiply_add(double a, double b, double c) { return c - a * b; }
inline double square_root(double a) { return std::sqrt(a); }
inline double absolute(double a) { return std::fabs(a); }
inline double exp_of(double a) { return std::exp(a); }
/// NaN if either is.
inline double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
inline double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

}  // namespace kernels::cpu::wide
