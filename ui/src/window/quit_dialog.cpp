#include "window/quit_dialog.h"

#include <QPushButton>

#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

QuitDialog::QuitDialog(QWidget* parent) : QDialog(parent) {
    setObjectName(u"quit"_s);
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowModality(Qt::WindowModal);
    setWindowTitle(tr("Quit while training?"));
    setMinimumWidth(420);
    auto* column = makeColumn(
        this, {size::inside * 2, size::inside * 2, size::inside * 2, size::inside}, size::inside);
    auto* title = makeTitle(tr("Quit while training?"), nullptr, this);
    column->addWidget(title);
    auto* text = makeProse(tr("The run stops after its current step. Its weights, its state and "
                              "the record of every step are saved, so that it can be resumed bit "
                              "for bit: select it under Runs and choose Resume."),
                           nullptr, this);
    column->addWidget(text);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    auto* stay = new QPushButton(tr("Keep training"), this);
    auto* quit = withName(new QPushButton(tr("Save and quit"), this), u"primary"_s);
    stay->setDefault(true);
    addWidgets(buttons, {stay, quit});
    column->addLayout(buttons);
    setAccessibleDescription(text->text());
    stay->setFocus();
    connect(stay, &QPushButton::clicked, this, &QDialog::reject);
    connect(quit, &QPushButton::clicked, this, [this, stay, quit, text] {
        stay->setEnabled(false);
        quit->setEnabled(false);
        text->setText(tr("Saving: the current step ends first, then the checkpoint is written."));
        emit quitWanted();
    });
}

}  // namespace ui
