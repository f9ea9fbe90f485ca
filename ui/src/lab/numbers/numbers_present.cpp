#include "lab/numbers/numbers_present.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScreen>
#include <QVBoxLayout>

#include "lab/numbers/calculator_card.h"
#include "lab/numbers/guess_card.h"
#include "lab/numbers/numbers_view.h"
#include "theme/theme.h"
#include "widgets/key_rule.h"

namespace ui {

using namespace Qt::StringLiterals;

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
        auto* column = new QVBoxLayout(page);
        column->setContentsMargins(size::gap, size::gap, size::gap, size::gap);
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

}  // namespace ui
