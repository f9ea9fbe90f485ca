#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "lab/instruments/instrument.h"
#include "lab/instruments/weight_curves.h"
#include "lab/instruments/weight_lens.h"
#include "lab/lessons/run_style.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// One weight, magnified: its update at the step in each run, its course over the steps, and how
/// many updates in a row were lost.
class WeightInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::WeightInstrument)
public:
    WeightInstrument(const Context& context, LessonModel* model,
                     const engine::LessonInstrument& instrument, QWidget* parent = nullptr);
    QString title() const override;
    QString note() const override;
    void showStep(std::int64_t step) override;

private:
    std::shared_ptr<engine::WeightWatch> watchOf(const std::string& run) const;
    QString lostInARow(const engine::WeightWatch& watch, std::int64_t step) const;

    Context context_;
    LessonModel* model_;
    engine::LessonInstrument instrument_;
    std::vector<std::string> runs_;
    std::vector<WeightLens*> lenses_;
    WeightCurves* curves_;
    QLabel* summary_;
    std::int64_t step_ = 0;
};

constexpr std::int64_t trail = 8;          // steps
constexpr std::int64_t points = 240;       // of a curve
constexpr std::int64_t farthest = 20'000;  // steps that are looked back

double placeOf(const engine::WeightChange& change) {
    return std::isnan(change.master_after) ? change.after : change.master_after;
}

}  // namespace

WeightInstrument::WeightInstrument(const Context& context, LessonModel* model,
                                   const engine::LessonInstrument& instrument, QWidget* parent)
    : Instrument(parent), context_(context), model_(model), instrument_(instrument) {
    runs_ = instrument.runs;
    if (runs_.empty()) {
        for (const auto& run : model_->lesson()->runs) runs_.push_back(run.name);
    }
    auto* column = makeColumn(this, {size::inside, size::grid, size::inside, size::gap}, size::gap);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        auto* lens = new WeightLens(context_.theme, this);
        lenses_.push_back(lens);
        column->addWidget(lens);
    }
    curves_ = new WeightCurves(context_.theme, this);
    column->addWidget(curves_, 1);
    summary_ = makeProse({}, nullptr, this);
    column->addWidget(summary_);
}

QString WeightInstrument::title() const { return tr("One weight, magnified"); }

QString WeightInstrument::note() const {
    QStringList index;
    for (const std::int64_t each : instrument_.index) index << QString::number(each);
    const QString name =
        QString::fromStdString(instrument_.parameter) + u'[' + index.join(u", "_s) + u']';
    return step_ > 0 ? name + u" · "_s + tr("step %1").arg(count(step_)) : name;
}

std::shared_ptr<engine::WeightWatch> WeightInstrument::watchOf(const std::string& run) const {
    for (const auto& each : model_->runs()->snapshot().runs) {
        if (each.name != run) continue;
        for (const auto& watch : each.weights) {
            if (watch && watch->parameter() == instrument_.parameter &&
                watch->index() == instrument_.index)
                return watch;
        }
    }
    return nullptr;
}

void WeightInstrument::showStep(std::int64_t step) {
    step_ = step;
    std::vector<WeightCurves::Curve> curves;
    QString lost;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const auto watch = watchOf(runs_[i]);
        const auto change = watch ? watch->at(step) : std::nullopt;
        const int run = model_->runs()->indexOf(runs_[i]);
        const auto tracks = model_->runs()->tracks();
        if (!change || run < 0 || run >= static_cast<int>(tracks.size())) {
            const QString why = watch && !watch->problem().empty()
                                    ? QString::fromStdString(watch->problem())
                                    : tr("Predict, then run.");
            lenses_[i]->setNothing(why);
            continue;
        }
        const auto& track = *tracks[static_cast<std::size_t>(run)];
        WeightLens::Shown shown{
            track.tag,
            runStyle(*context_.theme, tracks, static_cast<std::size_t>(run)).color,
            watch->dtype(),
            *change,
            track.at(step).found_inf != 0,
            {}};
        for (std::int64_t s = std::max<std::int64_t>(1, step - trail); s < step; ++s) {
            if (const auto before = watch->at(s)) shown.trail.push_back(placeOf(*before));
        }
        lenses_[i]->setShown(shown);
        WeightCurves::Curve curve{
            track.tag + u' ' + significant(placeOf(*change)), shown.color, {}};
        const std::int64_t rows = watch->size();
        for (std::int64_t k = 0; k <= points && rows > 0; ++k) {
            const std::int64_t at = 1 + (rows - 1) * k / points;
            if (const auto there = watch->at(at))
                curve.points.emplace_back(double(at), placeOf(*there));
        }
        curves.push_back(std::move(curve));
        if (lost.isEmpty()) lost = lostInARow(*watch, step);
    }
    curves_->setCurves(std::move(curves), static_cast<double>(model_->runs()->plannedSteps()),
                       step);
    summary_->setText(lost);
    summary_->setVisible(!lost.isEmpty());
}

QString WeightInstrument::lostInARow(const engine::WeightWatch& watch, std::int64_t step) const {
    std::int64_t lost = 0;
    double sum = 0;
    for (std::int64_t s = step; s >= 1 && s > step - farthest; --s) {
        const auto change = watch.at(s);
        if (!change || !WeightLens::lost(*change)) break;
        ++lost;
        sum += WeightLens::update(*change);
    }
    if (lost < 2) return {};
    return tr("<b>%1 updates in a row lost.</b> Added up they would have moved the weight by %2.")
        .arg(count(lost), nearText(sum, 3));
}

Instrument* makeWeightInstrument(const Context& context, LessonModel* model,
                                 const engine::LessonInstrument& instrument, QWidget* parent) {
    return new WeightInstrument(context, model, instrument, parent);
}

}  // namespace ui
