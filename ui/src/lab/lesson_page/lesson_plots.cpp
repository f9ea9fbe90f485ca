#include "lab/lesson_page/lesson_plots.h"

#include <algorithm>
#include <cmath>

#include "feed/run_track.h"
#include "lab/lessons/lesson_runs.h"
#include "lab/lessons/run_style.h"
#include "plots/line_plot.h"
#include "plots/plot_link.h"
#include "plots/plot_options.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
namespace {

constexpr double formerOpacity = 0.3;
constexpr int plotHeight = 168;  // pixels, of one of several
constexpr int soleHeight = 240;
constexpr int lowHeight = 100;

bool isShare(const std::string& column) {
    return column.ends_with("_share") || column == "accuracy";
}

bool isNoisy(const std::string& column) {
    return column == "loss" || column == "accuracy" || column == "grad_norm" ||
           column.ends_with("_ms") || column == "samples_per_s";
}

/// A series that was drawn by hand: a value for each step up to the curve's end.
std::shared_ptr<SeriesPyramid> drawnSeries(const QList<QPointF>& curve) {
    const auto end = static_cast<std::int64_t>(std::llround(curve.last().x()));
    auto values = std::make_shared<std::vector<double>>(static_cast<std::size_t>(end), NAN);
    for (qsizetype i = 0; i + 1 < curve.size(); ++i) {
        const QPointF a = curve[i], b = curve[i + 1];
        const auto from = static_cast<std::int64_t>(std::ceil(std::max(1.0, a.x())));
        for (auto step = from; step <= std::min<std::int64_t>(end, std::llround(b.x())); ++step) {
            const double part = (static_cast<double>(step) - a.x()) / std::max(1e-9, b.x() - a.x());
            (*values)[static_cast<std::size_t>(step - 1)] = a.y() + part * (b.y() - a.y());
        }
    }
    auto series =
        std::make_shared<SeriesPyramid>([values](std::int64_t first, std::span<double> out) {
            std::copy_n(values->begin() + first, out.size(), out.begin());
        });
    series->append(*values);
    return series;
}

}  // namespace

QString columnTitle(const std::string& column) {
    const std::map<std::string, QString> names{
        {"loss", LessonPlots::tr("loss")},
        {"accuracy", LessonPlots::tr("accuracy")},
        {"loss_scale", LessonPlots::tr("loss scale")},
        {"grad_norm", LessonPlots::tr("gradient norm")},
        {"grad_max", LessonPlots::tr("largest gradient")},
        {"grad_zero_share", LessonPlots::tr("gradients that are 0")},
        {"lost_update_share", LessonPlots::tr("updates lost, share of all")},
        {"f16_zero_share", LessonPlots::tr("FP16 gradients that became 0")},
        {"f16_subnormal_share", LessonPlots::tr("FP16 gradients that are subnormal")},
        {"f16_overflow_share", LessonPlots::tr("FP16 gradients that overflowed")},
        {"found_inf", LessonPlots::tr("skipped steps")},
        {"growth_tracker", LessonPlots::tr("steps since the scale changed")},
        {"lr", LessonPlots::tr("learning rate")},
        {"updates", LessonPlots::tr("updates applied")},
        {"step_ms", LessonPlots::tr("step time (ms)")},
        {"samples_per_s", LessonPlots::tr("samples/s")},
        {"peak_bytes", LessonPlots::tr("peak memory")},
        {"memory_bytes", LessonPlots::tr("memory")}};
    const auto found = names.find(column);
    return found == names.end() ? QString::fromStdString(column) : found->second;
}

std::optional<Figure> figureNamed(const RunTrack& track, const std::string& column) {
    if (const auto metric = track.metricFigure(column)) return metric;
    std::optional<Figure> found;
    engine::for_each_field([&](std::string_view name, auto member) {
        if (name == column) found = Figure(member);
    });
    return found;
}

LessonPlots::LessonPlots(const Context& context, const LessonRuns* runs, engine::Lesson lesson,
                         Size size, QWidget* parent)
    : QWidget(parent), context_(context), runs_(runs), lesson_(std::move(lesson)), size_(size) {
    auto* all =
        new QBoxLayout(size_.fits ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom, this);
    all->setContentsMargins(0, 0, 0, 0);
    all->setSpacing(2);
    for (const auto& plot : lesson_.plots) {
        auto* column = makeColumn(2);
        all->addLayout(column, !size_.fits && plot.column == "found_inf" ? 0 : 1);
        auto* title = makeLabel(
            columnTitle(plot.column) + (plot.logarithmic ? tr(", logarithmic") : QString()), "dim",
            this);
        column->addWidget(title);
        auto* made = new LinePlot(context_.theme, runs_->link(), context_.scheduler, this);
        made->setMinimumHeight(height(plot));
        setWheelScrolls(made);
        made->setLook(look(plot));
        column->addWidget(made, 1);
        plots_.push_back(made);
    }
    connect(runs_, &LessonRuns::tracksChanged, this, &LessonPlots::rebuild);
    connect(runs_, &LessonRuns::measured, this, &LessonPlots::rebuild);
    connect(context_.theme, &Theme::changed, this, &LessonPlots::rebuild);
    rebuild();
}

int LessonPlots::height(const engine::LessonPlot& plot) const {
    if (plot.column == "found_inf" || size_.fits)
        return static_cast<int>(lowHeight * std::sqrt(size_.scale));
    return lesson_.plots.size() > 1 ? plotHeight : soleHeight;
}

PlotLook LessonPlots::look(const engine::LessonPlot& plot) const {
    PlotLook look;
    const bool scale = plot.column == "loss_scale";
    look.stairs = scale || plot.column == "growth_tracker" || plot.column == "found_inf";
    look.axis = scale                             ? AxisKind::log2
                : plot.logarithmic                ? AxisKind::log
                : isShare(plot.column)            ? AxisKind::share
                : plot.column.ends_with("_bytes") ? AxisKind::bytes
                : look.stairs                     ? AxisKind::whole
                                                  : AxisKind::linear;
    look.smooth = isNoisy(plot.column);
    look.curveWidth = size_.curveWidth;
    look.textScale = size_.scale;
    look.title = columnTitle(plot.column);
    look.axisName = look.title;
    look.emptyText = lesson_.predictions.empty() ? tr("Run the lesson.") : tr("Predict, then run.");
    if (scale) look.figure = [](double value) { return powerOfTwo(value); };
    if (isShare(plot.column)) look.figure = [](double value) { return percent(value); };
    return look;
}

void LessonPlots::setGuesses(const std::map<QString, Guess>& guesses) {
    if (guesses == guesses_) return;
    guesses_ = guesses;
    rebuild();
}

void LessonPlots::setMeasuredShown(bool shown) {
    if (shown == measured_) return;
    measured_ = shown;
    rebuild();
}

void LessonPlots::rebuild() {
    std::vector<std::shared_ptr<const RowAxis>> axes;
    for (const auto& track : runs_->tracks()) axes.emplace_back(track, &track->axis());
    runs_->link()->options()->setRuns(std::move(axes));
    for (std::size_t i = 0; i < plots_.size(); ++i)
        plots_[i]->setContent(content(lesson_.plots[i]));
}

PlotContent LessonPlots::content(const engine::LessonPlot& plot) const {
    PlotContent content;
    addRuns(content, plot);
    addDrawn(content, plot);
    addMarks(content, plot);
    return content;
}

void LessonPlots::addRuns(PlotContent& content, const engine::LessonPlot& plot) const {
    const Tokens& t = context_.theme->tokens();
    const auto add = [&](const TrackList& tracks, std::size_t run, bool former) {
        const auto& track = tracks[run];
        const bool wanted =
            plot.runs.empty() ||
            (run < lesson_.runs.size() &&
             std::ranges::find(plot.runs, lesson_.runs[run].name) != plot.runs.end());
        if (!wanted || track->rows() == 0) return;
        const auto figure = figureNamed(*track, plot.column);
        if (!figure) return;
        RunStyle style = runStyle(*context_.theme, tracks, run);
        if (former) style.color = blend(t.panel, style.color, formerOpacity);
        content.curves.push_back({former ? QString() : track->tag, style.color, style.dashed,
                                  &track->series(*figure), &track->axis(), track});
    };
    for (const auto& tracks : runs_->former()) {
        for (std::size_t i = 0; i < tracks.size(); ++i) add(tracks, i, true);
    }
    const TrackList now = runs_->tracks();
    for (std::size_t i = 0; i < now.size(); ++i) add(now, i, false);
}

void LessonPlots::addDrawn(PlotContent& content, const engine::LessonPlot& plot) const {
    for (const auto& prediction : lesson_.predictions) {
        const bool here =
            prediction.kind == engine::Prediction::Kind::curve && prediction.column == plot.column;
        const auto guess = guesses_.find(QString::fromStdString(prediction.id));
        if (!here || guess == guesses_.end() || guess->second.curve.size() < 2) continue;
        const auto series = drawnSeries(guess->second.curve);
        content.curves.push_back(
            {tr("you"), context_.theme->tokens().accent, true, series.get(), nullptr, series});
    }
}

void LessonPlots::addMarks(PlotContent& content, const engine::LessonPlot& plot) const {
    const Tokens& t = context_.theme->tokens();
    for (const auto& prediction : lesson_.predictions) {
        const auto* check = engine::find_check(lesson_, prediction.id);
        if (check == nullptr || !check->value) continue;
        // A step is a vertical line in all plots; a value of this column a level one.
        const std::string& text = check->value->text();
        const bool step = text.starts_with("first");
        const bool level = !step && text.find('.' + plot.column) != std::string::npos &&
                           text.find_first_of("/*<>") == std::string::npos;
        if (!step && !level) continue;
        const Question question = questionOf(prediction);
        const auto add = [&](double value, const QString& words, const QColor& color, bool dashed) {
            if (!std::isfinite(value)) return;
            content.marks.push_back({{value, nullptr}, words, color, dashed, level, value});
        };
        const auto guess = guesses_.find(question.id);
        if (guess != guesses_.end() && !guess->second.empty())
            add(guess->second.number, tr("you: %1").arg(written(question, guess->second)), t.accent,
                true);
        const auto& results = runs_->snapshot().checks;
        const auto at = std::ranges::find(results, prediction.id, &engine::CheckResult::id);
        if (!measured_ || at == results.end() || !at->final || !at->value) continue;
        if (const auto* value = std::get_if<double>(&*at->value))
            add(*value, tr("measured: %1").arg(written(question, at->value)), t.text, false);
    }
}

}  // namespace ui
