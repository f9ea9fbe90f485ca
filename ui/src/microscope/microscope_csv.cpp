#include "microscope/microscope_csv.h"

#include <QStringList>

#include "widgets/page_export.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::ExponentHistogram;
using engine::HistogramKind;

QString microscopeCsv(const engine::HistogramSample& sample, HistogramKind kind) {
    QStringList head{u"step"_s, u"shadow"_s,  u"loss_scale"_s, u"kind"_s, u"layer"_s,
                     u"type"_s, u"flushed"_s, u"zero"_s,       u"below"_s};
    for (int e = ExponentHistogram::first_exponent; e <= ExponentHistogram::last_exponent; ++e)
        head << QString::number(e);
    head << u"inf"_s << u"nan"_s;
    QString out = head.join(u',') + u'\n';
    for (const engine::LayerHistogram& layer : sample.layers) {
        if (layer.kind != kind) continue;
        QStringList line{QString::number(sample.step),
                         sample.shadow ? u"1"_s : u"0"_s,
                         QString::number(sample.loss_scale, 'g', 17),
                         QString::fromLatin1(engine::name(kind)),
                         csvField(QString::fromStdString(layer.layer)),
                         QString::fromLatin1(engine::name(layer.type)).remove(u'p'),
                         layer.flushed ? u"1"_s : u"0"_s,
                         QString::number(layer.values.zero),
                         QString::number(layer.values.below)};
        for (const std::int64_t count : layer.values.bins) line << QString::number(count);
        line << QString::number(layer.values.infinite) << QString::number(layer.values.nan);
        out += line.join(u',') + u'\n';
    }
    return out;
}

}  // namespace ui
