#pragma once

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <deque>
#include <memory>
#include <optional>

#include "text/event_text.h"

namespace ui {

class EventFeed;
class RunTrack;

/// The events, newest first, in plain words. Skips of consecutive steps of a run are one row, which
/// grows while they continue. Keeps the newest 500, because a list with rows of different heights
/// is laid out completely whenever it grows; the run's folder has all of them.
class EventModel final : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role {
        WhatRole = Qt::UserRole,
        MeaningRole,
        StepRole,      ///< of several skips the first
        LastStepRole,  ///< of several skips the last, else as StepRole
        KindRole,
        PrecisionRole,
        OwnColorRole,  ///< RunHue::own
        IdRole,  ///< another one whenever the words change
        RunRole
    };
    static constexpr std::size_t most = 500;

    explicit EventModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

    /// Shows these runs' events so far, by step, and follows the feed from now on.
    void follow(EventFeed* feed);
    void add(const RunTrack& track, const engine::Event& event);
    /// Puts what was added since the last call on screen, in one go.
    void flush();
    void reset(const std::vector<std::shared_ptr<RunTrack>>& tracks);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    struct Entry {
        EventText text;
        QString precision;
        qint64 id;     ///< of no other entry of this model
        quintptr run;  ///< address of its track, which may be gone
        int ownColor = -1;
        std::optional<engine::ScaleChanged> first = {};  ///< skip that this row stands for,
        std::optional<engine::ScaleChanged> last = {};   ///< and the last one
        bool changed = false;                            ///< since it was last shown
    };
    using Entries = std::deque<Entry>;
    /// In words, with the run's name where several are on screen.
    EventText named(const RunTrack& track, EventText text) const;
    std::optional<Entry> entry(const RunTrack& track, const engine::Event& event);
    /// True if the event is a skip that continues the last one of `row`, which then stands for
    /// both.
    bool fold(Entry& row, const RunTrack& track, const engine::Event& event);
    Entry* lastSkip(const RunTrack& track);
    void showChanged();

    qint64 ids_ = 0;
    bool several_ = false;        ///< runs are on screen
    bool severalScaled_ = false;  ///< runs with a loss scaler are
    Entries shown_;               ///< newest first
    Entries waiting_;             ///< oldest first
};

/// Shows all events or those of some kinds.
class EventFilter final : public QSortFilterProxyModel {
    Q_OBJECT
public:
    enum class Show { all, skips, scale, epochs };
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void setShow(Show show);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    Show show_ = Show::all;
};

}  // namespace ui
