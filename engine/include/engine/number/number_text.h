#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/number/number_format.h"

namespace engine {

/// A number as it was written, before any format rounds it.
struct Number {
    /// The number itself if `exact`; else cut to 53 bits with the last one set, so that rounding it
    /// to any number_formats() gives what rounding the number itself would give.
    double value = 0;
    bool exact = true;
};

/// Reads "0.1", "-1.5e-7", "2^-24", "3*2^-5" (also "3×2^-5"), "1/3", "inf", "nan", and bits of the
/// format: "0x3c00" or "0b0011110000000000". "0x1.8p-3" is C's hexadecimal number. Spaces around
/// it are skipped. Throws Error(value) with the reason for anything else, for more than 1,100
/// characters and for more bits than the format has.
Number parse_number(std::string_view text, const NumberFormat& format);

/// All digits of the value, without an exponent: "0.0999755859375"; "inf", "-inf", "nan".
std::string exact_decimal(double value);
/// "0x2e66", as many digits as the format's width needs.
std::string hexadecimal(const NumberFormat& format, std::uint32_t bits);
/// "0 01011 1001100110": sign, exponent and fraction; without a sign in formats of scales.
std::string binary(const NumberFormat& format, std::uint32_t bits);

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

/// The number rounded to the format, as to_bits() does it.
StoredNumber store_number(const NumberFormat& format, const Number& number, bool saturate = false);
/// The number that has these bits; its errors are 0.
StoredNumber stored_bits(const NumberFormat& format, std::uint32_t bits);

/// The binary digits of |number| that rounding dropped, starting just below the format's last
/// place: `count` of "0" and "1". Empty if the number or the stored value is not finite.
std::string dropped_bits(const NumberFormat& format, const Number& number, int count);

}  // namespace engine
