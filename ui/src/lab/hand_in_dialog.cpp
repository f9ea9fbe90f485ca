#include "lab/hand_in_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "engine/error.h"
#include "lab/lesson_model.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/tokens.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"

namespace ui {

using namespace Qt::StringLiterals;

HandInDialog::HandInDialog(LessonModel* model, QWidget* parent)
    : QDialog(parent),
      model_(model),
      name_(new QLineEdit(this)),
      said_(makeLabel({}, "dim", this)) {
    setWindowTitle(tr("Hand in answers"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setSpacing(size::gap);
    const auto& lessons = model_->notes().answers().lessons;
    std::int64_t answers = 0;
    for (const auto& [name, progress] : lessons)
        answers += static_cast<std::int64_t>(progress.predictions.size());
    any_ = answers > 0;
    auto* what = makeLabel(!any_ ? tr("You have not answered any question yet.")
                                 : tr("%1 answers from %2 lessons, with what your runs measured.")
                                       .arg(count(answers), count(std::ssize(lessons))),
                           nullptr, this);
    what->setWordWrap(true);
    column->addWidget(what);
    auto* form = new QFormLayout;
    name_->setText(QString::fromStdString(model_->notes().answers().learner));
    name_->setAccessibleName(tr("Your name"));
    form->addRow(tr("Your name"), name_);
    column->addLayout(form);
    said_->setObjectName(u"handedIn"_s);
    said_->setWordWrap(true);
    said_->setTextFormat(Qt::PlainText);
    said_->setMinimumWidth(fontMetrics().averageCharWidth() * 50);
    column->addWidget(said_);
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
    connect(name_, &QLineEdit::textChanged, this, &HandInDialog::refresh);
    column->addWidget(buttons);
    refresh();
}

void HandInDialog::refresh() {
    const bool named = !name_->text().trimmed().isEmpty();
    folder_->setEnabled(named && any_);
    file_->setEnabled(named && any_);
    said_->setText(named ? QString() : tr("Type your name."));
}

void HandInDialog::handIn(const QString& path, bool folder) {
    model_->notes().setLearner(name_->text().trimmed());
    const auto& answers = model_->notes().answers();
    try {
        QString file = path;
        if (folder)
            file = QString::fromStdString(
                engine::hand_in_answers(path.toStdString(), answers).string());
        else
            engine::write_answers(path.toStdString(), answers);
        restyle(said_, "role", u"good"_s);
        said_->setText(tr("Handed in as %1.").arg(file));
    } catch (const engine::Error& error) {
        restyle(said_, "role", u"bad"_s);
        said_->setText(joined({sentence(engineText(error.message())), engineText(error.hint())}));
    }
}

}  // namespace ui
