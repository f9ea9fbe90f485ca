#pragma once

#include <QAbstractListModel>
#include <QSortFilterProxyModel>
#include <deque>
#include <memory>

#include "text/event_text.h"

namespace ui {

class EventFeed;
class RunTrack;

/// What happened, newest first, in plain words. Keeps the newest 500, for a list
/// whose rows differ in height is laid out whole when it grows; all are in the run's folder.
class EventModel final : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role {
        WhatRole = Qt::UserRole,
        MeaningRole,
        StepRole,
        KindRole,
        PrecisionRole,
        IdRole,
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
    };
    /// In words, with the run's name where several are on screen.
    EventText describe(const RunTrack& track, const engine::Event& event) const;

    Entry entry(const RunTrack& track, EventText text);

    qint64 ids_ = 0;
    bool several_ = false;        ///< runs are on screen
    bool severalScaled_ = false;  ///< runs with a loss scaler are
    std::deque<Entry> shown_;     ///< newest first
    std::deque<Entry> waiting_;   ///< oldest first
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
