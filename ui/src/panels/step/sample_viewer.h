#pragma once

#include <QDialog>
#include <memory>
#include <vector>

#include "engine/runs/sample_pictures.h"

class QLabel;
class QSlider;

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

}  // namespace ui
