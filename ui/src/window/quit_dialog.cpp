#include "window/quit_dialog.h"

#include <QPushButton>

#include "theme/theme.h"
#include "theme/tokens.h"
#include "widgets/panel.h"

namespace ui {

QuitDialog::QuitDialog(bool canTrainOn, QWidget* parent) : QDialog(parent) {
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
    if (canTrainOn)
        column->addWidget(makeProse(tr("Or it goes on without the window, in a process of its own: "
                                       "the next window shows it and can stop it."),
                                    nullptr, this));
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    auto* stay = new QPushButton(tr("Keep training"), this);
    auto* quit = withName(new QPushButton(tr("Save and quit"), this), u"primary"_s);
    stay->setDefault(true);
    auto* trainOn = new QPushButton(tr("Train on without the window"), this);
    trainOn->setVisible(canTrainOn);
    addWidgets(buttons, {stay, trainOn, quit});
    column->addLayout(buttons);
    setAccessibleDescription(text->text());
    stay->setFocus();
    connect(stay, &QPushButton::clicked, this, &QDialog::reject);
    const auto leave = [stay, quit, trainOn, text] {
        for (QPushButton* button : {stay, quit, trainOn}) button->setEnabled(false);
        text->setText(tr("Saving: the current step ends first, then the checkpoint is written."));
    };
    connect(quit, &QPushButton::clicked, this, [this, leave] {
        leave();
        emit quitWanted();
    });
    connect(trainOn, &QPushButton::clicked, this, [this, leave] {
        leave();
        emit trainOnWanted();
    });
}

}  // namespace ui
