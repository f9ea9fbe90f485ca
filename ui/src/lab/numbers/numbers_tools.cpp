#include "lab/numbers/numbers_tools.h"

#include <QApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QTimer>

#include "lab/numbers/calculator_card.h"
#include "lab/numbers/calculator_model.h"
#include "lab/numbers/guess_card.h"
#include "lab/numbers/number_model.h"
#include "lab/numbers/numbers_view.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr double most = 1.8;
constexpr double cardsLarger = 1.4;  // they have room
/// Heights of a line that the bit table needs side by side.
constexpr int linesWide = 59;

/// As much larger as the screen has room for the bits of FP32.
double enlargement(int width, const QFontMetrics& metrics) {
    return std::clamp(static_cast<double>(width) / (linesWide * metrics.height()), 1.0, most);
}

}  // namespace

NumbersPresent::NumbersPresent(const Context& context, NumberModel* number,
                               CalculatorModel* calculator, QWidget* parent)
    : QStackedWidget(parent) {
    setWindowFlags(Qt::Window);
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Numbers"));
    setObjectName(u"present"_s);
    // A style sheet, since the application's keeps a font that is set here from the children.
    const QFont font = QApplication::font();
    const double larger = enlargement(screen()->geometry().width(), QFontMetrics(font));
    setStyleSheet(u"* { font-size: %1pt; }"_s.arg(font.pointSizeF() * larger));
    const auto add = [this](QWidget* part) {
        auto* page = new QWidget(this);
        auto* column = makeColumn(page, {size::gap, size::gap, size::gap, size::gap});
        part->setParent(page);
        column->addWidget(part);
        addWidget(page);
    };
    add(new NumbersView(context, number, nullptr, this));
    add(new CalculatorCard(context, number, calculator, this));
    auto* cards = new GuessCards(context.theme, number, this);
    cards->setStyleSheet(u"* { font-size: %1pt; }"_s.arg(font.pointSizeF() * larger * cardsLarger));
    add(cards);
    claimKeys(this, {Qt::Key_PageDown, Qt::Key_PageUp, Qt::Key_Escape, Qt::Key_F5});
}

void NumbersPresent::turn(int by) {
    setCurrentIndex(std::clamp(currentIndex() + by, 0, QStackedWidget::count() - 1));
    if (auto* field = currentWidget()->findChild<QLineEdit*>()) field->setFocus();
}

void NumbersPresent::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_PageDown:
            return turn(1);
        case Qt::Key_PageUp:
            return turn(-1);
        case Qt::Key_Escape:
        case Qt::Key_F5:
            close();
            return;
        default:
            QStackedWidget::keyPressEvent(event);
    }
}

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
    auto* row = makeRow(this, {}, size::gap);
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
