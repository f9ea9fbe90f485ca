#include "tryit/mask_view.h"

#include <QLabel>
#include <QVBoxLayout>

#include "text/format.h"
#include "theme/theme.h"
#include "tryit/answer_view.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

QString shownWord(const std::string& word) {
    if (word == " ") return u"␣"_s;
    if (word == "\n") return u"↵"_s;
    if (word == "\t") return u"⇥"_s;
    return QString::fromStdString(word);
}

MaskView::MaskView(Theme* theme, std::string precision, QWidget* parent)
    : QWidget(parent), theme_(theme), precision_(std::move(precision)) {
    column_ = new QVBoxLayout(this);
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(size::gap);
    sentence_ = makeLabel({}, nullptr, this);
    sentence_->setAccessibleName(tr("Text with its masks filled"));
    sentence_->setWordWrap(true);
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
        auto* head = makeLabel(tr("Mask %1").arg(number), "dim", this);
        head->setFont(Theme::caption());
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

}  // namespace ui
