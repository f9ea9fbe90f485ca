#include "panels/registry.h"

#include <QCoreApplication>

#include "panels/event_panel.h"
#include "panels/history_panel.h"
#include "panels/plot_panels.h"
#include "panels/settings_panel.h"
#include "panels/step_panel.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

PanelSet makePanels(const Context& context, QWidget* parent) {
    PanelSet set;
    const auto title = [](const char* text) { return QCoreApplication::translate("Panels", text); };
    const auto panel = [&](const QString& name, const QString& words, QWidget* body) {
        return new Panel(context.theme, name, words, body, parent);
    };
    const auto plot = [&](const QString& name, std::vector<PlotSpec> specs) {
        const QString words = specs.size() > 1 ? title(QT_TRANSLATE_NOOP("Panels", "Fourth plot"))
                                               : specs.front().title;
        auto* body = new PlotPanel(context, std::move(specs));
        auto* made = panel(name, words, body);
        body->furnish(made);
        set.plots.push_back(made);
        return body;
    };

    set.settingsBody = new SettingsPanel(context);
    set.settings =
        panel(u"settings"_s, title(QT_TRANSLATE_NOOP("Panels", "Settings")), set.settingsBody);

    set.lossBody = plot(u"loss"_s, {lossSpec()});
    plot(u"accuracy"_s, {accuracySpec()});
    plot(u"scale"_s, {lossScaleSpec()});
    plot(u"fourth"_s, fourthPlaceSpecs());

    auto* step = new StepPanel(context);
    set.side.push_back(panel(u"step"_s, title(QT_TRANSLATE_NOOP("Panels", "Selected step")), step));
    step->furnish(set.side.back());
    auto* events = new EventPanel(context);
    set.side.push_back(panel(u"events"_s, title(QT_TRANSLATE_NOOP("Panels", "Events")), events));
    events->furnish(set.side.back());
    set.historyBody = new HistoryPanel(context);
    set.side.push_back(
        panel(u"runs"_s, title(QT_TRANSLATE_NOOP("Panels", "Runs")), set.historyBody));
    set.historyBody->furnish(set.side.back());
    return set;
}

}  // namespace ui
