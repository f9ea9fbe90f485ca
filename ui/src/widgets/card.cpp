#include "widgets/card.h"

#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent),
      head_(new QHBoxLayout),
      column_(new QVBoxLayout(this)),
      title_(makeLabel(title, nullptr, this)),
      note_(new ElidedLabel(this)) {
    setObjectName(u"card"_s);
    column_->setContentsMargins(1, 1, 1, size::grid);
    column_->setSpacing(0);
    title_->setFont(Theme::bold());
    title_->setTextFormat(Qt::PlainText);
    note_->setProperty("role", u"dim"_s);
    note_->setFont(Theme::caption());
    head_->setContentsMargins(size::inside, 0, size::gap, 0);
    head_->setSpacing(size::gap);
    head_->addStrut(size::head + 2);
    head_->addWidget(title_);
    head_->addWidget(note_, 1);
    column_->addLayout(head_);
}

void Card::setTitle(const QString& title) {
    if (title_->text() != title) title_->setText(title);
}

void Card::setNote(const QString& note) { note_->setText(note); }

void Card::addToHead(QWidget* widget) { head_->addWidget(widget); }

void Card::addBody(QWidget* widget, int stretch) { column_->addWidget(widget, stretch); }

}  // namespace ui
