#include <QCoreApplication>

#include "engine/number/number_arithmetic.h"
#include "feed/background_task.h"
#include "lab/instruments/instrument.h"
#include "lab/instruments/weight_curves.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// A sum of equal terms in a format: how it grows compared with the exact sum, and after how many
/// terms it stalls. Computed off the window's thread.
class SumInstrument final : public Instrument {
    Q_DECLARE_TR_FUNCTIONS(ui::SumInstrument)
public:
    explicit SumInstrument(const InstrumentSetup& from);
    QString title() const override;
    void showStep(std::int64_t) override {}

private:
    void compute();
    void show(const engine::SumResult& result);

    engine::LessonBlockNumber number_;
    WeightCurves* curves_;
    QLabel* words_;
};

constexpr int sumPoints = 400;

QString titleOf(const std::string& name) {
    const auto* format = engine::find_number_format(name);
    return QString::fromStdString(format != nullptr ? std::string(format->title) : name);
}

}  // namespace

SumInstrument::SumInstrument(const InstrumentSetup& from)
    : Instrument(from),
      number_(instrument_.number.value_or(engine::LessonBlockNumber{})),
      curves_(new WeightCurves(context_.theme, this)),
      words_(makeProse({}, nullptr, this)) {
    auto* column = makeColumn(this, {size::inside, size::grid, size::inside, size::gap});
    addWidgets(column, {curves_, words_});
    compute();
}

QString SumInstrument::title() const {
    const QString terms = tr("%1 × %2 in %3")
                              .arg(count(number_.count), QString::fromStdString(number_.text),
                                   titleOf(number_.format));
    return number_.accumulator.empty()
               ? terms
               : tr("%1, accumulated in %2").arg(terms, titleOf(number_.accumulator));
}

void SumInstrument::compute() {
    engine::SumSettings settings;
    settings.term = number_.number;
    settings.terms = number_.count;
    settings.format = engine::find_number_format(number_.format);
    settings.accumulator =
        number_.accumulator.empty() ? nullptr : engine::find_number_format(number_.accumulator);
    settings.points = sumPoints;
    if (settings.format == nullptr) return;
    inBackground(
        this, [settings] { return engine::sum(settings); },
        [this](const Outcome<engine::SumResult>& sum) {
            if (sum.error)
                words_->setText(sum.failure().sentence());
            else
                show(*sum.result);
        });
}

void SumInstrument::show(const engine::SumResult& result) {
    const Tokens& t = context_.theme->tokens();
    const double exact = number_.number * static_cast<double>(number_.count);
    WeightCurves::Curve sum{tr("sum %1").arg(nearText(result.sum, 6)), t.own[3], {}};
    for (const auto& point : result.curve)
        sum.points.emplace_back(static_cast<double>(point.terms), point.sum);
    const WeightCurves::Curve right{tr("exact %1").arg(nearText(exact, 6)),
                                    t.fp32,
                                    {{0, 0}, {static_cast<double>(number_.count), exact}}};
    curves_->setCurves({right, std::move(sum)}, static_cast<double>(number_.count), 0);
    words_->setText(
        result.stalls_after
            ? tr("From term %1 on the sum no longer changes.").arg(count(*result.stalls_after + 1))
            : tr("Each term changes the sum."));
}

Instrument* makeSumInstrument(const InstrumentSetup& from) { return new SumInstrument(from); }

}  // namespace ui
