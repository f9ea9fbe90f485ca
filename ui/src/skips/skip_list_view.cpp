#include "skips/skip_list_view.h"

#include <QAbstractItemView>
#include <QPainter>
#include <algorithm>

#include "feed/run_track.h"
#include "skips/skip_text.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int rowPadding = 5;
constexpr int currentWidth = 3;  // of the mark of the selected row
const QString usualStep = u"8,888"_s;

int lineHeight() { return QFontMetrics(Theme::bold()).height(); }

}  // namespace

int SkipDelegate::stepWidth() const {
    const QFontMetrics metrics(Theme::bold());
    // Digits may differ in width: any number of as many digits fits.
    QString widest = widestStep_;
    for (QChar& c : widest)
        if (c.isDigit()) c = u'8';
    return std::max(metrics.horizontalAdvance(usualStep), metrics.horizontalAdvance(widest));
}

QSize SkipDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const {
    return {stepWidth() + 2 * size::inside, 2 * lineHeight() + 2 * rowPadding + 1};
}

void SkipDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                         const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const QRect& cell = option.rect;
    const bool selected = (option.state & QStyle::State_Selected) != 0;
    painter->save();
    painter->setClipRect(cell);
    painter->fillRect(cell, selected ? blend(t.panel, t.accent, 0.16) : t.panel);
    painter->setPen(t.grid);
    painter->drawLine(cell.bottomLeft(), cell.bottomRight());
    if (selected) painter->fillRect(cell.left(), cell.top(), currentWidth, cell.height(), t.accent);
    paintWords(*painter, cell, index);
    painter->restore();
}

void SkipDelegate::paintWords(QPainter& painter, const QRect& cell,
                              const QModelIndex& index) const {
    const Tokens& t = theme_->tokens();
    const int line = lineHeight(), top = cell.top() + rowPadding;
    const auto text = [&](Role role) { return index.data(role).toString(); };
    const auto write = [&](const QRect& room, const QFont& font, const QColor& color,
                           const QString& words, Qt::Alignment to = Qt::AlignLeft) {
        painter.setFont(font);
        painter.setPen(color);
        const QString shown =
            QFontMetrics(font).elidedText(words, Qt::ElideRight, std::max(0, room.width()));
        painter.drawText(room, static_cast<int>(to | Qt::AlignVCenter), shown);
        return QFontMetrics(font).horizontalAdvance(shown);
    };
    write({cell.left() + size::grid, top, stepWidth(), line}, Theme::bold(), t.text, text(StepRole),
          Qt::AlignRight);
    const int left = cell.left() + size::grid + stepWidth() + size::gap;
    QRect first(left, top, cell.right() - size::grid - left, line);
    const auto tone = static_cast<Tone>(index.data(ToneRole).toInt());
    const QString mark = tone == bad ? u"▲ "_s : QString();
    const int used = write(first, tone == unknown ? Theme::caption() : Theme::bold(),
                           tone == bad       ? t.bad
                           : tone == unknown ? t.dim
                                             : t.text,
                           mark + text(CauseRole));
    first.setLeft(left + used + size::grid + 2);
    write(first, Theme::caption(), t.dim, text(ScalesRole));
    write({left, top + line, cell.right() - size::grid - left, line}, Theme::caption(), t.dim,
          text(DetailRole));
}

SkipListView::SkipListView(const Theme* theme, SkipsModel* model, QWidget* parent)
    : QWidget(parent),
      model_(model),
      list_(new QListWidget(this)),
      summary_(makeSmall({}, "dim", this)),
      delegate_(new SkipDelegate(theme, list_)) {
    auto* column = makeColumn(this, {}, 0);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setAccessibleName(tr("Skipped steps"));
    list_->setItemDelegate(delegate_);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    summary_->setWordWrap(true);
    summary_->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    column->addWidget(list_, 1);
    column->addWidget(summary_);
    connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
        if (!filling_ && row >= 0)
            model_->select(static_cast<int>(groups_[static_cast<std::size_t>(row)].first));
    });
    connect(model_, &SkipsModel::listChanged, this, &SkipListView::fill);
    connect(model_, &SkipsModel::stepsCounted, this, [this] { summary_->setText(summary()); });
    connect(model_, &SkipsModel::stepChanged, this, &SkipListView::showSelected);
    fill();
}

int SkipListView::selectedRow() const {
    if (model_->current() < 0) return -1;
    const auto step = static_cast<std::size_t>(model_->current());
    const auto next = std::ranges::upper_bound(groups_, step, {}, &engine::SkipGroup::first);
    return static_cast<int>(next - groups_.begin()) - 1;
}

void SkipListView::fill() {
    filling_ = true;
    list_->clear();
    const auto& skips = model_->skips();
    groups_ = engine::group_skips(skips);
    if (!skips.list.empty()) delegate_->setWidestStep(count(skips.list.back().step));
    for (const engine::SkipGroup& group : groups_) addRow(group);
    if (selectedRow() >= 0) list_->setCurrentRow(selectedRow());
    filling_ = false;
    summary_->setText(summary());
}

/// The scale of the first step, and that after the last one if it differs.
QString SkipListView::scales(const engine::SkipGroup& group) const {
    const auto& list = model_->skips().list;
    const engine::SkippedStep &first = list[group.first],
                              &last = list[group.first + group.count - 1];
    const QString now = powerOfTwo(first.loss_scale);
    const auto& track = model_->track();
    if (!track || last.step > track->rows()) return now;
    const double next = track->scaleAfter(last.step);
    return next == first.loss_scale ? now : now + u" → "_s + powerOfTwo(next);
}

void SkipListView::addRow(const engine::SkipGroup& group) {
    const auto& list = model_->skips().list;
    // An examined step speaks for its group.
    const engine::SkippedStep* told = &list[group.first];
    for (std::size_t i = 0; i < group.count && !told->report; ++i)
        if (list[group.first + i].report) told = &list[group.first + i];
    const engine::SkippedStep& step = *told;
    const QString cause = causeTitle(step), detail = tensorText(step);
    const QString first = count(list[group.first].step);
    const QString series = group.count > 1
                               ? tr("to step %1, %2 in a row")
                                     .arg(count(list[group.first + group.count - 1].step),
                                          count(static_cast<std::int64_t>(group.count)))
                               : QString();
    auto* item = new QListWidgetItem(
        u"%1: %2, %3"_s.arg(first, cause, scales(group)) +
        (series.isEmpty() ? QString() : u", "_s + series));  // for screen readers
    const bool examined = step.report.has_value();
    item->setToolTip(item->text());  // the column is narrow
    item->setData(SkipDelegate::StepRole, first);
    item->setData(SkipDelegate::CauseRole, examined ? cause : scales(group));
    item->setData(SkipDelegate::ScalesRole, examined ? scales(group) : QString());
    const QString below = examined ? detail : cause;
    item->setData(
        SkipDelegate::DetailRole,
        series.isEmpty() ? below : series + (below.isEmpty() ? QString() : u" · "_s + below));
    const bool benign =
        examined && step.skipped && step.report->cause == engine::SkipCause::scale_too_large;
    item->setData(SkipDelegate::ToneRole, group.bad ? SkipDelegate::bad
                                          : benign  ? SkipDelegate::benign
                                                    : SkipDelegate::unknown);
    list_->addItem(item);
}

void SkipListView::showSelected() {
    if (list_->currentRow() == selectedRow()) return;
    filling_ = true;
    list_->setCurrentRow(selectedRow());
    filling_ = false;
}

QString SkipListView::summary() const {
    const auto& skips = model_->skips();
    if (skips.steps == 0) return tr("Start a run, or open one with skipped steps.");
    const std::int64_t newer = model_->newerSteps(), steps = skips.steps + newer;
    if (skips.list.empty()) return tr("No skipped steps in %1.").arg(count(steps));
    QString text =
        tr("%1 of %2 steps, %3; %4 clean steps since the last.")
            .arg(count(std::ssize(skips.list)), count(steps),
                 percent(static_cast<double>(skips.list.size()) / static_cast<double>(steps)),
                 count(skips.clean_steps + newer));
    if (!skips.recurring.empty())
        text += u' ' + tr("Sample %1 is a suspect in %2 of them.")
                           .arg(count(skips.recurring.front().sample),
                                count(std::ssize(skips.recurring.front().steps)));
    return text;
}

}  // namespace ui
