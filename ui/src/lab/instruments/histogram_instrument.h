#pragma once

#include <QPainter>
#include <map>
#include <optional>

#include "engine/record/histogram_record.h"
#include "lab/instruments/instrument.h"

namespace ui {

/// How many values of a tensor have which exponent, at the sample nearest to the step, one run
/// above the other. Read off the window's thread.
class HistogramInstrument final : public Instrument {
    Q_OBJECT
public:
    HistogramInstrument(const Context& context, LessonModel* model,
                        const engine::LessonInstrument& instrument, QWidget* parent = nullptr);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    /// A step, and whether the run has ended.
    using Asked = std::pair<std::int64_t, bool>;
    struct Shown {
        std::int64_t step = 0;
        engine::ExponentHistogram values;
    };
    void paintRun(QPainter& painter, const QRectF& area, const std::string& run) const;
    void read(const std::string& run, const std::filesystem::path& folder, const Asked& asked);

    Context context_;
    LessonModel* model_;
    engine::LessonInstrument instrument_;
    std::vector<std::string> runs_;
    std::map<std::string, Shown> shown_;
    std::map<std::string, Asked> asked_;  ///< what is being read, or was
};

}  // namespace ui
