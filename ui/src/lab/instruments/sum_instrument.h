#pragma once

#include <QLabel>

#include "engine/number/number_arithmetic.h"
#include "lab/instruments/instrument.h"

namespace ui {

class WeightCurves;

/// A sum of equal terms in a format: how it grows compared with the exact sum, and after how many
/// terms it stalls. Computed off the window's thread.
class SumInstrument final : public Instrument {
    Q_OBJECT
public:
    SumInstrument(const Context& context, const engine::LessonInstrument& instrument,
                  QWidget* parent = nullptr);
    QString title() const override;
    void showStep(std::int64_t) override {}

private:
    void compute();
    void show(const engine::SumResult& result);

    Context context_;
    engine::LessonBlockNumber number_;
    WeightCurves* curves_;
    QLabel* words_;
};

}  // namespace ui
