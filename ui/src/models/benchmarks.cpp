#include "models/benchmarks.h"

#include <QStandardPaths>
#include <algorithm>

#include "engine/train/batch_finder.h"
#include "feed/event_feed.h"
#include "text/format.h"
#include "text/language.h"
#include "text/speedup_text.h"

namespace ui {
namespace {

constexpr std::ptrdiff_t mostOfRuns = 6;

bool trains(engine::RunState state) {
    using enum engine::RunState;
    return state == training || state == preparing || state == evaluating;
}

bool isOf(const BenchmarkResult& result, const engine::RunConfig& settings,
          const std::string& precision) {
    return result.row.precision == precision && result.settings == settings;
}

}  // namespace

Benchmarks::Benchmarks(EventFeed* feed, QString file, QObject* parent)
    : QObject(parent), feed_(feed), file_(std::move(file)), job_([this] {
          takeMeasured();
          share_ = std::max(share_, job_.progress().share(order_));
          emit progressed();
      }) {
    connect(feed_, &EventFeed::stateChanged, this, &Benchmarks::feedChanged);
}

QString Benchmarks::defaultFile() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
           u"/halftone/benchmarks.json"_s;
}

BenchmarkBook& Benchmarks::opened() {
    if (!std::exchange(read_, true)) book_ = readBenchmarkBook(file_);
    return book_;
}

const BenchmarkBook& Benchmarks::book() { return opened(); }

void Benchmarks::keep() {
    // If the file cannot be written, the choice still holds until the window closes: no message.
    writeBenchmarkBook(book_, file_);
    emit changed();
    emit stateChanged();
}

void Benchmarks::setChosen(std::size_t entry, bool chosen) {
    if (entry >= book().entries.size() || book_.entries[entry].chosen == chosen) return;
    book_.entries[entry].chosen = chosen;
    keep();
}

void Benchmarks::setPrecision(const QString& preset, bool chosen) {
    if (book().precisions.contains(preset) == chosen) return;
    if (chosen)
        book_.precisions << preset;
    else
        book_.precisions.removeAll(preset);
    keep();
}

void Benchmarks::setFindsBatches(bool finds) {
    if (book().findsBatches == finds) return;
    book_.findsBatches = finds;
    keep();
}

void Benchmarks::setMemory(const QString& memory) {
    if (book().memory == memory) return;
    book_.memory = memory;
    keep();
}

void Benchmarks::chooseRun(const engine::RunConfig& config, const std::string& precision) {
    BenchmarkBook& book = opened();
    const engine::RunConfig settings = engine::speed_settings(config);
    bool known = false;
    for (BenchmarkEntry& entry : book.entries) {
        entry.chosen = entry.settings == settings;
        known = known || entry.chosen;
    }
    if (!known) book.entries.push_back({settings, true, true});
    if (std::ranges::count(book.entries, true, &BenchmarkEntry::ofRun) > mostOfRuns) {
        const auto oldest = std::ranges::find(book.entries, true, &BenchmarkEntry::ofRun);
        std::erase_if(book.results,
                      [&](const auto& result) { return result.settings == oldest->settings; });
        book.entries.erase(oldest);
    }
    const QString preset = QString::fromStdString(precision);
    if (!book.precisions.contains(preset)) book.precisions << preset;
    requested_ = true;
    keep();
    emit resultsChanged();
}

const BenchmarkResult* Benchmarks::find(const engine::RunConfig& config,
                                        const std::string& precision) {
    if (book().results.empty()) return nullptr;
    const engine::RunConfig settings = engine::speed_settings(config);
    const auto found = std::ranges::find_if(
        book_.results, [&](const auto& result) { return isOf(result, settings, precision); });
    return found == book_.results.end() ? nullptr : &*found;
}

std::int64_t Benchmarks::memoryLimit() {
    return engine::parse_bytes(book().memory.trimmed().toStdString());
}

QString Benchmarks::whyNot() {
    if (trains(feed_->state()))
        return tr("A run is training, and each would slow the other: pause or stop it first.");
    const auto& entries = book().entries;
    if (std::ranges::none_of(entries, &BenchmarkEntry::chosen))
        return tr("Choose a model on the left.");
    if (book_.precisions.isEmpty()) return tr("Choose a precision on the left.");
    if (book_.findsBatches && memoryLimit() == 0)
        return tr("%1 is not a size: use one such as 500 MB, 2 GB or 1.5 GiB.")
            .arg(book_.memory.trimmed().isEmpty() ? u"\"\""_s : book_.memory.trimmed());
    return {};
}

void Benchmarks::start() {
    if (job_.running() || !whyNot().isEmpty()) return;
    BenchmarkOrder order;
    for (const BenchmarkEntry& entry : book_.entries) {
        if (entry.chosen) order.settings.push_back(entry.settings);
    }
    for (const QString& preset : book_.precisions) order.precisions.push_back(preset.toStdString());
    if (book_.findsBatches) order.batchMemory = memoryLimit();
    faults_.clear();
    measured_ = 0;
    disturbed_ = false;
    clock_.start();
    order_ = order;
    taken_ = 0;
    share_ = 0;
    job_.start([order](BenchmarkTask::Link& link) { return measureAll(order, link); },
               [this](const Outcome<bool>&) { end(); });
    emit stateChanged();
}

void Benchmarks::stop() {
    job_.stop();
    emit stateChanged();
}

void Benchmarks::feedChanged() {
    if (job_.running() && !job_.stopping() && trains(feed_->state())) {
        disturbed_ = true;
        job_.stop();
    }
    emit stateChanged();
}

void Benchmarks::add(const engine::RunConfig& settings, const std::vector<engine::Speedup>& rows,
                     const QString& machine) {
    ++measured_;
    for (const engine::Speedup& row : rows) {
        std::erase_if(book_.results,
                      [&](const auto& result) { return isOf(result, settings, row.precision); });
        book_.results.push_back({settings, row, machine, QDateTime::currentDateTime()});
    }
    keep();
    emit resultsChanged();
}

void Benchmarks::takeMeasured() {
    const auto all = job_.progress().measured;
    for (; taken_ < all.size(); ++taken_) {
        const auto& [rows, machine, problem] = all[taken_];
        if (!problem.empty()) faults_.push_back({order_.settings[taken_], problem});
        if (!rows.empty()) add(order_.settings[taken_], rows, machine);
    }
}

void Benchmarks::end() {
    takeMeasured();
    ended_ = Ended{.asked = std::ssize(order_.settings),
                   .measured = measured_,
                   .disturbed = disturbed_,
                   .stopped = job_.stopped(),
                   .seconds = static_cast<double>(clock_.elapsed()) * 1e-3,
                   .faults = faults_};
    emit stateChanged();
}

/// Each time anew: the window's language may have changed since.
QString Benchmarks::outcome() const {
    if (!ended_) return {};
    QStringList said;
    if (ended_->disturbed)
        said << tr("Stopped: a run began to train, and each would slow the other.");
    else if (ended_->stopped)
        said << tr("Stopped.");
    said << tr("%1 of %2 models measured in %3.")
                .arg(count(ended_->measured), count(ended_->asked), duration(ended_->seconds));
    for (const Fault& fault : ended_->faults)
        said << tr("%1: %2").arg(speedupTitle(fault.settings), engineText(fault.problem));
    return joined(said);
}

}  // namespace ui
