#include "panels/step/sample_strip.h"

#include <QSlider>

#include "feed/background_task.h"
#include "feed/event_feed.h"
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
    auto* column =
        makeColumn(this, {size::inside, size::inside, size::inside, size::inside}, size::gap);
    column->addWidget(picture_, 1);
    addWidgets(column, {slider_, caption_});
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

namespace {

constexpr int pictureSize = 96;

/// The newest picture of a run, as much as fits a square.
struct Newest {
    std::int64_t step = 0;
    QImage image;
};

Newest newestOf(const std::string& folder) {
    const auto pictures = engine::list_sample_pictures(folder);
    if (pictures.empty()) return {};
    const QImage whole(QString::fromStdString(pictures.back().file.string()));
    // Only the upper part of a tall picture, such as an autoencoder's pairs, which would be too
    // small as a whole.
    return {pictures.back().step,
            whole.copy(0, 0, whole.width(), std::min(whole.width(), whole.height()))};
}

}  // namespace

SampleStrip::SampleStrip(const Context& context, QWidget* parent)
    : QFrame(parent), context_(context), row_(new QHBoxLayout(this)) {
    setObjectName(u"card"_s);
    setAccessibleName(tr("Pictures that the models draw"));
    row_->setContentsMargins(size::inside, size::gap, size::inside, size::gap);
    row_->setSpacing(size::inside);
    row_->addStretch();
    connect(context_.feed, &EventFeed::tracksChanged, this, &SampleStrip::rebuild);
    connect(context_.feed, &EventFeed::eventArrived, this,
            [this](const std::shared_ptr<RunTrack>& track, const engine::Event& event) {
                if (!std::holds_alternative<engine::EpochDone>(event)) return;
                for (Shown& each : shown_) each.stale = each.stale || each.track == track;
            });
    connect(context_.feed, &EventFeed::figuresDue, this, &SampleStrip::refresh);
    rebuild();
}

void SampleStrip::rebuild() {
    for (const Shown& each : shown_) delete each.cell;
    shown_.clear();
    hide();
    for (const auto& track : context_.feed->tracks()) addCell(track);
    refresh();
}

void SampleStrip::addCell(const std::shared_ptr<RunTrack>& track) {
    auto* cell = new QWidget(this);
    auto* line = makeRow(cell, {}, size::gap);
    auto* picture = new PictureView(cell);
    picture->setFixedSize(pictureSize, pictureSize);
    picture->setFocusPolicy(Qt::StrongFocus);
    picture->setCursor(Qt::PointingHandCursor);
    picture->setToolTip(tr("Click for all pictures of the run."));
    connect(picture, &PictureView::chosen, this, [this, track] { open(track); });
    auto* caption = makeLabel({}, "dim", cell);
    caption->setFont(Theme::caption());
    addWidgets(line, {picture, caption});
    cell->hide();
    row_->insertWidget(row_->count() - 1, cell);
    shown_.push_back({track, cell, picture, caption});
}

void SampleStrip::refresh() {
    for (Shown& each : shown_) {
        if (std::exchange(each.stale, false)) load(each);
    }
}

void SampleStrip::load(const Shown& shown) {
    if (!shown.track->started()) return;
    inBackground(
        shown.picture, [folder = shown.track->started()->folder] { return newestOf(folder); },
        [this, shown](const Newest& newest) {
            if (newest.image.isNull()) return;
            shown.picture->setImage(newest.image);
            const QString title = trackTitle(*shown.track);
            shown.picture->setAccessibleName(tr("Pictures of %1").arg(title));
            shown.caption->setText(title + u'\n' + tr("step %1").arg(count(newest.step)));
            shown.cell->show();
            show();
            if (viewer_ && viewer_->track() == shown.track) viewer_->reload();
        });
}

void SampleStrip::open(const std::shared_ptr<RunTrack>& track) {
    delete viewer_;
    viewer_ = new SampleViewer(context_.theme, track, this);
    viewer_->show();
}

}  // namespace ui
