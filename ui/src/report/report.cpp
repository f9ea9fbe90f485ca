#include "ui/report.h"

#include <QApplication>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "feed/event_feed.h"
#include "panels/plots/plot_panels.h"
#include "pdf/report_file.h"
#include "plots/paint_scheduler.h"
#include "plots/plot_link.h"
#include "report/report_page.h"
#include "resources/resources.h"
#include "text/language.h"
#include "theme/theme.h"

namespace ui {

using engine::msg;

namespace {

/// Qt draws text only where an application is; one without a screen will do.
std::unique_ptr<QApplication> applicationWithoutScreen() {
    if (QCoreApplication::instance() != nullptr) return nullptr;
    static int argc = 1;
    static char name[] = "halftone";
    static char* argv[] = {name, nullptr};
    qputenv("QT_QPA_PLATFORM", "offscreen");
    initResources();
    nameProgram();
    return std::make_unique<QApplication>(argc, argv);
}

constexpr QSize plotSize{1000, 400};

[[noreturn]] void refuse(const std::filesystem::path& file) {
    throw engine::Error(engine::ErrorCode::io, msg("{}: cannot be written.", file.string()),
                        msg("Choose a folder that you may write to."));
}

std::vector<engine::RunSummary> find(const engine::RunStore& store,
                                     const std::vector<std::string>& runs) {
    std::vector<engine::RunSummary> found;
    for (const auto& run : runs) {
        const auto summary = store.find(run);
        if (!summary) throw engine::Error(engine::ErrorCode::data, msg("There is no run {}.", run));
        found.push_back(*summary);
    }
    return found;
}

/// Everything that plots need from the window, without a window.
class Stage {
public:
    Stage(std::shared_ptr<engine::RunStore> store, const std::vector<engine::RunSummary>& runs) {
        feed_.setStore(std::move(store));
        feed_.showStored(runs);
        feed_.readAll();
        std::int64_t end = 1;
        for (const auto& track : feed_.tracks()) end = std::max(end, track->rows());
        link_.setEnd(static_cast<double>(end));
    }

    TrackList tracks() const { return feed_.tracks(); }

    ReportPlot draw(const PlotSpec& spec, const QString& name,
                    const std::filesystem::path& folder) {
        Context context;
        context.theme = &theme_;
        context.feed = &feed_;
        context.link = &link_;
        context.scheduler = &scheduler_;
        PlotPanel panel(context, {spec});
        PlotPicture picture = panel.picture(&theme_);
        picture.size = plotSize;
        const auto file = folder / name.toStdString();
        if (!writePicture(picture, QString::fromStdString(file.string()))) refuse(file);
        return {name, spec.title, spec.note};
    }

    /// The primary metric of the runs, under its key: accuracy.png.
    ReportPlot drawMetric(const std::filesystem::path& folder) {
        const auto list =
            tracks().empty() ? std::vector<engine::Metric>{} : tracks().front()->metrics();
        const PlotSpec spec =
            metricSpecs(list.empty() ? engine::classification_metrics() : list).front();
        return draw(spec, QString::fromStdString(spec.metric) + u".png"_s, folder);
    }

private:
    Theme theme_{Theme::Choice::light};
    Language language_;
    PlotLink link_;
    PaintScheduler scheduler_;
    EventFeed feed_;
};

void writePage(const std::filesystem::path& path, const QString& page) {
    engine::write_named_file(path, page.toStdString());
}

}  // namespace

void write_report(const std::shared_ptr<engine::RunStore>& store, const ReportContent& content,
                  const std::filesystem::path& folder) {
    const auto application = applicationWithoutScreen();
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) refuse(folder);
    Stage stage(store, find(*store, content.runs));
    const std::vector<ReportPlot> plots = {
        stage.draw(lossSpec(), u"loss.png"_s, folder), stage.drawMetric(folder),
        stage.draw(lossScaleSpec(), u"loss-scale.png"_s, folder),
        stage.draw(diagnosticSpecs("samples").front(), u"gradient-norm.png"_s, folder)};
    writePage(folder / "report.html", reportPage(stage.tracks(), content.verdicts, plots));
}

void write_report_file(const engine::Report& report, const std::filesystem::path& file) {
    const auto application = applicationWithoutScreen();
    std::optional<Language> language;
    if (application) language.emplace();
    writeReportFile(report, file);
}

}  // namespace ui
