#pragma once

#include <QLabel>
#include <QStackedWidget>
#include <QTabBar>
#include <QThreadPool>

#include "tryit/tried_model.h"
#include "view/context.h"

namespace ui {

class ChoiceBox;

/// The models of the runs on screen in use, side by side: given pictures, rows or text, and
/// evaluated. Models are opened while the page is shown, off the GUI thread.
class TryItPage final : public QWidget {
    Q_OBJECT
public:
    explicit TryItPage(const Context& context, QWidget* parent = nullptr);
    ~TryItPage() override;

    const TriedModels& models() const { return models_; }
    /// The models that can be opened are open.
    bool isSettled() const { return settled_; }

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QLayout* makeHead();
    /// Recreates the models if other runs are on screen, or another checkpoint is chosen.
    void refresh();
    bool isPaused(const RunTrack& track) const;
    TriedModel::Capture captureOf(const std::shared_ptr<RunTrack>& track);
    /// Adds the weights of paused runs to the checkpoints, or takes them away.
    void offerLive(bool offered);
    void clear();
    /// A checkpoint of a run on screen was saved.
    void renew(const std::string& run);
    /// Once the first models are open, their kind of input decides on the page.
    void settle();
    QWidget* makeAsk(const engine::InputForm& form, const TriedModels& alike);
    void showWords(const QString& words);

    Context context_;
    QThreadPool pool_;
    QThreadPool evaluations_;  ///< of one thread
    QTabBar* tabs_;
    ChoiceBox* checkpoint_;
    QLabel* more_;
    QStackedWidget* body_;  ///< words, then a page for each tab
    QLabel* words_;
    TriedModels models_;
    QStringList shown_;  ///< what models_ were made for
    bool settled_ = false;
    std::vector<std::string> stale_;  ///< runs that saved while the page was hidden
};

QWidget* makeTryItPage(const Context& context, QWidget* parent);

}  // namespace ui
