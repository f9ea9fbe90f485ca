#pragma once

#include "lab/instruments/instrument.h"

class QLabel;

namespace ui {

class WeightLens;
class WeightCurves;

/// One weight, magnified: its update at the step in each run, its course over the steps, and how
/// many updates in a row were lost.
class WeightInstrument final : public Instrument {
    Q_OBJECT
public:
    WeightInstrument(const Context& context, LessonModel* model,
                     const engine::LessonInstrument& instrument, QWidget* parent = nullptr);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    std::shared_ptr<engine::WeightWatch> watchOf(const std::string& run) const;
    QString lostInARow(const engine::WeightWatch& watch, std::int64_t step) const;

    Context context_;
    LessonModel* model_;
    engine::LessonInstrument instrument_;
    std::vector<std::string> runs_;
    std::vector<WeightLens*> lenses_;
    WeightCurves* curves_;
    QLabel* summary_;
    std::int64_t step_ = 0;
};

}  // namespace ui
