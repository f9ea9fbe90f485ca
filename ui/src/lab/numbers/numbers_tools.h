#pragma once

#include <QWidget>

#include "view/context.h"

namespace ui {

class CalculatorModel;
class NumberModel;

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
