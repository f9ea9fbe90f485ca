#pragma once

#include <QFrame>
#include <QPointer>
#include <memory>
#include <vector>

#include "view/context.h"

class QHBoxLayout;
class QLabel;

namespace ui {

class PictureView;
class RunTrack;
class SampleViewer;

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
