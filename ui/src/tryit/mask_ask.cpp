#include "tryit/mask_ask.h"

#include <QPlainTextEdit>
#include <QPushButton>

#include "text/format.h"
#include "theme/theme.h"
#include "tryit/answer_view.h"
#include "widgets/panel.h"

namespace ui {

QString shownWord(const std::string& word) {
    if (word == " ") return u"␣"_s;
    if (word == "\n") return u"↵"_s;
    if (word == "\t") return u"⇥"_s;
    return QString::fromStdString(word);
}

MaskView::MaskView(Theme* theme, std::string precision, QWidget* parent)
    : QWidget(parent), theme_(theme), precision_(std::move(precision)) {
    column_ = makeColumn(this, {}, size::gap);
    sentence_ = makeProse({}, nullptr, this);
    sentence_->setAccessibleName(tr("Text with its masks filled"));
    sentence_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column_->addWidget(sentence_);
    column_->addStretch();
}

void MaskView::clear() {
    for (QWidget* part : parts_) delete part;
    parts_.clear();
    filled_.clear();
}

void MaskView::showNote(const QString& note) {
    clear();
    restyle(sentence_, "role", u"dim"_s);
    sentence_->setTextFormat(Qt::PlainText);
    sentence_->setText(note);
}

void MaskView::show(const QString& text, const QString& mask,
                    const std::vector<engine::FilledMask>& filled) {
    clear();
    filled_ = filled;
    const QStringList pieces = text.split(mask);
    QString html = pieces.front().toHtmlEscaped();
    for (qsizetype i = 1; i < pieces.size(); ++i) {
        const auto& words = filled[static_cast<std::size_t>(i - 1)].words;
        html += u"<b>"_s + shownWord(words.front().text).toHtmlEscaped() + u"</b>"_s +
                pieces[i].toHtmlEscaped();
    }
    restyle(sentence_, "role", {});
    sentence_->setTextFormat(Qt::RichText);
    sentence_->setText(html.replace(u'\n', u"<br>"_s));
    for (const auto& each : filled) addMask(each);
}

void MaskView::addMask(const engine::FilledMask& mask) {
    const auto add = [this](QWidget* part) {
        column_->insertWidget(column_->count() - 1, part);  // above the stretch
        parts_.push_back(part);
    };
    if (filled_.size() > 1) {
        const auto number = static_cast<int>(parts_.size() / 2 + 1);
        auto* head = makeSmall(tr("Mask %1").arg(number), "dim", this);
        add(head);
    }
    engine::Answer answer;
    ModelFacts facts;
    for (const auto& word : mask.words) {
        answer.probabilities.push_back(word.probability);
        facts.classes.push_back(shownWord(word.text).toStdString());
    }
    auto* view = new AnswerView(theme_, precision_, this);
    view->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    view->show(answer, facts);
    add(view);
}

namespace {

constexpr int narrowestMask = 260;
constexpr int textLines = 3;
constexpr int askMaskAfterMs = 250;
constexpr std::int64_t shownWords = 6;  // for each mask

/// The initial text of the field. English, as the texts of the data sets are.
QString example(const engine::InputForm& form) {
    const QString mask = QString::fromStdString(form.mask);
    return form.words ? u"the %1 of the %1"_s.arg(mask) : u"th%1 king"_s.arg(mask);
}

}  // namespace

MaskAsk::MaskAsk(Theme* theme, const engine::InputForm& form, const TriedModels& models,
                 QWidget* parent)
    : QWidget(parent), theme_(theme), form_(form), mask_(QString::fromStdString(form.mask)) {
    soon_.setSingleShot(true);
    soon_.setInterval(askMaskAfterMs);
    connect(&soon_, &QTimer::timeout, this, &MaskAsk::ask);
    auto* column = makeColumn(this, {}, size::gap);
    column->addWidget(makeTextCard());
    columns_ = new RunColumns(theme_, models, narrowestMask, this);
    column->addWidget(columns_, 1);
    for (RunColumn* each : columns_->columns()) {
        each->setBody(new MaskView(theme_, each->model()->precision(), each));
        connect(each->model(), &TriedModel::changed, &soon_, qOverload<>(&QTimer::start));
    }
    soon_.start();
}

QWidget* MaskAsk::makeTextCard() {
    auto* card = makeCard(this);
    auto* column =
        makeColumn(card, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    text_ = new QPlainTextEdit(example(form_), card);
    text_->setAccessibleName(tr("Text with masks"));
    text_->setPlaceholderText(
        form_.words ? tr("A text with %1 in place of the words to find").arg(mask_)
                    : tr("A text with %1 in place of the characters to find").arg(mask_));
    text_->setTabChangesFocus(true);
    text_->setFixedHeight(fontMetrics().lineSpacing() * textLines + 20);
    connect(text_, &QPlainTextEdit::textChanged, &soon_, qOverload<>(&QTimer::start));
    column->addWidget(text_);
    auto* row = new QHBoxLayout;
    auto* insert = withName(new QPushButton(tr("Insert %1").arg(mask_), card), u"insert-mask"_s);
    insert->setToolTip(tr("Puts a mask at the cursor, or in place of the selected text."));
    connect(insert, &QPushButton::clicked, this, &MaskAsk::insertMask);
    auto* room = makeLabel(
        form_.tokens  ? tr("The model reads up to %1 tokens.").arg(count(form_.longest))
        : form_.words ? tr("The model reads up to %1 words.").arg(count(form_.longest))
                      : tr("The model reads up to %1 characters.").arg(count(form_.longest)),
        "dim", card);
    room->setFont(Theme::caption());
    row->addWidget(insert);
    row->addWidget(room, 1);
    column->addLayout(row);
    return card;
}

/// Words are apart by blanks; characters are not.
void MaskAsk::insertMask() {
    QTextCursor cursor = text_->textCursor();
    const int from = cursor.selectionStart();
    const int to = cursor.selectionEnd();
    const QString all = text_->toPlainText();
    const bool before = form_.words && from > 0 && !all[from - 1].isSpace();
    const bool after = form_.words && to < all.size() && !all[to].isSpace();
    cursor.insertText((before ? u" "_s : QString()) + mask_ + (after ? u" "_s : QString()));
    text_->setTextCursor(cursor);
    text_->setFocus();
}

void MaskAsk::ask() {
    const QString text = text_->toPlainText();
    for (RunColumn* column : columns_->columns()) {
        if (!column->model()->facts()) continue;
        if (text.contains(mask_)) {
            askOne(column, text);
            continue;
        }
        column->model()->worker()->stop(ModelWorker::Job::answer);
        column->showProblem({});
        qobject_cast<MaskView*>(column->body())
            ->showNote(tr("Put %1 where something is missing.").arg(mask_));
    }
}

void MaskAsk::askOne(RunColumn* column, const QString& text) {
    auto* view = qobject_cast<MaskView*>(column->body());
    column->ask(
        this,
        [text = text.toStdString()](engine::TrainedModel& model) {
            return std::tuple(model.fill(text, shownWords), model.unknown_in(text),
                              QString::fromStdString(model.form().mask));
        },
        [column, view, text](const auto& answer) {
            const auto& [filled, note, mask] = answer;
            column->showProblem(noteText(note));
            view->show(text, mask, filled);
        },
        [view] { view->showNote({}); });
}

}  // namespace ui
