#include "widgets/choice_box.h"

#include <QPainter>
#include <QStyleOptionComboBox>
#include <QWheelEvent>

#include "theme/icons.h"
#include "theme/tokens.h"

namespace ui {

using namespace Qt::StringLiterals;

ChoiceBox::ChoiceBox(QWidget* parent) : QComboBox(parent) {
    setProperty("role", u"choice"_s);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(4);
    setFocusPolicy(Qt::StrongFocus);  // the wheel would take the focus, too
}

bool ChoiceBox::isCut() const {
    QStyleOptionComboBox option;
    initStyleOption(&option);
    return option.currentText != currentText();
}

void ChoiceBox::initStyleOption(QStyleOptionComboBox* option) const {
    QComboBox::initStyleOption(option);
    const int room =
        style()
            ->subControlRect(QStyle::CC_ComboBox, option, QStyle::SC_ComboBoxEditField, this)
            .width() -
        2;
    option->currentText = fontMetrics().elidedText(option->currentText, Qt::ElideRight, room);
}

void ChoiceBox::paintEvent(QPaintEvent* event) {
    QComboBox::paintEvent(event);
    constexpr int arrow = 10;
    QPainter painter(this);
    painter.drawPixmap(width() - arrow - size::gap, (height() - arrow) / 2,
                       iconPixmap(u"down"_s, palette().color(QPalette::PlaceholderText), arrow,
                                  devicePixelRatioF()));
}

void ChoiceBox::wheelEvent(QWheelEvent* event) { event->ignore(); }

}  // namespace ui
