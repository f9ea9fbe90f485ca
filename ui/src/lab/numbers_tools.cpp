#include "lab/numbers_tools.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QTimer>

#include "lab/number_model.h"
#include "lab/numbers_view.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int saidFor = 1500;  // milliseconds

}  // namespace

LabView makeNumbersView(const Context& context, QWidget* parent) {
    auto* model = new NumberModel(parent);
    return {new NumbersView(context, model, parent), new NumbersTools(model, parent)};
}

NumbersTools::NumbersTools(NumberModel* model, QWidget* parent) : QWidget(parent) {
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
    connect(copy, &QPushButton::clicked, this, [model, copy] {
        QGuiApplication::clipboard()->setText(u"```instrument\n"_s + model->lessonLine() +
                                              u"```\n"_s);
        copy->setText(tr("Copied"));
        QTimer::singleShot(saidFor, copy, [copy] { copy->setText(tr("Copy as lesson block")); });
    });
}

}  // namespace ui
