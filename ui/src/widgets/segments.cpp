#include "widgets/segments.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QToolButton>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int besideText = 11;  // as in the style sheet, and a pixel for slanted edges

}  // namespace

Segments::Segments(const QString& name, const QStringList& titles, QWidget* parent)
    : QFrame(parent), buttons_(new QButtonGroup(this)) {
    setObjectName(u"segments"_s);
    setAccessibleName(name);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(1, 1, 1, 1);
    row->setSpacing(0);
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
