#pragma once

#include <QFrame>
#include <array>

#include "engine/instruments/xray.h"

namespace ui {

class ElidedLabel;
class XrayModel;

/// Sums over the traced step: time, types, casts, operations kept in FP32, arithmetic. In the
/// difference view the figures of both precisions. GUI thread.
class TotalsStrip final : public QFrame {
    Q_OBJECT
public:
    explicit TotalsStrip(XrayModel* model, QWidget* parent = nullptr);

private:
    enum Part { time, types, casts, kept, arithmetic, parts };
    void refresh();
    void showTrace(const engine::Xray& trace);
    void showDifference(const engine::Xray& own, const engine::Xray& other);
    void set(Part part, const QString& total, const QString& note);

    XrayModel* model_;
    std::array<ElidedLabel*, parts> totals_{};
    std::array<ElidedLabel*, parts> notes_{};
};

}  // namespace ui
