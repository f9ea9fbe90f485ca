#include "twin/twin_csv.h"

#include <QStringList>
#include <cmath>

#include "widgets/page_export.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QString number(float value) {
    return std::isfinite(value) ? QString::number(static_cast<double>(value), 'g', 9) : QString();
}

}  // namespace

QString twinCsv(const engine::TwinDigest& digest, const TwinStep& step) {
    QString out = u"step,skipped,layer,error,angle_degrees,rounding,diverged_step\n"_s;
    for (std::size_t i = 0; i < digest.layers().size(); ++i) {
        const engine::TwinLayer& layer = digest.layers()[i];
        const QStringList line{QString::number(step.step),
                               step.skipped ? u"1"_s : u"0"_s,
                               csvField(QString::fromStdString(layer.name)),
                               number(step.errors[i]),
                               number(step.angles[i]),
                               layer.rounding ? number(*layer.rounding) : QString(),
                               layer.diverged > 0 ? QString::number(layer.diverged) : QString()};
        out += line.join(u',') + u'\n';
    }
    return out;
}

}  // namespace ui
