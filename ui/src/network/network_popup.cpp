#include "network/network_popup.h"

#include <QLabel>
#include <QListWidget>
#include <algorithm>

#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr int mostWords = 200, shownWords = 8, widestPopup = 460;

}  // namespace

NetworkPopup::NetworkPopup(QWidget* editor) : QFrame(editor), title_(makeSmall({}, "dim", this)), list_(new QListWidget(this)) {
    setObjectName(u"help"_s);
    auto* column = makeColumn(this, {1, size::grid, 1, 1}, 2);
    title_->setContentsMargins(size::gap, 0, size::gap, 0);
    addWidgets(column, {title_, list_});
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setFrameShape(NoFrame);
    list_->setAccessibleName(tr("Words that fit here"));
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setUniformItemSizes(true);
    connect(list_, &QListWidget::itemClicked, this, [this] { press(Qt::Key_Tab); });
    hide();
}

void NetworkPopup::offer(const NetworkWords& words, const QRect& cursor, bool asked) {
    enterAccepts_ = asked;
    if (words.words.empty()) return hide();
    list_->clear();
    for (const NetworkWord& word : words.words) {
        if (list_->count() == mostWords) break;
        auto* item = new QListWidgetItem(word.note.isEmpty() ? word.text : word.text + u"   "_s + word.note, list_);
        item->setData(Qt::UserRole, word.insert);
        item->setToolTip(word.note);
    }
    list_->setCurrentRow(0);
    const int rows = std::min(shownWords, list_->count());
    list_->setFixedHeight(rows * list_->sizeHintForRow(0) + 2 * size::grid);
    const int width = std::min({widestPopup, parentWidget()->width() - size::gap, list_->sizeHintForColumn(0) + 4 * size::gap});
    setFixedWidth(std::max(width, 160));
    title_->setVisible(!words.title.isEmpty());
    title_->setText(title_->fontMetrics().elidedText(words.title, Qt::ElideRight, this->width() - 2 * size::inside));
    adjustSize();
    const int below = cursor.bottom() + 2, above = cursor.top() - height() - 2;
    const bool fits = below + height() <= parentWidget()->height() || above < 0;
    move(std::clamp(cursor.left(), 0, std::max(0, parentWidget()->width() - this->width())), fits ? below : above);
    show();
    raise();
}

bool NetworkPopup::press(int key) {
    const int row = list_->currentRow(), last = list_->count() - 1;
    if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp || key == Qt::Key_PageDown) enterAccepts_ = true;
    if ((key == Qt::Key_Return || key == Qt::Key_Enter) && !enterAccepts_) {
        hide();
        return false;
    }
    switch (key) {
        case Qt::Key_Escape:
            hide();
            return true;
        case Qt::Key_Up:
            list_->setCurrentRow(row > 0 ? row - 1 : last);
            return true;
        case Qt::Key_Down:
            list_->setCurrentRow(row < last ? row + 1 : 0);
            return true;
        case Qt::Key_PageUp:
            list_->setCurrentRow(std::max(0, row - shownWords));
            return true;
        case Qt::Key_PageDown:
            list_->setCurrentRow(std::min(last, row + shownWords));
            return true;
        case Qt::Key_Tab:
        case Qt::Key_Return:
        case Qt::Key_Enter:
            hide();
            if (row >= 0) emit chosen(list_->item(row)->data(Qt::UserRole).toString());
            return true;
        default:
            return false;
    }
}

}  // namespace ui
