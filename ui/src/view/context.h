#pragma once

#include <QObject>
#include <type_traits>

namespace ui {

class Benchmarks;
class Commands;
class EventFeed;
class Language;
class PaintScheduler;
class PlotLink;
class QueueRunner;
class RunHistory;
class SettingsModel;
class Theme;

/// The objects that outlive the window, passed to panels. Owned by Application.
struct Context {
    Theme* theme = nullptr;
    Language* language = nullptr;
    EventFeed* feed = nullptr;
    SettingsModel* settings = nullptr;
    Commands* commands = nullptr;
    PlotLink* link = nullptr;
    PaintScheduler* scheduler = nullptr;
    QueueRunner* queue = nullptr;
    RunHistory* history = nullptr;
    Benchmarks* benchmarks = nullptr;
    QObject* kept = nullptr;  ///< parent of what pages have computed (kept() below); may be null
};

/// Keeps what a page has computed and shows: it stays when the page is made anew in another
/// language. Without Context::kept it belongs to the page.
template <typename Model>
Model* kept(const Context& context, QObject* page) {
    const auto made = [&context](QObject* parent) {
        if constexpr (std::is_constructible_v<Model, const Context&, QObject*>)
            return new Model(context, parent);
        else
            return new Model(parent);
    };
    if (context.kept == nullptr) return made(page);
    auto* found = context.kept->findChild<Model*>(QString(), Qt::FindDirectChildrenOnly);
    return found != nullptr ? found : made(context.kept);
}

}  // namespace ui
