#include "engine/verdict/verdict.h"
#include "text/run_text.h"

#include <QCoreApplication>
#include <QStringList>
#include <cmath>

#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"
#include "text/metric_text.h"
#include "text/precision_title.h"
#include "text/setting_text.h"

namespace ui {
namespace {

using Kind = engine::RunField::Kind;

struct RunText {
    Q_DECLARE_TR_FUNCTIONS(RunText)
};

constexpr qsizetype dateLength = 16;  // "2026-11-23 10:20"

QString flagText(bool value) { return engineText(std::string(value ? "On" : "Off")); }

QString metricText(const engine::RunSummary& run, const std::string& key) {
    for (const auto& metric : run.metrics) {
        if (metric.key == key) return metricValue(metric, run.test.of(key));
    }
    return metricValue(metricOf(key), run.test.of(key));
}

/// Results that have a form of their own; nothing for all others.
QString resultText(const engine::RunSummary& run, const std::string& name) {
    if (name == "state") return stateText(run);
    if (name == "started")
        return QString::fromStdString(run.started).replace(u'T', u' ').left(dateLength);
    if (name == "wall_s") return duration(run.wall_s);
    if (name == "peak_bytes") return run.peak_bytes == 0 ? unmeasured() : bytes(run.peak_bytes);
    if (name == "disk_bytes") return run.disk_bytes == 0 ? unmeasured() : bytes(run.disk_bytes);
    if (name == "samples_per_s")
        return std::isnan(run.samples_per_s)
                   ? unmeasured()
                   : significant(run.samples_per_s) + u' ' + speedUnit(run.unit);
    if (name == "test_metric") {
        const engine::Metric metric = primaryMetric(run.metrics);
        const QString value = metricValue(metric, valueOf(run.test, metric));
        // An accuracy says what it is by its percent sign; another metric by its name.
        const bool bare = metric.key == "accuracy" || std::isnan(valueOf(run.test, metric));
        return bare ? value : metricTitle(metric) + u' ' + value;
    }
    if (name == "test_loss")
        return measured(run.test.loss, [](double value) { return significant(value); });
    if (name.starts_with("test_")) return metricText(run, name.substr(5));
    return {};
}

QString valueText(const engine::RunValue& value) {
    if (!engine::is_known(value)) return unmeasured();
    if (const auto* flag = std::get_if<bool>(&value)) return flagText(*flag);
    return QString::fromStdString(engine::to_string(value)).simplified();
}

}  // namespace

QString stateText(const engine::RunSummary& run) {
    if (engine::is_silent(run)) {
        return RunText::tr("%1 silent for %2")
            .arg(QString::fromStdString(run.host), duration(run.silent_s));
    }
    if (!run.host.empty()) {
        const QString where = QString::fromStdString(run.host);
        return run.paused ? RunText::tr("paused on %1").arg(where)
                          : RunText::tr("running on %1").arg(where);
    }
    if (run.paused) return RunText::tr("paused");
    if (run.state == "running") return RunText::tr("running");
    if (run.state == "done") return RunText::tr("done");
    if (run.state == "stopped") return RunText::tr("stopped");
    if (run.state == "diverged") return divergedText(run.diverged_at);
    if (run.state == "failed") return RunText::tr("failed");
    if (run.state == "interrupted") return RunText::tr("interrupted");
    if (run.state == "missing") return RunText::tr("missing");
    return QString::fromStdString(run.state);
}

QString fieldLabel(const engine::RunField& field) {
    const bool metric =
        field.name.starts_with("test_") && field.name != "test_metric" && field.name != "test_loss";
    if (metric)
        return spaced(RunText::tr("Test %1").arg(metricInline({.key = {}, .title = field.label})));
    if (field.name == "dataset.kind") return RunText::tr("Data set");
    return engineText(field.label);
}

QString fieldText(const engine::RunSummary& run, const engine::RunField& field) {
    if (!field.is_setting) {
        const QString text = resultText(run, field.name);
        if (!text.isEmpty()) return text;
        if (field.name == "steps") return count(run.steps);
        if (field.name == "skipped") return count(run.skipped);
    }
    if (field.name == "precision.preset") return precisionTitle(run.config.precision.preset);
    const engine::RunValue value = engine::value_of(run, field);
    const bool word = field.is_setting && std::holds_alternative<std::string>(value);
    return word ? settingValue(field.name, std::get<std::string>(value)) : valueText(value);
}

QString datasetTitle(const engine::RunSummary& run) {
    return settingValue("dataset.kind", engine::dataset_name(run));
}

QString modelTitle(const engine::RunSummary& run) {
    return run.origin ? settingValue("model.kind", engine::model_name(run))
                      : modelTitle(run.config.model);
}

bool isFigure(const engine::RunField& field) {
    return field.kind == Kind::number || field.name == "parent";
}

namespace {

struct VerdictWords {
    Q_DECLARE_TR_FUNCTIONS(VerdictWords)
};

}  // namespace

QString costText(const engine::Verdict& verdict) {
    QStringList parts;
    for (const auto& part : verdict.cost) parts << engineText(part);
    return parts.isEmpty() ? QString() : capitalised(sentence(parts.join(VerdictWords::tr(", "))));
}

QString evidenceText(const engine::Verdict& verdict) {
    QStringList sentences;
    for (const auto& each : verdict.evidence) sentences << engineText(each);
    return joined(sentences);
}

}  // namespace ui
