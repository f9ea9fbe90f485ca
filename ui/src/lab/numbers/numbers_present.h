#pragma once

#include <QStackedWidget>

#include "view/context.h"

namespace ui {

class CalculatorModel;
class NumberModel;

/// The number playground for a projector: full screen, in larger type, in three parts that
/// PageDown and PageUp turn. It works on the models of the page, so the number stays. Escape and F5
/// close it.
class NumbersPresent final : public QStackedWidget {
    Q_OBJECT
public:
    NumbersPresent(const Context& context, NumberModel* number, CalculatorModel* calculator,
                   QWidget* parent);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void turn(int by);
};

}  // namespace ui
