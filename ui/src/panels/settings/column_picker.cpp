#include "panels/settings/column_picker.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <algorithm>

#include "theme/icons.h"
#include "theme/tokens.h"

namespace ui {
namespace {

constexpr int maxListed = 12;  // further ones are scrolled to
constexpr int arrowSize = 10;  // that of a combo box

}  // namespace

ColumnPicker::ColumnPicker(QLineEdit* edit) : QObject(edit), edit_(edit) {
    edit_->installEventFilter(this);
}

void ColumnPicker::setColumns(const QStringList& columns) {
    columns_ = columns;
    if (columns_.isEmpty()) {
        delete button_;
        button_ = nullptr;
        return;
    }
    if (button_ != nullptr) return;
    button_ = edit_->addAction(iconInside(*edit_, u"down"_s, arrowSize), QLineEdit::TrailingPosition);
    button_->setToolTip(tr("Choose from the columns of the table (Alt+Down)."));
    button_->setEnabled(enabled_);
    connect(button_, &QAction::triggered, this, &ColumnPicker::open);
}

void ColumnPicker::setTicked(const QStringList& ticked) {
    ticked_ = ticked;
    if (list_ != nullptr && list_->isVisible()) showTicks();
}

void ColumnPicker::setEnabled(bool enabled) {
    enabled_ = enabled;
    if (button_ == nullptr) return;
    button_->setIcon(iconInside(*edit_, u"down"_s, arrowSize));  // the theme may have changed
    button_->setEnabled(enabled);
}

void ColumnPicker::open() {
    if (columns_.isEmpty() || !enabled_) return;
    if (list_ == nullptr) {
        list_ = new QListWidget(edit_);
        list_->setObjectName(u"columnPicker"_s);
        list_->setWindowFlag(Qt::Popup);
        list_->installEventFilter(this);
        connect(list_, &QListWidget::itemClicked, this,
                [this](const QListWidgetItem* item) { toggle(list_->row(item)); });
    }
    list_->clear();
    list_->addItems(columns_);
    for (int row = 0; row < list_->count(); ++row) {
        auto* item = list_->item(row);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);  // ticked by toggle() alone
    }
    showTicks();
    list_->setAccessibleName(edit_->accessibleName());
    list_->setCurrentRow(0);
    const int rows = static_cast<int>(std::min<qsizetype>(columns_.size(), maxListed));
    const int height = list_->sizeHintForRow(0) * rows + 2 * list_->frameWidth() + size::grid;
    list_->resize(std::max(edit_->width(), list_->sizeHintForColumn(0) + 40), height);
    list_->move(edit_->mapToGlobal(QPoint(0, edit_->height())));
    list_->show();
    list_->setFocus();
}

void ColumnPicker::showTicks() const {
    for (int row = 0; row < list_->count(); ++row)
        list_->item(row)->setCheckState(ticked_.contains(columns_.at(row)) ? Qt::Checked
                                                                           : Qt::Unchecked);
}

void ColumnPicker::toggle(int row) {
    if (row < 0 || row >= columns_.size()) return;
    QStringList now;
    for (qsizetype i = 0; i < columns_.size(); ++i)
        if (ticked_.contains(columns_.at(i)) != (i == row)) now << columns_.at(i);
    setTicked(now);
    emit picked(now);
}

bool ColumnPicker::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) return QObject::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if (watched == edit_) {
        const bool opens =
            key->key() == Qt::Key_Down && key->modifiers().testFlag(Qt::AltModifier);
        if (!opens || columns_.isEmpty()) return QObject::eventFilter(watched, event);
        open();
        return true;
    }
    const bool ticks = key->key() == Qt::Key_Space || key->key() == Qt::Key_Return ||
                       key->key() == Qt::Key_Enter;
    if (ticks)
        toggle(list_->currentRow());
    else if (key->key() == Qt::Key_Escape)
        list_->hide();
    else
        return QObject::eventFilter(watched, event);
    return true;
}

}  // namespace ui
