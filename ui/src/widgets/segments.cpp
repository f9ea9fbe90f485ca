#include "widgets/segments.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace ui {

using namespace Qt::StringLiterals;

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
}

void Segments::setCurrent(int id) {
    if (auto* button = buttons_->button(id)) button->setChecked(true);
}

}  // namespace ui
