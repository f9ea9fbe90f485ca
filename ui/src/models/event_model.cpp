#include "models/event_model.h"

#include <algorithm>
#include <utility>

#include "feed/event_feed.h"
#include "feed/run_track.h"

namespace ui {

namespace {

const engine::ScaleChanged* skipIn(const engine::Event& event) {
    const auto* scale = std::get_if<engine::ScaleChanged>(&event);
    const bool skip = scale != nullptr && scale->kind != engine::ScaleChanged::Kind::grown;
    return skip ? scale : nullptr;
}

}  // namespace

void EventModel::follow(EventFeed* feed) {
    connect(feed, &EventFeed::tracksChanged, this, [this, feed] { reset(feed->tracks()); });
    connect(feed, &EventFeed::eventArrived, this,
            [this, feed](const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
                const auto shown = feed->tracks();
                if (std::find(shown.begin(), shown.end(), track) != shown.end()) add(*track, event);
            });
    connect(feed, &EventFeed::figuresDue, this, &EventModel::flush);
    reset(feed->tracks());
}

EventText EventModel::named(const RunTrack& track, EventText text) const {
    const bool ofScaler = text.kind == EventKind::grown || text.kind == EventKind::skipped;
    const bool ambiguous = ofScaler ? severalScaled_ : several_;
    if (ambiguous && !text.what.isEmpty()) {
        text.what = trackTitle(track) + QStringLiteral(" · ") + text.what;
    }
    return text;
}

std::optional<EventModel::Entry> EventModel::entry(const RunTrack& track,
                                                   const engine::Event& event) {
    EventText text = named(track, describeEvent(event, track.config(), track.metrics()));
    if (text.what.isEmpty()) return std::nullopt;
    Entry made{std::move(text), QString::fromStdString(track.precision()), ++ids_,
               reinterpret_cast<quintptr>(&track)};
    made.ownColor = track.hue.own;
    if (const auto* skip = skipIn(event)) made.first = made.last = *skip;
    return made;
}

bool EventModel::fold(Entry& row, const RunTrack& track, const engine::Event& event) {
    const auto* skip = skipIn(event);
    const bool follows = skip != nullptr && row.last && skip->step == row.last->step + 1 &&
                         skip->loss.has_value() == row.last->loss.has_value();
    if (!follows) return false;
    row.last = *skip;
    row.text = named(track, describeSkips(*row.first, *row.last));
    row.id = ++ids_;
    row.changed = true;
    return true;
}

/// Events of other runs, and others of this one, may have come since.
EventModel::Entry* EventModel::lastSkip(const RunTrack& track) {
    const auto run = reinterpret_cast<quintptr>(&track);
    const auto ofRun = [&](const Entry& e) { return e.last && e.run == run; };
    const auto waits = std::find_if(waiting_.rbegin(), waiting_.rend(), ofRun);
    if (waits != waiting_.rend()) return &*waits;
    const auto shows = std::find_if(shown_.begin(), shown_.end(), ofRun);
    return shows != shown_.end() ? &*shows : nullptr;
}

void EventModel::add(const RunTrack& track, const engine::Event& event) {
    if (skipIn(event) != nullptr) {
        Entry* before = lastSkip(track);
        if (before != nullptr && fold(*before, track, event)) return;
    }
    auto made = entry(track, event);
    if (!made) return;
    waiting_.push_back(std::move(*made));
    if (waiting_.size() > most) waiting_.pop_front();
}

void EventModel::showChanged() {
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        if (!std::exchange(shown_[i].changed, false)) continue;
        const QModelIndex at = index(static_cast<int>(i), 0);
        emit dataChanged(at, at);
    }
}

void EventModel::flush() {
    showChanged();
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
        Entry* before = nullptr;  // a deque that grows at its front leaves it where it is
        for (const auto& event : track->events()) {
            if (before != nullptr && fold(*before, *track, event)) continue;
            auto made = entry(*track, event);
            if (!made) continue;
            shown_.push_front(std::move(*made));
            if (shown_.front().last) before = &shown_.front();
        }
    }
    // Events of several runs are ordered by step; those without a step stay at the start.
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
        case LastStepRole:
            return static_cast<qlonglong>(entry.last ? entry.last->step : entry.text.step);
        case KindRole:
            return static_cast<int>(entry.text.kind);
        case OwnColorRole:
            return entry.ownColor;
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
