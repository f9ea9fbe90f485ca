#include "text/format.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

const QString notANumber = u"NaN"_s;

QString grouped(const QString& digits) {
    QString out = digits;
    qsizetype end = out.indexOf(u'.');
    if (end < 0) end = out.size();
    const qsizetype first = out.startsWith(u'-') ? 1 : 0;
    for (qsizetype at = end - 3; at > first; at -= 3) out.insert(at, u',');
    return out;
}

}  // namespace

QString unmeasured() { return u"\u2013"_s; }

QString measured(double value, QString (*write)(double)) {
    return std::isnan(value) ? unmeasured() : write(value);
}

QString count(std::int64_t value) { return grouped(QString::number(value)); }

QString significant(double value) { return significant(value, 3); }

QString significant(double value, int digits) {
    if (std::isnan(value)) return notANumber;
    if (std::isinf(value)) return value > 0 ? u"\u221e"_s : u"\u2212\u221e"_s;
    if (value == 0) return u"0"_s;
    const double size = std::abs(value);
    if (size < 1e-6 || size >= 1e9) return QString::number(value, 'e', digits - 1);
    const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
    const int decimals = std::max(0, digits - before);
    if (before <= digits) return grouped(QString::number(value, 'f', decimals));
    // More whole digits than asked for are rounded away: 13,214 with three digits is 13,200.
    const double unit = std::pow(10.0, before - digits);
    return grouped(QString::number(std::round(value / unit) * unit, 'f', 0));
}

QString percent(double share) {
    if (!std::isfinite(share)) return significant(share);
    return QString::number(share * 100, 'f', 1) + u"\u202f%"_s;
}

QString superscript(int value) {
    static const QString digits = u"\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"_s;
    QString out;
    for (const QChar c : QString::number(value)) {
        out += c == u'-' ? QChar(0x207b) : digits.at(c.digitValue());
    }
    return out;
}

QString powerOfTwo(double value) {
    if (!std::isfinite(value) || value <= 0) return significant(value);
    int exponent = 0;
    if (std::frexp(value, &exponent) != 0.5) return significant(value, 4);
    return u'2' + superscript(exponent - 1);
}

QString scaleLimit(double value) {
    int exponent = 0;
    if (!std::isfinite(value) || value < 1 || std::frexp(value, &exponent) == 0.5)
        return powerOfTwo(value);
    return u"2%1 (%2)"_s.arg(superscript(exponent - 1), significant(value));
}

QString bytes(std::int64_t value) {
    if (value < 1000) return count(value) + u" B"_s;
    const double mega = static_cast<double>(value) / 1e6;
    if (mega < 1) return significant(static_cast<double>(value) / 1e3) + u" KB"_s;
    if (mega < 10'000) return significant(mega) + u" MB"_s;
    return significant(mega / 1e3) + u" GB"_s;
}

QString duration(double seconds) {
    if (!std::isfinite(seconds)) return unmeasured();
    const auto all = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
    const QString tail = u":%1"_s.arg(all % 60, 2, 10, QChar(u'0'));
    if (all < 3600) return QString::number(all / 60) + tail;
    return u"%1:%2"_s.arg(all / 3600).arg(all / 60 % 60, 2, 10, QChar(u'0')) + tail;
}

QString milliseconds(double ms) {
    if (!std::isfinite(ms)) return significant(ms);
    return ms < 1000 ? significant(ms) + u" ms"_s : significant(ms / 1000) + u" s"_s;
}

}  // namespace ui
