#pragma once

class QObject;

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
    QObject* kept = nullptr;  ///< parent of what pages have computed (view/kept.h); may be null
};

}  // namespace ui
