#pragma once

#include <QFormLayout>
#include <QWidget>

#include "skips/skips_model.h"

namespace ui {

/// The first non-finite tensor of the examined step: what made it, its type and shape, where it
/// broke, and what it was computed from. GUI thread.
class TensorFacts final : public QWidget {
    Q_OBJECT
public:
    explicit TensorFacts(SkipsModel* model, QWidget* parent = nullptr);

private:
    void refresh();
    void add(const QString& name, const QString& value);

    SkipsModel* model_;
    QFormLayout* form_;
};

}  // namespace ui
