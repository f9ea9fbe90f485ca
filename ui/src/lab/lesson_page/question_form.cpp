#include "lab/lesson_page/question_form.h"

#include <QButtonGroup>
#include <QDoubleValidator>
#include <QLineEdit>
#include <QRadioButton>
#include <QSpinBox>
#include <algorithm>
#include <limits>

#include "lab/lesson_page/curve_sketch.h"
#include "lab/lesson_page/range_slider.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

QuestionForm::QuestionForm(const Theme* theme, Question question, QWidget* parent)
    : QWidget(parent), theme_(theme), question_(std::move(question)) {
    auto* column = makeColumn(this, {0, 0, 0, size::gap}, 2);
    auto* text = makeProse(question_.text, nullptr, this);
    text->setTextFormat(Qt::PlainText);
    column->addWidget(text);
    setAccessibleName(question_.text);
    using enum Question::Kind;
    switch (question_.kind) {
        case choice:
            addChoices(column);
            break;
        case number:
            addNumber(column);
            break;
        case range:
            addSlider(column);
            break;
        case curve:
            addSketch(column);
            break;
    }
    constexpr int shortNote = 55;  // characters that fit between the ends of a slider
    const bool ownNote = question_.kind == range && question_.note.size() <= shortNote;
    if (ownNote) slider_->setNote(question_.note);
    if (!question_.note.isEmpty() && !ownNote) {
        auto* note = makeProse(question_.note, "dim", this);
        column->addWidget(note);
    }
}

void QuestionForm::addChoices(QLayout* column) {
    choices_ = new QButtonGroup(this);
    for (const auto& choice : question_.choices) {
        auto* row = new QWidget(this);
        auto* line = makeRow(row);
        auto* button = new QRadioButton(choice.text, row);
        choices_->addButton(button, static_cast<int>(choices_->buttons().size()));
        line->addWidget(button, 1);
        column->addWidget(row);
    }
    connect(choices_, &QButtonGroup::idToggled, this, [this](int id, bool on) {
        if (!on) return;
        guess_.key = question_.choices[static_cast<std::size_t>(id)].key;
        emit answered();
    });
}

void QuestionForm::addNumber(QLayout* column) {
    auto* row = new QWidget(this);
    auto* line = makeRow(row, {0, 2, 0, 0});
    number_ = new QLineEdit(row);
    auto* validator = new QDoubleValidator(number_);
    validator->setLocale(QLocale::c());
    number_->setValidator(validator);
    number_->setMaximumWidth(12 * fontMetrics().averageCharWidth() + 40);
    number_->setAccessibleName(question_.text);
    addWidgets(line, {number_, makeLabel(question_.unit, "dim", row)});
    line->addStretch();
    column->addWidget(row);
    connect(number_, &QLineEdit::textEdited, this, [this](const QString& text) {
        bool good = false;
        const double value = QLocale::c().toDouble(text, &good);
        guess_.number = good ? value : std::numeric_limits<double>::quiet_NaN();
        emit answered();
    });
}

void QuestionForm::addSlider(QLayout* column) {
    slider_ = new RangeSlider(theme_, question_.low, question_.high, this);
    slider_->setAccessibleName(question_.text);
    column->addWidget(slider_);
    connect(slider_, &RangeSlider::moved, this, [this](double value) {
        guess_.number = value;
        emit answered();
    });
}

void QuestionForm::addSketch(QLayout* column) {
    const CurveSketch::Axes axes{question_.low,   question_.high, question_.yLow,
                                 question_.yHigh, question_.yLog, question_.column};
    sketch_ = new CurveSketch(theme_, axes, this);
    sketch_->setAccessibleName(question_.text);
    column->addWidget(sketch_);
    connect(sketch_, &CurveSketch::drawn, this, [this] {
        guess_.curve = sketch_->curve();
        emit answered();
    });
}

void QuestionForm::setGuess(const Guess& guess) {
    guess_ = guess;
    const QSignalBlocker quiet(this);
    refresh();
}

void QuestionForm::refresh() {
    if (choices_ != nullptr) {
        const auto at = std::ranges::find(question_.choices, guess_.key, &Question::Choice::key);
        choices_->setExclusive(false);
        for (auto* button : choices_->buttons()) button->setChecked(false);
        choices_->setExclusive(true);
        if (at != question_.choices.end())
            choices_->button(static_cast<int>(at - question_.choices.begin()))->setChecked(true);
        for (std::size_t i = 0; i < hands_.size(); ++i) {
            const QSignalBlocker still(hands_[i]);
            const auto count = guess_.hands.find(question_.choices[i].key);
            hands_[i]->setValue(count == guess_.hands.end() ? 0 : count->second);
        }
    }
    const bool known = guess_.number == guess_.number;
    if (number_ != nullptr)
        number_->setText(known ? QLocale::c().toString(guess_.number, 'g', 12) : QString());
    if (slider_ != nullptr) slider_->setValue(known ? std::optional(guess_.number) : std::nullopt);
    if (sketch_ != nullptr) sketch_->setCurve(guess_.curve);
}

void QuestionForm::setLocked(bool locked) {
    const bool changes = locked != std::exchange(locked_, locked);
    if (choices_ != nullptr) {
        for (auto* button : choices_->buttons()) {
            QFont font = button->font();
            font.setWeight(locked && button->isChecked() ? QFont::Bold : QFont::Normal);
            button->setFont(font);
            // The chosen one stays as clear as it was, but takes neither clicks nor keys.
            button->setEnabled(!locked || button->isChecked());
            button->setAttribute(Qt::WA_TransparentForMouseEvents, locked);
            if (changes) button->setFocusPolicy(locked ? Qt::NoFocus : Qt::StrongFocus);
        }
    }
    for (auto* hands : hands_) hands->setEnabled(!locked);
    for (QWidget* each : {static_cast<QWidget*>(number_), static_cast<QWidget*>(slider_),
                          static_cast<QWidget*>(sketch_)}) {
        if (each != nullptr) each->setEnabled(!locked);
    }
}

void QuestionForm::showHands() {
    if (choices_ == nullptr || !hands_.empty()) return;
    for (auto* button : choices_->buttons()) {
        auto* hands = new QSpinBox(button->parentWidget());
        hands->setRange(0, 999);
        hands->setButtonSymbols(QAbstractSpinBox::NoButtons);  // typed, or by the arrow keys
        hands->setAlignment(Qt::AlignRight);
        hands->setAccessibleName(tr("Hands for: %1").arg(button->text()));
        hands->setToolTip(tr("How many hands were shown for this answer"));
        button->parentWidget()->layout()->addWidget(hands);
        connect(hands, &QSpinBox::valueChanged, this, &QuestionForm::countHands);
        hands_.push_back(hands);
    }
    const QSignalBlocker quiet(this);
    refresh();
}

void QuestionForm::countHands() {
    int most = 0;
    for (std::size_t i = 0; i < hands_.size(); ++i) {
        const QString& key = question_.choices[i].key;
        guess_.hands[key] = hands_[i]->value();
        if (hands_[i]->value() <= most) continue;
        most = hands_[i]->value();
        guess_.key = key;
    }
    {
        const QSignalBlocker quiet(this);
        refresh();
    }
    emit answered();
}

bool QuestionForm::choose(int number) {
    if (choices_ == nullptr || locked_ || number < 1 ||
        number > static_cast<int>(question_.choices.size()))
        return false;
    choices_->button(number - 1)->setChecked(true);
    return true;
}

}  // namespace ui
