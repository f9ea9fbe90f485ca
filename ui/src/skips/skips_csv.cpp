#include "skips/skips_csv.h"

#include <QStringList>
#include <cmath>

#include "widgets/page_export.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

QString number(double value) { return QString::number(value, 'g', 9); }

/// Empty for NaN, which stands for unknown.
QString known(double value) { return std::isnan(value) ? QString() : number(value); }

QString whole(std::int64_t value) { return QString::number(value); }

QString plain(const std::string& text) { return csvField(QString::fromStdString(text)); }

QStringList tensorFields(const engine::BadTensor& bad) {
    return {QString::fromLatin1(engine::name(bad.stage)),
            plain(bad.module),
            plain(bad.name),
            plain(bad.op),
            plain(bad.tensor.dtype),
            whole(bad.infinite),
            whole(bad.nan),
            whole(bad.total),
            known(bad.largest_in_f32)};
}

QStringList reportFields(const engine::SkippedStep& step) {
    const QStringList nothing(9);
    if (!step.report) return QStringList(1) + nothing + QStringList(2);
    const engine::SkipReport& report = *step.report;
    return QStringList(QString::fromLatin1(engine::name(report.cause))) +
           (report.first ? tensorFields(*report.first) : nothing) +
           QStringList{known(report.passing_scale), known(report.scale_bound)};
}

}  // namespace

QString skipsCsv(const engine::SkipList& skips) {
    QString out =
        u"step,skipped,loss,loss_scale,grad_norm,cause,stage,module,name,op,dtype,inf,nan,values,"
        "largest_in_f32,passing_scale,scale_bound\n"_s;
    for (const engine::SkippedStep& step : skips.list) {
        const QStringList line =
            QStringList{whole(step.step), step.skipped ? u"1"_s : u"0"_s, number(step.loss),
                        number(step.loss_scale), number(step.grad_norm)} +
            reportFields(step);
        out += line.join(u',') + u'\n';
    }
    return out;
}

}  // namespace ui
