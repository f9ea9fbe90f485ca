#include "microscope/scale_answer.h"

#include <QCoreApplication>
#include <cmath>

#include "text/format.h"

namespace ui {

using engine::ExponentHistogram;
using engine::LayerHistogram;

namespace {

struct ScaleAnswer {
    Q_DECLARE_TR_FUNCTIONS(ScaleAnswer)
};

const auto& fp16 = engine::fp16_format;

const LayerHistogram* largestOf(const ScaleQuestion& question) {
    const LayerHistogram* found = nullptr;
    for (const LayerHistogram& layer : question.sample.layers) {
        if (layer.kind != question.kind) continue;
        if (found == nullptr || layer.values.largest > found->values.largest) found = &layer;
    }
    return found;
}

const LayerHistogram* nonFiniteOf(const ScaleQuestion& question) {
    for (const LayerHistogram& layer : question.sample.layers)
        if (layer.kind == question.kind && layer.values.non_finite() > 0) return &layer;
    return nullptr;
}

QString nameOf(const LayerHistogram& layer) {
    return layer.layer.empty() ? ScaleAnswer::tr("the model") : QString::fromStdString(layer.layer);
}

QString bitsText(double bits) { return QString::number(bits, 'f', 1); }

/// "now 2¹⁸"; "step 50 had 2¹⁵" where the run has another scale by now.
QString whenText(const ScaleQuestion& question) {
    const QString scale = powerOfTwo(question.scale);
    return question.earlier
               ? ScaleAnswer::tr("step %1 had %2").arg(count(question.sample.step), scale)
               : ScaleAnswer::tr("now %1").arg(scale);
}

/// "now 2¹⁸, 1.3 bits below overflow in fc3"
QString nowText(const ScaleQuestion& question, double high, const LayerHistogram& first) {
    const double room = std::log2(high / question.scale);
    return room >= 0 ? ScaleAnswer::tr("%1, %2 bits below overflow in %3")
                           .arg(whenText(question), bitsText(room), nameOf(first))
                     : ScaleAnswer::tr("%1, which is %2 bits too high: %3 overflows")
                           .arg(whenText(question), bitsText(-room), nameOf(first));
}

QString gradientAnswer(const ScaleQuestion& question, const ExponentHistogram& all) {
    if (const LayerHistogram* bad = nonFiniteOf(question))
        return ScaleAnswer::tr(
                   "At %1 gradients of %2 are not finite, so the largest scale that fits is not "
                   "known from this step; a shadow pass finds it if the loss is finite.")
            .arg(powerOfTwo(question.counted), nameOf(*bad));
    const LayerHistogram& first = *largestOf(question);
    const double high = engine::largest_scale(all, fp16) * question.counted;
    const bool flushed = question.sample.flushed(question.kind);
    const double low = engine::smallest_scale(all, fp16) * question.counted;
    if (!std::isfinite(high)) return ScaleAnswer::tr("All gradients of this step are zero.");
    const double top = std::exp2(std::floor(std::log2(high)));
    const QString now = question.scaled ? nowText(question, high, first) : QString();
    if (flushed || !std::isfinite(low))
        return (question.scaled ? ScaleAnswer::tr("Fits up to %1; %2. The smallest gradients were "
                                                  "lost before they could be counted.")
                                      .arg(powerOfTwo(top), now)
                                : ScaleAnswer::tr("In FP16 a loss scale up to %1 fits.")
                                      .arg(powerOfTwo(top)));
    if (low > top)
        return ScaleAnswer::tr("No scale fits: the small gradients need %1, and %2 overflows above "
                               "%3.")
            .arg(powerOfTwo(low), nameOf(first), powerOfTwo(top));
    if (!question.scaled)
        return ScaleAnswer::tr("In FP16 a loss scale from %1 to %2 fits.")
            .arg(powerOfTwo(low), powerOfTwo(top));
    if (question.scale < low)
        return ScaleAnswer::tr("Fits from %1 to %2; %3, so small gradients become zero.")
            .arg(powerOfTwo(low), powerOfTwo(top), whenText(question));
    return ScaleAnswer::tr("Fits from %1 to %2; %3.").arg(powerOfTwo(low), powerOfTwo(top), now);
}

QString valueAnswer(const ScaleQuestion& question, const ExponentHistogram& all) {
    const LayerHistogram& first = *largestOf(question);
    if (const LayerHistogram* bad = nonFiniteOf(question))
        return ScaleAnswer::tr("%1 holds values that are not finite.").arg(nameOf(*bad));
    const double room = engine::headroom_up(all, fp16, 1);
    const auto found = engine::outcome(all, fp16, 1);
    if (std::isnan(room)) return ScaleAnswer::tr("All values of this step are zero.");
    if (room < 0)
        return ScaleAnswer::tr("FP16 does not hold them: %1 overflows by %2 bits.")
            .arg(nameOf(first), bitsText(-room));
    const double lost = found.share(found.zero);
    const QString zero = lost == 0         ? ScaleAnswer::tr("none become zero")
                         : lost < 0.0001   ? ScaleAnswer::tr("less than 0.01 % become zero")
                                           : ScaleAnswer::tr("%1 % become zero")
                                               .arg(significant(100 * lost));
    return ScaleAnswer::tr("FP16 holds them: %1 bits below overflow in %2; %3.")
        .arg(bitsText(room), nameOf(first), zero);
}

}  // namespace

QString scaleAnswer(const ScaleQuestion& question) {
    if (largestOf(question) == nullptr) return {};
    const ExponentHistogram all = question.sample.total(question.kind);
    if (all.total() == 0) return {};
    return question.kind == engine::HistogramKind::gradients ? gradientAnswer(question, all)
                                                             : valueAnswer(question, all);
}

}  // namespace ui
