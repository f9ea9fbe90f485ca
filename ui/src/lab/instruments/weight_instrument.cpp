#include <QColor>
#include <QCoreApplication>
#include <QPainter>
#include <QString>
#include <QWidget>
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/plain_text.h"
#include "engine/instruments/weight_watch.h"
#include "engine/number/number_format.h"
#include "lab/instruments/instrument.h"
#include "lab/instruments/weight_curves.h"
#include "lab/lessons/run_style.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/painted_widget.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// One update of one weight on the line of the numbers that its type can hold: its old value, the
/// target of the update, and the rounded result. GUI thread.
class WeightLens final : public PaintedWidget {
    Q_DECLARE_TR_FUNCTIONS(ui::WeightLens)
public:
    struct Shown {
        QString label;      ///< of the run
        QColor color;       ///< of the run
        std::string dtype;  ///< of the stored weight: "f16", "f32"
        engine::WeightChange change;
        bool skipped = false;       ///< the step, so that nothing changed
        std::vector<double> trail;  ///< where the weight (or its master) was before, oldest first
    };
    explicit WeightLens(const Theme* theme, QWidget* parent = nullptr);

    void setShown(const Shown& shown);
    /// Why there is nothing to show.
    void setNothing(const QString& why);
    /// The update that the optimizer computed: that of the master where there is one.
    static double update(const engine::WeightChange& change);
    /// The stored weight stayed as it was although the update is not 0.
    static bool lost(const engine::WeightChange& change);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Line;
    QString headline() const;
    void paintLine(QPainter& painter, const Line& line) const;
    void paintUpdate(QPainter& painter, const Line& line) const;

    Shown shown_;
    QString nothing_;
    bool some_ = false;
};

const engine::NumberFormat& formatOf(const std::string& dtype) {
    if (dtype == "f16" || dtype == "fp16") return engine::fp16_format;
    if (dtype == "bf16") return engine::bf16_format;
    return engine::fp32_format;
}

QString lensFigure(double value) { return nearText(value, 6); }

QString signedFigure(double value) {
    return (value < 0 ? u"−"_s : u"+"_s) + nearText(std::abs(value), 3);
}

void arrow(QPainter& painter, QPointF from, QPointF to) {
    painter.drawLine(from, to);
    const double side = to.x() > from.x() ? -1 : 1;
    if (std::abs(to.x() - from.x()) < 3) return;
    painter.drawLine(to, to + QPointF(6 * side, -4));
    painter.drawLine(to, to + QPointF(6 * side, 4));
}

}  // namespace

/// Places on the widget: the stored value in the middle, its two neighbours near the edges.
struct WeightLens::Line {
    double y;
    double left, right;
    double below, value, above;

    double x(double number) const {
        const double middle = (left + right) / 2;
        const double half = (right - left) / 2 * 0.8;
        const double gap = number < value ? value - below : above - value;
        return middle + std::clamp((number - value) / gap, -1.25, 1.25) * half;
    }
};

WeightLens::WeightLens(const Theme* theme, QWidget* parent) : PaintedWidget(theme, parent) {
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize WeightLens::sizeHint() const { return {380, 11 * fontMetrics().height()}; }
QSize WeightLens::minimumSizeHint() const { return {260, sizeHint().height()}; }

double WeightLens::update(const engine::WeightChange& change) {
    if (!std::isnan(change.master_before)) return change.master_after - change.master_before;
    return -change.lr * change.gradient;
}

bool WeightLens::lost(const engine::WeightChange& change) {
    const bool master = !std::isnan(change.master_before);
    const bool still =
        master ? change.master_after == change.master_before : change.after == change.before;
    return still && std::isfinite(change.gradient) &&
           (master ? change.gradient * change.lr : update(change)) != 0;
}

void WeightLens::setShown(const Shown& shown) {
    shown_ = shown;
    some_ = true;
    setAccessibleDescription(headline());
    QWidget::update();
}

void WeightLens::setNothing(const QString& why) {
    some_ = false;
    nothing_ = why;
    QWidget::update();
}

QString WeightLens::headline() const {
    const auto& change = shown_.change;
    if (shown_.skipped) return tr("%1: the step was skipped").arg(shown_.label);
    if (update(change) == 0 && !lost(change)) return tr("%1: no change").arg(shown_.label);
    if (lost(change)) return tr("%1: the change is rounded away").arg(shown_.label);
    if (std::isnan(change.master_before))
        return tr("%1: the change is kept, rounded").arg(shown_.label);
    return tr("%1: the change is kept").arg(shown_.label);
}

void WeightLens::paintEvent(QPaintEvent*) {
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    if (!some_) {
        painter.setPen(t.dim);
        painter.drawText(rect().adjusted(12, 0, -12, 0), Qt::AlignCenter | Qt::TextWordWrap,
                         nothing_);
        return;
    }
    const int h = fontMetrics().height();
    QFont bold = font();
    bold.setWeight(QFont::Bold);
    painter.setFont(bold);
    painter.setPen(shown_.color);
    painter.drawText(QRect(0, 0, width(), h + 2), Qt::AlignLeft | Qt::AlignVCenter, headline());
    const auto& format = formatOf(shown_.dtype);
    const std::uint32_t bits = engine::to_bits(format, shown_.change.before);
    const auto up = engine::next_above(format, bits), down = engine::next_below(format, bits);
    if (!up || !down || !std::isfinite(shown_.change.before)) {
        painter.setPen(t.dim);
        painter.drawText(rect().adjusted(0, 2 * h, 0, 0), Qt::AlignHCenter | Qt::AlignTop,
                         lensFigure(shown_.change.before));
        return;
    }
    const Line line{5.6 * h,
                    0,
                    double(width()),
                    engine::from_bits(format, *down),
                    shown_.change.before,
                    engine::from_bits(format, *up)};
    paintLine(painter, line);
    paintUpdate(painter, line);
}

void WeightLens::paintLine(QPainter& painter, const Line& line) const {
    const Tokens& t = theme_->tokens();
    const int h = fontMetrics().height();
    QFont caption = font();
    caption.setPointSizeF(caption.pointSizeF() * 0.9);
    painter.setFont(caption);
    const double low = line.x((line.below + line.value) / 2);
    const double high = line.x((line.above + line.value) / 2);
    QColor zone = shown_.color;
    zone.setAlphaF(0.10f);
    painter.fillRect(QRectF(low, 2.6 * h, high - low, line.y - 2.6 * h), zone);
    painter.setPen(QPen(t.dim, 1, Qt::DashLine));
    for (const double x : {low, high}) painter.drawLine(QPointF(x, 2.6 * h), QPointF(x, line.y));
    painter.setPen(t.text);
    painter.drawText(QRectF(0, 1.4 * h, width(), h), Qt::AlignHCenter,
                     tr("every value in this range is stored as %1").arg(lensFigure(line.value)));
    painter.setPen(QPen(t.dim, 1.5));
    painter.drawLine(QPointF(line.left, line.y), QPointF(line.right, line.y));
    for (const double value : {line.below, line.value, line.above}) {
        const double x = line.x(value);
        painter.setPen(QPen(t.text, 1.5));
        painter.drawLine(QPointF(x, line.y - 6), QPointF(x, line.y + 6));
        painter.setPen(value == line.value ? t.text : t.dim);
        const double wide = painter.fontMetrics().horizontalAdvance(lensFigure(value)) + 4;
        const double from = std::clamp(x - wide / 2, 0.0, width() - wide);
        painter.drawText(QRectF(from, line.y + 8, wide, h), Qt::AlignCenter, lensFigure(value));
    }
}

void WeightLens::paintUpdate(QPainter& painter, const Line& line) const {
    const Tokens& t = theme_->tokens();
    const int h = fontMetrics().height();
    const bool master = !std::isnan(shown_.change.master_before);
    QColor faint = shown_.color;
    faint.setAlphaF(0.45f);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faint);
    for (const double at : shown_.trail) {
        if (at > line.below - (line.above - line.value) &&
            at < line.above + (line.above - line.value))
            painter.drawEllipse(QPointF(line.x(at), line.y), 2.5, 2.5);
    }
    const double start = master ? shown_.change.master_before : shown_.change.before;
    const double by = shown_.skipped ? 0 : update(shown_.change);
    const double y = line.y - 1.3 * h;
    painter.setBrush(shown_.color);
    painter.drawEllipse(
        QPointF(line.x(master ? shown_.change.master_after : shown_.change.after), line.y), 5, 5);
    painter.setPen(QPen(shown_.color, 2));
    arrow(painter, {line.x(start), y}, {line.x(start + by), y});
    const QString word = signedFigure(by);
    const double wide = painter.fontMetrics().horizontalAdvance(word) + 4;
    const double from = std::clamp(line.x(start + by / 2) - wide / 2, 0.0, width() - wide);
    painter.drawText(QRectF(from, y - h - 2, wide, h), Qt::AlignCenter, word);
    const double gap = line.above - line.value;
    painter.setPen(t.dim);
    painter.drawText(QRectF(0, line.y + 8 + 1.3 * h, width(), 2 * h), Qt::AlignHCenter,
                     tr("the change is %1 of a gap · gap %2")
                         .arg(nearText(std::abs(by) / gap, 2), nearText(gap, 3)));
    if (master) {
        painter.drawText(
            QRectF(0, line.y + 8 + 2.4 * h, width(), h), Qt::AlignHCenter,
            tr("FP32 master now %1").arg(QString::number(shown_.change.master_after, 'g', 9)));
    }
}

namespace {

/// One weight, magnified: its update at the step in each run, its course over the steps, and how
/// many updates in a row were lost.
class WeightInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::WeightInstrument)
public:
    explicit WeightInstrument(const InstrumentSetup& from);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    std::shared_ptr<engine::WeightWatch> watchOf(const std::string& run) const;
    QString lostInARow(const engine::WeightWatch& watch, std::int64_t step) const;

    std::vector<std::string> runs_;
    std::vector<WeightLens*> lenses_;
    WeightCurves* curves_;
    QLabel* summary_;
    std::int64_t step_ = 0;
};

constexpr std::int64_t trail = 8;          // steps
constexpr std::int64_t points = 240;       // of a curve
constexpr std::int64_t farthest = 20'000;  // steps that are looked back

double placeOf(const engine::WeightChange& change) {
    return std::isnan(change.master_after) ? change.after : change.master_after;
}

}  // namespace

WeightInstrument::WeightInstrument(const InstrumentSetup& from) : Instrument(from) {
    runs_ = namedRuns();
    auto* column = makeColumn(this, {size::inside, size::grid, size::inside, size::gap}, size::gap);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        auto* lens = new WeightLens(context_.theme, this);
        lenses_.push_back(lens);
        column->addWidget(lens);
    }
    curves_ = new WeightCurves(context_.theme, this);
    column->addWidget(curves_, 1);
    summary_ = makeProse({}, nullptr, this);
    column->addWidget(summary_);
}

QString WeightInstrument::title() const { return tr("One weight, magnified"); }

QString WeightInstrument::note() const {
    const QString name = QString::fromStdString(instrument_.parameter + '[' +
                                                engine::join(instrument_.index) + ']');
    return step_ > 0 ? name + u" · "_s + tr("step %1").arg(count(step_)) : name;
}

std::shared_ptr<engine::WeightWatch> WeightInstrument::watchOf(const std::string& run) const {
    for (const auto& each : model_->runs()->snapshot().runs) {
        if (each.name != run) continue;
        for (const auto& watch : each.weights) {
            if (watch && watch->parameter() == instrument_.parameter &&
                watch->index() == instrument_.index)
                return watch;
        }
    }
    return nullptr;
}

void WeightInstrument::showStep(std::int64_t step) {
    step_ = step;
    std::vector<WeightCurves::Curve> curves;
    QString lost;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const auto watch = watchOf(runs_[i]);
        const auto change = watch ? watch->at(step) : std::nullopt;
        const int run = model_->runs()->indexOf(runs_[i]);
        const auto tracks = model_->runs()->tracks();
        if (!change || run < 0 || run >= static_cast<int>(tracks.size())) {
            const QString why = watch && !watch->problem().empty()
                                    ? QString::fromStdString(watch->problem())
                                    : tr("Predict, then run.");
            lenses_[i]->setNothing(why);
            continue;
        }
        const auto& track = *tracks[static_cast<std::size_t>(run)];
        WeightLens::Shown shown{
            track.tag,
            runStyle(*context_.theme, tracks, static_cast<std::size_t>(run)).color,
            watch->dtype(),
            *change,
            track.at(step).found_inf != 0,
            {}};
        for (std::int64_t s = std::max<std::int64_t>(1, step - trail); s < step; ++s) {
            if (const auto before = watch->at(s)) shown.trail.push_back(placeOf(*before));
        }
        lenses_[i]->setShown(shown);
        WeightCurves::Curve curve{
            track.tag + u' ' + significant(placeOf(*change)), shown.color, {}};
        const std::int64_t rows = watch->size();
        for (std::int64_t k = 0; k <= points && rows > 0; ++k) {
            const std::int64_t at = 1 + (rows - 1) * k / points;
            if (const auto there = watch->at(at))
                curve.points.emplace_back(double(at), placeOf(*there));
        }
        curves.push_back(std::move(curve));
        if (lost.isEmpty()) lost = lostInARow(*watch, step);
    }
    curves_->setCurves(std::move(curves), static_cast<double>(model_->runs()->plannedSteps()),
                       step);
    summary_->setText(lost);
    summary_->setVisible(!lost.isEmpty());
}

QString WeightInstrument::lostInARow(const engine::WeightWatch& watch, std::int64_t step) const {
    std::int64_t lost = 0;
    double sum = 0;
    for (std::int64_t s = step; s >= 1 && s > step - farthest; --s) {
        const auto change = watch.at(s);
        if (!change || !WeightLens::lost(*change)) break;
        ++lost;
        sum += WeightLens::update(*change);
    }
    if (lost < 2) return {};
    return tr("<b>%1 updates in a row lost.</b> Added up they would have moved the weight by %2.")
        .arg(count(lost), nearText(sum, 3));
}

Instrument* makeWeightInstrument(const InstrumentSetup& from) { return new WeightInstrument(from); }

}  // namespace ui
