#include "panels/queue/cluster_dialog.h"

#include <QFileDialog>
#include <QFontDatabase>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

#include "commands/commands.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// "{{name}}: what it stands for", a line each.
QString placeholderWords() {
    QStringList lines;
    for (const auto& each : engine::script_placeholders())
        lines << u"{{%1}}: %2"_s.arg(QString::fromLatin1(each.name), engineText(each.meaning));
    return lines.join(u'\n');
}

}  // namespace

ClusterDialog::ClusterDialog(Commands* commands, QWidget* parent)
    : QDialog(parent),
      commands_(commands),
      folder_(withName(new QLineEdit(this), u"jobFolder"_s)),
      script_(withName(new QPlainTextEdit(this), u"jobScript"_s)),
      problem_(withName(makeProse({}, "bad", this), u"jobProblem"_s)) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(u"cluster"_s);
    setWindowTitle(tr("Jobs for Slurm"));
    auto* column = makeColumn(
        this, {size::inside * 2, size::inside * 2, size::inside * 2, size::inside}, size::gap);
    column->addWidget(makeProse(
        joined({tr("Each run becomes a job of its own: sbatch gets this script, with the words in "
                   "braces replaced."),
                tr("Kept in %1.").arg(QString::fromStdString(engine::job_script_file().string()))}),
        nullptr, this));
    script_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    script_->setLineWrapMode(QPlainTextEdit::NoWrap);
    script_->setTabChangesFocus(true);
    script_->setAccessibleName(tr("Batch script"));
    column->addWidget(script_, 1);
    auto* meanings = makeSmall(placeholderWords(), "dim", this);
    meanings->setTextFormat(Qt::PlainText);
    column->addWidget(meanings);
    column->addLayout(makeFolder());
    problem_->setTextFormat(Qt::PlainText);
    column->addWidget(problem_);
    column->addLayout(makeButtons());
    resize(720, 640);
    try {
        const engine::ClusterSettings settings = engine::read_cluster_settings();
        folder_->setText(QString::fromStdString(settings.folder.string()));
        script_->setPlainText(QString::fromStdString(settings.script));
    } catch (const engine::Error& error) {
        commands_->report(error);
        script_->setPlainText(QString::fromStdString(engine::default_job_script()));
    }
    connect(script_, &QPlainTextEdit::textChanged, this, &ClusterDialog::check);
    connect(folder_, &QLineEdit::textChanged, this, &ClusterDialog::check);
    check();
}

QLayout* ClusterDialog::makeFolder() {
    auto* row = makeRow(size::gap);
    auto* label = makeLabel(tr("Folder for jobs:"), "dim", this);
    label->setBuddy(folder_);
    folder_->setAccessibleName(tr("Folder for jobs:"));
    folder_->setToolTip(tr(
        "On a file system that the nodes share. Each job gets a folder in it, with its settings, "
        "its output and its run."));
    auto* choose = new QPushButton(tr("Choose…"), this);
    connect(choose, &QPushButton::clicked, this, [this] {
        const QString chosen =
            QFileDialog::getExistingDirectory(this, tr("Folder for jobs"), folder_->text());
        if (!chosen.isEmpty()) folder_->setText(chosen);
    });
    row->addWidget(label);
    row->addWidget(folder_, 1);
    row->addWidget(choose);
    return row;
}

QLayout* ClusterDialog::makeButtons() {
    auto* row = new QHBoxLayout;
    auto* back = new QPushButton(tr("Default script"), this);
    connect(back, &QPushButton::clicked, this, [this] {
        script_->setPlainText(QString::fromStdString(engine::default_job_script()));
    });
    auto* cancel = new QPushButton(tr("Cancel"), this);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    save_ = withName(new QPushButton(tr("Save"), this), u"primary"_s);
    save_->setDefault(true);
    connect(save_, &QPushButton::clicked, this, &ClusterDialog::save);
    row->addWidget(back);
    row->addStretch();
    addWidgets(row, {cancel, save_});
    return row;
}

engine::ClusterSettings ClusterDialog::typed() const {
    std::string script = script_->toPlainText().toStdString();
    if (!script.ends_with('\n')) script += '\n';
    return {folder_->text().trimmed().toStdString(), std::move(script)};
}

void ClusterDialog::check() {
    const auto problem = engine::cluster_settings_problem(typed());
    problem_->setText(engineText(problem));
    problem_->setVisible(!problem.empty());
    save_->setEnabled(problem.empty());
}

void ClusterDialog::save() {
    try {
        engine::write_cluster_settings(typed());
        accept();
    } catch (const engine::Error& error) {
        problem_->setText(Failure(error).text());
        problem_->show();
    }
}

}  // namespace ui
