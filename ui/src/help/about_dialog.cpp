#include "help/about_dialog.h"

#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QIcon>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSysInfo>

#include "engine/base/version.h"
#include "text/language.h"
#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {
namespace {

QString licences() {
    QFile file(u":/licences.txt"_s);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Versions for bug reports; not translated, since the developers read it.
QString versions() {
    return u"Halftone %1 · Qt %2 · %3 · %4"_s.arg(
        QString::fromStdString(engine::version_and_commit()), QString::fromLatin1(qVersion()),
        QSysInfo::prettyProductName(), QSysInfo::currentCpuArchitecture());
}

}  // namespace

AboutDialog::AboutDialog(QWidget* parent) : QDialog(parent) {
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(u"about"_s);
    setWindowTitle(tr("About Halftone"));
    auto* column = makeColumn(
        this, {size::inside * 2, size::inside * 2, size::inside * 2, size::inside}, size::gap);
    auto* head = new QHBoxLayout;
    auto* logo = new QLabel(this);
    logo->setPixmap(QIcon(u":/icons/logo.svg"_s).pixmap(40, 40));
    auto* name = makeLabel(u"Halftone "_s + QString::fromLatin1(engine::program_version()), nullptr, this);
    name->setFont(Theme::figures());
    head->addWidget(logo);
    head->addWidget(name, 1);
    column->addLayout(head);
    auto* words = makeProse(
        joined({tr("Trains neural networks in mixed precision and shows what the loss scale does."),
                tr("Everything is computed on this machine; nothing is sent anywhere.")}),
        nullptr, this);
    column->addWidget(words);
    auto* terms = makeProse(
        joined({tr("The source is under the MIT License."),
                tr("This program, which contains QCustomPlot, is under the GNU General Public "
                   "License, version 3 or later.")}),
        nullptr, this);
    terms->setObjectName(u"terms"_s);
    addWidgets(column, {terms, makeLabel(versions(), "dim", this)});
    auto* text = new QPlainTextEdit(licences(), this);
    text->setReadOnly(true);
    text->setTabChangesFocus(true);
    text->setAccessibleName(tr("Licences"));
    column->addWidget(makeLabel(tr("Licences"), "dim", this));
    column->addWidget(text, 1);
    auto* buttons = new QHBoxLayout;
    auto* copy = new QPushButton(tr("Copy"), this);
    copy->setToolTip(tr("Copy the versions and licences"));
    auto* close = new QPushButton(tr("Close"), this);
    buttons->addWidget(copy);
    buttons->addStretch();
    buttons->addWidget(close);
    column->addLayout(buttons);
    close->setDefault(true);
    connect(copy, &QPushButton::clicked, this, [text] {
        QGuiApplication::clipboard()->setText(versions() + u"\n\n"_s + text->toPlainText());
    });
    connect(close, &QPushButton::clicked, this, &QDialog::close);
    resize(600, 520);
    close->setFocus();
}

}  // namespace ui
