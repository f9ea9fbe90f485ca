#pragma once

#include <QStackedWidget>
#include <QWidget>

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

/// Widgets of the page bar beside the views' names while Numbers is shown.
class NumbersTools final : public QWidget {
    Q_OBJECT
public:
    NumbersTools(const Context& context, NumberModel* number, CalculatorModel* calculator,
                 QWidget* parent = nullptr);

    /// Fenced block of a lesson that shows the number and, if the calculator has one, the sum.
    QString lessonBlock() const;

private:
    void present();

    Context context_;
    NumberModel* number_;
    CalculatorModel* calculator_;
};

}  // namespace ui
