#include "plots/axis_tickers.h"

#include <cmath>

#include "plots/custom_plot.h"
#include "text/format.h"
#include "theme/theme.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// The largest of 1, 2, 5 times a power of ten that is <= value; the next one up if `up`.
double roundTo125(double value, bool up) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    const double steps[] = {1, 2, 5, 10};
    double below = power;
    for (const double step : steps) {
        if (up && step * power >= value * (1 - 1e-9)) return step * power;
        if (step * power <= value * (1 + 1e-9)) below = step * power;
    }
    return below;
}

/// 10⁻⁸, 2·10⁻⁸
QString powerOfTen(double value) {
    int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
    const double mantissa = value / std::pow(10.0, exponent);
    const QString power = u"10"_s + superscript(exponent);
    if (std::abs(mantissa - 1) < 1e-6) return power;
    return QString::number(mantissa, 'g', 3) + u'\u00b7' + power;
}

/// Without the zeros that significant() writes: 5 and not 5.00.
QString tickText(double tick) {
    if (tick == 0) return u"0"_s;
    const double size = std::abs(tick);
    if (size < 0.999e-4 || size >= 1e6) return powerOfTen(tick);
    return size >= 1000 ? significant(tick) : QString::number(tick, 'g', 3);
}

class StepTicker final : public RoomTicker {
protected:
    double getTickStep(const QCPRange& range) override {
        step_ = std::max(1.0, QCPAxisTicker::getTickStep(range));
        return step_;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        // In millions where the neighbours' labels would otherwise touch.
        if (step_ >= 1e5 && tick != 0) return QString::number(tick / 1e6, 'g', 9) + u"\u2009M"_s;
        return count(std::llround(tick));
    }

private:
    double step_ = 1;
};

/// Seconds, from a minute on as 1:30 and from an hour on as 1:30:00.
class TimeTicker final : public RoomTicker {
protected:
    double getTickStep(const QCPRange& range) override {
        const double wanted = range.size() / std::max(1, most() - 1);
        const double steps[] = {10,  15,   20,   30,   60,   120,   300,   600,
                                900, 1200, 1800, 3600, 7200, 14400, 28800, 86400};
        step_ = wanted <= 5 ? roundTo125(std::max(wanted, 1e-6), true)
                            : std::ceil(wanted / 86400) * 86400;
        for (const double step : steps) {
            if (wanted > 5 && step >= wanted) {
                step_ = step;
                break;
            }
        }
        return step_;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        if (step_ < 10) return QString::number(tick, 'g', 6) + u"\u202fs"_s;
        return duration(tick);
    }

private:
    double step_ = 1;
};

class ValueTicker final : public RoomTicker {
public:
    explicit ValueTicker(AxisKind kind) : kind_(kind) {}

protected:
    double getTickStep(const QCPRange& range) override {
        step_ = QCPAxisTicker::getTickStep(range);
        if (kind_ == AxisKind::whole) step_ = std::max(1.0, step_);
        return step_;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        if (std::abs(tick) < step_ * 1e-6) tick = 0;  // what adding up steps leaves
        if (kind_ == AxisKind::share) {
            // As many decimals as the step has: 62.5, 65 and not 63, 65.
            int decimals = 0;
            double step = step_ * 100;
            for (; decimals < 4 && std::abs(step - std::round(step)) > 1e-6 * step; step *= 10)
                ++decimals;
            return QString::number(tick * 100, 'f', decimals) + u"\u202f%"_s;
        }
        if (kind_ == AxisKind::bytes) return bytes(std::llround(tick));
        return tickText(tick);
    }

private:
    AxisKind kind_;
    double step_ = 1;
};

class LogTicker final : public RoomTicker {
protected:
    QVector<double> createTickVector(double, const QCPRange& range) override {
        wide_ = range.lower > 0 && std::log10(range.upper / range.lower) > 4;
        if (!(range.lower > 0)) return {};
        if (!wide_) {
            for (const QVector<double>& digits : {QVector<double>{1, 2, 5}, {1, 3}, {1}}) {
                const auto ticks = multiples(range, digits);
                if (ticks.size() >= 2 && ticks.size() <= most()) return ticks;
            }
        }
        const auto tens = powersOfTen(range);
        if (tens.size() >= 2) return tens;
        const auto fine = multiples(range, {1, 2, 5});
        return fine.size() < 2 ? fine : QVector<double>{fine.front(), fine.back()};
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return wide_ ? powerOfTen(tick) : tickText(tick);
    }

private:
    static QVector<double> multiples(const QCPRange& range, const QVector<double>& digits) {
        QVector<double> ticks;
        double power = std::pow(10.0, std::floor(std::log10(range.lower)));
        for (; power <= range.upper; power *= 10) {
            for (const double digit : digits) {
                const double tick = digit * power;
                if (tick > range.lower * (1 - 1e-9) && tick < range.upper * (1 + 1e-9)) {
                    ticks << tick;
                }
            }
        }
        return ticks;
    }
    QVector<double> powersOfTen(const QCPRange& range) const {
        const int low = static_cast<int>(std::ceil(std::log10(range.lower) - 1e-9));
        const int high = static_cast<int>(std::floor(std::log10(range.upper) + 1e-9));
        int stride = 1;
        while ((high - low) / stride + 1 > most()) ++stride;
        QVector<double> ticks;
        // Multiples of the stride: they stay where they are while the range grows.
        const int first = static_cast<int>(std::ceil(static_cast<double>(low) / stride)) * stride;
        for (int e = first; e <= high; e += stride) ticks << std::pow(10.0, e);
        return ticks;
    }
    bool wide_ = false;
};

class PowerOfTwoTicker final : public RoomTicker {
protected:
    QVector<double> createTickVector(double, const QCPRange& range) override {
        QVector<double> ticks;
        if (!(range.lower > 0)) return ticks;
        const int low = static_cast<int>(std::ceil(std::log2(range.lower)));
        const int high = static_cast<int>(std::floor(std::log2(range.upper)));
        int stride = 1;
        while ((high - low) / stride + 1 > most()) stride *= 2;
        const int first = static_cast<int>(std::ceil(static_cast<double>(low) / stride)) * stride;
        for (int e = first; e <= high; e += stride) ticks << std::ldexp(1.0, e);
        return ticks;
    }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return powerOfTwo(tick);
    }
};

}  // namespace

void RoomTicker::setMostLabels(int most) {
    most_ = std::clamp(most, 2, 7);
    setTickCount(std::clamp(most_ - 1, 1, 5));  // which QCustomPlot may exceed by one or two
}

QSharedPointer<RoomTicker> makeTicker(AxisKind kind) {
    if (kind == AxisKind::log) return QSharedPointer<LogTicker>::create();
    if (kind == AxisKind::log2) return QSharedPointer<PowerOfTwoTicker>::create();
    return QSharedPointer<ValueTicker>::create(kind);
}

QSharedPointer<RoomTicker> makeXTicker(XKind kind) {
    if (kind == XKind::time || kind == XKind::clock)
        return QSharedPointer<TimeTicker>::create();
    if (kind == XKind::epoch) return QSharedPointer<ValueTicker>::create(AxisKind::linear);
    return QSharedPointer<StepTicker>::create();
}

QCPRange roundRange(double low, double high, AxisKind kind) {
    switch (kind) {
        case AxisKind::share:
            return {0, 1};
        case AxisKind::log2:
            if (!(high > 0) || !std::isfinite(high))
                return {std::ldexp(1.0, 8), std::ldexp(1.0, 18)};
            if (!(low > 0)) low = high / 1024;
            return {std::exp2(std::floor(std::log2(low)) - 2),
                    std::exp2(std::ceil(std::log2(high)) + 1)};
        case AxisKind::log:
            if (!(high > 0) || !std::isfinite(high)) return {0.1, 5};
            // Far below the rest a value would flatten the curve; 0 has no place at all.
            low = low > 0 ? std::max(low, high * 1e-12) : high * 1e-6;
            return {roundTo125(low * 0.999, false), roundTo125(high * 1.001, true)};
        case AxisKind::linear:
        case AxisKind::whole:
        case AxisKind::bytes:
            break;
    }
    if (!std::isfinite(low) || !std::isfinite(high)) return {0, 1};
    // Both axes start at 0 where the data do not go below: lengths can then be compared.
    low = std::min(low, 0.0);
    if (!(high > low)) high = low + 1;
    const double step = roundTo125((high - low) / 5, true);
    return {std::floor(low / step) * step, std::ceil(high * 1.02 / step) * step};
}

void styleAxes(QCustomPlot* plot, const Tokens& tokens) {
    plot->setBackground(tokens.panel);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(QPen(tokens.line));
        axis->setTickPen(QPen(tokens.line));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(tokens.dim);
        axis->setLabelColor(tokens.dim);
        axis->setTickLabelFont(Theme::caption());
        axis->setLabelFont(Theme::caption());
        axis->grid()->setPen(QPen(tokens.grid));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
}

}  // namespace ui
