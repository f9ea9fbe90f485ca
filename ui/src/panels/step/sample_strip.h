#pragma once

#include <QDialog>
#include <QFrame>
#include <QPointer>
#include <memory>
#include <vector>

#include "engine/runs/run_store.h"
#include "view/context.h"

class QLabel;
class QSlider;
class QHBoxLayout;

namespace ui {

class PictureView;
class RunTrack;
class Theme;

/// All pictures that a run kept of its model's drawings, one at a time, with a slider over the
/// steps. Stays at the newest one while training continues.
class SampleViewer final : public QDialog {
    Q_OBJECT
public:
    SampleViewer(Theme* theme, std::shared_ptr<RunTrack> track, QWidget* parent = nullptr);

    const std::shared_ptr<RunTrack>& track() const { return track_; }
    /// There may be more of them.
    void reload();

private:
    void take(std::vector<engine::SamplePicture> pictures);
    void showOne();

    Theme* theme_;
    std::shared_ptr<RunTrack> track_;
    std::vector<engine::SamplePicture> pictures_;
    PictureView* picture_;
    QSlider* slider_;
    QLabel* caption_;
};

/// Pictures that the models of the runs on screen draw: the newest of each, small; a click opens
/// all. Hidden if no run draws. Files are read off the GUI thread.
class SampleStrip final : public QFrame {
    Q_OBJECT
public:
    explicit SampleStrip(const Context& context, QWidget* parent = nullptr);

private:
    struct Shown {
        std::shared_ptr<RunTrack> track;
        QWidget* cell = nullptr;
        PictureView* picture = nullptr;
        QLabel* caption = nullptr;
        bool stale = true;
    };
    void rebuild();
    void addCell(const std::shared_ptr<RunTrack>& track);
    void refresh();
    void load(const Shown& shown);
    void open(const std::shared_ptr<RunTrack>& track);

    Context context_;
    QHBoxLayout* row_;
    std::vector<Shown> shown_;
    QPointer<SampleViewer> viewer_;
};

}  // namespace ui
