// The plot of the machine's meters, which nobody sees who has not asked for it.
#include "panels/plots/plot_specs.h"

#include <QMenu>
#include <QTabBar>

#include "kernels/power_meters.h"
#include "plots/plot_fixture.h"
#include "support/list_source.h"
#include "support/nvml_stand_in.h"
#include "widgets/panel.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test_support::CardStandIn;
using test_support::CardState;

/// Rows of a run on a card that gets warmer; a run without a card if `card` is null.
std::vector<engine::StepRecord> meterRows(std::int64_t count, CardState* card) {
    const CardStandIn library(HALFTONE_NVML_STAND_IN);
    if (card != nullptr) library.set(*card);
    const kernels::CardMeter meter(card != nullptr ? card->pci : "", HALFTONE_NVML_STAND_IN);
    std::vector<engine::StepRecord> rows;
    for (std::int64_t i = 1; i <= count; ++i) {
        if (card != nullptr) {
            card->celsius = static_cast<unsigned>(40 + i);
            card->millijoules += 1'000;
            library.set(*card);
        }
        const kernels::CardReading now = card != nullptr ? meter.read() : kernels::CardReading{};
        engine::StepRecord row{};
        row.step = i;
        row.card_load = static_cast<float>(now.load);
        row.card_memory_bytes = now.memory_bytes;
        row.card_celsius = static_cast<float>(now.celsius);
        row.card_watts = static_cast<float>(now.watts);
        row.card_joules = now.joules;
        row.cpu_joules = kernels::CardReading::unknown;
        rows.push_back(row);
    }
    return rows;
}

struct HardwarePlotTest : PlotWindowTest {
    Panel* panel() const {
        return qobject_cast<Panel*>(window->findChild<QDockWidget*>(u"hardware"_s));
    }
    QTabBar* tabs() const { return panel()->findChild<QTabBar*>(); }
    const PlotContent& content() const { return plot(u"hardware"_s)->content(); }
    void ask() {
        panel()->toggleViewAction()->trigger();
        standsStill();
    }
    /// Puts rows in the place of those of run `index`.
    void replaceRows(std::size_t index, std::vector<engine::StepRecord> rows) {
        feed.tracks()[index]->setSource(listSource(std::move(rows)));
        feed.readAll();
    }
};

TEST_F(HardwarePlotTest, ShowsTheCardsFiguresOfRunsThatHaveThemOnceItIsAskedFor) {
    show({"fp32", "amp-bf16"});
    EXPECT_FALSE(panel()->isVisible());
    EXPECT_TRUE(content().curves.empty());
    CardState card{.percent = 40, .celsius = 40, .milliwatts = 250'000, .used_bytes = 3'000'000'000,
                   .millijoules = 0};
    replaceRows(0, meterRows(30, &card));
    replaceRows(1, meterRows(30, nullptr));
    ask();
    ASSERT_TRUE(panel()->isVisible());
    ASSERT_EQ(tabs()->count(), 6);
    const double last[] = {0.4, 3e9, 250, 70, 30};
    for (int tab = 0; tab < 5; ++tab) {
        tabs()->setCurrentIndex(tab);
        SCOPED_TRACE(tabs()->tabText(tab).toStdString());
        ASSERT_EQ(content().curves.size(), 1U) << "the other run has no card";
        EXPECT_FLOAT_EQ(content().curves.front().data->total(0, 30).last,
                        static_cast<float>(last[tab]));
    }
    tabs()->setCurrentIndex(5);
    EXPECT_TRUE(content().curves.empty()) << "no run has the energy of the processor";
    EXPECT_TRUE(plot(u"hardware"_s)->look().emptyText.contains(u"RAPL"_s));
    ask();
    EXPECT_FALSE(panel()->isVisible());
}

TEST_F(HardwarePlotTest, ShowsARunWhoseFirstRowsComeLater) {
    show({"fp32"});
    ask();
    EXPECT_TRUE(content().curves.empty());
    CardState card{.percent = 40};
    replaceRows(0, meterRows(30, &card));
    emit feed.figuresDue();
    EXPECT_EQ(content().curves.size(), 1U);
}

TEST_F(HardwarePlotTest, IsAmongThePanelsOfTheMenu) {
    show({});
    const auto menus = window->findChildren<QMenu*>();
    EXPECT_TRUE(std::ranges::any_of(menus, [this](const QMenu* menu) {
        return menu->title() == u"Panels"_s && menu->actions().contains(panel()->toggleViewAction());
    }));
    EXPECT_EQ(panel()->toggleViewAction()->text(), u"Hardware"_s);
}

}  // namespace
}  // namespace ui
