#include "plots/axis_tickers.h"

#include <cmath>

#include "text/format.h"

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

/// Without the zeros that significant() writes: 5 and not 5.00.
QString tickText(double tick) {
    if (std::abs(tick) < 1e-12) return u"0"_s;
    if (std::abs(tick) >= 1000 && std::abs(tick) < 1e9) return significant(tick);
    return QString::number(tick, 'g', 3);
}

class StepTicker final : public QCPAxisTicker {
public:
    StepTicker() { setTickCount(5); }

protected:
    double getTickStep(const QCPRange& range) override {
        step_ = std::max(1.0, QCPAxisTicker::getTickStep(range));
        return step_;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        // In millions where the neighbours' labels would otherwise touch.
        if (step_ >= 1e5 && tick != 0) return QString::number(tick / 1e6, 'g', 9) + u"\u2009M"_s;
        return count(std::llround(tick));
    }

private:
    double step_ = 1;
};

class ValueTicker final : public QCPAxisTicker {
public:
    explicit ValueTicker(AxisKind kind) : kind_(kind) { setTickCount(5); }

protected:
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        if (kind_ == AxisKind::share) return QString::number(std::lround(tick * 100)) + u'%';
        if (kind_ == AxisKind::bytes) return bytes(std::llround(tick));
        return tickText(tick);
    }

private:
    AxisKind kind_;
};

class LogTicker final : public QCPAxisTicker {
protected:
    QVector<double> createTickVector(double, const QCPRange& range) override {
        QVector<double> ticks;
        if (range.lower <= 0) return ticks;
        const double decades = std::log10(range.upper / range.lower);
        double power = std::pow(10.0, std::floor(std::log10(range.lower)));
        for (; power <= range.upper; power *= 10) {
            ticks << power;
            if (decades < 4) ticks << 2 * power << 5 * power;
        }
        return ticks;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return tickText(tick);
    }
};

class PowerOfTwoTicker final : public QCPAxisTicker {
protected:
    QVector<double> createTickVector(double, const QCPRange& range) override {
        QVector<double> ticks;
        if (range.lower <= 0) return ticks;
        const int low = static_cast<int>(std::ceil(std::log2(range.lower)));
        const int high = static_cast<int>(std::floor(std::log2(range.upper)));
        int step = 1;
        while ((high - low) / step > 6) step *= 2;
        for (int e = low + ((step - low % step) % step); e <= high; e += step) {
            ticks << std::ldexp(1.0, e);
        }
        return ticks;
    }
    int getSubTickCount(double) override { return 0; }
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        return powerOfTwo(tick);
    }
};

}  // namespace

QSharedPointer<QCPAxisTicker> makeTicker(AxisKind kind) {
    if (kind == AxisKind::log) return QSharedPointer<LogTicker>::create();
    if (kind == AxisKind::log2) return QSharedPointer<PowerOfTwoTicker>::create();
    return QSharedPointer<ValueTicker>::create(kind);
}

QSharedPointer<QCPAxisTicker> makeStepTicker() { return QSharedPointer<StepTicker>::create(); }

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

}  // namespace ui
