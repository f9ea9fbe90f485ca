#include "skips/skip_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/base/plain_text.h"
#include "engine/record/step_outcome.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {
namespace {

struct SkipWords {
    Q_DECLARE_TR_FUNCTIONS(SkipWords)
};

}  // namespace

QString causeTitle(const engine::SkippedStep& step) {
    if (step.report) return engineText(engine::title(step.report->cause));
    using engine::StepOutcome;
    switch (engine::outcome_of(step.skipped, step.loss, step.grad_norm)) {
        case StepOutcome::skipped_loss:
            return SkipWords::tr("the loss is not finite");
        case StepOutcome::overflowed:
            return SkipWords::tr("gradients not finite, applied");
        case StepOutcome::broken_loss:
            return SkipWords::tr("loss not finite, applied");
        case StepOutcome::skipped:
        case StepOutcome::applied:
            break;
    }
    return SkipWords::tr("not examined yet");
}

QString tensorText(const engine::SkippedStep& step) {
    if (!step.report || !step.report->first) return {};
    const engine::BadTensor& bad = *step.report->first;
    const QString where = QString::fromStdString(bad.module.empty() ? bad.name : bad.module);
    const QString broken = bad.infinite > 0 ? SkipWords::tr("%1 inf").arg(count(bad.infinite))
                                            : SkipWords::tr("%1 NaN").arg(count(bad.nan));
    return where.isEmpty() ? broken : where + u", "_s + broken;
}

QString trialText(const engine::StepTrial& trial) {
    return trial.passes ? SkipWords::tr("%1: passes, loss %2, gradient norm %3")
                              .arg(powerOfTwo(trial.scale), significant(trial.loss),
                                   significant(trial.grad_norm))
                        : SkipWords::tr("%1: not finite").arg(powerOfTwo(trial.scale));
}

QString indexText(const std::vector<std::int64_t>& index) {
    return QString::fromStdString("[" + engine::join(index) + "]");
}

QString shapeText(const std::vector<std::int64_t>& shape) {
    return shape.empty() ? SkipWords::tr("one number")
                         : QString::fromStdString(engine::join(shape, " × "));
}

}  // namespace ui
