#include "panels/step/sample_viewer.h"

#include <QLabel>
#include <QSlider>
#include <QVBoxLayout>

#include "feed/background.h"
#include "feed/run_track.h"
#include "text/format.h"
#include "theme/theme.h"
#include "widgets/panel.h"
#include "widgets/picture_view.h"

namespace ui {

SampleViewer::SampleViewer(Theme* theme, std::shared_ptr<RunTrack> track, QWidget* parent)
    : QDialog(parent),
      theme_(theme),
      track_(std::move(track)),
      picture_(new PictureView(this)),
      slider_(new QSlider(Qt::Horizontal, this)),
      caption_(makeLabel({}, "dim", this)) {
    setWindowTitle(tr("Pictures of %1").arg(trackTitle(*track_)));
    picture_->setAccessibleName(windowTitle());
    slider_->setAccessibleName(tr("Step"));
    slider_->setMaximum(0);  // until there are pictures: at the newest
    slider_->setPageStep(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::inside, size::inside, size::inside, size::inside);
    column->setSpacing(size::gap);
    column->addWidget(picture_, 1);
    column->addWidget(slider_);
    column->addWidget(caption_);
    connect(slider_, &QSlider::valueChanged, this, &SampleViewer::showOne);
    resize(560, 640);
    reload();
}

void SampleViewer::reload() {
    if (!track_->started()) return;
    inBackground(
        this, [folder = track_->started()->folder] { return engine::list_sample_pictures(folder); },
        [this](std::vector<engine::SamplePicture> pictures) { take(std::move(pictures)); });
}

void SampleViewer::take(std::vector<engine::SamplePicture> pictures) {
    if (pictures.empty()) return;
    const bool atEnd = slider_->value() == slider_->maximum();
    pictures_ = std::move(pictures);
    const QSignalBlocker quiet(slider_);
    slider_->setMaximum(static_cast<int>(pictures_.size()) - 1);
    if (atEnd) slider_->setValue(slider_->maximum());
    showOne();
}

void SampleViewer::showOne() {
    const engine::SamplePicture& one = pictures_[static_cast<std::size_t>(slider_->value())];
    picture_->setImage(QImage(QString::fromStdString(one.file.string())));
    caption_->setText(tr("Step %1, picture %2 of %3")
                          .arg(count(one.step))
                          .arg(slider_->value() + 1)
                          .arg(pictures_.size()));
}

}  // namespace ui
