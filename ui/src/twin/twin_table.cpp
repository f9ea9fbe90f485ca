#include "twin/twin_table.h"

#include <QHeaderView>
#include <QSignalBlocker>
#include <QStringList>
#include <cmath>
#include <limits>
#include <optional>

#include "feed/run_track.h"
#include "text/format.h"
#include "widgets/axis_marks.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int sortMark = 14;  // of the column that the table is sorted by

enum Column { layerName, errorShare, angleDegrees, roundingShare, divergedStep, columns };

/// Sorted by its number, shown as its text.
class NumberItem final : public QTableWidgetItem {
public:
    NumberItem(const QString& text, double value) : QTableWidgetItem(text) {
        setData(Qt::UserRole, value);
        setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    }
    bool operator<(const QTableWidgetItem& other) const override {
        return data(Qt::UserRole).toDouble() < other.data(Qt::UserRole).toDouble();
    }
};

}  // namespace

QString gradientErrorText(double error, int digits) {
    constexpr double maxPercent = 10;  // 1,000 %
    if (!std::isfinite(error)) return unmeasured();
    return error < maxPercent ? significant(100 * error, digits) + u"\u202f%"_s
                               : u"×"_s + significant(error, digits);
}

TwinTable::TwinTable(const Theme* theme, TwinModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    auto* column = makeColumn(this, {size::inside, 0, size::inside, 0});
    all_ = makeTitle({}, nullptr, this);
    rounding_ = makeSmall({}, "dim", this);
    rounding_->setWordWrap(true);
    rounding_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    table_ = new QTableWidget(0, columns, this);
    table_->setHorizontalHeaderLabels(
        {tr("layer"), tr("error"), tr("angle"), tr("rounding"), tr("diverged")});
    table_->setShowGrid(false);
    table_->setFont(Theme::caption());
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setTabKeyNavigation(false);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
    // Widths of their widest texts, because measuring all rows takes longer than a frame.
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Interactive);
    table_->horizontalHeader()->setSectionResizeMode(layerName, QHeaderView::Stretch);
    const QFont caption = Theme::caption();
    table_->horizontalHeader()->setFont(caption);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeaderItem(layerName)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    const QFontMetrics metrics(caption);
    const QString widest[columns] = {{}, u"0.0012 %"_s, u"0.012°"_s, u"0.0012 %"_s, u"88,888"_s};
    for (int i = errorShare; i < columns; ++i) {
        const QString& title = table_->horizontalHeaderItem(i)->text();
        const int width = std::max(metrics.horizontalAdvance(title) + sortMark,
                                   metrics.horizontalAdvance(widest[i]));
        table_->setColumnWidth(i, width + size::gap);
    }
    table_->setSortingEnabled(true);
    table_->sortByColumn(errorShare, Qt::DescendingOrder);
    table_->setAccessibleName(tr("Layers"));
    addWidgets(column, {all_, rounding_});
    column->addWidget(table_, 1);
    connect(table_, &QTableWidget::itemSelectionChanged, this, [this] {
        if (filling_ || table_->selectedItems().isEmpty()) return;
        model_->select(layerOf(table_->selectedItems().front()->row()));
    });
    connect(model_, &TwinModel::contentChanged, this, [this] {
        filling_ = true;
        table_->setRowCount(0);  // the layers may be others
        filling_ = false;
        refresh();
    });
    connect(model_, &TwinModel::grew, this, &TwinTable::refresh);
    connect(model_, &TwinModel::selectionChanged, this, [this] {
        if (!model_->any() || model_->current() != step_) return refresh();
        filling_ = true;
        showSelected();  // another layer of the same step
        filling_ = false;
    });
    refresh();
}

/// Items are made once for a layer and then changed: the table follows a drag over the map.
void TwinTable::setNumber(int row, int column, const QString& text, double value) {
    QTableWidgetItem* item = table_->item(row, column);
    if (item == nullptr) return table_->setItem(row, column, new NumberItem(text, value));
    if (item->text() != text) item->setText(text);
    if (item->data(Qt::UserRole) != QVariant(value)) item->setData(Qt::UserRole, value);
}

void TwinTable::fillRow(int row, std::size_t layer) {
    const engine::TwinLayer& found = model_->digest().layers()[layer];
    const std::int64_t step = model_->current();
    const auto error = static_cast<double>(model_->error(layer, step));
    const auto angle = static_cast<double>(model_->angle(layer, step));
    setNumber(row, errorShare, gradientErrorText(error), error);
    setNumber(row, angleDegrees, std::isnan(angle) ? unmeasured() : significant(angle, 2) + u"°"_s,
              angle);
    const double rounding = found.rounding ? static_cast<double>(*found.rounding)
                                           : std::numeric_limits<double>::quiet_NaN();
    setNumber(row, roundingShare, gradientErrorText(rounding), rounding);
    setNumber(row, divergedStep, found.diverged > 0 ? count(found.diverged) : tr("no"),
              found.diverged > 0 ? static_cast<double>(found.diverged)
                                 : std::numeric_limits<double>::infinity());
}

/// A row for each layer, in the order of the network; sorting moves them.
void TwinTable::makeRows() {
    table_->setRowCount(0);
    table_->setRowCount(static_cast<int>(model_->layers()));
    for (int row = 0; row < table_->rowCount(); ++row) {
        const auto layer = static_cast<std::size_t>(row);
        auto* name = new QTableWidgetItem(model_->name(layer));
        name->setData(Qt::UserRole, static_cast<qulonglong>(layer));
        name->setToolTip(model_->name(layer));
        table_->setItem(row, layerName, name);
    }
}

std::size_t TwinTable::layerOf(int row) const {
    return table_->item(row, layerName)->data(Qt::UserRole).toULongLong();
}

void TwinTable::refresh() {
    table_->setVisible(model_->any());
    all_->setVisible(model_->any());
    if (!model_->any()) {
        rounding_->setText(
            tr("Each layer's gradient in the selected step, against that of the "
               "reference: error, angle, and how much of it is rounding."));
        return;
    }
    filling_ = true;
    table_->setSortingEnabled(false);
    if (static_cast<std::size_t>(table_->rowCount()) != model_->layers()) makeRows();
    step_ = model_->current();
    {
        // The view takes all changes in at once, when it is sorted.
        const QSignalBlocker quiet(table_->model());
        for (int row = 0; row < table_->rowCount(); ++row) fillRow(row, layerOf(row));
    }
    double error = 0, rounding = 0;
    int known = 0;
    for (std::size_t i = 0; i < model_->layers(); ++i) {
        const auto here = static_cast<double>(model_->error(i, model_->current()));
        if (std::isfinite(here)) error = std::max(error, here);
        if (const auto& own = model_->digest().layers()[i].rounding) {
            rounding = std::max(rounding, static_cast<double>(*own));
            ++known;
        }
    }
    table_->setSortingEnabled(true);
    all_->setText(model_->skipped(model_->current())
                      ? tr("Skipped: the gradients are not finite")
                      : tr("Largest error in this step: %1").arg(gradientErrorText(error)));
    rounding_->setText(known > 0 ? tr("At most %1 is rounding, as measured in the last step that "
                                      "began with the same weights. The rest is drift.")
                                       .arg(gradientErrorText(rounding))
                                 : QString());
    showSelected();
    filling_ = false;
}

void TwinTable::showSelected() {
    const std::size_t selected = model_->selected();
    for (int row = 0; row < table_->rowCount(); ++row) {
        if (layerOf(row) == selected && table_->currentRow() != row) table_->selectRow(row);
    }
}

SinceResync::SinceResync(const Theme* theme, TwinModel* model, QWidget* parent)
    : PaintedWidget(theme, parent, {380, 130}, {200, 110}), model_(model) {
    setFont(Theme::caption());
    setAccessibleName(tr("Error of the selected layer since each resync"));
    connect(model_, &TwinModel::contentChanged, this, qOverload<>(&QWidget::update));
    connect(model_, &TwinModel::grew, this, qOverload<>(&QWidget::update));
    connect(model_, &TwinModel::selectionChanged, this, qOverload<>(&QWidget::update));
}

QString SinceResync::spoken() const {
    if (!model_->any()) return model_->emptiness();
    const std::size_t layer = model_->selected();
    return tr("%1: error %2 in step %3, %4 resyncs so far.")
        .arg(model_->name(layer),
             gradientErrorText(static_cast<double>(model_->error(layer, model_->current()))),
             count(model_->current() + 1),
             count(static_cast<std::int64_t>(model_->resyncs().size())));
}

double errorCeiling(double largest) {
    if (!(largest > 1) || !std::isfinite(largest)) return 1;
    return std::pow(10.0, std::ceil(std::log10(largest) - 1e-9));
}

/// One for the start and for each resync; at most about 1,000 points of each are drawn.
std::vector<SinceResync::Piece> SinceResync::pieces() const {
    std::vector<std::int64_t> starts{0};
    for (const std::int64_t step : model_->resyncs()) {
        if (step < model_->steps()) starts.push_back(step);  // one at the very end begins nothing
    }
    std::vector<Piece> out(starts.size());
    const std::size_t layer = model_->selected();
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::int64_t stop = i + 1 < starts.size() ? starts[i + 1] : model_->steps();
        out[i].steps = stop - starts[i];
        const std::int64_t stride = std::max<std::int64_t>(1, out[i].steps / 1000);
        for (std::int64_t k = starts[i]; k < stop; k += stride) {
            const auto error = static_cast<double>(model_->error(layer, k));
            if (!std::isnan(error))
                out[i].points << QPointF(static_cast<double>(k - starts[i]), error);
        }
    }
    return out;
}

void SinceResync::paintEvent(QPaintEvent*) {
    if (!model_->any())
        return paintEmpty(this, *theme_,
                          tr("How the error of one layer grows from one resync to the next."));
    const Tokens& t = theme_->tokens();
    const QColor color = theme_->run(model_->other());
    const int line = fontMetrics().height();
    const QRectF plot(52, line + 6, width() - 52 - size::inside, height() - 2 * line - 12);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(t.text);
    painter.drawText(
        QRectF(size::inside, 0, width() - 2 * size::inside, line), Qt::AlignLeft,
        fontMetrics().elidedText(
            tr("%1: error by steps since the last resync").arg(model_->name(model_->selected())),
            Qt::ElideRight, width() - 2 * size::inside));
    const std::vector<Piece> all = pieces();
    std::int64_t longest = 1;
    double largest = 0;
    for (const Piece& piece : all) {
        longest = std::max(longest, piece.steps);
        for (const QPointF& point : piece.points) largest = std::max(largest, point.y());
    }
    const engine::Axis axis{engine::AxisKind::log, {1e-4, errorCeiling(largest)}};
    const auto y = [&](double error) {
        const double within = std::clamp(error, axis.range.low, axis.range.high);
        return plot.bottom() - axis.place(within) * plot.height();
    };
    AxisMarks marks;
    for (const auto& tick : axis.ticks(static_cast<int>(plot.height()) / line))
        marks.push_back({y(tick.at), gradientErrorText(tick.at, 1)});
    paintLeftMarks(painter, t, plot, marks);
    for (const Piece& piece : all) {
        // Line by line: the outline of a long path with a wide pen takes several frames.
        QList<QLineF> lines;
        std::optional<QPointF> last;
        for (const QPointF& point : piece.points) {
            const QPointF here(
                plot.left() + plot.width() * point.x() / static_cast<double>(longest),
                y(point.y()));
            if (last) lines << QLineF(*last, here);
            last = here;
        }
        const bool current = &piece == &all.back();
        QColor shade = color;
        shade.setAlphaF(current ? 1.0f : 0.35f);
        painter.setPen(QPen(shade, current ? 1.8 : 1.0));
        painter.drawLines(lines);
    }
    painter.setPen(t.dim);
    painter.drawText(QRectF(plot.left() - 20, plot.bottom() + 2, 40, line), Qt::AlignCenter,
                     u"0"_s);
    painter.drawText(QRectF(plot.right() - 70, plot.bottom() + 2, 70, line), Qt::AlignRight,
                     count(longest));
}

}  // namespace ui
