#include "panels/step/scale_strip.h"

#include <gtest/gtest.h>

#include <QDeadlineTimer>
#include <QImage>
#include <cmath>

#include "feed/run_track.h"
#include "support/list_source.h"
#include "theme/theme.h"

namespace ui {
namespace {

std::shared_ptr<RunTrack> trackWith(const std::string& preset) {
    std::vector<engine::StepRecord> rows(100);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].step = static_cast<std::int64_t>(i + 1);
        rows[i].loss_scale = 1024;
    }
    engine::RunConfig config;
    config.precision.preset = preset;
    auto track = std::make_shared<RunTrack>("1", config);
    track->setSource(listSource(std::move(rows)));
    while (track->catchUp(QDeadlineTimer(1000))) continue;
    return track;
}

/// Pixels in the middle of the strip that have the colour of the step's line.
int linePixels(ScaleStrip& strip, const QRect& where, const QColor& line) {
    const QImage image = strip.grab(where).toImage();
    int found = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            found += image.pixelColor(x, y).rgb() == line.rgb() ? 1 : 0;
    return found;
}

/// U6: the words were struck through by the line of the selected step.
TEST(ScaleStrip, TheLineOfTheStepDoesNotStrikeItsWordsThrough) {
    Theme theme;
    theme.setChoice(Theme::Choice::light);
    ScaleStrip strip(&theme);
    strip.resize(300, 30);
    const QColor accent = theme.tokens().accent;
    strip.setTrack(trackWith("amp-fp16"));
    const QRect middle = strip.noneRect();
    for (const std::int64_t step : {40, 50, 60}) {
        strip.setSelected(step);
        EXPECT_GT(linePixels(strip, middle, accent), 0) << "the line of a run with a scaler";
    }
    strip.setTrack(trackWith("fp32"));
    for (const std::int64_t step : {40, 50, 60}) {
        strip.setSelected(step);
        EXPECT_EQ(linePixels(strip, middle, accent), 0) << step;
        EXPECT_GT(linePixels(strip, strip.rect(), accent), 0) << "it goes on above and below";
    }
}

}  // namespace
}  // namespace ui
