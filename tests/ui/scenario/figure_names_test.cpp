// Each figure on screen has its line in the handbook's table of figures (figures.md).
#include <gtest/gtest.h>

#include <QTableWidget>
#include <algorithm>

#include "engine/runs/run_fields.h"
#include "microscope/scale_table.h"
#include "pages/page_stack.h"
#include "panels/verdict/run_card.h"
#include "panels/verdict/verdict_bar.h"
#include "report/report_page.h"
#include "support/figure_infos.h"
#include "support/trained_runs.h"
#include "text/metric_text.h"
#include "twin/twin_table.h"
#include "widgets/elided_label.h"
#include "xray/op_tree.h"
#include "xray/totals_strip.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct FigureNamesTest : TrainedRuns {
    /// The names above the figures of a part of the window.
    template <typename Part>
    QStringList captionsOf(const QString& page) {
        window->findChild<PageStack*>()->showPage(page);
        QStringList out;
        const auto* part = window->findChild<Part*>();
        for (const auto* label : part->template findChildren<QLabel*>()) {
            if (label->property("role").toString() == u"dim"_s &&
                qobject_cast<const ElidedLabel*>(label) == nullptr)
                out << label->text();
        }
        for (const auto* table : part->template findChildren<QTableWidget*>()) {
            for (int column = 0; column < table->columnCount(); ++column)
                out << table->horizontalHeaderItem(column)->text();
        }
        return out;
    }
};

/// Whether the handbook's table has a figure of this name on screen.
bool isListed(const QString& caption) {
    return std::ranges::any_of(engine::figure_infos(), [&](const engine::FigureInfo& info) {
        return caption.compare(QString::fromUtf8(info.title.data(), std::ssize(info.title)),
                               Qt::CaseInsensitive) == 0;
    });
}

TEST_F(FigureNamesTest, EachFigureOnScreenStandsInTheHandbooksTable) {
    const auto track = open(train(settingsOf({})));
    const auto isMetric = [&](const QString& caption) {
        return std::ranges::any_of(track->stepMetrics(), [&](const engine::Metric& metric) {
            return caption.contains(metricInline(metric), Qt::CaseInsensitive);
        });
    };
    const auto known = [&](QString caption) {
        // The names of facts that are no figures, and short forms of the heads of columns.
        static const QStringList facts = {u"run"_s, u"seed"_s, u"state"_s, u"test acc."_s};
        if (caption == u"peak"_s) caption = u"peak memory"_s;
        if (caption == speedUnit(track->unit())) caption = u"mean speed"_s;
        caption.remove(u", "_s + speedUnit(track->unit()));
        return caption.isEmpty() || facts.contains(caption) || isListed(caption) ||
               isMetric(caption);
    };
    for (const QString& caption : figureCaptions(track->metrics(), track->unit()))
        EXPECT_TRUE(known(caption)) << caption.toStdString();
    const auto report = rowsOf(reportPage(feed.tracks(), {}, {}));
    for (const QString& head : report.front()) EXPECT_TRUE(known(head)) << head.toStdString();
    for (const QStringList& row : rowsOf(evidenceTable(*track, *track, {})))
        EXPECT_TRUE(known(row.front())) << row.front().toStdString();
    for (const engine::RunField& field : engine::run_fields()) {
        if (field.is_setting || field.kind != engine::RunField::Kind::number) continue;
        const bool ofMetric = field.name.starts_with("test_");
        const bool isFigure = std::ranges::any_of(
            engine::figure_infos(), [&](const auto& info) { return info.key == field.name; });
        EXPECT_TRUE(ofMetric || isFigure) << field.name;
    }
    link.select(3);
    standsStill();
    for (const auto* label : panelBody(u"step"_s)->findChildren<QLabel*>()) {
        const QString name = label->accessibleName().section(u':', 0, 0);
        // A row with several figures: its parts stand in the table.
        static const QStringList rows = {u"gradient"_s, u"in FP16"_s};
        EXPECT_TRUE(rows.contains(name) || known(name)) << name.toStdString();
    }
    QStringList captions = captionsOf<ScaleTable>(u"microscope"_s);
    EXPECT_EQ(captions.size(), 8);
    captions += captionsOf<TotalsStrip>(u"xray"_s);
    EXPECT_EQ(captions.size(), 13);
    const auto* tree = window->findChild<OpTree*>();
    for (int column = OpTree::casts; column < OpTree::columns; ++column)
        captions << tree->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    EXPECT_EQ(captions.size(), 17);
    const QStringList layers = captionsOf<TwinTable>(u"twin"_s);
    ASSERT_TRUE(layers.contains(u"layer"_s));
    captions += layers.mid(layers.indexOf(u"layer"_s) + 1);
    for (const QString& caption : captions) EXPECT_TRUE(known(caption)) << caption.toStdString();
}

}  // namespace
}  // namespace ui
