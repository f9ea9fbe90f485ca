#include "widgets/choices.h"

#include <QEvent>
#include <QPainter>
#include <QStyleOptionButton>
#include <QToolButton>
#include <QWheelEvent>
#include <QtMath>
#include <algorithm>

#include "theme/icons.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr double radius = 3;
constexpr int tickMargin = 1;

}  // namespace

void CheckBox::paintEvent(QPaintEvent* event) {
    QCheckBox::paintEvent(event);  // the focus frame and the text; the style sheet leaves the box empty
    QStyleOptionButton option;
    initStyleOption(&option);
    const QRect box = style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, this);
    const QPalette::ColorGroup group = isEnabled() ? QPalette::Normal : QPalette::Disabled;
    const QColor line = isChecked() ? palette().color(group, QPalette::Highlight)
                                    : palette().color(group, QPalette::PlaceholderText);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(line);
    painter.setBrush(isChecked() ? line : palette().color(QPalette::AlternateBase));
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius);
    if (!isChecked()) return;
    const int tick = box.width() - 2 * tickMargin;
    painter.drawPixmap(box.topLeft() + QPoint(tickMargin, tickMargin),
                       iconPixmap(u"check"_s, palette().color(group, QPalette::HighlightedText),
                                  tick, devicePixelRatioF()));
}

ChoiceBox::ChoiceBox(QWidget* parent) : QComboBox(parent) {
    setProperty("role", u"choice"_s);
    setSizeAdjustPolicy(QComboBox::AdjustToContents);
    setFocusPolicy(Qt::StrongFocus);  // the wheel would take the focus, too
}

void ChoiceBox::letShrink() {
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(4);
}

bool ChoiceBox::isCut() const {
    QStyleOptionComboBox option;
    initStyleOption(&option);
    return option.currentText != currentText();
}

int ChoiceBox::textRoom(const QStyleOptionComboBox& option) const {
    constexpr int besideIt = 2;
    return style()
               ->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this)
               .width() -
           besideIt;
}

/// Qt measures the ink of the texts, which the advance exceeds: by half a letter where a Chinese
/// text ends with a bracket.
QSize ChoiceBox::withRoom(QSize size) const {
    if (sizeAdjustPolicy() != AdjustToContents) return size;
    QStyleOptionComboBox option;
    QComboBox::initStyleOption(&option);
    option.rect = QRect(QPoint(), size);
    const QFontMetricsF metrics(font());  // a text is cut by a part of a pixel, too
    double widest = 0;
    for (int i = 0; i < count(); ++i)
        widest = std::max(widest, metrics.horizontalAdvance(itemText(i)));
    size.rwidth() += std::max(0, qCeil(widest) - textRoom(option));
    return size;
}

QSize ChoiceBox::sizeHint() const { return withRoom(QComboBox::sizeHint()); }

QSize ChoiceBox::minimumSizeHint() const { return withRoom(QComboBox::minimumSizeHint()); }

void ChoiceBox::initStyleOption(QStyleOptionComboBox* option) const {
    QComboBox::initStyleOption(option);
    option->currentText =
        fontMetrics().elidedText(option->currentText, Qt::ElideRight, textRoom(*option));
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

namespace {

constexpr int besideText = 11;  // as in the style sheet, and a pixel for slanted edges

}  // namespace

Segments::Segments(const QString& name, const QStringList& titles, QWidget* parent)
    : QFrame(parent), buttons_(new QButtonGroup(this)) {
    setObjectName(u"segments"_s);
    setAccessibleName(name);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* row = makeRow(this, {1, 1, 1, 1}, 0);
    for (const QString& title : titles) {
        auto* button = new QToolButton(this);
        button->setText(title);
        button->setCheckable(true);
        button->setProperty("role", u"segment"_s);
        buttons_->addButton(button, static_cast<int>(buttons_->buttons().size()));
        row->addWidget(button);
    }
    setCurrent(0);
    makeRoom();
}

/// The chosen segment is bold, and a button asks for the room of its plain text.
void Segments::makeRoom() {
    QFont bold = font();
    bold.setBold(true);
    const QFontMetrics metrics(bold);
    for (auto* button : buttons_->buttons())
        button->setMinimumWidth(metrics.horizontalAdvance(button->text()) + 2 * besideText);
}

void Segments::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::FontChange) makeRoom();
}

void Segments::setCurrent(int id) {
    if (auto* button = buttons_->button(id)) button->setChecked(true);
}

}  // namespace ui
