#pragma once

#include <cstdint>
#include <string>

namespace engine {

// How figures are written for people: in the window, in reports, messages and tables of the
// command line. JSON and CSV hold the numbers themselves.

/// "⁻²⁴"
std::string superscript(int exponent);

/// `digits` significant digits, thousands separated: "0.000500", "1.30", "13,200"; "9.06·10⁻⁶"
/// below 10⁻⁴ and from 10⁹ on; "NaN", "∞", "−∞".
std::string figure_text(double value, int digits = 3);
/// As figure_text(), without zeros at the end: "2", "0.5".
std::string short_figure_text(double value, int digits = 3);

/// "1,204"
std::string count_text(std::int64_t value);

/// "2¹⁶" for a power of two; another number in three digits, with "≈ " if that rounds it:
/// "1,000", "≈ 110,000".
std::string power_text(double value);
/// Like power_text(), with the value: "2¹⁶ = 65,536", "2⁻¹² ≈ 0.000244".
std::string power_value_text(double value);
/// power_text() of a loss scale; "1" without scaling.
std::string scale_text(double scale);
/// An upper limit of the loss scale, and the largest power of two within it, since a scale usually
/// is one: "≈ 110,000 (≥ 2¹⁶)". A limit that is a power of two stands alone.
std::string scale_limit_text(double value);
/// The power of two of a magnitude, rounded down: "2⁻¹²"; "-" where it is not known or 0.
std::string magnitude_text(double magnitude);

/// A size: "163 KB", "61.0 MB", "24.0 GB" (1 KB = 1,000 bytes).
std::string bytes_text(std::int64_t bytes);
/// bytes_text() for an estimate, which may be beyond 2^63 bytes.
std::string estimated_bytes_text(double bytes);
/// Energy: "120 J", "18.0 kJ", "3.60 MJ".
std::string energy_text(double joules);

/// A time: "0:19", "1:02:03".
std::string duration_text(double seconds);

}  // namespace engine
