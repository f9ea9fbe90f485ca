#include "twin/loss_gap.h"

#include <QEvent>
#include <QMouseEvent>
#include <QPainterPath>
#include <algorithm>
#include <cmath>
#include <limits>

#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "twin/gap_noise.h"
#include "widgets/axis_marks.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int labelColumn = 76;
constexpr double notRecorded = std::numeric_limits<double>::quiet_NaN();

/// Calls f(first, last) for the rows of each pixel column.
template <typename F>
void forEachColumn(std::size_t rows, double end, double width, const F& f) {
    const double per = std::max(1.0, end / std::max(1.0, width));
    for (std::size_t first = 0, column = 1; first < rows; ++column) {
        const auto next = static_cast<std::size_t>(per * static_cast<double>(column));
        const std::size_t last = std::min(rows, std::max(first + 1, next));
        f(first, last);
        first = last;
    }
}

}  // namespace

LossGap::LossGap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {900, 150}, {360, 90}), link_(link), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Loss gap"));
    connect(model_, &TwinModel::contentChanged, this, &LossGap::refresh);
    connect(model_, &TwinModel::grew, this, &LossGap::refresh);
    connect(model_, &TwinModel::siblingsChanged, this, &LossGap::refresh);
    connect(model_, &TwinModel::selectionChanged, this, qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, this, &LossGap::refresh);
    refresh();
}

double LossGap::gap() const { return mean_.empty() ? notRecorded : mean_.back(); }

double LossGap::noise() const {
    // Seeds may have run fewer steps than this twin.
    const auto known = std::find_if(error_.rbegin(), error_.rend(),
                                    [](double value) { return !std::isnan(value); });
    return known == error_.rend() ? 0 : *known;
}

std::size_t LossGap::rowsOfBoth() const {
    const auto &a = model_->reference(), &b = model_->other();
    if (!a || !b || !model_->any()) return 0;
    return static_cast<std::size_t>(std::min(a->rows(), b->rows()));
}

void LossGap::readRows() {
    if (rowsOfBoth() > raw_.size()) refresh();
}

/// Reads the losses beyond those that are there.
void LossGap::takeRows() {
    const auto &a = model_->reference(), &b = model_->other();
    const std::size_t rows = rowsOfBoth();
    if (rows < raw_.size() || rows == 0) {
        raw_.clear();
        mean_.clear();
        error_.clear();
        most_ = 1e-9;
    }
    const std::size_t before = raw_.size();
    if (rows == before) return;
    std::vector<double> reference(rows - before), other(rows - before);
    const auto first = static_cast<std::int64_t>(before);
    a->reader().column(&engine::StepRecord::loss, first, reference);
    b->reader().column(&engine::StepRecord::loss, first, other);
    for (std::size_t i = 0; i < reference.size(); ++i) {
        raw_.push_back(other[i] - reference[i]);
        if (std::isfinite(raw_.back())) most_ = std::max(most_, std::abs(raw_.back()));
    }
    // The means of the new rows reach back over some of the old ones.
    const std::size_t lead = std::min(before, averagedSteps);
    const auto means = trailingMeans(std::span(raw_).subspan(before - lead));
    mean_.insert(mean_.end(), means.begin() + static_cast<std::ptrdiff_t>(lead), means.end());
}

void LossGap::takeNoise() {
    const auto& siblings = model_->siblingGaps();
    const int seeds = siblings.empty() || raw_.empty() ? 1 : 1 + static_cast<int>(siblings.size());
    if (seeds > 1) {
        auto bySeed = siblings;
        bySeed.push_back(raw_);
        error_ = noiseOverSeeds(bySeed);
        error_.resize(raw_.size(), notRecorded);
    } else {
        if (seeds_ > 1) error_.clear();
        const std::size_t before = error_.size(), lead = std::min(before, averagedSteps);
        const auto noise = noiseOverSteps(std::span(raw_).subspan(before - lead));
        error_.insert(error_.end(), noise.begin() + static_cast<std::ptrdiff_t>(lead), noise.end());
    }
    seeds_ = seeds;
}

void LossGap::refresh() {
    takeRows();
    takeNoise();
    setAccessibleDescription(tr("Gap %1, noise ±%2").arg(significant(gap()), significant(noise())));
    picture_ = {};
    update();
    emit changed();
}

void LossGap::resizeEvent(QResizeEvent*) { picture_ = {}; }

void LossGap::changeEvent(QEvent* event) {
    if (event->type() == QEvent::FontChange) picture_ = {};
    QWidget::changeEvent(event);
}

void LossGap::setSpan(double left, double right) {
    if (left == left_ && right == right_) return;
    left_ = left;
    right_ = right;
    picture_ = {};
    update();
}

QRectF LossGap::plot() const {
    const double left = std::max<double>(labelColumn, left_);
    const double right = right_ > 0 ? right_ : width() - size::inside;
    return QRectF(left, 8, std::max(40.0, right - left), std::max(20, height() - 16));
}

double LossGap::end() const {
    const std::int64_t planned = model_->other() ? model_->other()->plannedSteps() : 0;
    const bool done = model_->other() && model_->other()->done();
    return std::max(
        {1.0, done ? 0.0 : static_cast<double>(planned), static_cast<double>(raw_.size())});
}

double LossGap::xOf(double step) const { return plot().left() + plot().width() * step / end(); }

double LossGap::yOf(double gap) const {
    return plot().center().y() - std::clamp(gap / most_, -1.0, 1.0) * plot().height() / 2;
}

void LossGap::paintAxis(QPainter& painter) const {
    const QString most = significant(most_, 2);
    paintLeftMarks(painter, theme_->tokens(), plot(),
                   {{yOf(most_), u'+' + most}, {yOf(0), u"0"_s}, {yOf(-most_), u'−' + most}});
    painter.setPen(theme_->tokens().dim);
    painter.drawLine(QPointF(plot().left(), yOf(0)), QPointF(plot().right(), yOf(0)));
}

/// A pixel column holds the range of its raw values, so that no spike is lost, and the last mean.
void LossGap::paintCurves(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    QPainterPath mean;
    QPolygonF upper, lower;
    QList<QLineF> raw;
    bool meant = false;
    forEachColumn(raw_.size(), end(), plot().width(), [&](std::size_t first, std::size_t last) {
        const double x = xOf(static_cast<double>(last));
        double low = notRecorded, high = notRecorded;
        for (std::size_t i = first > 0 ? first - 1 : 0; i < last; ++i) {
            if (!std::isfinite(raw_[i])) continue;
            low = std::isnan(low) ? raw_[i] : std::min(low, raw_[i]);
            high = std::isnan(high) ? raw_[i] : std::max(high, raw_[i]);
        }
        if (!std::isnan(low)) raw << QLineF(x, yOf(low), x, yOf(high) - 1);
        if (std::isfinite(error_[last - 1])) {
            upper << QPointF(x, yOf(error_[last - 1]));
            lower << QPointF(x, yOf(-error_[last - 1]));
        }
        if (!std::isfinite(mean_[last - 1])) {
            meant = false;
        } else if (std::exchange(meant, true)) {
            mean.lineTo(x, yOf(mean_[last - 1]));
        } else {
            mean.moveTo(x, yOf(mean_[last - 1]));
        }
    });
    std::reverse(lower.begin(), lower.end());
    painter.setPen(Qt::NoPen);
    painter.setBrush(blend(t.panel, t.accent, 0.14));
    painter.drawPolygon(upper + lower);
    painter.setBrush(Qt::NoBrush);
    QColor faint = theme_->run(model_->other());
    faint.setAlphaF(0.35f);
    painter.setPen(QPen(faint, size::rawCurve));
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.drawLines(raw);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme_->run(model_->other()), size::smoothCurve));
    painter.drawPath(mean);
}

QStringList LossGap::notes() const {
    QStringList notes;
    if (!std::isfinite(gap())) return notes;
    notes << tr("gap %1").arg(significant(gap()));
    if (std::isfinite(noise())) notes << tr("noise of the mean ±%1").arg(significant(noise()));
    return notes;
}

/// The gap above its value, the noise below it.
void LossGap::paintNotes(QPainter& painter) const {
    const double behind = xOf(static_cast<double>(raw_.size())) + size::gap;
    const int line = fontMetrics().height();
    const double room = plot().right() - behind;
    const QStringList texts = notes();
    if (room < 150) return;
    for (qsizetype i = 0; i < texts.size(); ++i) {
        painter.setPen(i == 0 ? theme_->run(model_->other()) : theme_->tokens().accent);
        painter.drawText(QRectF(behind, yOf(gap()) + (i == 0 ? -line : 2), room, line),
                         Qt::AlignLeft, texts[i]);
    }
}

void LossGap::makePicture() {
    picture_ = QPixmap(size() * devicePixelRatioF());
    picture_.setDevicePixelRatio(devicePixelRatioF());
    picture_.fill(Qt::transparent);
    QPainter painter(&picture_);
    painter.setFont(font());
    painter.setRenderHint(QPainter::Antialiasing);
    paintAxis(painter);
    paintCurves(painter);
    paintNotes(painter);
}

void LossGap::paintEvent(QPaintEvent*) {
    if (raw_.empty()) {
        paintEmpty(this, *theme_, model_->lossMissing());
        return;
    }
    if (picture_.isNull()) makePicture();
    const Tokens& t = theme_->tokens();
    QPainter painter(this);
    painter.drawPixmap(0, 0, picture_);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto mark = [&](double step) {
        const double x = xOf(step);
        painter.drawLine(QPointF(x, plot().top()), QPointF(x, plot().bottom()));
    };
    painter.setPen(QPen(t.accent, 1.2, Qt::DashLine));
    for (const std::int64_t step : model_->resyncs()) mark(static_cast<double>(step));
    painter.setPen(QPen(t.accent, 1.4));
    mark(static_cast<double>(model_->current() + 1));
}

void LossGap::mousePressEvent(QMouseEvent* event) {
    if (raw_.empty() || event->button() != Qt::LeftButton) return;
    const double step =
        std::round((event->position().x() - plot().left()) / plot().width() * end());
    link_->select(std::clamp<std::int64_t>(static_cast<std::int64_t>(step), 1, std::ssize(raw_)),
                  model_->other());
}

}  // namespace ui
