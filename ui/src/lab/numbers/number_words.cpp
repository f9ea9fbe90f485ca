#include "lab/numbers/number_words.h"

#include <QCoreApplication>
#include <QLocale>
#include <cmath>

#include "text/format.h"

namespace ui {
namespace {

constexpr int maxDigits = 17;  // of a stored value in the table

bool isPowerOfTwo(double value) {
    int exponent = 0;
    return value > 0 && std::isfinite(value) && std::frexp(value, &exponent) == 0.5;
}

QString special(double value) {
    if (std::isnan(value)) return u"NaN"_s;
    return value > 0 ? u"∞"_s : u"−∞"_s;
}

QString withMinus(QString text) { return text.startsWith(u'-') ? text.replace(0, 1, u'−') : text; }

/// Trailing zeros of a number with a point.
QString trimmed(QString text) {
    if (!text.contains(u'.')) return text;
    while (text.endsWith(u'0')) text.chop(1);
    if (text.endsWith(u'.')) text.chop(1);
    return text;
}

}  // namespace

QString formatName(const engine::NumberFormat& format) {
    return QString::fromUtf8(format.name.data(), static_cast<qsizetype>(format.name.size()));
}

QString formatTitle(const engine::NumberFormat& format) {
    return QString::fromUtf8(format.title.data(), static_cast<qsizetype>(format.title.size()));
}

QString typedText(double value) {
    if (std::isnan(value)) return u"nan"_s;
    if (std::isinf(value)) return value > 0 ? u"inf"_s : u"-inf"_s;
    const double size = std::fabs(value);
    if (isPowerOfTwo(size) && (size < 0x1p-10 || size > 0x1p20))
        return (value < 0 ? u"-2^%1"_s : u"2^%1"_s).arg(std::ilogb(size));
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString nearText(double value, int digits) {
    if (!std::isfinite(value)) return special(value);
    if (value == 0) return u"0"_s;
    const double size = std::fabs(value);
    const bool power = isPowerOfTwo(size);
    if (size >= (power ? 1e-4 : 1e-5) && size < 1e7) {
        const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
        return withMinus(trimmed(QString::number(value, 'f', std::max(0, digits - before))));
    }
    if (power) return (value < 0 ? u"−"_s : QString()) + powerOfTwo(size);
    const QString text = QString::number(value, 'e', digits - 1);
    const auto e = text.indexOf(u'e');
    const QString tens = u"10"_s + superscript(text.mid(e + 1).toInt());
    const QString mantissa = withMinus(trimmed(text.left(e)));
    if (mantissa == u"1"_s) return tens;
    return mantissa == u"−1"_s ? u"−"_s + tens : mantissa + u"·"_s + tens;
}

QString plainText(double value) {
    constexpr double most = 1e12;
    if (std::fabs(value) < most && value == std::floor(value))
        return withMinus(count(std::llround(value)));
    return std::fabs(value) >= 1000 && std::fabs(value) < most ? withMinus(significant(value))
                                                               : nearText(value, 3);
}

QString storedText(double value) {
    if (!std::isfinite(value)) return special(value);
    const QString all = QString::fromStdString(engine::exact_decimal(value));
    if (all.size() <= maxDigits) return withMinus(all);
    const double size = std::fabs(value);
    if (size < 1e-3 || size >= 1e12) return nearText(value, 7);
    return withMinus(all.left(maxDigits - 2)) + u"…"_s;
}

QString factoredText(double value) {
    if (!std::isfinite(value) || value == 0) return {};
    const int exponent = std::ilogb(value);
    const double significand = std::ldexp(value, -exponent);
    const QString digits = QString::fromStdString(engine::exact_decimal(significand));
    return u"2%1 × %2"_s.arg(superscript(exponent), digits.size() > 12
                                                        ? withMinus(digits.left(11)) + u"…"_s
                                                        : withMinus(digits));
}

QString errorText(const engine::StoredNumber& stored) {
    if (!std::isfinite(stored.error)) return {};
    if (stored.error == 0) return QCoreApplication::translate("Lab", "exact");
    const double share = std::fabs(stored.relative_error);
    const QString sign = stored.error > 0 ? u"+"_s : u"−"_s;
    if (share < 1e-6) {
        const QString text = QString::number(share, 'e', 1);
        const auto e = text.indexOf(u'e');
        return sign + text.left(e) + u"·10"_s + superscript(text.mid(e + 1).toInt());
    }
    const double percent = 100 * share;
    const int before = static_cast<int>(std::floor(std::log10(percent))) + 1;
    return sign + QString::number(percent, 'f', std::clamp(3 - before, 0, 6)) + u" %"_s;
}

}  // namespace ui
