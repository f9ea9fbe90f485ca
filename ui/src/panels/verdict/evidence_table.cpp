#include "panels/verdict/evidence_table.h"

#include <QCoreApplication>

#include "feed/run_track.h"
#include "panels/verdict/run_card.h"
#include "text/format.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::size_t speedFigure = 2;  ///< of those that figureCaptions() names

struct EvidenceTable {
    Q_DECLARE_TR_FUNCTIONS(EvidenceTable)
};

QString evidenceRow(const QString& name, const QString& first, const QString& second,
                    const QString& cell = u"td"_s) {
    const auto wrapped = [&cell](const QString& text, const QString& align) {
        return u"<%1 align='%2'>%3</%1>"_s.arg(cell, align, text.toHtmlEscaped());
    };
    return u"<tr>"_s + wrapped(name, u"left"_s) + wrapped(first, u"right"_s) +
           wrapped(second, u"right"_s) + u"</tr>"_s;
}

}  // namespace

QString evidenceTable(const RunTrack& baseline, const RunTrack& other,
                      const QStringList& sentences) {
    QString rows = evidenceRow({}, trackTitle(baseline), trackTitle(other), u"th"_s);
    const CardFigures first = figuresOf(&baseline), second = figuresOf(&other);
    const auto names = figureCaptions(baseline.metrics(), baseline.unit());
    const auto others = figureCaptions(other.metrics(), other.unit());
    const std::array<QString, 4> left = {first.loss, first.metric, first.speed, first.peak};
    const std::array<QString, 4> right = {second.loss, second.metric, second.speed, second.peak};
    for (std::size_t i = 0; i < names.size(); ++i) {
        // Figures of two tasks have nothing in common but their place. The sentences below give
        // typical speeds.
        const QString name =
            i == speedFigure ? EvidenceTable::tr("mean speed, %1").arg(names[i]) : names[i];
        if (names[i] == others[i]) rows += evidenceRow(name, left[i], right[i]);
    }
    if (baseline.rows() > 0 && other.rows() > 0) {
        const engine::KeyFigures a = baseline.figures(), b = other.figures();
        rows += evidenceRow(EvidenceTable::tr("steps"), count(a.steps), count(b.steps));
        rows += evidenceRow(EvidenceTable::tr("skipped"), count(a.skipped), count(b.skipped));
    }
    for (const QString& sentence : sentences)
        rows += u"<tr><td colspan='3'>"_s + sentence.toHtmlEscaped() + u"</td></tr>"_s;
    return u"<table width='100%' cellspacing='0' cellpadding='3'>"_s + rows + u"</table>"_s;
}

}  // namespace ui
