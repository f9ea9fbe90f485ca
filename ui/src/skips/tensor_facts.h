#pragma once

#include <QFormLayout>
#include <QScrollArea>

#include "skips/skips_model.h"

namespace ui {

/// The first non-finite tensor of the examined step: what made it, its type and shape, where it
/// broke, and what it was computed from. GUI thread.
class TensorFacts final : public QScrollArea {
    Q_OBJECT
public:
    explicit TensorFacts(SkipsModel* model, QWidget* parent = nullptr);
    QSize sizeHint() const override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void refresh();
    void addTensor(const engine::BadTensor& bad, std::int64_t operations);
    void add(const QString& name, const QString& value);

    SkipsModel* model_;
    QFormLayout* form_;
};

}  // namespace ui
