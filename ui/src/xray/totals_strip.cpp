#include "xray/totals_strip.h"

#include "text/format.h"
#include "text/precision_title.h"
#include "theme/theme.h"
#include "widgets/elided_label.h"
#include "widgets/panel.h"
#include "xray/op_filter.h"
#include "xray/xray_model.h"

namespace ui {

using engine::Xray;

namespace {

struct Kept {
    std::int64_t ops = 0;
    double us = 0;
};

/// "71.5 µs", "19.9 ms"
QString shortTime(double us) {
    return us < 1000 ? significant(us) + u" µs"_s : milliseconds(us / 1000);
}

QString opsText(std::int64_t ops) {
    return ops == 1 ? TotalsStrip::tr("1 op") : TotalsStrip::tr("%1 ops").arg(count(ops));
}

/// Count and time of the operations that the FP32 list of autocast keeps, nested ones included.
Kept keptIn(const Xray& trace) {
    Kept out;
    for (const auto& op : trace.ops) {
        if (!isKeptInFp32(op)) continue;
        ++out.ops;
        out.us += op.us;
    }
    return out;
}

QStringList sharesOf(const Xray& trace) {
    const double all = std::max(1.0, engine::total(trace).us);
    QStringList out;
    for (const auto& type : engine::totals_by_dtype(trace)) {
        if (type.us < 0.005 * all || out.size() == 3) continue;
        out << u"%1 %2"_s.arg(percent(type.us / all), type.name.empty()
                                                          ? TotalsStrip::tr("other")
                                                          : QString::fromStdString(type.name));
    }
    return out;
}

QString rateOf(const Xray& trace) {
    const double seconds = trace.step_ms / 1000;
    return seconds > 0 ? significant(engine::total(trace).flops / seconds / 1e9) : unmeasured();
}

QString both(const QString& own, const QString& other) {
    return own == other ? own : u"%1 · %2"_s.arg(own, other);
}

}  // namespace

TotalsStrip::TotalsStrip(XrayModel* model, QWidget* parent) : QFrame(parent), model_(model) {
    setObjectName(u"card"_s);
    auto* row = makeRow(this, {size::inside, size::gap, size::inside, size::gap}, 2 * size::inside);
    const std::array titles{tr("fastest step"), tr("time by type"), tr("casts inserted"),
                            tr("kept in FP32"), tr("arithmetic")};
    for (std::size_t i = 0; i < titles.size(); ++i) {
        auto* part = makeColumn(1);
        auto* title = makeSmall(titles[i], "dim", this);
        totals_[i] = new ElidedLabel(this);
        totals_[i]->setFont(Theme::bold());
        notes_[i] = new ElidedLabel(this);
        notes_[i]->setProperty("role", u"dim"_s);
        notes_[i]->setFont(Theme::caption());
        addWidgets(part, {title, totals_[i], notes_[i]});
        row->addLayout(part, 1);
    }
    connect(model_, &XrayModel::traceChanged, this, &TotalsStrip::refresh);
    connect(model_, &XrayModel::viewChanged, this, &TotalsStrip::refresh);
    refresh();
}

void TotalsStrip::set(Part part, const QString& total, const QString& note) {
    totals_[part]->setText(total);
    notes_[part]->setText(note);
}

void TotalsStrip::refresh() {
    const bool difference = model_->view() == XrayView::difference;
    if (model_->trace()) show();
    if (difference && model_->ownTrace() && model_->otherTrace())
        return showDifference(*model_->ownTrace(), *model_->otherTrace());
    if (model_->trace() && !difference) return showTrace(*model_->trace());
    hide();
}

void TotalsStrip::showTrace(const Xray& trace) {
    const engine::XrayTotal all = engine::total(trace);
    set(time, tr("%1 · %2 ops").arg(milliseconds(trace.untraced_ms), count(all.ops)),
        trace.slowest_ms > trace.untraced_ms
            ? tr("computed again: up to %1; traced: %2")
                  .arg(milliseconds(trace.slowest_ms), milliseconds(trace.step_ms))
            : tr("traced: %1").arg(milliseconds(trace.step_ms)));
    const QStringList shares = sharesOf(trace);
    set(types, shares.value(0), shares.mid(1).join(u" · "_s));
    std::int64_t cached = 0;
    for (const auto& op : trace.ops) cached += op.cached_casts + op.kept_copies;
    set(casts, tr("%1 · %2").arg(count(all.casts), bytes(all.cast_bytes)),
        tr("%1 · %2 from the cache").arg(shortTime(all.cast_us), count(cached)));
    const Kept inFp32 = keptIn(trace);
    set(kept, opsText(inFp32.ops), tr("%1, by the FP32 list").arg(shortTime(inFp32.us)));
    QStringList peaks;
    for (const auto& [type, peak] : trace.peaks)
        peaks << u"%1 %2"_s.arg(QString::fromStdString(type), significant(peak / 1e9));
    set(arithmetic, tr("%1 GFLOP/s").arg(rateOf(trace)),
        peaks.isEmpty() ? QString() : tr("measured here: %1 GFLOP/s").arg(peaks.join(u", "_s)));
}

/// Untraced times: those of the step as it runs.
void TotalsStrip::showDifference(const Xray& own, const Xray& other) {
    const double times = other.untraced_ms / std::max(own.untraced_ms, 1e-9);
    set(time, both(milliseconds(own.untraced_ms), milliseconds(other.untraced_ms)),
        tr("untraced, %1× as fast").arg(significant(times, 2)));
    set(types, sharesOf(own).value(0),
        tr("%1 alone: %2").arg(precisionTitle(other.precision), sharesOf(other).value(0)));
    const engine::XrayTotal a = engine::total(own), b = engine::total(other);
    set(casts, both(count(a.casts), count(b.casts)),
        both(bytes(a.cast_bytes), bytes(b.cast_bytes)));
    set(kept, opsText(keptIn(own).ops),
        tr("peak %1").arg(both(bytes(own.peak_bytes), bytes(other.peak_bytes))));
    set(arithmetic, tr("%1 GFLOP/s").arg(both(rateOf(own), rateOf(other))), {});
}

}  // namespace ui
