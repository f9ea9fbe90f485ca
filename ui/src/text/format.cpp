#include "text/format.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/number/figure_text.h"

namespace ui {

QString unmeasured() { return u"\u2013"_s; }

QString measured(double value, QString (*write)(double)) {
    return std::isnan(value) ? unmeasured() : write(value);
}

QString count(std::int64_t value) { return QString::fromStdString(engine::count_text(value)); }

QString significant(double value) { return QString::fromStdString(engine::figure_text(value)); }

QString significant(double value, int digits) {
    return QString::fromStdString(engine::figure_text(value, digits));
}

QString percent(double share) {
    if (!std::isfinite(share)) return significant(share);
    return QString::number(share * 100, 'f', 1) + u"\u202f%"_s;
}

QString superscript(int value) { return QString::fromStdString(engine::superscript(value)); }

QString powerOfTwo(double value) { return QString::fromStdString(engine::power_text(value)); }

QString powerWithValue(double value) {
    return QString::fromStdString(engine::power_value_text(value));
}

QString scaleLimit(double value) { return QString::fromStdString(engine::scale_limit_text(value)); }

QString bytes(std::int64_t value) { return QString::fromStdString(engine::bytes_text(value)); }

QString duration(double seconds) {
    if (!std::isfinite(seconds)) return unmeasured();
    return QString::fromStdString(engine::duration_text(seconds));
}

QString milliseconds(double ms) {
    if (!std::isfinite(ms)) return significant(ms);
    return ms < 1000 ? significant(ms) + u" ms"_s : significant(ms / 1000) + u" s"_s;
}

namespace {

struct TimeLeftText {
    Q_DECLARE_TR_FUNCTIONS(TimeLeft)
public:
    static QString of(const std::optional<double>& seconds) {
        return seconds ? tr("%1 left").arg(duration(*seconds)) : QString();
    }
};

}  // namespace

QString TimeLeft::after(double share) { return TimeLeftText::of(time_.after(share)); }

QString TimeLeft::after(double share, double now) {
    return TimeLeftText::of(time_.after(share, now));
}

QString TimeLeft::behind(const QString& text, double share) {
    const QString time = after(share);
    return time.isEmpty() ? text : text + u" · "_s + time;
}

}  // namespace ui
