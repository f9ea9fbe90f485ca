#pragma once

#include "lab/instruments/instrument.h"

namespace ui {

/// A number as a format stores it: its bits in groups, the exact value, the error and its two
/// neighbours.
class BitsInstrument final : public Instrument {
    Q_OBJECT
public:
    BitsInstrument(const Context& context, const engine::LessonInstrument& instrument,
                   QWidget* parent = nullptr);
    QString title() const override;
    void showStep(std::int64_t) override {}
    QSize sizeHint() const override { return {360, 8 * fontMetrics().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Context context_;
    engine::LessonBlockNumber number_;
};

}  // namespace ui
