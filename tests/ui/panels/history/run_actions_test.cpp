// How a finished run is trained longer.
#include "panels/history/run_actions.h"

#include <gtest/gtest.h>
#include <QPushButton>
#include <QRadioButton>

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using engine::LongerSchedule;

engine::RunSummary finished(const std::string& schedule, std::int64_t max_steps = 0) {
    engine::RunSummary run;
    run.run = "3";
    run.state = "done";
    run.config.schedule.kind = schedule;
    run.config.epochs = 5;
    run.config.max_steps = max_steps;
    return run;
}

/// Choices of the dialog when it is accepted.
struct Chosen {
    std::vector<std::string> changes;
    LongerSchedule schedule;
};

Chosen chosen(const engine::RunSummary& run, int epochs, int button) {
    auto* dialog = new LongerDialog(run, nullptr);
    Chosen out{{}, LongerSchedule::ask};
    QObject::connect(dialog, &QDialog::accepted, dialog, [dialog, &out] {
        out = {dialog->changes(), dialog->schedule()};
    });
    if (epochs > 0) dialog->findChild<QSpinBox*>(u"longerEpochs"_s)->setValue(epochs);
    const auto buttons = dialog->findChildren<QRadioButton*>();
    if (button >= 0) buttons.at(button)->click();
    dialog->findChild<QPushButton*>(u"primary"_s)->click();
    delete dialog;
    return out;
}

TEST(LongerDialog, AsksForEpochsAndHowTheRateGoesOn) {
    for (const auto& [button, schedule] :
         std::vector<std::pair<int, LongerSchedule>>{{-1, LongerSchedule::constant},
                                                     {0, LongerSchedule::constant},
                                                     {1, LongerSchedule::cycle},
                                                     {2, LongerSchedule::stretch}}) {
        const Chosen longer = chosen(finished("cosine"), 0, button);
        EXPECT_EQ(longer.changes, std::vector<std::string>{"epochs=10"});
        EXPECT_EQ(longer.schedule, schedule);
    }
    EXPECT_EQ(chosen(finished("one-cycle", 40), 7, 1).changes,
              (std::vector<std::string>{"epochs=7", "max_steps=0"}));
}

TEST(LongerDialog, OfAScheduleThatDoesNotFallAsksForEpochsAlone) {
    for (const char* kind : {"constant", "step", "plateau"}) {
        LongerDialog dialog(finished(kind), nullptr);
        EXPECT_TRUE(dialog.findChildren<QRadioButton*>().empty()) << kind;
        EXPECT_EQ(dialog.schedule(), LongerSchedule::ask);
    }
}

}  // namespace
}  // namespace ui
