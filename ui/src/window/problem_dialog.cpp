#include "window/problem_dialog.h"

#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <utility>

#include "commands/commands.h"
#include "feed/background_task.h"
#include "text/format.h"
#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"
#include "widgets/save_dialog.h"

namespace ui {

namespace {

constexpr int listWidth = 190;

}  // namespace

ProblemDialog::ProblemDialog(engine::ProblemFacts facts, Commands* commands, QWidget* parent)
    : QDialog(parent), commands_(commands) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(u"problem"_s);
    setWindowTitle(tr("Report a problem"));
    auto* column = makeColumn(
        this, {size::inside * 2, size::inside * 2, size::inside * 2, size::inside}, size::gap);
    column->addWidget(makeProse(
        joined({tr("The archive holds the texts below and nothing else: no data, no notes, no path "
                   "of your home folder, no name of you or this machine."),
                tr("Look through it, save it, and send it along with what you did and what you "
                   "expected.")}),
        nullptr, this));
    list_ = withName(new QListWidget(this), u"problemFiles"_s);
    list_->setAccessibleName(tr("Texts of the report"));
    text_ = withName(new QPlainTextEdit(this), u"problemText"_s);
    text_->setReadOnly(true);
    text_->setTabChangesFocus(true);
    text_->setAccessibleName(tr("The selected text"));
    text_->setPlaceholderText(tr("The report is being made…"));
    auto* split = new QSplitter(Qt::Horizontal, this);
    split->setChildrenCollapsible(false);
    addWidgets(split, {list_, text_});
    split->setStretchFactor(1, 1);
    split->setSizes({listWidth, 3 * listWidth});
    column->addWidget(split, 1);
    auto* buttons = new QHBoxLayout;
    auto* close = new QPushButton(tr("Close"), this);
    save_ = withName(new QPushButton(tr("Save…"), this), u"primary"_s);
    save_->setEnabled(false);
    buttons->addStretch();
    addWidgets(buttons, {close, save_});
    column->addLayout(buttons);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    connect(save_, &QPushButton::clicked, this, &ProblemDialog::save);
    connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row < 0) return;
        text_->setPlainText(
            QString::fromStdString(files_.at(static_cast<std::size_t>(row)).text));
    });
    resize(860, 560);
    inBackground(
        this, [facts = std::move(facts)] { return engine::problem_report(facts); },
        [this](const Outcome<std::vector<engine::ProblemFile>>& made) {
            if (made.error)
                commands_->report(*made.error);
            else
                fill(*made.result);
        });
}

void ProblemDialog::fill(const std::vector<engine::ProblemFile>& files) {
    files_ = files;
    for (const auto& file : files_)
        list_->addItem(u"%1 (%2)"_s.arg(QString::fromStdString(file.name),
                                        bytes(std::ssize(file.text))));
    list_->setCurrentRow(0);
    save_->setEnabled(true);
    save_->setDefault(true);
}

void ProblemDialog::save() {
    const auto named = askForFile(this, windowTitle(), u"halftone-problem"_s,
                                  {{tr("Archive (*.zip)"), u"zip"_s}});
    if (!named) return;
    const auto work = [files = files_, file = named->file] {
        engine::write_problem_report(files, file.toStdString());
        return tr("Saved %1.").arg(file);
    };
    commands_->works()->start({tr("Saving the report"), named->file, work});
    close();
}

}  // namespace ui
