#include "microscope/scale_table.h"

#include <algorithm>
#include <cmath>

#include "feed/run_track.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {

using engine::HistogramKind;

namespace {

constexpr double lostShare = 0.001;  // of the non-zero gradients, above which a step loses them
constexpr int minWidth = 420, wholeWidth = 620;
constexpr double little = 2;  // bits of headroom that deserve a mark

QString share(double part, double all) {
    if (part == 0) return u"0"_s;
    const double of = part / std::max(all, 1.0);
    return of < 0.0001 ? u"< 0.01 %"_s : significant(100 * of) + u" %"_s;
}

QString bits(double value) {
    if (std::isnan(value)) return unmeasured();
    return ScaleTable::tr("%1 bits").arg(QString::number(value, 'f', 1).replace(u'-', u'−'));
}

}  // namespace

ScaleTable::ScaleTable(const Theme* theme, MicroscopeModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(size::inside, 0, size::inside, size::grid);
    grid->setHorizontalSpacing(size::gap);
    grid->setVerticalSpacing(3);
    const QStringList titles{tr("scale"),    tr("zero"),       tr("subnormal"),  tr("normal"),
                             tr("overflow"), tr("headroom ↑"), tr("headroom ↓"), tr("outcome")};
    const QStringList tips{
        {},
        tr("Values that round to zero"),
        tr("Values that keep fewer digits"),
        tr("Values that keep all digits of the format"),
        tr("Values that become infinite"),
        tr("How often the scale may double before a value overflows"),
        tr("How often the scale may halve before more than 0.1 % of the values are lost"),
        tr("What the step would do at this scale, by the gradients of all layers")};
    for (int column = 0; column < columns; ++column) {
        const auto side = column == name || column == outcome ? Qt::AlignLeft : Qt::AlignRight;
        auto* title = makeSmall(titles[column], "dim", this);
        title->setAlignment(side | Qt::AlignVCenter);
        title->setToolTip(tips[column]);
        grid->addWidget(title, 0, column);
        titles_[static_cast<std::size_t>(column)] = title;
        for (int row = 0; row < rows; ++row) {
            // The last column gives way in a narrow window.
            auto* label = column == outcome ? new ElidedLabel(this) : new QLabel(this);
            label->setFont(Theme::caption());
            label->setAlignment(side | Qt::AlignVCenter);
            label->setTextFormat(Qt::PlainText);
            grid->addWidget(label, row + 1, column);
            cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = label;
        }
    }
    grid->setColumnStretch(outcome, 1);
    connect(model_, &MicroscopeModel::contentChanged, this, [this] {
        for (auto& row : cells_) {
            for (QLabel* label : row) {
                if (qobject_cast<ElidedLabel*>(label) == nullptr) label->setMinimumWidth(0);
            }
        }
        refresh();
    });
    connect(model_, &MicroscopeModel::layerChanged, this, &ScaleTable::refresh);
    connect(model_, &MicroscopeModel::scaleDragged, this, &ScaleTable::refresh);
    connect(theme_, &Theme::changed, this, &ScaleTable::refresh);
    refresh();
}

QSize ScaleTable::minimumSizeHint() const {
    return {minWidth, QWidget::minimumSizeHint().height()};
}

void ScaleTable::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (narrow_ == (width() < wholeWidth)) return;
    narrow_ = !narrow_;
    for (const Column column : {subnormal, normal})
        titles_[static_cast<std::size_t>(column)]->setVisible(!narrow_);
    refresh();
}

void ScaleTable::set(int row, Column column, const QString& text, const QColor& color) {
    QLabel* label = cell(row, column);
    if (auto* elided = qobject_cast<ElidedLabel*>(label)) {
        elided->setText(text);
    } else if (label->text() != text) {
        label->setText(text);
        // Grows with the figures and never shrinks: columns keep their place while one drags.
        label->setMinimumWidth(std::max(label->minimumWidth(), label->sizeHint().width()));
    }
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, color.isValid() ? color : theme_->tokens().text);
    label->setPalette(palette);
}

ScaleTable::Outcome ScaleTable::outcomeAt(double scale) const {
    const Tokens& t = theme_->tokens();
    if (!model_->scaled()) return {{}, t.text};
    const auto found =
        engine::outcome(model_->total(), engine::fp16_format, scale / model_->counted());
    // A value that overflowed has lost its size: nobody knows what it does at a lower scale.
    const auto lost_size = static_cast<double>(model_->total().non_finite());
    if (lost_size > 0 && scale < model_->counted() && found.overflow <= lost_size)
        return {tr("not known: values overflowed at %1").arg(powerOfTwo(model_->counted())), t.dim};
    if (found.overflows &&
        engine::resolve(model_->track()->config().precision).scaler != engine::ScalerMode::dynamic)
        return {tr("applied, the weights become NaN"), t.bad};
    if (found.overflows) {
        const double backoff = model_->track()->config().scaler.backoff_factor;
        return {tr("skipped, then %1").arg(powerOfTwo(scale * backoff)), t.bad};
    }
    const double lost = found.zero / std::max<double>(1, static_cast<double>(found.nonzero));
    if (lost > lostShare || model_->sample()->flushed(HistogramKind::gradients))
        return {tr("applied, small gradients lost"), t.caution};
    return {tr("applied"), t.good};
}

void ScaleTable::fill(int row, const QString& title, double scale) {
    const Tokens& t = theme_->tokens();
    const auto& values = model_->selectedLayer()->values;
    const double relative = scale / model_->counted();
    const auto found = engine::outcome(values, model_->format(), relative);
    const auto all = static_cast<double>(values.total());
    const double zeros = found.zero + static_cast<double>(values.zero);
    set(row, name, title);
    set(row, zero, share(zeros, all));
    set(row, subnormal, share(found.subnormal, all));
    set(row, normal, share(all - zeros - found.subnormal - found.overflow, all));
    const bool over = found.overflows;
    set(row, overflow,
        over ? tr("%1 values").arg(count(std::max<std::int64_t>(1, std::llround(found.overflow))))
             : u"0"_s,
        over ? t.bad : QColor());
    const double above = engine::headroom_up(values, model_->format(), relative);
    const double below = engine::headroom_down(values, model_->format(), relative);
    set(row, up, bits(above), above < 0 ? t.bad : above < little ? t.caution : QColor());
    set(row, down, bits(below), below < 0 ? t.bad : QColor());
    const Outcome of = outcomeAt(scale);
    set(row, outcome, of.text, of.color);
}

void ScaleTable::refresh() {
    const bool any = model_->selectedLayer() != nullptr;
    setVisible(any);
    if (!any) return;
    const bool scaled = model_->scaled();
    for (int row = 0; row < rows; ++row) {
        const bool shown = row == 0 || (scaled && (row == 1 || model_->isDragged()));
        for (int column = 0; column < columns; ++column) {
            // Rows keep their place, so that the plot above does not jump while one drags.
            if (!shown) set(row, static_cast<Column>(column), scaled ? u" "_s : QString());
            const bool left_out = narrow_ && (column == subnormal || column == normal);
            cell(row, static_cast<Column>(column))->setVisible(!left_out && (row == 0 || scaled));
        }
    }
    if (!scaled) return fill(0, tr("as stored"), model_->counted());
    fill(0, tr("none (scale 1)"), 1);
    const QString own = powerOfTwo(model_->scale());
    fill(1,
         model_->isScaleNow() ? tr("now, %1").arg(own)
                              : tr("step %1, %2").arg(count(model_->sample()->step), own),
         model_->scale());
    if (model_->isDragged())
        fill(2, tr("dragged, %1").arg(powerOfTwo(model_->draggedScale())), model_->draggedScale());
}

}  // namespace ui
