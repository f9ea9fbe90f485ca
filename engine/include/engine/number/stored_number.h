#pragma once

#include <optional>
#include <string>

#include "engine/number/number_text.h"

namespace engine {

/// A number as a format stores it.
struct StoredNumber {
    const NumberFormat* format = nullptr;
    std::uint32_t bits = 0;
    double value = 0;  ///< of the bits
    NumberClass number_class = NumberClass::zero;
    double error = 0;                    ///< value − number; NaN where either is not finite
    double relative_error = 0;           ///< error / |number|; 0 for 0, NaN as above
    std::optional<double> below, above;  ///< neighbours; infinities count
    double gap = 0;                      ///< as gap()
};

/// The number rounded to the format.
StoredNumber store_number(const NumberFormat& format, const Number& number);
/// The number that has these bits; its errors are 0.
StoredNumber stored_bits(const NumberFormat& format, std::uint32_t bits);

/// The binary digits of |number| that rounding dropped, starting just below the format's last
/// place: `count` of "0" and "1". Empty if the number or the stored value is not finite.
std::string dropped_bits(const NumberFormat& format, const Number& number, int count);

}  // namespace engine
