#include "report/report_page.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

#include "engine/base/plain_text.h"
#include "text/event_text.h"
#include "text/format.h"
#include "text/language.h"
#include "text/metric_text.h"
#include "text/run_text.h"
#include "theme/tokens.h"

namespace ui {
namespace {

constexpr int maxEvents = 60;

QString styles(const Tokens& t) {
    return u"body{font:15px/1.5 system-ui,sans-serif;color:%1;background:%2;max-width:1100px;"
           "margin:24px auto;padding:0 16px}"
           "h1{font-size:24px}h2{font-size:17px;margin-top:28px}"
           "table{border-collapse:collapse;background:%3}"
           "th,td{border:1px solid %4;padding:4px 10px;text-align:right;"
           "font-variant-numeric:tabular-nums}"
           "th:first-child,td:first-child{text-align:left}"
           "img{width:100%;border:1px solid %4;border-radius:8px;background:%3}"
           "pre{background:%3;border:1px solid %4;padding:8px;overflow:auto}"
           "p.note{color:%5;margin-top:2px}"_s.arg(t.text.name(), t.window.name(), t.panel.name(),
                                                   t.line.name(), t.dim.name());
}

/// Text that another program or person may have written, as the text of a page.
QString pageText(const QString& text) {
    return QString::fromStdString(engine::printable(text.toStdString())).toHtmlEscaped();
}

QString row(const QStringList& cells, const char* tag) {
    QString out = u"<tr>"_s;
    for (const QString& cell : cells) {
        out += u"<%1>%2</%1>"_s.arg(QString::fromLatin1(tag), pageText(cell));
    }
    return out + u"</tr>\n"_s;
}

/// The parts of the page that have words.
struct ReportPage {
    Q_DECLARE_TR_FUNCTIONS(ReportPage)
public:
    static QString head();
    static QStringList figures(const RunTrack& track);
    static QString table(const TrackList& tracks);
    static QString scaleEvents(const RunTrack& track);
    static QString settings(const RunTrack& track);
};

QString ReportPage::head() {
    return u"<!doctype html>\n<html lang=\"%1\"><head><meta charset=\"utf-8\">\n"
           "<title>%2</title>\n<style>%3</style></head><body>\n<h1>%2</h1>\n"
           "<p class=note>%4</p>\n"_s.arg(
               QLocale().bcp47Name(), tr("Halftone: training report"), styles(lightTokens()),
               QLocale()
                   .toString(QDateTime::currentDateTime(), QLocale::LongFormat)
                   .toHtmlEscaped());
}

QStringList ReportPage::figures(const RunTrack& track) {
    const engine::Metric metric = primaryMetric(track.metrics());
    const engine::KeyFigures now = track.figures();
    return {trackTitle(track),
            QString::number(track.config().seed),
            measured(now.test.loss, significant),
            metricValue(metric, valueOf(now.test, metric)),
            measured(now.step_ms, milliseconds),
            measured(now.samples_per_s, significant),
            now.peak_bytes == 0 ? unmeasured() : bytes(now.peak_bytes),
            count(now.steps),
            count(now.updates),
            count(now.skipped),
            count(now.growths)};
}

QString ReportPage::table(const TrackList& tracks) {
    const engine::Metric metric = primaryMetric(tracks.empty() ? engine::classification_metrics()
                                                               : tracks.front()->metrics());
    const std::string unit = tracks.empty() ? std::string() : tracks.front()->unit();
    QString out = u"<table>\n"_s + row({tr("run"), tr("seed"), tr("test loss"),
                                        spaced(tr("test %1").arg(metricInline(metric))),
                                        tr("mean time per step"), speedUnit(unit), tr("peak memory"),
                                        tr("steps"), tr("updates"), tr("skipped"), tr("growths")},
                                       "th");
    for (const auto& track : tracks) {
        out += track->rows() > 0 ? row(figures(*track), "td") : row({trackTitle(*track)}, "td");
    }
    return out + u"</table>\n"_s;
}

QString ReportPage::scaleEvents(const RunTrack& track) {
    QString out;
    int shown = 0;
    int left = 0;
    for (const auto& event : track.events()) {
        if (!std::holds_alternative<engine::ScaleChanged>(event)) continue;
        if (shown == maxEvents) {
            ++left;
            continue;
        }
        ++shown;
        const EventText text = describeEvent(event, track.config(), track.metrics());
        out += row({count(text.step), text.what, text.meaning}, "td");
    }
    if (out.isEmpty()) return {};
    out = u"<h2>%1</h2>\n<table>\n"_s.arg(
              pageText(tr("Loss scale: %1").arg(trackTitle(track)))) +
          row({tr("step"), tr("what happened"), tr("what it means")}, "th") + out + u"</table>\n"_s;
    if (left > 0) out += u"<p class=note>%1</p>\n"_s.arg(tr("and %1 more").arg(count(left)));
    return out;
}

QString ReportPage::settings(const RunTrack& track) {
    return u"<details><summary>%1</summary><pre>%2</pre></details>\n"_s.arg(
        pageText(tr("Settings: %1").arg(trackTitle(track))),
        pageText(QString::fromStdString(engine::to_json(track.config()))));
}

}  // namespace

QString reportPage(const TrackList& tracks, const std::vector<engine::Verdict>& verdicts,
                   const std::vector<ReportPlot>& plots) {
    QString page = ReportPage::head();
    for (const auto& verdict : verdicts) {
        const QString headline = engineText(verdict.headline);
        const QString whole = joined({headline, costText(verdict), evidenceText(verdict)});
        page += u"<p><b>%1</b>%2</p>\n"_s.arg(pageText(headline),
                                              pageText(whole.mid(headline.size())));
    }
    page += ReportPage::table(tracks);
    for (const ReportPlot& plot : plots) {
        page += u"<h2>%1</h2>\n<img src=\"%2\" alt=\"%1\">\n<p class=note>%3</p>\n"_s.arg(
            pageText(plot.title), plot.file, pageText(plot.note));
    }
    for (const auto& track : tracks) page += ReportPage::scaleEvents(*track);
    for (const auto& track : tracks) page += ReportPage::settings(*track);
    return page + u"</body></html>\n"_s;
}

}  // namespace ui
