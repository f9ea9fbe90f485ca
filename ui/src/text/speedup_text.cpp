#include "text/speedup_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "engine/settings/catalog.h"
#include "engine/train/batch_finder.h"
#include "text/format.h"
#include "text/language.h"
#include "text/precision_title.h"

namespace ui {
namespace {

struct SpeedupWords {
    Q_DECLARE_TR_FUNCTIONS(SpeedupWords)
};

QString line(const QString& what, const QString& fp32, const QString& other) {
    return u"<tr><td>%1</td><td align='right'>&nbsp;&nbsp;%2</td>"
           "<td align='right'>&nbsp;&nbsp;&nbsp;%3</td></tr>"_s.arg(what.toHtmlEscaped(), fp32,
                                                                    other);
}

QString table(const engine::Speedup& row) {
    const auto& a = row.fp32;
    const auto& b = row.amp;
    const auto ms = [](const QString& what, double fp32, double other) {
        return line(what, milliseconds(fp32), milliseconds(other));
    };
    QString rows = line({}, u"<b>FP32</b>"_s,
                        u"<b>"_s + precisionTitle(row.precision).toHtmlEscaped() + u"</b>"_s);
    rows += ms(SpeedupWords::tr("Step"), row.fp32_ms, row.amp_ms);
    rows += ms(SpeedupWords::tr("products, convolutions"), a.products, b.products);
    rows += ms(SpeedupWords::tr("operations that move data"), a.memory, b.memory);
    rows += ms(SpeedupWords::tr("short operations"), a.brief, b.brief);
    rows += ms(SpeedupWords::tr("casts"), a.casts, b.casts);
    rows += ms(SpeedupWords::tr("gradient check, optimizer"), a.update, b.update);
    rows += line(SpeedupWords::tr("Short operations"), count(a.brief_ops), count(b.brief_ops));
    rows += line(SpeedupWords::tr("Moved by casts"), bytes(a.cast_bytes), bytes(b.cast_bytes));
    rows += line(SpeedupWords::tr("Peak memory"), bytes(row.fp32_bytes), bytes(row.amp_bytes));
    if (row.batch_memory > 0)
        rows += line(SpeedupWords::tr("Largest batch in %1").arg(bytes(row.batch_memory)),
                     batchText(row.fp32_largest_batch), batchText(row.largest_batch));
    return u"<table>"_s + rows + u"</table>"_s;
}

QString peaks(const engine::Speedup& row) {
    QStringList parts;
    for (const auto& [type, flops] : row.peaks)
        parts << SpeedupWords::tr("%1 GFLOP/s in %2")
                     .arg(significant(flops * 1e-9), QString::fromStdString(type));
    return parts.join(u", "_s);
}

}  // namespace

QString batchText(std::int64_t batch) {
    if (batch <= 0) return SpeedupWords::tr("none");
    return batch >= engine::max_batch_tried ? u"≥ "_s + count(batch) : count(batch);
}

QString timesText(double ratio) {
    return QString::number(ratio, 'f', ratio < 10 ? 2 : 1) + QChar(0xd7);
}

QString speedupTitle(const engine::RunConfig& settings) {
    return SpeedupWords::tr("%1 · %2 · batch %3")
        .arg(modelTitle(settings.model),
             engineText(engine::title_of(engine::datasets(), settings.dataset.kind)),
             count(settings.batch_size));
}

QString speedupShortTitle(const engine::RunConfig& settings) {
    return SpeedupWords::tr("%1, batch %2")
        .arg(modelTitle(settings.model),
             count(settings.batch_size));
}

QString speedupSentence(const engine::Speedup& row) {
    engine::Message sentence = row.sentence;
    // The engine names the preset.
    if (!sentence.args.empty() && sentence.args.front() == row.precision)
        sentence.args.front() = precisionTitle(row.precision).toStdString();
    return engineText(sentence);
}

QString speedupFigures(const engine::Speedup& row) {
    const QString pairs =
        SpeedupWords::tr("Speed-up %1; %2 to %3 in single pairs of blocks.")
            .arg(timesText(row.speed_up), timesText(row.least), timesText(row.most));
    const QString products = row.peaks.empty()
                                 ? QString()
                                 : SpeedupWords::tr("A large product reaches %1.").arg(peaks(row));
    return u"<p>%1</p>%2<p>%3</p>"_s.arg(speedupSentence(row).toHtmlEscaped(), table(row),
                                         joined({pairs, products}).toHtmlEscaped());
}

}  // namespace ui
