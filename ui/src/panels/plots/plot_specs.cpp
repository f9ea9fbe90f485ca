#include "panels/plots/plot_specs.h"

#include <QCoreApplication>
#include <cmath>

#include "engine/number/figure_text.h"
#include "panels/plots/plot_panels.h"
#include "text/format.h"
#include "text/language.h"
#include "text/metric_text.h"

namespace ui {
namespace {

struct PlotSpecs {
    Q_DECLARE_TR_FUNCTIONS(PlotSpecs)
public:
    static PlotSpec make(const QString& title, Figure figure, AxisKind axis, const QString& empty) {
        PlotSpec spec;
        spec.title = title;
        spec.figure = figure;
        spec.look.title = title;
        spec.look.axisName = title;
        spec.look.axis = axis;
        spec.look.emptyText = empty;
        return spec;
    }
    static PlotSpec loss();
    static PlotSpec metric(const engine::Metric& metric);
    static PlotSpec scale();
    static PlotSpec learningRate();
    static std::vector<PlotSpec> diagnostics(const std::string& unit);
    static PlotSpec meter(const QString& title, Figure figure, AxisKind axis, const QString& unit);
    static std::vector<PlotSpec> hardware();
};

PlotSpec PlotSpecs::loss() {
    PlotSpec spec = make(tr("Loss"), &engine::StepRecord::loss, AxisKind::log,
                         tr("The loss of each step will appear here, one curve per run."));
    spec.look.smooth = true;
    spec.look.axisName = tr("loss, unscaled mean over the batch");
    spec.logToggle = true;
    return spec;
}

PlotSpec PlotSpecs::metric(const engine::Metric& metric) {
    const bool accuracy = metric.key == "accuracy";
    const QString title = metricTitle(metric);
    PlotSpec spec = make(
        title, &engine::StepRecord::accuracy, metric.is_share ? AxisKind::share : AxisKind::linear,
        accuracy
            ? tr("Training accuracy will appear here as a line, test accuracy as dots.")
            : spaced(tr("%1 of each training step will appear here as a line, that of the test "
                        "part as dots.")
                         .arg(title)));
    spec.metric = metric.key;
    spec.look.smooth = true;
    spec.look.figure = [metric](double value) { return metricValue(metric, value); };
    if (accuracy) {
        spec.look.axisName = tr("accuracy (%)");
    } else if (!metric.unit.empty()) {
        spec.look.axisName = title + u" ("_s + QString::fromStdString(metric.unit) + u')';
    }
    spec.note = tr("train line · test dots");
    spec.evaluations = true;
    return spec;
}

PlotSpec PlotSpecs::scale() {
    PlotSpec spec =
        make(tr("Loss scale"), &engine::StepRecord::loss_scale, AxisKind::log2,
             tr("The loss scale will appear here as a staircase, skipped steps as red ticks."));
    spec.look.stairs = true;
    spec.look.figure = [](double value) { return powerOfTwo(value); };
    spec.look.axisName = tr("loss scale");
    spec.note = tr("shaded: safe range");
    spec.scaledOnly = true;
    return spec;
}

PlotSpec PlotSpecs::learningRate() {
    PlotSpec spec = make(tr("Learning rate"), &engine::StepRecord::lr, AxisKind::linear,
                         tr("The learning rate of each step will appear here."));
    spec.tab = tr("LR");
    spec.look.axisName = tr("learning rate");
    return spec;
}

std::vector<PlotSpec> PlotSpecs::diagnostics(const std::string& unit) {
    PlotSpec norm = make(tr("Gradient norm"), &engine::StepRecord::grad_norm, AxisKind::log,
                         tr("The norm of the unscaled gradients will appear here."));
    norm.tab = tr("Grad norm");
    norm.look.smooth = true;
    norm.look.axisName = tr("gradient norm (L2, unscaled)");
    PlotSpec speed = make(speedTitle(unit), &engine::StepRecord::samples_per_s, AxisKind::linear,
                          tr("The throughput of each run will appear here, without the time that "
                             "other runs take."));
    speed.look.smooth = true;
    speed.look.figure = [unit](double value) { return significant(value) + u' ' + speedUnit(unit); };
    speed.look.axisName = tr("throughput (%1)").arg(speedUnit(unit));
    PlotSpec memory = make(tr("Memory"), &engine::StepRecord::memory_bytes, AxisKind::bytes,
                           tr("Memory in use after each step will appear here."));
    memory.look.figure = [](double value) { return bytes(std::llround(value)); };
    memory.look.axisName = tr("memory in use");
    return {norm, speed, memory, learningRate()};
}

PlotSpec PlotSpecs::meter(const QString& title, Figure figure, AxisKind axis, const QString& unit) {
    PlotSpec spec =
        make(title, figure, axis,
             tr("Figures of runs on an NVIDIA GPU will appear here, read once a second through the "
                "driver's libnvidia-ml.so.1."));
    spec.look.axisName = unit.isEmpty() ? title : title + u" ("_s + unit + u')';
    spec.look.figure = [unit](double value) { return significant(value) + u' ' + unit; };
    spec.look.stairs = true;
    spec.meters = true;
    return spec;
}

std::vector<PlotSpec> PlotSpecs::hardware() {
    using Row = engine::StepRecord;
    const auto energy = [](double value) {
        return QString::fromStdString(engine::energy_text(value));
    };
    PlotSpec load = meter(tr("GPU load"), &Row::card_load, AxisKind::share, u"%"_s);
    load.look.figure = [](double value) { return percent(value); };
    PlotSpec memory = meter(tr("GPU memory"), &Row::card_memory_bytes, AxisKind::bytes, {});
    memory.look.figure = [](double value) { return bytes(std::llround(value)); };
    const PlotSpec power = meter(tr("GPU power"), &Row::card_watts, AxisKind::linear, u"W"_s);
    const PlotSpec heat =
        meter(tr("GPU temperature"), &Row::card_celsius, AxisKind::linear, u"°C"_s);
    PlotSpec card = meter(tr("GPU energy"), &Row::card_joules, AxisKind::linear, u"J"_s);
    card.look.figure = energy;
    PlotSpec processor = meter(tr("CPU energy"), &Row::cpu_joules, AxisKind::linear, u"J"_s);
    processor.look.figure = energy;
    processor.look.emptyText =
        tr("Energy of the processor will appear here for runs where Linux lets it be read (RAPL).");
    return {load, memory, power, heat, card, processor};
}

}  // namespace

PlotSpec lossSpec() { return PlotSpecs::loss(); }
std::vector<PlotSpec> metricSpecs(const std::vector<engine::Metric>& metrics) {
    std::vector<PlotSpec> specs;
    for (const engine::Metric& metric : metrics) specs.push_back(PlotSpecs::metric(metric));
    return specs;
}
PlotSpec lossScaleSpec() { return PlotSpecs::scale(); }
std::vector<PlotSpec> diagnosticSpecs(const std::string& unit) { return PlotSpecs::diagnostics(unit); }
std::vector<PlotSpec> hardwareSpecs() { return PlotSpecs::hardware(); }

Panel* makeLossPlot(const Context& context, const QString& name, QWidget* parent) {
    return makePlotPanel(context, name, {lossSpec()}, parent);
}

Panel* makeMetricPlot(const Context& context, const QString& name, QWidget* parent) {
    const auto specs = [](const std::vector<engine::Metric>& metrics, const std::string&) {
        return metricSpecs(metrics.empty() ? engine::classification_metrics() : metrics);
    };
    return makePlotPanel(context, name, specs, {{}, PlotSpecs::tr("Which metric the plot shows")},
                         parent);
}

Panel* makeLossScalePlot(const Context& context, const QString& name, QWidget* parent) {
    return makePlotPanel(context, name, {lossScaleSpec()}, parent);
}

Panel* makeDiagnosticsPlot(const Context& context, const QString& name, QWidget* parent) {
    const auto specs = [](const std::vector<engine::Metric>&, const std::string& unit) {
        return diagnosticSpecs(unit);
    };
    return makePlotPanel(context, name, specs,
                         {QCoreApplication::translate("Panels", "Fourth plot"),
                          PlotSpecs::tr("What the fourth plot shows")},
                         parent);
}

Panel* makeHardwarePlot(const Context& context, const QString& name, QWidget* parent) {
    return makePlotPanel(context, name, hardwareSpecs(), parent,
                         {QCoreApplication::translate("Panels", "Hardware"),
                          PlotSpecs::tr("Which figure of the hardware the plot shows")});
}

}  // namespace ui
