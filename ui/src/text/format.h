#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <functional>

#include "engine/base/remaining_time.h"

namespace ui {

using namespace Qt::StringLiterals;  // for all sources of the window

/// Figures as the window writes them: "NaN", "∞" and "−∞" are figures too.

/// "–": not measured, or not yet.
QString unmeasured();
/// Writes a figure in which NaN means "not measured": unmeasured(), else write(value).
QString measured(double value, QString (*write)(double));

/// "1,204"
QString count(std::int64_t value);
/// engine/number/figure_text.h, which the command line and the reports use, too: three significant
/// digits, thousands separated: "0.312", "13,200", "∞"; "1.20·10⁻⁸" below 10⁻⁴.
QString significant(double value);
QString significant(double value, int digits);
/// "88.4 %" of a share in [0, 1].
QString percent(double share);
/// "⁻²⁴"
QString superscript(int value);
/// "2¹⁶" for a power of two; "1,000" and "≈ 110,000" for other numbers.
QString powerOfTwo(double value);
/// "2¹⁶ = 65,536", where there is room.
QString powerWithValue(double value);
/// An upper limit of the loss scale and the largest power of two within it:
/// "≈ 3,670,000 (≥ 2²¹)".
QString scaleLimit(double value);
/// "163 KB", "61.0 MB", "24.0 GB"
QString bytes(std::int64_t value);
/// "0:19", "1:02:03"; unmeasured() for a time that nobody knows
QString duration(double seconds);
/// "9.7 ms", "1.2 s"
QString milliseconds(double ms);

/// The texts of a list, or a text of each of its elements.
template <typename List, typename Part = std::identity>
QStringList stringList(const List& list, const Part& part = {}) {
    QStringList out;
    for (const auto& each : list) out << QString::fromStdString(std::invoke(part, each));
    return out;
}

/// "0:12 left"; empty while it cannot be told. Follows one piece of work after the other: a smaller
/// share is another one.
class TimeLeft {
public:
    QString after(double share);
    /// For tests: `now` in seconds.
    QString after(double share, double now);
    /// The text with the time behind it: "2 of 5 files · 0:12 left".
    QString behind(const QString& text, double share);

private:
    engine::RemainingTime time_;
};

}  // namespace ui
