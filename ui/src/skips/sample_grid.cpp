#include "skips/sample_grid.h"

#include <QPainter>

#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using engine::SampleShare;
using engine::SkipReport;

namespace {

constexpr int inRow = 8;  // of engine::skip_picture()
constexpr int maxPictures = 64;
constexpr int thumbnail = 34;  // pixels on screen

/// The cells of the picture have equal sizes, one pixel apart.
QPixmap cellOf(const QImage& picture, int index, int count) {
    const int columnCount = std::min(count, inRow);
    const int rowCount = (count + columnCount - 1) / columnCount;
    const int width = (picture.width() + 1) / columnCount - 1;
    const int height = (picture.height() + 1) / rowCount - 1;
    return QPixmap::fromImage(picture.copy(index % columnCount * (width + 1),
                                           index / columnCount * (height + 1), width, height));
}

QString lineOf(const SampleShare& share) {
    // The magnitudes of values that are all infinite or NaN are not known.
    if (share.bad > 0 && share.share <= 0)
        return SampleGrid::tr("sample %1 · %2 bad values")
            .arg(count(share.sample), count(share.bad));
    return share.bad > 0
               ? SampleGrid::tr("sample %1 · %2 bad values · %3 of the batch's magnitude")
                     .arg(count(share.sample), count(share.bad), percent(share.share))
               : SampleGrid::tr("sample %1 · %2 of the batch's magnitude · largest %3")
                     .arg(count(share.sample), percent(share.share), significant(share.largest));
}

}  // namespace

SampleGrid::SampleGrid(const Theme* theme, SkipsModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    auto* column = makeColumn(this, {}, 0);
    note_ = makeLabel({}, "dim", this);
    list_ = new QListWidget(this);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setFont(Theme::caption());
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setTextElideMode(Qt::ElideRight);
    list_->setMovement(QListView::Static);
    list_->setResizeMode(QListView::Adjust);
    list_->setAccessibleName(tr("Samples, largest share first"));
    selected_ = makeLabel({}, nullptr, this);
    for (QLabel* label : {note_, selected_}) {
        label->setFont(Theme::caption());
        label->setWordWrap(true);
        label->setContentsMargins(size::inside, 2, size::inside, size::grid);
    }
    selected_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(note_);
    column->addWidget(selected_);  // beside the pictures, which are at the top
    column->addWidget(list_, 1);
    column->addStretch();  // while there is no list
    connect(model_, &SkipsModel::stepChanged, this, &SampleGrid::fill);
    connect(theme_, &Theme::changed, this, &SampleGrid::fill);
    connect(list_, &QListWidget::currentRowChanged, this, &SampleGrid::showSelected);
    fill();
}

std::optional<std::int64_t> SampleGrid::sample() const {
    const auto* item = list_->currentItem();
    if (item == nullptr) return std::nullopt;
    return item->data(Qt::UserRole).value<qlonglong>();
}

void SampleGrid::fill() {
    const SkipReport* report = model_->report();
    const std::int64_t step = report != nullptr ? report->step : -1;
    const int kept = step == shown_ ? list_->currentRow() : 0;
    shown_ = step;
    list_->clear();
    note_->setText(report != nullptr           ? engineText(report->samples_note)
                   : model_->step() != nullptr ? tr("What each sample contributes to that tensor, "
                                                    "once the step is examined.")
                                               : QString());
    list_->setVisible(report != nullptr);
    note_->setVisible(!note_->text().isEmpty());
    if (report != nullptr) {
        if (model_->picture().isNull())
            addLines(*report);
        else
            addPictures(*report);
        if (list_->count() > 0) list_->setCurrentRow(std::clamp(kept, 0, list_->count() - 1));
    }
    showSelected();
}

void SampleGrid::addPictures(const SkipReport& report) {
    list_->setViewMode(QListView::IconMode);
    list_->setMovement(QListView::Static);
    list_->setIconSize({thumbnail, thumbnail});
    list_->setGridSize({thumbnail + 6, thumbnail + 6});
    const int shown = std::min(static_cast<int>(report.samples.size()), maxPictures);
    for (int i = 0; i < shown; ++i) {
        const SampleShare& share = report.samples[static_cast<std::size_t>(i)];
        QPixmap cell =
            cellOf(model_->picture(), i, shown).scaled(thumbnail, thumbnail, Qt::KeepAspectRatio);
        if (i == 0 || share.bad > 0) {
            QPainter painter(&cell);
            painter.setPen(QPen(theme_->tokens().bad, 3));
            painter.drawRect(cell.rect().adjusted(1, 1, -2, -2));
        }
        QIcon icon(cell);
        icon.addPixmap(cell, QIcon::Selected);  // else tinted: the picture is evidence
        auto* item = new QListWidgetItem(icon, QString());
        item->setToolTip(lineOf(share));
        item->setData(Qt::AccessibleTextRole, lineOf(share));
        item->setData(Qt::UserRole, QVariant::fromValue<qlonglong>(share.sample));
        list_->addItem(item);
    }
}

void SampleGrid::addLines(const SkipReport& report) {
    list_->setViewMode(QListView::ListMode);
    list_->setGridSize({});
    for (const SampleShare& share : report.samples) {
        auto* item = new QListWidgetItem(lineOf(share));
        item->setData(Qt::UserRole, QVariant::fromValue<qlonglong>(share.sample));
        list_->addItem(item);
    }
}

void SampleGrid::showSelected() {
    const SkipReport* report = model_->report();
    const int row = list_->currentRow();
    const bool any = report != nullptr && row >= 0 && row < std::ssize(report->samples);
    selected_->setVisible(any);
    if (!any) return;
    const SampleShare& share = report->samples[static_cast<std::size_t>(row)];
    QStringList lines{lineOf(share)};
    const auto others = model_->recurrences(share.sample);
    if (!others.empty()) {
        QStringList steps;
        for (const std::int64_t step : others) steps << count(step);
        lines << tr("Also in the skips at %1. Check its label.").arg(steps.join(u", "_s));
    }
    selected_->setText(lines.join(u'\n'));
}

}  // namespace ui
