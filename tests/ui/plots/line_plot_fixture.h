#pragma once

#include <gtest/gtest.h>

#include <QTest>

#include "feed/run_track.h"
#include "plots/line_plot.h"
#include "plots/plot_options.h"
#include "support/list_source.h"
#include "theme/theme.h"

namespace ui {

/// A run whose loss is 1, 1/2, 1/3 ...; it may skip a step, and pause for a minute after one.
inline std::shared_ptr<RunTrack> trackOf(std::int64_t rows, double secondsPerStep,
                                         std::int64_t skippedStep = 0, std::int64_t pauseAt = 0) {
    std::vector<engine::StepRecord> list;
    for (std::int64_t step = 1; step <= rows; ++step) {
        engine::StepRecord row{};
        row.step = step;
        row.updates = step - (skippedStep > 0 && step >= skippedStep ? 1 : 0);
        row.samples = 32 * step;
        row.elapsed_s = secondsPerStep * static_cast<double>(step);
        if (pauseAt > 0) row.clock_s = 1.7e9 + row.elapsed_s + (step > pauseAt ? 60 : 0);
        row.loss = 1.f / static_cast<float>(step);
        row.loss_scale = 1024;
        row.scale_ceiling = 65536;
        row.found_inf = step == skippedStep ? 1 : 0;
        list.push_back(row);
    }
    auto track = std::make_shared<RunTrack>("1", engine::RunConfig{});
    track->setSource(listSource(std::move(list)));
    while (track->catchUp(QDeadlineTimer(1000))) continue;
    return track;
}

/// Plots of these runs on one link.
struct LinePlotFixture : testing::Test {
    Curve curve(const QString& name, const std::shared_ptr<RunTrack>& track,
                Figure figure = &engine::StepRecord::loss) {
        return {name, Qt::blue, false, &track->series(figure), &track->axis(), track};
    }
    void addRun(const QString& name, const std::shared_ptr<RunTrack>& track) {
        content.curves.push_back(curve(name, track));
        content.skips.push_back(curve(name, track, &engine::StepRecord::found_inf));
        axes.emplace_back(track, &track->axis());
        link.options()->setRuns(axes);
        link.setEnd(std::max(link.end(), static_cast<double>(track->rows())));
    }
    std::unique_ptr<LinePlot> show(PlotLook look = {}, QSize size = {600, 300}) {
        auto plot = std::make_unique<LinePlot>(&theme, &link, &scheduler);
        plot->setLook(std::move(look));
        plot->setContent(content);
        plot->resize(size);
        plot->show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(plot.get()));
        for (int i = 0; i < 3; ++i) plot->paintNow();
        return plot;
    }
    static QPoint pixel(const LinePlot& plot, double x) {
        return {static_cast<int>(plot.xAxis->coordToPixel(x)), plot.axisRect()->center().y()};
    }

    Theme theme{Theme::Choice::light};
    PlotLink link;
    PaintScheduler scheduler;
    PlotContent content;
    std::vector<std::shared_ptr<const RowAxis>> axes;
};

}  // namespace ui
