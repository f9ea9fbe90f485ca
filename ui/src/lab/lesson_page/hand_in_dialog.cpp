#include "lab/lesson_page/hand_in_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>

#include "lab/lessons/lesson_model.h"
#include "text/format.h"
#include "theme/tokens.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"

namespace ui {

HandInDialog::HandInDialog(LessonModel* model, QWidget* parent)
    : QDialog(parent),
      model_(model),
      name_(new QLineEdit(this)),
      status_(makeProse({}, "dim", this)) {
    setWindowTitle(tr("Hand in answers"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(size::gap);
    std::int64_t answers = 0, lessons = 0;
    for (const auto& [name, progress] : model_->notes().answers().lessons) {
        answers += std::ssize(progress.predictions);
        lessons += progress.predictions.empty() ? 0 : 1;
    }
    hasAnswers_ = answers > 0;
    const QString words =
        hasAnswers_ ? tr("Answers: %1, lessons: %2. They go with what your runs measured.")
                   .arg(count(answers), count(lessons))
             : tr("You have not answered any question yet.");
    auto* what = makeProse(words, nullptr, this);
    column->addWidget(what);
    auto* form = new QFormLayout;
    name_->setText(QString::fromStdString(model_->notes().answers().learner));
    name_->setAccessibleName(tr("Your name"));
    form->addRow(tr("Your name"), name_);
    column->addLayout(form);
    status_->setObjectName(u"handedIn"_s);
    status_->setTextFormat(Qt::PlainText);
    status_->setMinimumWidth(fontMetrics().averageCharWidth() * 50);
    column->addWidget(status_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    folder_ = buttons->addButton(tr("Into a folder…"), QDialogButtonBox::ActionRole);
    folder_->setToolTip(tr("The folder of your class, such as one on a shared drive."));
    file_ = buttons->addButton(tr("As a file…"), QDialogButtonBox::ActionRole);
    file_->setToolTip(tr("A file to send or to upload."));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(folder_, &QPushButton::clicked, this, [this] {
        const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder of the class"));
        if (!folder.isEmpty()) handIn(folder, true);
    });
    connect(file_, &QPushButton::clicked, this, [this] {
        const auto named = askForFile(this, windowTitle(), name_->text().trimmed(),
                                      {{tr("Answers (*.json)"), u"json"_s}});
        if (named) handIn(named->file, false);
    });
    cancel_ = buttons->addButton(tr("Cancel"), QDialogButtonBox::ActionRole);
    cancel_->setObjectName(u"cancelHandIn"_s);
    connect(cancel_, &QPushButton::clicked, this, [this] { writing_.stop(); });
    connect(name_, &QLineEdit::textChanged, this, &HandInDialog::refresh);
    column->addWidget(buttons);
    refresh();
}

void HandInDialog::refresh() {
    const bool named = !name_->text().trimmed().isEmpty(), running = writing_.running();
    folder_->setEnabled(named && hasAnswers_ && !running);
    file_->setEnabled(named && hasAnswers_ && !running);
    cancel_->setVisible(running);
    if (running) return;
    setStatus(named ? QString() : tr("Type your name."), "dim");
}

void HandInDialog::setStatus(const QString& text, const char* role) {
    restyle(status_, "role", QString::fromLatin1(role));
    status_->setText(text);
}

void HandInDialog::handIn(const QString& path, bool folder) {
    model_->notes().setLearner(name_->text().trimmed());
    writing_.start(
        [path, folder, answers = model_->notes().answers()](auto& link) {
            const engine::WorkScope scope(link.watcher());
            if (folder)
                return QString::fromStdString(
                    engine::hand_in_answers(path.toStdString(), answers).string());
            engine::write_answers(path.toStdString(), answers);
            return path;
        },
        [this](const Outcome<QString>& written) {
            refresh();
            if (written.result)
                setStatus(tr("Handed in as %1.").arg(*written.result), "good");
            else if (written.error)
                setStatus(written.failure().text(), "bad");
            else
                setStatus(tr("Cancelled. Nothing was handed in."), "dim");
        });
    refresh();
    setStatus(tr("Handing in…"), "dim");
}

}  // namespace ui
