#include "network/network_question.h"

#include <QLabel>
#include <QPushButton>

#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

NetworkQuestion::NetworkQuestion(QWidget* parent) : QFrame(parent), sentence_(makeProse({}, nullptr, this)), buttons_(makeRow(size::gap)) {
    setObjectName(u"guide"_s);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    auto* row = makeRow(this, {size::inside, size::grid, size::inside, size::grid}, size::gap);
    row->addWidget(sentence_, 1);
    row->addLayout(buttons_);
    hide();
}

void NetworkQuestion::ask(const QString& sentence, const std::vector<Answer>& answers) {
    QString asked = sentence;
    for (const Answer& answer : answers) asked += u'\n' + answer.text;
    show();
    if (asked == asked_) return;
    asked_ = asked;
    sentence_->setText(sentence);
    while (QLayoutItem* item = buttons_->takeAt(0)) {
        // The button may be the one that was clicked.
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const Answer& answer : answers) {
        auto* button = new QPushButton(answer.text, this);
        buttons_->addWidget(button);
        connect(button, &QPushButton::clicked, this, answer.act);
        button->show();
    }
}

}  // namespace ui
