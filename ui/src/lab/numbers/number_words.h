#pragma once

#include <QString>

#include "engine/number/number_text.h"

namespace ui {

/// "fp8-e4m3"
QString formatName(const engine::NumberFormat& format);
/// "FP8 E4M3"
QString formatTitle(const engine::NumberFormat& format);
/// The value as a user would type it: "0.1", "2^-24", "inf". Read again it gives the same double.
QString typedText(double value);
/// `digits` significant digits without trailing zeros: "0.0999146", "5.96·10⁻⁸", "2⁻¹⁴⁹", "∞",
/// "NaN".
QString nearText(double value, int digits);
/// A figure in a sentence or table: whole numbers as they are, else three significant digits:
/// "65,520", "−15", "0.312", "−3·10⁻⁸", "NaN".
QString plainText(double value);
/// All digits where they fit: "0.0999755859375"; else the first ones and "…", or nearText().
QString storedText(double value);
/// "2⁻⁴ × 1.599609375": the power and the significand; empty for 0, inf and NaN.
QString factoredText(double value);
/// "+0.0977 %", "−1.5·10⁻⁸", "exact"; empty where the error is not finite.
QString errorText(const engine::StoredNumber& stored);

}  // namespace ui
