#include "xray/xray_csv.h"

#include <QStringList>
#include <cmath>

#include "widgets/page_export.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::XrayOp;

namespace {

/// "f16[32x6x24x24] f32[6]"
QString tensorList(const std::vector<engine::XrayTensor>& tensors) {
    QStringList out;
    for (const auto& tensor : tensors) {
        QStringList sizes;
        for (const std::int64_t size : tensor.shape) sizes << QString::number(size);
        out << u"%1[%2]"_s.arg(QString::fromStdString(tensor.dtype), sizes.join(u'x'));
    }
    return out.join(u' ');
}

QString number(double value) {
    return std::isfinite(value) ? QString::number(value, 'g', 9) : QString();
}

QString line(const QStringList& fields) { return fields.join(u',') + u'\n'; }

QStringList fieldsOf(const XrayOp& op) {
    std::int64_t castBytes = 0;
    for (const auto& cast : op.casts) castBytes += cast.bytes;
    return {QString::fromLatin1(engine::name(op.pass)),
            csvField(op.module),
            csvField(op.op),
            csvField(tensorList(op.inputs)),
            csvField(tensorList(op.outputs)),
            csvField(op.compute_dtype),
            csvField(op.rule),
            QString::number(op.casts.size()),
            QString::number(castBytes),
            QString::number(op.cached_casts + op.kept_copies),
            number(op.start_us),
            number(op.us),
            number(op.flops),
            number(op.peak_share),
            QString::number(op.bytes_read),
            QString::number(op.bytes_written),
            QString::number(op.memory_bytes)};
}

}  // namespace

QString xrayCsv(const engine::Xray& trace, const OpFilter& filter) {
    QString out =
        u"step,precision,pass,module,op,inputs,outputs,compute_dtype,rule,casts,cast_bytes,"
        "cached_casts,start_us,us,flops,peak_share,bytes_read,bytes_written,memory_bytes\n"_s;
    const QStringList head{QString::number(trace.step), csvField(trace.precision)};
    for (const XrayOp& op : trace.ops) {
        if (filter.passes(op)) out += line(head + fieldsOf(op));
    }
    return out;
}

QString xrayCsv(const engine::Xray& first, const engine::Xray& second, const OpFilter& filter) {
    const QString a = QString::fromStdString(first.precision),
                  b = QString::fromStdString(second.precision);
    QString out = line({u"step"_s, u"pass"_s, u"module"_s, u"op"_s, csvField(u"outputs "_s + a),
                        csvField(u"outputs "_s + b), csvField(u"us "_s + a), csvField(u"us "_s + b),
                        csvField(u"bytes_written "_s + a), csvField(u"bytes_written "_s + b)});
    for (const auto& [one, two] : engine::pair_ops(first, second)) {
        if (!(one != nullptr && filter.passes(*one)) && !(two != nullptr && filter.passes(*two)))
            continue;
        const XrayOp& any = one != nullptr ? *one : *two;
        QStringList fields{QString::number(first.step), QString::fromLatin1(engine::name(any.pass)), csvField(any.module),
                           csvField(any.op)};
        for (const XrayOp* op : {one, two})
            fields << (op == nullptr ? QString() : csvField(tensorList(op->outputs)));
        for (const XrayOp* op : {one, two}) fields << (op == nullptr ? QString() : number(op->us));
        for (const XrayOp* op : {one, two})
            fields << (op == nullptr ? QString() : QString::number(op->bytes_written));
        out += line(fields);
    }
    return out;
}

}  // namespace ui
