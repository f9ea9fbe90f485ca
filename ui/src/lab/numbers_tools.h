#pragma once

#include <QWidget>

#include "view/context.h"

namespace ui {

class NumberModel;

/// What the page bar holds beside the views' names while Numbers is shown.
class NumbersTools final : public QWidget {
    Q_OBJECT
public:
    NumbersTools(NumberModel* model, QWidget* parent = nullptr);
};

}  // namespace ui
