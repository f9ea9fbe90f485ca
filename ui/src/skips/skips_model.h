#pragma once

#include <QObject>
#include <filesystem>
#include <memory>
#include <optional>

#include "engine/skips.h"
#include "view/context.h"

namespace ui {

class RunTrack;

/// The skipped and non-finite steps of the selected run, and the examination of one of them, which
/// runs on the compute thread. GUI thread.
class SkipsModel final : public QObject {
    Q_OBJECT
public:
    explicit SkipsModel(const Context& context, QObject* parent = nullptr);

    const std::shared_ptr<RunTrack>& track() const { return track_; }
    const engine::SkipList& skips() const { return skips_; }
    /// Index of the step on show; -1: none.
    int current() const;
    void select(int index);
    const engine::SkippedStep* step() const;
    /// Of the step on show; null until it was examined.
    const engine::SkipReport* report() const;
    /// The last step that was computed again with a change.
    const std::optional<engine::StepTrial>& trial() const { return trial_; }

    bool busy() const { return busy_; }
    const QString& problem() const { return problem_; }
    void examine();
    void retry(const engine::RetryChange& change);
    void saveCapsule(const QString& file);

signals:
    void listChanged();
    void stepChanged();
    void stateChanged();

private:
    void refresh();
    void readList();
    void run(std::function<void()> work, std::function<void()> done);

    Context context_;
    std::shared_ptr<RunTrack> track_;
    std::filesystem::path folder_;
    std::int64_t known_ = -1;  ///< skips that the list was read with
    bool reading_ = false;
    engine::SkipList skips_;
    std::optional<engine::StepTrial> trial_;
    bool busy_ = false;
    QString problem_;
};

}  // namespace ui
