#include "models/event_model.h"

#include <algorithm>

#include "feed/run_track.h"
#include "text/run_title.h"
#include "ui/event_feed.h"

namespace ui {

void EventModel::follow(EventFeed* feed) {
    connect(feed, &EventFeed::tracksChanged, this, [this, feed] { reset(feed->tracks()); });
    connect(feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
                add(*track, event);
            });
    connect(feed, &EventFeed::figuresDue, this, &EventModel::flush);
    reset(feed->tracks());
}

EventText EventModel::describe(const RunTrack& track, const engine::Event& event) const {
    EventText text = describeEvent(event);
    const bool ofScaler = text.kind == EventKind::grown || text.kind == EventKind::skipped;
    const bool ambiguous = ofScaler ? severalScaled_ : several_;
    if (ambiguous && !text.what.isEmpty()) {
        text.what = trackTitle(track) + QStringLiteral(" · ") + text.what;
    }
    return text;
}

EventModel::Entry EventModel::entry(const RunTrack& track, EventText text) {
    return {std::move(text), QString::fromStdString(track.precision()), ++ids_,
            reinterpret_cast<quintptr>(&track)};
}

void EventModel::add(const RunTrack& track, const engine::Event& event) {
    EventText text = describe(track, event);
    if (text.what.isEmpty()) return;
    waiting_.push_back(entry(track, std::move(text)));
    if (waiting_.size() > most) waiting_.pop_front();
}

void EventModel::flush() {
    if (waiting_.empty()) return;
    const int added = static_cast<int>(waiting_.size());
    beginInsertRows({}, 0, added - 1);
    for (auto& entry : waiting_) shown_.push_front(std::move(entry));
    endInsertRows();
    waiting_.clear();
    if (shown_.size() <= most) return;
    beginRemoveRows({}, static_cast<int>(most), static_cast<int>(shown_.size()) - 1);
    shown_.resize(most);
    endRemoveRows();
}

void EventModel::reset(const std::vector<std::shared_ptr<RunTrack>>& tracks) {
    beginResetModel();
    shown_.clear();
    waiting_.clear();
    several_ = tracks.size() > 1;
    severalScaled_ = std::count_if(tracks.begin(), tracks.end(),
                                   [](const auto& track) { return track->hasScaler(); }) > 1;
    for (const auto& track : tracks) {
        for (const auto& event : track->events()) {
            EventText text = describe(*track, event);
            if (text.what.isEmpty()) continue;
            shown_.push_front(entry(*track, std::move(text)));
        }
    }
    // Several runs are told by step; what belongs to no step keeps its place at the start.
    std::stable_sort(shown_.begin(), shown_.end(),
                     [](const Entry& a, const Entry& b) { return a.text.step > b.text.step; });
    if (shown_.size() > most) shown_.resize(most);
    endResetModel();
}

int EventModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant EventModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Entry& entry = shown_[static_cast<std::size_t>(index.row())];
    switch (role) {
        case Qt::DisplayRole:
        case WhatRole:
            return entry.text.what;
        case Qt::ToolTipRole:
        case Qt::AccessibleTextRole:
            return entry.text.meaning.isEmpty() ? entry.text.what
                                                : entry.text.what + u'\n' + entry.text.meaning;
        case MeaningRole:
            return entry.text.meaning;
        case StepRole:
            return static_cast<qlonglong>(entry.text.step);
        case KindRole:
            return static_cast<int>(entry.text.kind);
        case PrecisionRole:
            return entry.precision;
        case IdRole:
            return entry.id;
        case RunRole:
            return entry.run;
        default:
            return {};
    }
}

void EventFilter::setShow(Show show) {
    show_ = show;
    invalidateFilter();
}

bool EventFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (show_ == Show::all) return true;
    const auto kind = static_cast<EventKind>(
        sourceModel()->index(row, 0, parent).data(EventModel::KindRole).toInt());
    if (kind == EventKind::failed || kind == EventKind::warning) return true;
    if (show_ == Show::epochs) return kind == EventKind::epoch;
    return kind == EventKind::skipped || (show_ == Show::scale && kind == EventKind::grown);
}

}  // namespace ui
