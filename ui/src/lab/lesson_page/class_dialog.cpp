#include "lab/lesson_page/class_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPushButton>
#include <QTableWidget>

#include "engine/io/named_file.h"
#include "engine/lab/lesson.h"
#include "lab/lessons/lesson_shelf.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/tokens.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"

namespace ui {
namespace {

constexpr QSize classSize{820, 480};
constexpr qsizetype maxUnread = 5;

/// The words of a lesson for the keys of its files.
struct LessonWords {
    QString lesson, question;
    QString answers;
};

LessonWords wordsFor(const engine::PredictionSummary& from, const LessonShelf& shelf) {
    LessonWords out{QString::fromStdString(from.lesson), QString::fromStdString(from.prediction),
                    QString::fromStdString(from.predicted)};
    const engine::Lesson* lesson = shelf.find(out.lesson);
    if (lesson == nullptr) return out;
    out.lesson = titleParts(*lesson).first;
    const auto* prediction = engine::find_prediction(*lesson, from.prediction);
    if (prediction != nullptr) out.question = QString::fromStdString(prediction->question);
    return out;
}

}  // namespace

ClassDialog::ClassDialog(const QString& folder, const LessonShelf& shelf, QWidget* parent)
    : QDialog(parent),
      answers_(engine::collect_answers(folder.toStdString())),
      table_(new QTableWidget(0, 5, this)),
      unread_(makeProse({}, "caution", this)),
      said_(makeProse({}, "dim", this)) {
    setWindowTitle(tr("Answers of the class"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(size::gap);
    auto* who = makeLabel(tr("Learners: %1 · %2").arg(count(answers_.learners), folder), "dim", this);
    who->setTextFormat(Qt::PlainText);
    column->addWidget(who);
    table_->setHorizontalHeaderLabels(
        {tr("Lesson"), tr("Question"), tr("Answers"), tr("Predicted"), tr("Measured")});
    table_->setAccessibleName(windowTitle());
    table_->verticalHeader()->hide();
    table_->setShowGrid(false);
    table_->setWordWrap(true);
    table_->setEditTriggers(QTableWidget::NoEditTriggers);
    table_->setSelectionBehavior(QTableWidget::SelectRows);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(1, QHeaderView::Stretch);
    column->addWidget(table_, 1);
    unread_->setObjectName(u"unreadAnswers"_s);
    unread_->setTextFormat(Qt::PlainText);
    column->addWidget(unread_);
    said_->setObjectName(u"savedAnswers"_s);
    said_->setTextFormat(Qt::PlainText);
    column->addWidget(said_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    save_ = buttons->addButton(tr("Save all answers as CSV…"), QDialogButtonBox::ActionRole);
    cancel_ = buttons->addButton(tr("Cancel"), QDialogButtonBox::ActionRole);
    connect(save_, &QPushButton::clicked, this, &ClassDialog::askAndSave);
    connect(cancel_, &QPushButton::clicked, this, [this] { writing_.stop(); });
    showWriting();
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    fill(shelf);
    resize(classSize);
}

void ClassDialog::fill(const LessonShelf& shelf) {
    const auto rows = engine::summarize_answers(answers_);
    table_->setRowCount(static_cast<int>(rows.size()));
    for (int row = 0; row < table_->rowCount(); ++row) {
        const auto& each = rows[static_cast<std::size_t>(row)];
        const LessonWords words = wordsFor(each, shelf);
        const QString cells[] = {words.lesson, words.question, count(each.answers), words.answers,
                                 QString::fromStdString(each.measured)};
        for (int i = 0; i < 5; ++i) table_->setItem(row, i, new QTableWidgetItem(cells[i]));
    }
    table_->resizeRowsToContents();
    QStringList lines;
    for (const auto& [file, reason] : answers_.unreadable)
        lines << QString::fromStdString(file) + u": "_s + engineText(reason);
    if (lines.size() > maxUnread) {
        const auto more = lines.size() - maxUnread;
        lines = lines.mid(0, maxUnread) << tr("and further files: %1").arg(count(more));
    }
    if (answers_.learners == 0 && lines.isEmpty())
        lines << tr("There are no answers in this folder. Each learner's file is handed in there.");
    unread_->setText(lines.join(u'\n'));
    unread_->setVisible(!lines.isEmpty());
}

void ClassDialog::askAndSave() {
    const auto named =
        askForFile(this, windowTitle(), tr("answers"), {{tr("CSV files (*.csv)"), u"csv"_s}});
    if (named) saveCsv(named->file);
}

void ClassDialog::saveCsv(const QString& file) {
    writing_.start(
        [answers = answers_, file](auto& link) {
            const engine::WorkScope scope(link.watcher());
            engine::write_named_file(file.toStdString(), engine::answers_csv(answers));
            return file;
        },
        [this](const Outcome<QString>& written) {
            showWriting();
            if (written.result)
                say(tr("Saved as %1.").arg(*written.result), u"good"_s);
            else if (written.error)
                say(written.failure().text(), u"bad"_s);
            else
                say(tr("Cancelled. No file was written."), u"dim"_s);
        });
    showWriting();
}

void ClassDialog::say(const QString& text, const QString& role) {
    restyle(said_, "role", role);
    said_->setText(text);
    said_->show();
}

/// Sets the buttons by whether a file is written.
void ClassDialog::showWriting() {
    const bool running = writing_.running();
    save_->setEnabled(!answers_.rows.empty() && !running);
    cancel_->setVisible(running);
    said_->setVisible(false);
}

}  // namespace ui
