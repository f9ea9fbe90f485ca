#include "lab/numbers/guess_card.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <cmath>

#include "engine/base/error.h"
#include "engine/number/number_arithmetic.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/number_words.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// Whether the guess is the answer; a guess that is not a number is wrong.
bool isRight(const QString& guess, double answer) {
    try {
        const double value = engine::parse_number(guess.toStdString(), engine::fp16_format).value;
        return value == answer || (std::isnan(value) && std::isnan(answer));
    } catch (const engine::Error&) {
        return false;
    }
}

std::vector<GuessQuestion> questions() {
    using engine::add, engine::multiply, engine::fp16_format;
    const QString near = nearText(add(fp16_format, 65504, 15.99), 6);
    return {
        {u"65504 + 16"_s, add(fp16_format, 65504, 16),
         GuessCards::tr("65504 is the largest FP16 number."),
         GuessCards::tr("65504 + 15.99 is %1: from 65520 on, the sum rounds to infinity.")
             .arg(near),
         u"65520"_s},
        {u"2⁻²⁴ ÷ 2"_s, multiply(fp16_format, 0x1p-24, 0.5),
         GuessCards::tr("2⁻²⁴ is the smallest FP16 number."),
         GuessCards::tr("Half the smallest FP16 number: a tie, and 0 is even."), u"2^-25"_s},
        {u"2048 + 1"_s, add(fp16_format, 2048, 1),
         GuessCards::tr("Which whole numbers come after 2048?"),
         GuessCards::tr("From 2048 on the gap is 2: 2049 is a tie, and 2048 is even."), u"2049"_s},
        {u"0.1"_s, rounded(fp16_format, 0.1),
         GuessCards::tr("Is it stored as 0.1, or a little below or above?"),
         GuessCards::tr("Click to show it. Which format lies closest?"), u"0.1"_s}};
}

}  // namespace

GuessCard::GuessCard(const Theme* theme, NumberModel* model, GuessQuestion question,
                     QWidget* parent)
    : QFrame(parent),
      theme_(theme),
      model_(model),
      question_(std::move(question)),
      guess_(new QLineEdit(this)),
      answer_(makeLabel({}, nullptr, this)),
      note_(makeProse({}, "dim", this)) {
    setObjectName(u"guess"_s);
    setAccessibleName(question_.question);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(size::inside, size::grid, size::inside, size::grid);
    grid->setVerticalSpacing(2);
    auto* title = makeLabel(question_.question, nullptr, this);
    QFont strong = font();
    strong.setWeight(QFont::Bold);
    strong.setPointSizeF(strong.pointSizeF() * 1.1);
    for (auto* label : {title, answer_}) label->setFont(strong);
    guess_->setPlaceholderText(tr("guess"));
    guess_->setAccessibleName(tr("Guess of %1").arg(question_.question));
    guess_->ensurePolished();
    guess_->setFixedWidth(9 * guess_->fontMetrics().horizontalAdvance(u'0') + 20);
    note_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    grid->addWidget(title, 0, 0);
    grid->addWidget(guess_, 0, 1, Qt::AlignRight);
    grid->addWidget(answer_, 0, 1, Qt::AlignRight);
    grid->addWidget(note_, 1, 0, 1, 2);
    grid->setRowStretch(1, 1);
    connect(guess_, &QLineEdit::returnPressed, this, &GuessCard::reveal);
    connect(model_, &NumberModel::changed, this, &GuessCard::refresh);
    connect(theme_, &Theme::changed, this, &GuessCard::refresh);
    refresh();
}

void GuessCard::reveal() {
    if (guess_->text().trimmed().isEmpty()) return;
    answered_ = true;
    setFocusPolicy(Qt::StrongFocus);
    setPressedBySpace(this);
    setFocus();
    showNumber();
    refresh();
}

void GuessCard::reset() {
    answered_ = false;
    setFocusPolicy(Qt::NoFocus);
    setPressedBySpace(this, false);
    guess_->clear();
    refresh();
}

void GuessCard::showNumber() {
    model_->setFormat(engine::fp16_format);
    model_->setText(question_.number);
}

void GuessCard::mousePressEvent(QMouseEvent* event) {
    if (answered_)
        showNumber();
    else
        guess_->setFocus();
    event->accept();
}

void GuessCard::keyPressEvent(QKeyEvent* event) {
    const bool press = event->key() == Qt::Key_Space || event->key() == Qt::Key_Return ||
                       event->key() == Qt::Key_Enter;
    if (answered_ && press) return showNumber();
    QFrame::keyPressEvent(event);
}

void GuessCard::refresh() {
    const Tokens& t = theme_->tokens();
    guess_->setVisible(!answered_);
    answer_->setVisible(answered_);
    setCursor(answered_ ? Qt::PointingHandCursor : Qt::ArrowCursor);
    const bool shown = answered_ && model_->text() == question_.number;
    setStyleSheet(u"QFrame#guess { background: %1; border: 1px solid %2; border-radius: %3px; }"_s
                      .arg(shown ? blend(t.panel, t.accent, 0.12).name() : t.field.name(),
                           shown || hasFocus() ? t.accent.name() : t.line.name())
                      .arg(size::panelRadius));
    if (!answered_) {
        note_->setText(question_.before);
        return;
    }
    const bool broken = !std::isfinite(question_.answer) || question_.answer == 0;
    answer_->setText(u"<span style='color:%1'>%2</span>"_s.arg((broken ? t.bad : t.text).name(),
                                                               storedText(question_.answer)));
    const QString guess = guess_->text().trimmed();
    note_->setText((isRight(guess, question_.answer) ? tr("As you guessed.")
                                                     : tr("Your guess: %1.").arg(guess)) +
                   u' ' + question_.after);
}

GuessCards::GuessCards(const Theme* theme, NumberModel* model, QWidget* parent) : QFrame(parent) {
    setObjectName(u"card"_s);
    auto* column = makeColumn(this, {size::gap, size::grid, size::gap, size::gap}, size::grid);
    auto* head = new QHBoxLayout;
    auto* title = makeLabel(tr("Try this"), nullptr, this);
    QFont strong = font();
    strong.setWeight(QFont::Bold);
    title->setFont(strong);
    auto* note = makeLabel(tr("in FP16: guess, press Enter, then click"), "dim", this);
    auto* again = makeLink(tr("start again"), this);
    head->addWidget(title);
    head->addWidget(note, 1);
    head->addWidget(again);
    column->addLayout(head);
    auto* grid = new QGridLayout;
    grid->setSpacing(size::gap);
    for (auto& question : questions()) {
        auto* card = new GuessCard(theme, model, std::move(question), this);
        const int at = static_cast<int>(cards_.size());
        grid->addWidget(card, at / 2, at % 2);
        cards_ << card;
    }
    for (const int half : {0, 1}) {
        grid->setColumnStretch(half, 1);
        grid->setRowStretch(half, 1);
    }
    column->addLayout(grid, 1);
    connect(again, &QToolButton::clicked, this, [this] {
        for (auto* card : cards_) card->reset();
    });
}

}  // namespace ui
