#pragma once

#include <QLabel>
#include <map>
#include <set>

#include "engine/instruments/skip_report.h"
#include "lab/instruments/instrument.h"

namespace ui {

/// The skipped or non-finite step at or before the current one, with its verdict. Examined off the
/// window's thread once the runs are paused or have ended.
class SkipInstrument final : public Instrument {
    Q_OBJECT
public:
    SkipInstrument(const Context& context, LessonModel* model,
                   const engine::LessonInstrument& instrument, QWidget* parent = nullptr);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    struct Examined {
        engine::SkipReport report;
        engine::Message problem;
    };
    std::int64_t skipBefore(std::int64_t step) const;
    void examine(std::int64_t step);
    void show();
    void showReport(const Examined& examined);

    Context context_;
    LessonModel* model_;
    int run_ = -1;  ///< of the lesson's runs
    QLabel* headline_;
    QLabel* details_;
    std::int64_t at_ = 0;
    bool skipped_ = false;  ///< else nothing skipped it
    std::map<std::int64_t, Examined> examined_;
    std::set<std::int64_t> asked_;
};

}  // namespace ui
