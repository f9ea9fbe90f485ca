#include "engine/report/report.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "engine/record/figures.h"
#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"
#include "engine/train/machine.h"
#include "io/file/work_progress.h"
#include "report/report_tables.h"
#include "report/svg_plot.h"
#include "runs/run_folder.h"

namespace engine {
namespace {

constexpr std::int64_t rows_at_once = 16384;

std::string preset_title(const RunConfig& config) {
    return title_of(precisions(), config.precision.preset);
}

/// "4,482"
std::string whole(std::int64_t value) {
    std::string text = std::to_string(value);
    for (auto at = std::ssize(text) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

/// The colours of the window's light theme for curves that stand for no precision (theme/tokens.h
/// in the window's folder; a test of it compares them).
constexpr std::array own_colors = {"#1b8fb8", "#6f8a12", "#2f2a86", "#9c1273", "#5d3a1a"};

/// A run with its record, what the report calls it, and what it shows of its events.
struct Reported {
    const RunSummary* listed = nullptr;
    StepRecordReader record;
    std::string name;
    ReportedEvents events;
    KeyFigures figures{};

    const RunSummary& summary() const { return *listed; }
    const RunConfig& config() const { return listed->config; }
};

Reported reported(const RunSummary& listed) {
    const std::string& title = listed.title.empty() ? listed.run : listed.title;
    Reported out{&listed, StepRecordReader::open(listed.folder),
                 preset_title(listed.config) + " · " + title, ReportedEvents(listed.folder)};
    out.figures = key_figures(out.record, out.events.figures());
    return out;
}

std::vector<Message> row(const Message& head, const std::vector<Reported>& runs,
                         const std::function<std::string(const Reported&)>& cell) {
    std::vector<Message> out = {head};
    for (const Reported& run : runs) out.emplace_back(cell(run));
    return out;
}

ReportTable run_table(const std::vector<Reported>& runs) {
    ReportTable out;
    const auto add = [&](const Message& head, auto cell) {
        out.rows.push_back(row(head, runs, cell));
    };
    add(msg("Run"), [](const Reported& run) { return run.name; });
    add(msg("Data set and model"), [](const Reported& run) {
        return choice_title("dataset.kind", dataset_name(run.summary())) + ", " +
               choice_title("model.kind", model_name(run.summary()));
    });
    const bool broken = std::ranges::any_of(
        runs, [](const Reported& run) { return !broken_on_purpose(run.config()).empty(); });
    if (broken) {
        add(msg("Broken on purpose"),
            [](const Reported& run) { return broken_on_purpose_text(run.config()); });
    }
    add(msg("State"), [](const Reported& run) { return run.summary().state; });
    add(msg("Test loss"),
        [](const Reported& run) { return number_or_dash("%.4g", run.summary().test.loss); });
    for (const Metric& metric : runs.front().summary().metrics) {
        add(msg("Test {}", metric_words(metric)), [metric](const Reported& run) {
            return metric_text(metric, run.summary().test.of(metric.key));
        });
    }
    add(msg("Steps"), [](const Reported& run) { return whole(run.summary().steps); });
    add(msg("Skipped steps"), [](const Reported& run) { return whole(run.summary().skipped); });
    add(msg("Growths of the loss scale"),
        [](const Reported& run) { return std::to_string(run.figures.growths); });
    add(msg("Mean time per step"), [](const Reported& run) {
        return std::isnan(run.figures.step_ms) ? "–"
                                               : number_or_dash("%.4g ms", run.figures.step_ms);
    });
    add(msg("Training time"),
        [](const Reported& run) { return number_or_dash("%.4g s", run.summary().wall_s); });
    add(msg("Peak memory"), [](const Reported& run) {
        const std::int64_t peak = run.figures.peak_bytes;
        return peak == 0 ? "–" : bytes_text(peak);
    });
    add(msg("Device"), [](const Reported& run) {
        std::string device = run.events.started().device;
        std::ranges::transform(device, device.begin(),
                               [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        return device;
    });
    add(msg("Parameters"),
        [](const Reported& run) { return whole(run.events.started().parameters); });
    add(msg("Seed"), [](const Reported& run) {
        return run.summary().origin ? "–" : std::to_string(run.config().seed);
    });
    const bool resumed = std::ranges::any_of(
        runs, [](const Reported& run) { return !run.summary().parent.empty(); });
    if (resumed)
        add(msg("Continues run"), [](const Reported& run) { return run.summary().parent; });
    const bool noted = std::ranges::any_of(runs, [](const Reported& run) {
        return !run.summary().notes.empty() || !run.summary().tags.empty();
    });
    if (!noted) return out;
    add(msg("Tags"), [](const Reported& run) { return run.summary().tags; });
    add(msg("Notes"), [](const Reported& run) { return run.summary().notes; });
    return out;
}

/// The colour of the run's precision if it is the first of that precision, and no precision has
/// more than two; else one that means no precision.
std::string run_color(const std::vector<Reported>& runs, std::size_t index) {
    const auto preset = [](const Reported& run) { return run.config().precision.preset; };
    const auto times = [&](const Reported& run, std::size_t among) {
        return std::count_if(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(among),
                             [&](const Reported& other) { return preset(other) == preset(run); });
    };
    const bool many =
        std::ranges::any_of(runs, [&](const Reported& run) { return times(run, runs.size()) > 2; });
    const PrecisionDescriptor* found = find_kind(precisions(), preset(runs[index]));
    if (many || times(runs[index], index) > 0 || found == nullptr)
        return own_colors[index % own_colors.size()];
    char color[8];
    std::snprintf(color, sizeof color, "#%06x", found->light);
    return color;
}

/// One figure of a run's steps as a curve.
PlotCurve make_curve(const Reported& run, const std::string& color, std::int64_t steps,
                     float StepRecord::*figure) {
    PlotCurve curve(run.name, color, steps);
    const std::int64_t size = run.record.size();
    std::vector<double> values;
    for (std::int64_t first = 0; first < size; first += rows_at_once) {
        values.resize(static_cast<std::size_t>(std::min(rows_at_once, size - first)));
        run.record.column(figure, first, values);
        for (std::size_t i = 0; i < values.size(); ++i)
            curve.add(first + static_cast<std::int64_t>(i) + 1, values[i]);
    }
    return curve;
}

std::int64_t longest(const std::vector<Reported>& runs) {
    std::int64_t steps = 1;
    for (const Reported& run : runs) steps = std::max(steps, run.record.size());
    return steps;
}

std::vector<std::int64_t> skipped_steps(const std::vector<Reported>& runs) {
    std::vector<std::int64_t> steps;
    for (const Reported& run : runs)
        steps.insert(steps.end(), run.events.skipped().begin(), run.events.skipped().end());
    std::ranges::sort(steps);
    return steps;
}

class Plots {
public:
    explicit Plots(const std::vector<Reported>& runs) : runs_(runs), steps_(longest(runs)) {}

    ReportPlot plot(Message title, Message note, float StepRecord::*figure, PlotLook look) const {
        std::vector<PlotCurve> curves;
        for (std::size_t i = 0; i < runs_.size(); ++i)
            curves.push_back(make_curve(runs_[i], run_color(runs_, i), steps_, figure));
        return {std::move(title), std::move(note), svg_plot(curves, steps_, look)};
    }

    std::vector<ReportPlot> all() const {
        std::vector<ReportPlot> out;
        const Message extremes =
            msg("Each pixel shows the smallest and the largest value of its steps.");
        out.push_back(
            plot(msg("Training loss"), extremes, &StepRecord::loss, {.axis = AxisKind::log}));
        const auto& metrics = runs_.front().events.started().step_metrics;
        if (!metrics.empty()) {
            const std::string name =
                metrics.front().title.empty() ? metrics.front().key : metrics.front().title;
            out.push_back(plot(msg("{} in training", name), {}, metric_column(metrics, 0),
                               {.axis = metrics.front().is_share ? AxisKind::share
                                                                 : AxisKind::linear}));
        }
        out.push_back(
            plot(msg("Loss scale"), msg("Red marks on the axis are skipped steps."),
                 &StepRecord::loss_scale,
                 {.axis = AxisKind::log2, .staircase = true, .ticks = skipped_steps(runs_)}));
        out.push_back(plot(msg("Gradient norm"),
                           msg("Unscaled. A cross marks a step whose norm was not finite."),
                           &StepRecord::grad_norm, {.axis = AxisKind::log}));
        out.push_back(plot(msg("Learning rate"), {}, &StepRecord::lr, {}));
        return out;
    }

private:
    const std::vector<Reported>& runs_;
    std::int64_t steps_;
};

std::vector<NamedEvents> named_events(const std::vector<Reported>& runs) {
    std::vector<NamedEvents> out;
    for (const Reported& run : runs) {
        const auto& metrics = run.summary().metrics;
        out.push_back({run.name, metrics.empty() ? Metric{} : metrics.front(), &run.events});
    }
    return out;
}

RunFigures judged_figures(const Reported& run) {
    RunFigures out = run.events.judged().figures(run.record);
    out.title = preset_title(run.config());
    out.ended = run.summary().state != "running";
    return out;
}

std::vector<Verdict> verdicts_on(const std::vector<Reported>& runs) {
    std::vector<Verdict> out;
    for (std::size_t i = 1; i < runs.size(); ++i) {
        RunFigures baseline = judged_figures(runs.front()), other = judged_figures(runs[i]);
        // The two are measured alone: a third run changes nothing between them.
        const auto measured = speeds({baseline.record, other.record});
        baseline.speed = measured[0];
        other.speed = measured[1];
        out.push_back(judge(baseline, other));
    }
    return out;
}

ReportTable machine_table() {
    const MachineReport machine = inspect_machine();
    ReportTable out{msg("Machine of this report"), {}};
    out.rows.push_back({msg("Processor"), machine.cpu});
    out.rows.push_back({msg("Cores"), std::to_string(machine.cores)});
    out.rows.push_back({msg("Memory"), bytes_text(machine.memory_bytes)});
    for (const auto& card : machine.cards) out.rows.push_back({msg("GPU"), card.name});
    out.rows.push_back({"oneDNN", machine.onednn});
    return out;
}

}  // namespace

Report make_report(const std::vector<RunSummary>& listed) {
    if (listed.empty()) throw Error(ErrorCode::value, "a report needs a run");
    std::vector<Reported> runs;
    WorkCount work(listed.size() + 2);  // its runs, their verdicts, its plots
    for (const RunSummary& run : listed) {
        runs.push_back(reported(run));
        work.add(1);
    }
    Report out;
    out.title = runs.size() == 1 ? msg("Halftone: run {}", runs.front().name)
                                 : msg("Halftone: comparison of {} runs", runs.size());
    out.made = Moment::now().local;
    out.verdicts = verdicts_on(runs);
    work.add(1);
    out.runs = run_table(runs);
    out.plots = Plots(runs).all();
    work.add(1);
    out.epochs = epoch_table(named_events(runs));
    for (const Reported& run : runs) {
        out.skips.push_back(skip_table(run.name, run.events));
        out.problems.push_back(problem_table(run.name, run.events));
        out.settings.push_back({run.name, shown_settings(run.summary())});
    }
    out.differences = difference_table(listed, out.settings);
    out.machine = machine_table();
    return out;
}

}  // namespace engine
