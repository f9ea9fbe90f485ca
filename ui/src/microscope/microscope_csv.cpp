#include "microscope/microscope_csv.h"

#include <QStringList>

#include "widgets/page_export.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::ExponentHistogram;
using engine::HistogramKind;

namespace {

/// The name in a file. Not translated: programs read it.
QString kindName(HistogramKind kind) {
    switch (kind) {
        case HistogramKind::gradients:
            return u"gradients"_s;
        case HistogramKind::activations:
            return u"activations"_s;
        case HistogramKind::weights:
            return u"weights"_s;
        case HistogramKind::updates:
            return u"updates"_s;
    }
    return {};
}

QString typeName(engine::ValueType type) {
    switch (type) {
        case engine::ValueType::f16:
            return u"f16"_s;
        case engine::ValueType::bf16:
            return u"bf16"_s;
        case engine::ValueType::f32:
            return u"f32"_s;
    }
    return {};
}

}  // namespace

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
                         kindName(kind),
                         csvField(QString::fromStdString(layer.layer)),
                         typeName(layer.type),
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
