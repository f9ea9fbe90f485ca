#include <QCoreApplication>
#include <cmath>
#include <map>
#include <set>

#include "engine/instruments/skip_report.h"
#include "engine/instruments/skips.h"
#include "feed/background_task.h"
#include "lab/instruments/instrument.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// The skipped or non-finite step at or before the current one, with its verdict. Examined off the
/// window's thread once the runs are paused or have ended.
class SkipInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::SkipInstrument)
public:
    explicit SkipInstrument(const InstrumentSetup& from);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    using Examined = Outcome<engine::SkipReport>;
    std::int64_t skipBefore(std::int64_t step) const;
    void examine(std::int64_t step);
    void show();
    void showReport(const Examined& examined);

    int run_ = -1;  ///< of the lesson's runs
    QLabel* headline_;
    QLabel* details_;
    std::int64_t at_ = 0;
    bool skipped_ = false;  ///< else nothing skipped it
    std::map<std::int64_t, Examined> examined_;
    std::set<std::int64_t> asked_;
};

}  // namespace

SkipInstrument::SkipInstrument(const InstrumentSetup& from)
    : Instrument(from),
      headline_(makeLabel({}, nullptr, this)),
      details_(makeLabel({}, "dim", this)) {
    run_ = instrument_.runs.empty() ? 0 : model_->runs()->indexOf(instrument_.runs.front());
    auto* column = makeColumn(this, {size::inside, size::grid, size::inside, size::gap});
    for (auto* label : {headline_, details_}) {
        label->setWordWrap(true);
        column->addWidget(label);
    }
    show();
}

QString SkipInstrument::title() const { return tr("Why was this step skipped?"); }

QString SkipInstrument::note() const {
    const auto& runs = model_->lesson()->runs;
    const QString run = run_ >= 0 && run_ < static_cast<int>(runs.size())
                            ? QString::fromStdString(runs[static_cast<std::size_t>(run_)].label)
                            : QString();
    return at_ > 0 ? run + u" · "_s + tr("step %1").arg(count(at_)) : run;
}

std::int64_t SkipInstrument::skipBefore(std::int64_t step) const {
    const auto tracks = model_->runs()->tracks();
    if (run_ < 0 || run_ >= static_cast<int>(tracks.size())) return 0;
    const auto& track = *tracks[static_cast<std::size_t>(run_)];
    const std::int64_t last = std::min(step, track.rows());
    // With a scaler the skipped ones; without, the first step whose gradient is not finite.
    const std::int64_t skipped =
        track.series(&engine::StepRecord::found_inf).previousAbove0(last - 1) + 1;
    if (skipped > 0) return skipped;
    for (std::int64_t s = 1; s <= last; ++s) {
        const auto row = track.at(s);
        if (!std::isfinite(row.grad_norm) || !std::isfinite(row.loss)) return s;
    }
    return 0;
}

void SkipInstrument::showStep(std::int64_t step) {
    using Phase = LessonRuns::Phase;
    const Phase phase = model_->runs()->phase();
    if (phase == Phase::notRun || step == 0) {
        examined_.clear();
        asked_.clear();
    }
    const std::int64_t at = step > 0 ? skipBefore(step) : 0;
    skipped_ =
        at > 0 && model_->runs()->tracks()[static_cast<std::size_t>(run_)]->at(at).found_inf != 0;
    const bool rest = phase == Phase::paused || phase == Phase::ended;
    at_ = at;
    if (at > 0 && rest && asked_.insert(at).second) examine(at);
    show();
}

void SkipInstrument::examine(std::int64_t step) {
    const auto& runs = model_->runs()->snapshot().runs;
    if (run_ < 0 || run_ >= static_cast<int>(runs.size())) return;
    const auto folder = runs[static_cast<std::size_t>(run_)].folder;
    inBackground(
        this, [folder, step] { return engine::examine_skip(folder, step); },
        [this, step](const Examined& examined) {
            if (!asked_.contains(step)) return;
            examined_[step] = examined;
            show();
        });
}

void SkipInstrument::show() {
    const auto found = examined_.find(at_);
    if (found != examined_.end()) return showReport(found->second);
    using Phase = LessonRuns::Phase;
    restyle(headline_, "role", QVariant());
    if (at_ == 0) {
        headline_->setText(model_->runs()->phase() == Phase::notRun
                               ? tr("Predict, then run.")
                               : tr("No step was skipped so far."));
        details_->clear();
    } else if (asked_.contains(at_)) {
        headline_->setText(tr("Step %1 is being examined…").arg(count(at_)));
        details_->clear();
    } else {
        headline_->setText(skipped_ ? tr("Step %1 was skipped.").arg(count(at_))
                                    : tr("Step %1 was not finite.").arg(count(at_)));
        details_->setText(tr("It is examined when the runs pause or end."));
    }
}

void SkipInstrument::showReport(const Examined& examined) {
    if (examined.error) {
        headline_->setText(examined.failure().sentence());
        details_->clear();
        return;
    }
    const auto& report = *examined.result;
    const bool benign = report.cause == engine::SkipCause::scale_too_large;
    restyle(headline_, "role", benign ? QVariant() : QVariant(u"bad"_s));
    headline_->setText(engineText(report.verdict()));
    QStringList lines;
    if (report.first) {
        const auto& first = *report.first;
        QString name = QString::fromStdString(first.module);
        if (!first.op.empty())
            name += (name.isEmpty() ? QString() : u" · "_s) + QString::fromStdString(first.op);
        if (!first.name.empty())
            name += (name.isEmpty() ? QString() : u" · "_s) + QString::fromStdString(first.name);
        lines << tr("First non-finite tensor: %1, %2; %3 infinite and %4 NaN of %5 values.")
                     .arg(name, QString::fromStdString(first.tensor.dtype).toUpper(),
                          count(first.infinite), count(first.nan), count(first.total));
    }
    if (!std::isnan(report.passing_scale))
        lines << tr("It would have passed at scale %1.").arg(powerOfTwo(report.passing_scale));
    if (!report.advice.empty()) lines << engineText(report.advice);
    details_->setText(lines.join(u'\n'));
}

Instrument* makeSkipInstrument(const InstrumentSetup& from) { return new SkipInstrument(from); }

}  // namespace ui
