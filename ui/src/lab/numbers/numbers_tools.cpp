#include "lab/numbers/numbers_tools.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QScreen>
#include <QTimer>

#include "lab/numbers/calculator_model.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/numbers_present.h"
#include "lab/numbers/numbers_view.h"
#include "theme/theme.h"
#include "view/kept.h"
#include "widgets/elided_label.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int saidFor = 1500;  // milliseconds

}  // namespace

LabView makeNumbersView(const Context& context, QWidget* parent) {
    auto* number = kept<NumberModel>(context, parent);
    auto* calculator = kept<CalculatorModel>(context, parent);
    if (!number->problem().isEmpty()) number->setText(number->text());  // in the language of now
    return {new NumbersView(context, number, calculator, parent),
            new NumbersTools(context, number, calculator, parent)};
}

NumbersTools::NumbersTools(const Context& context, NumberModel* number, CalculatorModel* calculator,
                           QWidget* parent)
    : QWidget(parent), context_(context), number_(number), calculator_(calculator) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::gap);
    auto* hint = new ElidedLabel(this);
    hint->setProperty("role", QStringLiteral("dim"));
    hint->setFont(Theme::caption());
    hint->setText(
        tr("click a bit to flip it · drag the blue line · round to nearest, ties to "
           "even, with the engine's own conversions"));
    row->addWidget(hint, 1);
    auto* copy = new QPushButton(tr("Copy as lesson block"), this);
    copy->setToolTip(tr("Puts the number and the sum into a block for a lesson file"));
    row->addWidget(copy);
    auto* present = new QPushButton(tr("Present"), this);
    present->setToolTip(tr("Full screen, in larger type; PageDown and PageUp turn the parts (F5)"));
    present->setShortcut(Qt::Key_F5);
    row->addWidget(present);
    connect(present, &QPushButton::clicked, this, &NumbersTools::present);
    connect(copy, &QPushButton::clicked, this, [this, copy] {
        QGuiApplication::clipboard()->setText(lessonBlock());
        copy->setText(tr("Copied"));
        QTimer::singleShot(saidFor, copy, [copy] { copy->setText(tr("Copy as lesson block")); });
    });
}

QString NumbersTools::lessonBlock() const {
    return u"```instrument\n"_s + number_->lessonLine() +
           calculator_->lessonLine(number_->format()) + u"```\n"_s;
}

void NumbersTools::present() {
    auto* shown = new NumbersPresent(context_, number_, calculator_, window());
    shown->setGeometry(window()->screen()->geometry());  // where there is no window manager
    shown->showFullScreen();
    shown->activateWindow();
}

}  // namespace ui
